//! Moves and answers that are a person's: the guard refuses them, however an agent writes them.

use insta::assert_snapshot;
use testkit::Scratch;

use crate::project;

/// However it is wrapped.
fn ways(command: &str) -> [String; 4] {
    [
        command.to_owned(),
        format!("bash -c '{command}'"),
        format!("cd . && nohup {command} &"),
        format!("/usr/local/bin/{command}"),
    ]
}

fn assert_all(scratch: &Scratch, command: &str, decision: &str) {
    for way in ways(command) {
        assert_eq!(scratch.decision(&way), decision, "{way}");
    }
    // Whoever takes the variables away by which a command knows that an agent runs it means no good.
    assert_eq!(scratch.decision(&format!("env -u CLAUDECODE {command}")), "deny");
}

#[test]
fn moves_that_agents_may_not_make() {
    let scratch = project();
    for command in ["linchpin abort", "linchpin prev", "linchpin restart", "linchpin start execution"] {
        assert_all(&scratch, command, "deny");
    }
    for command in ["linchpin next", "linchpin continue", "linchpin repeat", "linchpin status", "linchpin abort --help"]
    {
        assert_eq!(scratch.decision(command), "allow", "{command}");
    }
    scratch.config("agent_may: [start, status]\n");
    assert_all(&scratch, "linchpin start execution", "allow");
    assert_all(&scratch, "linchpin next code_complete", "deny");
}

#[test]
fn answers_to_rules_that_wait_for_a_person() {
    let scratch = project();
    scratch.rule("docs", "---\ntrigger: 'src/**'\nsafety: README.md\n---\nLook at the README.\n");
    scratch.rule("money", "---\nname: Money\ntrigger: 'pay/**'\nack: human\n---\nAsk.\n");
    assert_all(&scratch, "linchpin ack money --reason seen", "deny");
    assert_eq!(scratch.decision("linchpin ack Money --reason seen"), "deny");
    assert_all(&scratch, "linchpin ack docs --reason seen", "allow");
}

#[test]
fn going_on_past_a_rule_that_waits_for_a_person() {
    let scratch = project();
    let rule = "{repeated_command: {threshold: 9, window: 60}, ack: human}";
    scratch.file(
        ".linchpin/workflows/work.yml",
        format!(
            "start_node: code\nnodes:\n  code: {{prompt: Code., rules: [{rule}], transitions: [{{when: code_complete, to: read}}]}}\n  \
             read: {{prompt: Read., transitions: [{{when: read_complete, to: done}}]}}\n"
        ),
    );
    assert_all(&scratch, "linchpin continue", "allow");
    scratch.run(&["start", "work"]);
    assert_all(&scratch, "linchpin continue", "deny");
    assert_snapshot!(scratch.hook("claude", &scratch.bash("linchpin continue")).reason());
    scratch.run(&["next"]);
    assert_all(&scratch, "linchpin continue", "allow");
}

#[test]
fn an_agents_shell_stays_an_agents_shell() {
    let scratch = project();
    let run = |script: &str, mark: &str| {
        let mut command = scratch.command(&[]);
        let linchpin = command.get_program().to_owned();
        let mut shell = std::process::Command::new("bash");
        shell.args(["-c", script]).arg("bash").arg(linchpin).current_dir(scratch.root()).env_clear();
        shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        shell.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("CLAUDECODE", mark);
        command = shell;
        scratch.feed(command, b"")
    };
    for script in [
        "env -u CLAUDECODE \"$1\" pause 1h --reason x; true",
        "unset CLAUDECODE; (\"$1\" pause 1h --reason x); true",
        "ln -s \"$1\" lp; CLAUDECODE= ./lp pause 1h --reason x; true",
    ] {
        let reply = run(script, "1");
        assert!(reply.stderr.contains("`CLAUDECODE` shows that an agent runs it"), "{script}: {}", reply.transcript());
    }
    // A script that is run by its name goes by that.
    scratch.file("x.sh", "#!/bin/bash\nunset CLAUDECODE\n\"$1\" pause 1h --reason x\ntrue\n");
    let reply = run("chmod +x x.sh; ./x.sh \"$1\"; true", "1");
    assert!(reply.stderr.contains("`CLAUDECODE` shows that an agent runs it"), "{}", reply.transcript());
    let reply = run("\"$1\" pause 1h --reason x", "");
    assert_eq!(reply.code, Some(0), "{}", reply.transcript());
}

#[test]
fn no_option_with_a_value_hides_the_command_behind_it() {
    let scratch = project();
    let help = scratch.run(&["--help"]).stdout;
    let options = help.split("\nOptions:\n").nth(1).expect("options");
    let with_value = options.lines().filter(|line| line.contains('<')).filter_map(|line| {
        let flag = line.split_whitespace().find(|word| word.starts_with("--"))?;
        Some(flag.trim_end_matches(','))
    });
    let flags: Vec<&str> = with_value.collect();
    assert!(flags.contains(&"--color"), "{options}");
    for flag in flags {
        for command in
            [format!("linchpin {flag} always trust --yes"), format!("linchpin rules {flag} always disable x")]
        {
            assert_eq!(scratch.decision(&command), "deny", "{command}");
        }
    }
}
