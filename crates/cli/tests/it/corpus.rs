//! Commands that try to bypass a rule and must not succeed, and commands to which no rule applies.

use std::collections::HashSet;

use serde_json::Value;

use super::project;

fn read_cases(name: &str) -> Vec<Value> {
    let path = format!("{}/../../corpus/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("a corpus");
    text.lines().map(|line| serde_json::from_str(line).expect("a case")).collect()
}

fn commands_of(name: &str) -> Vec<String> {
    read_cases(name).iter().map(|case| case["command"].as_str().expect("a command").to_owned()).collect()
}

fn guarded_project() -> testkit::TestProject {
    let project = project();
    project.rule("no-force", "---\ncommand_pattern: '^git( [^ ]+)* push( [^ ]+)* --force( |$)'\n---\nNo.\n");
    project.rule("hooks-run", "---\ncommand_pattern: '^git( [^ ]+)* commit( [^ ]+)* --no-verify( |$)'\n---\nNo.\n");
    project
}

#[test]
fn commands_that_must_be_stopped_are_stopped() {
    let project = guarded_project();
    let passed: Vec<String> =
        commands_of("bypass.jsonl").into_iter().filter(|command| project.decision(command) == "allow").collect();
    assert!(passed.is_empty(), "{passed:#?}");
}

#[test]
fn harmless_commands_pass() {
    let project = guarded_project();
    let stopped: Vec<String> =
        commands_of("harmless.jsonl").into_iter().filter(|command| project.decision(command) != "allow").collect();
    assert!(stopped.is_empty(), "{stopped:#?}");
}

#[test]
fn programs_are_recognized_by_name_in_any_directory() {
    let project = project();
    project.rule("no-pip", "---\ncommand: { program: pip, subcommand: install }\n---\nNo.\n");
    let stopped = [
        r#""$VENV/bin/pip" install x"#,
        r#""$VENV/bin/python" -m pip install x"#,
        r"$VENV/bin/python3.12 -m pip install x",
        r#""${VENV}"/bin/python -m pip install x"#,
        r#""$(pwd)/bin/python" -m pip install x"#,
        r#""$D/bash" -c "pip install x""#,
        r#""$D/env" pip install x"#,
        r#""$D/sudo" pip install x"#,
        r#""$D/timeout" 5 pip install x"#,
        r#""$D/uv" run pip install x"#,
        r#""$D/npx" pip install x"#,
        r#"sudo "$D/env" A=1 "$VENV/bin/python" -m pip install x"#,
        "pipx run pip==24 install x",
        "uvx 'pip>=24' install x",
        "pip --proxy p install x",
        "python -m pip --proxy p install x",
        "pipx runpip foo install x",
        "uvx pip@24 install x",
        "uvx 'pip[x]' install x",
        "uv tool run 'pip~=24.0' install x",
        "pythonw -m pip install x",
        "python3.13t -m pip install x",
        "ipython -m pip install x",
        "bundler exec pip install x",
        "rtx exec -- pip install x",
        "rtx x python@3.12 -- pip install x",
        "n exec 18 pip install x",
        "rvm 3.0 do pip install x",
        "rvm 3.0,3.1 do pip install x",
        "flox activate -- pip install x",
        "flox activate -d . -- pip install x",
        "pkgx pip install x",
        "apptainer exec image.sif pip install x",
        "singularity exec --bind /a:/b image.sif pip install x",
    ];
    let bypassing: Vec<&str> = stopped.into_iter().filter(|command| project.decision(command) != "deny").collect();
    assert!(bypassing.is_empty(), "{bypassing:#?}");
    let passed = [
        r#""$VENV/bin/python" -m pytest"#,
        r#""$VENV/bin/pip" list"#,
        r#""$D/bash" -c "pip list""#,
        r#""$D/echo" pip install x"#,
        "uvx 'pip>=24' list",
        "rvm install 3.0",
        "rvm gemset create pip",
        "n lts",
        "flox install pip",
        "pkgx node x.js",
    ];
    let wrongly_stopped: Vec<&str> =
        passed.into_iter().filter(|command| project.decision(command) != "allow").collect();
    assert!(wrongly_stopped.is_empty(), "{wrongly_stopped:#?}");
}

/// `cargo xtask corpus` judges these commands. Here only their format is checked.
#[test]
fn corpus_commands_are_complete_and_unique() {
    let cases = read_cases("commands.jsonl");
    let field = |case: &Value, name: &str| case[name].as_str().unwrap_or_else(|| panic!("{case}")).to_owned();
    let mut ids = HashSet::new();
    let mut commands = HashSet::new();
    for case in &cases {
        assert!(["deny", "allow", "unknown"].contains(&&*field(case, "expect")), "{case}");
        assert!(["main", "feature"].contains(&&*field(case, "branch")), "{case}");
        assert!(field(case, "id").len() > 3 && !field(case, "policy").is_empty(), "{case}");
        assert!(ids.insert(field(case, "id")), "duplicate id: {case}");
        assert!(commands.insert((field(case, "branch"), field(case, "command"))), "duplicate command: {case}");
    }
    let harmless = cases.iter().filter(|case| case["expect"] == "allow").count();
    assert!(harmless * 10 >= cases.len() * 4, "at least 40 % of the cases must be harmless commands");
}

/// A user's approval of some commands must not approve others in the same script.
#[test]
fn approving_one_command_does_not_approve_others_in_the_same_script() {
    let project = project();
    project.user_rule("look", "---\ncommand_pattern: '^(ls|echo|git status)( |$)'\naction: allow\n---\nFine.\n");
    let approved = |command: &str| {
        project.hook("claude", &project.bash_payload(command)).stdout.contains(r#""permissionDecision":"allow""#)
    };
    assert!(approved("ls -la && git status"));
    assert!(approved("bash -lc 'ls -la && git status'"));
    for command in [
        "ls; ( (rm -rf x) )",
        "ls ${x:-<(rm -rf x)}",
        "for PATH in /tmp/evil; do ls; done",
        "((PATH=5)); ls",
        "for x in '$(cmd)'; do echo \"${x@P}\"; done",
        "echo $((x))",
        "./ls",
        "/tmp/evil/ls",
        "ls | sh",
        "ls `rm x`",
        "ls > x",
        "ls\nrm x",
        "sudo ls",
        "ssh host ls",
        "docker exec box ls",
        "bash -c 'ls; rm x'",
        "bash -c \"$X\"",
        "find . -exec rm {} +",
    ] {
        assert!(!approved(command), "{command}");
    }
}
