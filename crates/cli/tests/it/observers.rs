//! Observers: a variable that one event sets is known to rules at the same and later events.

use std::fmt::Write;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::{TestProject, processes};

use super::project;

const CLAIM_FIRST: &str = "---\ntools: [Edit]\nwhen: not task_claimed\n---\nClaim a task first.\n";
const CLAIMS: &str = "observers:\n  - behavior: task_claim_tracking\n    servers: [tasks]\n";

/// Returns the decision about a call of the tool `Edit`.
fn edit(project: &TestProject) -> String {
    project
        .hook("claude", &project.tool_payload("Edit", &json!({ "file_path": project.root().join("a.rs") })))
        .decision()
}

/// Returns a payload of `crates/agents/payloads`, changed to belong to this project's session.
fn payload(project: &TestProject, agent: &str, file: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../agents/payloads").join(agent).join(file);
    let mut payload: Value = serde_json::from_slice(&fs::read(path).expect("a payload")).expect("JSON");
    payload["session_id"] = json!("session-1");
    payload["cwd"] = json!(project.root());
    payload
}

#[test]
fn edits_are_refused_until_a_task_is_claimed() {
    let project = project();
    project.config(CLAIMS).rule("claim-first", CLAIM_FIRST);
    assert_eq!(edit(&project), "deny");
    project.hook("claude", &payload(&project, "claude", "claim-ok.json"));
    assert_eq!(edit(&project), "allow");
    project.hook("claude", &payload(&project, "claude", "after-close-task.json"));
    assert_eq!(edit(&project), "deny");
    // The claim does not count in another session.
    let mut other = project.tool_payload("Edit", &json!({"file_path": "a.rs"}));
    other["session_id"] = json!("session-2");
    assert_eq!(project.hook("claude", &other).decision(), "deny");
}

#[test]
fn linchpins_tasks_count_as_claims() {
    let project = project();
    project.config("observers:\n  - behavior: task_claim_tracking\n").rule("claim-first", CLAIM_FIRST);
    assert_eq!(edit(&project), "deny");
    project.run(&["task", "add", "One"]);
    let task_in = |session: &str, arguments: &[&str]| {
        let mut command = project.command(&[&["task"], arguments].concat());
        command.env("CLAUDE_CODE_SESSION_ID", session);
        project.run_with_stdin(command, b"").code
    };
    let task = |arguments: &[&str]| task_in("session-1", arguments);
    // A task that a person starts is not claimed by the session, nor is a task whose start was refused.
    project.run(&["task", "start", "t1"]);
    assert_eq!(edit(&project), "deny");
    assert_eq!((task(&["start", "t9"]), edit(&project).as_str()), (Some(2), "deny"));
    project.run(&["task", "reopen", "t1"]);
    for end in ["close", "fail", "reopen"] {
        assert_eq!((task(&["start", "t1"]), edit(&project).as_str()), (Some(0), "allow"), "{end}");
        assert_eq!((task(&[end, "t1"]), edit(&project).as_str()), (Some(0), "deny"), "{end}");
        task(&["reopen", "t1"]);
    }
    // A finished task is not claimed any more, whoever finished it.
    task(&["start", "t1"]);
    assert_eq!((project.run(&["task", "close", "t1"]).code, edit(&project).as_str()), (Some(0), "deny"));
    task(&["reopen", "t1"]);
    task(&["start", "t1"]);
    assert_eq!((task_in("session-2", &["fail", "t1"]), edit(&project).as_str()), (Some(0), "deny"));
    let log = project.run(&["log"]).stdout;
    assert!(log.contains("task t1 started") && log.contains("task t1 ended"), "{log}");
}

#[test]
fn claims_are_recognized_in_every_payload_format() {
    for agent in ["claude", "codex"] {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../agents/payloads").join(agent);
        let names =
            fs::read_dir(directory).expect("payloads").filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let is_claim = |name: &String| name.trim_start_matches("written-").starts_with("claim-");
        let files: Vec<String> = names.filter(is_claim).collect();
        assert!(files.len() >= 20, "{files:?}");
        for file in files {
            let project = project();
            project.config(CLAIMS).rule("claim-first", CLAIM_FIRST);
            let reply = project.hook(agent, &payload(&project, agent, &file));
            assert_eq!(reply.stdout, "", "{file}");
            let mut edit = project.tool_payload("Edit", &json!({"file_path": "a.rs"}));
            if agent == "codex" {
                let patch = "*** Begin Patch\n*** Update File: a.rs\n@@\n-a\n+b\n*** End Patch\n";
                edit = project.tool_payload("apply_patch", &json!({ "command": patch }));
            }
            let expected = if file.contains("claim-ok") { "allow" } else { "deny" };
            assert_eq!(project.hook(agent, &edit).decision(), expected, "{file}");
        }
    }
}

#[test]
fn creating_or_updating_a_task_claims_it_until_it_is_closed() {
    for agent in ["claude", "codex"] {
        for claim in ["after-create-task.json", "after-update-task.json"] {
            let project = project();
            project
                .config(CLAIMS)
                .rule("claim-first", "---\ntools: [Bash]\nwhen: not task_claimed\n---\nClaim first.\n");
            let run = || project.hook(agent, &payload(&project, agent, "before-bash.json")).decision();
            assert_eq!(run(), "deny");
            project.hook(agent, &payload(&project, agent, claim));
            assert_eq!(run(), "allow", "{agent} {claim}");
            project.hook(agent, &payload(&project, agent, "after-close-task.json"));
            assert_eq!(run(), "deny", "{agent} {claim}");
        }
    }
}

#[test]
fn plan_mode_is_known_in_the_same_event() {
    let project = project();
    let config = "observers:\n  - behavior: detect_plan_mode\n";
    project.config(config).rule("plan", "---\ntools: [Edit]\nwhen: plan_mode\n---\nYou are planning.\n");
    assert_eq!(edit(&project), "allow");
    let mut planning = project.tool_payload("Edit", &json!({"file_path": "a.rs"}));
    planning["permission_mode"] = json!("plan");
    assert_eq!(project.hook("claude", &planning).decision(), "deny");
    assert_eq!(edit(&project), "allow");
    for (file, decision) in [
        ("before-enter-plan-mode.json", "allow"),
        ("after-enter-plan-mode.json", "deny"),
        ("before-exit-plan-mode.json", "deny"),
        ("permission-exit-plan-mode.json", "deny"),
        ("written-exit-plan-mode-refused.json", "deny"),
        ("after-exit-plan-mode.json", "allow"),
        ("prompt-in-plan-mode.json", "deny"),
    ] {
        project.hook("claude", &payload(&project, "claude", file));
        // An event without `permission_mode` does not say whether the agent is in plan mode, so the mode known from
        // earlier events counts.
        let mut edit = project.tool_payload("Edit", &json!({"file_path": "a.rs"}));
        edit.as_object_mut().expect("fields").remove("permission_mode");
        assert_eq!(project.hook("claude", &edit).decision(), decision, "{file}");
    }
}

#[test]
fn codex_plan_mode_is_read_from_the_transcript() {
    let project = project();
    let config = "observers:\n  - behavior: detect_plan_mode\n";
    project.config(config).rule("plan", "---\ntools: [Bash]\nwhen: plan_mode\n---\nYou are planning.\n");
    let transcript = Path::new(env!("CARGO_MANIFEST_DIR")).join("../agents/transcripts/codex-plan-mode.jsonl");
    let run = || project.hook("codex", &payload(&project, "codex", "before-bash.json")).decision();
    let prompt = |file: &str, transcript: Option<&Path>| {
        let mut prompt = payload(&project, "codex", file);
        prompt["transcript_path"] = json!(transcript);
        project.hook("codex", &prompt);
    };
    prompt("prompt-in-plan-mode.json", None);
    assert_eq!(run(), "allow", "the transcript is unknown");
    prompt("prompt-in-plan-mode.json", Some(&transcript));
    assert_eq!(run(), "deny");
    prompt("prompt.json", Some(&transcript));
    assert_eq!(run(), "deny", "the transcript does not contain this turn");
    prompt("prompt-after-plan-mode.json", Some(&transcript));
    assert_eq!(run(), "allow");
}

#[test]
fn mcp_calls_are_tracked() {
    let project = project();
    project.config("observers:\n  - behavior: mcp_call_tracking\n").rule(
        "look-first",
        "---\ntools: [Edit]\nwhen: \"not mcp_called('demo', 'echo') or not mcp_result_has('demo', 'echo', 'x', 'hi') or mcp_called('demo', 'broken') or not mcp_failed('demo', 'broken')\"\n---\nLook first.\n",
    );
    assert_eq!(edit(&project), "deny");
    project.hook("claude", &payload(&project, "claude", "after-mcp.json"));
    assert_eq!(edit(&project), "deny");
    project.hook("claude", &payload(&project, "claude", "failed-mcp.json"));
    assert_eq!(edit(&project), "allow");
}

#[test]
fn an_observer_can_match_events_and_set_variables() {
    let project = project();
    project
        .config(
            "observers:\n  - name: tests-ran\n    on: after_tool\n    match: {tool: Bash, command_pattern: '^cargo test', outcome: ok}\n    set: {tests_ran: true, last: 'ran {{ event.command }}', word: no}\n",
        )
        .rule(
            "test-first",
            "---\ncommand_pattern: '^git push'\nwhen: \"not tests_ran or last != 'ran cargo test -q' or word != 'no'\"\n---\nTest first.\n",
        );
    assert_eq!(project.run(&["validate"]).code, Some(0));
    let push_decision_after = |command: &str, event: &str, outcome: &Value| {
        let mut fields = json!({"tool_name": "Bash", "tool_input": {"command": command}});
        fields.as_object_mut().expect("fields").extend(outcome.as_object().expect("an outcome").clone());
        project.hook("claude", &project.event_payload(event, &fields));
        project.decision("git push")
    };
    let ok = json!({"tool_response": {"stdout": "", "interrupted": false}});
    assert_eq!(push_decision_after("cargo build", "PostToolUse", &ok), "deny");
    assert_eq!(push_decision_after("cargo test -q", "PostToolUseFailure", &json!({"error": "Exit code 1"})), "deny");
    assert_eq!(push_decision_after("cargo test -q", "PostToolUse", &ok), "allow");
}

#[test]
fn a_failing_observer_is_reported_and_changes_nothing() {
    let project = project();
    project.config("observers:\n  - {name: odd, on: prompt, match: {}, set: {number: '{{ int(event.prompt) }}'}}\n");
    let reply = project.hook("claude", &project.event_payload("UserPromptSubmit", &json!({"prompt": "seven"})));
    insta::assert_snapshot!(reply.stdout);
}

/// Writes a program, and a user configuration with an observer that runs it. Returns the path of the program.
fn user_program(project: &TestProject, script: &str) -> PathBuf {
    let program = project.home().join("behavior");
    fs::write(&program, format!("#!/bin/sh\n{script}\n")).expect("a program");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("executable");
    // The deadline is long, so that the test succeeds on slow machines.
    let config = "deadline: 20s\nvariables: {deployed: none}\nobservers:\n  - name: deploy\n    behavior: {exec: [~/behavior, one], conditions: {ready: 1, told: 0}}\n";
    fs::create_dir_all(project.user_policy()).expect("a directory");
    fs::write(project.user_policy().join("config.yml"), config).expect("a configuration");
    project.user_rule(
        "ready",
        "---\ncommand_pattern: '^danger'\nwhen: \"not behavior_deploy_ready('staging')\"\n---\nNot ready.\n",
    );
    program
}

#[test]
fn a_users_program_receives_events_and_sets_variables() {
    let project = project();
    user_program(
        &project,
        "cat > request.json; env | cut -d= -f1 | grep -v -e PWD -e SHLVL -e '^_$' | sort > environment\n\
         echo '{\"set\": {\"deployed\": \"v1\"}, \"conditions\": {\"ready\": [\"staging\"], \"told\": true}}'",
    );
    let reply = project.hook("claude", &project.bash_payload("danger"));
    assert_eq!(reply.transcript(), "exit 0\n--- stdout\n--- stderr\n");
    let request: Value =
        serde_json::from_slice(&fs::read(project.root().join("request.json")).expect("a request")).expect("JSON");
    assert_eq!(request["event"]["tool"]["input"]["command"], "danger");
    assert_eq!(request["variables"], json!({"deployed": "none"}));
    insta::assert_snapshot!(fs::read_to_string(project.root().join("environment")).expect("names"), @"
    HOME
    PATH
    TMPDIR
    TZ
    XDG_CONFIG_HOME
    XDG_STATE_HOME
    ");
    project.hook("claude", &project.bash_payload("ls"));
    let request: Value =
        serde_json::from_slice(&fs::read(project.root().join("request.json")).expect("a request")).expect("JSON");
    assert_eq!(request["variables"], json!({"deployed": "v1"}));
    let explained = |expression: &str| project.run(&["explain", "when", expression]).transcript();
    insta::assert_snapshot!(explained("behavior_deploy_ready('staging') and deployed == 'v1'"), @"
    exit 0
    --- stdout
    true (true in a condition)
    --- stderr
    ");
    insta::assert_snapshot!(explained("behavior_deploy_redy('staging')"), @"
    exit 2
    --- stdout
    --- stderr
    error: no behavior has the condition `behavior_deploy_redy`
    help: did you mean `behavior_deploy_ready`?
    ");
    insta::assert_snapshot!(explained("mcp_called('mail')"), @"
    exit 2
    --- stdout
    --- stderr
    error: `mcp_called` needs the behavior `mcp_call_tracking`, but no observer uses it
    help: add `- behavior: mcp_call_tracking` under `observers:` in config.yml
    ");
}

/// While the event is judged, another event of the session changes the state, so the first event is judged a second
/// time.
#[test]
fn a_nested_rule_read_in_the_first_of_two_judgements_is_recorded() {
    let project = project();
    user_program(
        &project,
        "if grep -q hazard; then touch asked; while [ ! -e go ]; do sleep 0.05; done; echo '{\"set\": {\"deployed\": 1}}'\n\
         else echo \"{\\\"set\\\": {\\\"deployed\\\": $$}}\"; fi",
    );
    assert_eq!(project.decision("ls"), "allow");
    project.file("sub/.linchpin/rules/no-hazard.md", "---\ncommand_pattern: ^hazard\n---\nNot a hazard.\n");
    // Linchpin caches a file only if some time has passed since the file was modified.
    thread::sleep(Duration::from_millis(200));
    let mut hazard = project.bash_payload("hazard");
    hazard["cwd"] = json!(project.root().join("sub"));
    let decision = thread::scope(|scope| {
        let slow = scope.spawn(|| project.hook("claude", &hazard).decision());
        while !project.root().join("asked").exists() {
            thread::sleep(Duration::from_millis(10));
        }
        // This event of the same session is recorded before the event `hazard`.
        project.hook("claude", &project.bash_payload("ls"));
        project.file("go", "");
        slow.join().expect("an answer")
    });
    assert_eq!(decision, "deny");
    let log = project.run(&["log", "--json"]).stdout;
    let last: Value = serde_json::from_str(log.lines().last().expect("an event")).expect("JSON");
    let digest = last["verdict"]["findings"][0]["digest"].as_str().expect("a digest");
    let stored_rule = project.run(&["rules", "show", "no-hazard", "--version", digest]).transcript();
    assert!(stored_rule.contains("Not a hazard."), "{stored_rule}");
}

#[test]
fn a_failing_program_is_reported_and_changes_nothing() {
    let mut notices = String::new();
    for script in [
        "exit 3",
        "echo '{\"conditions\": {\"ready\": [\"staging\"]}}'; exit 1",
        "echo ready",
        "echo '{\"ready\": true}'",
        "echo '{\"set\": {\"_own\": 1}, \"conditions\": {\"ready\": [\"staging\"]}}'",
        "echo '{\"conditions\": {\"other\": true}}'",
        "head -c 70000 /dev/zero",
        "",
    ] {
        let project = project();
        user_program(&project, script);
        let reply = project.hook("claude", &project.bash_payload("danger"));
        assert_eq!(reply.decision(), "deny", "{script}");
        let notice = reply.json()["systemMessage"].as_str().unwrap_or("nothing").to_owned();
        writeln!(notices, "{script}\n    {notice}").expect("text");
    }
    let project = project();
    fs::remove_file(user_program(&project, "")).expect("it was there");
    let reply = project.hook("claude", &project.bash_payload("danger"));
    writeln!(notices, "(gone)\n    {}", reply.json()["systemMessage"]).expect("text");
    insta::assert_snapshot!(notices);
}

#[test]
fn a_hanging_program_is_killed_with_its_processes() {
    let project = project();
    user_program(&project, "echo $$ > shell; sleep 600 & echo $! > sleeper; wait");
    let reply = project.hook("claude", &project.bash_payload("danger"));
    assert_eq!(reply.decision(), "deny");
    insta::assert_snapshot!(reply.json()["systemMessage"].as_str().unwrap_or_default());
    for file in ["shell", "sleeper"] {
        let process = fs::read_to_string(project.root().join(file)).expect("it started");
        assert!(processes::wait_for_end(process.trim()), "{file}");
    }
}

#[test]
fn an_untrusted_repository_starts_no_process() {
    let project = project();
    project.file("run.sh", "#!/bin/sh\ntouch started\n");
    fs::set_permissions(project.root().join("run.sh"), fs::Permissions::from_mode(0o755)).expect("executable");
    project.config("observers:\n  - {name: mine, behavior: {exec: [./run.sh]}}\n");
    project.hook("claude", &project.bash_payload("ls"));
    assert!(!project.root().join("started").exists());
}

#[test]
fn a_project_cannot_set_variables_of_the_users_observers() {
    let project = project();
    fs::create_dir_all(project.user_policy()).expect("a directory");
    fs::write(project.user_policy().join("config.yml"), CLAIMS).expect("a configuration");
    project.user_rule("claim-first", CLAIM_FIRST);
    project.config("observers:\n  - {name: cheat, on: before_tool, match: {}, set: {task_claimed: true}}\n");
    assert_eq!(edit(&project), "deny");
    insta::assert_snapshot!(project.run(&["validate"]).stdout);
    project.config("variables: {task_claimed: true}\n");
    assert_eq!(edit(&project), "deny");
    insta::assert_snapshot!(project.run(&["validate"]).stdout, @"
    warning: the initial value of `task_claimed` is ignored: the user's observer `task_claim_tracking` sets this variable
     --> .linchpin/config.yml:1:13
      |
    1 | variables: {task_claimed: true}
      |             ^^^^^^^^^^^^
      |
      = help: declare a variable with another name

    3 rules in force; 1 warning.
    ");
    // The same observer in both configurations is not a conflict.
    project.config(CLAIMS);
    assert_eq!(project.run(&["validate"]).stdout, "3 rules in force, no errors.\n");
}

#[test]
fn a_nested_policy_sets_only_its_own_variables() {
    let project = project();
    project.config(CLAIMS).rule("claim-first", CLAIM_FIRST);
    let cheat = "observers:\n  - {name: cheat, on: before_tool, match: {}, set: {task_claimed: true, own: true}}\n";
    let rule = "---\ncommand_pattern: '^danger'\nwhen: own\n---\nSeen.\n";
    project.file("inner/.linchpin/config.yml", cheat).file("inner/.linchpin/rules/own.md", rule);
    let mut inside = project.bash_payload("danger");
    inside["cwd"] = json!(project.root().join("inner"));
    assert_eq!(project.hook("claude", &inside).decision(), "deny");
    assert_eq!(edit(&project), "deny");
}

#[test]
fn errors_of_observers_are_explained() {
    let project = project();
    project.config(include_str!("broken/observers.yml"));
    project
        .rule("odd", "---\non: stop\nwhen: \"mcp_called('a') or behavior_lint_clean('a') or tests_rann\"\n---\nNo.\n");
    let reply = project.run(&["validate"]);
    assert_eq!(reply.code, Some(2));
    insta::assert_snapshot!(reply.stdout);
}

#[test]
fn expressions_with_observed_variables_are_valid_after_init() {
    let project = super::project_without_policy();
    assert_eq!(project.run(&["init", "--no-hooks"]).code, Some(0));
    project.rule(
        "names",
        "---\non: stop\nwhen: \"task_claimed and claimed_tasks and session_had_task and plan_mode and mcp_calls and mcp_results and mcp_failed('a', 'b')\"\n---\nNo.\n",
    );
    assert_eq!(project.run(&["validate"]).code, Some(0), "{}", project.run(&["validate"]).stdout);
}

#[test]
fn shell_syntax_in_the_program_of_an_observer_is_an_error() {
    let project = project();
    project.config("observers:\n  - {name: mine, behavior: {exec: 'x && y'}}\n");
    insta::assert_snapshot!(project.run(&["validate"]).transcript(), @r#"
    exit 2
    --- stdout
    error: `exec` has `&&`, but no shell runs it: the whole text would be the name of the program
     --> .linchpin/config.yml:2:35
      |
    2 |   - {name: mine, behavior: {exec: 'x && y'}}
      |                                   ^^^^^^^^
      |
      = help: write the program and its arguments as a list; to run it in a shell, write `[sh, -c, "…"]`

    2 rules in force; 1 error.
    --- stderr
    "#);
    for exec in ["x | y", "x; y", "ls *", "A=1 x", "x # y"] {
        project.config(&format!("observers:\n  - {{name: mine, behavior: {{exec: '{exec}'}}}}\n"));
        let transcript = project.run(&["validate"]).transcript();
        assert!(transcript.contains("no shell runs it"), "{exec}: {transcript}");
    }
    for exec in ["x", "~/bin/x", "'/opt/my tool/x'", "[x, '&&', '*']"] {
        project.config(&format!("observers:\n  - {{name: mine, behavior: {{exec: {exec}}}}}\n"));
        let transcript = project.run(&["validate"]).transcript();
        assert!(!transcript.contains("no shell runs it"), "{exec}: {transcript}");
    }
}
