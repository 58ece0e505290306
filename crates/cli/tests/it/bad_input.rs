//! For any input on stdin, the agent gets an answer that its protocol allows.

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use super::{NO_DANGER, project, project_without_policy};

#[test]
fn input_that_is_not_json_is_refused() {
    let project = project();
    insta::assert_snapshot!(project.hook_with_bytes("claude", b"hello").transcript(), @"
    exit 2
    --- stdout
    --- stderr
    Blocked by Linchpin: The payload is not readable JSON: expected value at line 1 column 1. Linchpin can't tell which event this is, so the event is refused. Tell the person: `linchpin doctor` checks the hooks.
    ");
}

#[test]
fn empty_input_is_refused() {
    let project = project();
    insta::assert_snapshot!(project.hook_with_bytes("claude", b"").transcript(), @"
    exit 2
    --- stdout
    --- stderr
    Blocked by Linchpin: The payload is not readable JSON: EOF while parsing a value at line 1 column 0. Linchpin can't tell which event this is, so the event is refused. Tell the person: `linchpin doctor` checks the hooks.
    ");
    insta::assert_snapshot!(project.hook_with_bytes("codex", b"").transcript(), @"
    exit 2
    --- stdout
    --- stderr
    Blocked by Linchpin: The payload is not readable JSON: EOF while parsing a value at line 1 column 0. Linchpin can't tell which event this is, so the event is refused. Tell the person: `linchpin doctor` checks the hooks.
    ");
}

#[test]
fn a_truncated_payload_is_asked_about_in_the_agents_format() {
    let project = project();
    let payload_text = project.bash_payload("danger").to_string();
    let truncated = &payload_text.as_bytes()[..payload_text.len() - 20];
    insta::assert_snapshot!(project.hook_with_bytes("claude", truncated).transcript(), @r#"
    exit 0
    --- stdout
    {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"Approval required by Linchpin: The payload is not readable JSON: EOF while parsing a string at line 1 column 252. Linchpin can't tell whether this is allowed, so a person must decide."}}
    --- stderr
    "#);
}

#[test]
fn deep_nesting_is_asked_about() {
    let project = project();
    let mut payload = project.bash_payload("danger");
    payload["tool_input"]["deep"] = json!("@");
    for deep in [200, 100_000, 1_000_000] {
        let nested = payload.to_string().replace("\"@\"", &format!("{}1{}", "[".repeat(deep), "]".repeat(deep)));
        assert_eq!(project.hook_with_bytes("claude", nested.as_bytes()).decision(), "ask", "{deep}");
    }
}

#[test]
fn a_payload_over_the_limit_is_asked_about() {
    let project = project();
    let mut payload = project.bash_payload("danger");
    payload["tool_input"]["content"] = json!("x".repeat(17 * 1024 * 1024));
    insta::assert_snapshot!(project.hook("claude", &payload).transcript(), @r#"
    exit 0
    --- stdout
    {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"Approval required by Linchpin: The payload has more than 16 MiB. Linchpin can't tell whether this is allowed, so a person must decide."}}
    --- stderr
    "#);
}

#[test]
fn invalid_utf8_is_asked_about() {
    let project = project();
    let payload = project.bash_payload("danger @@").to_string().into_bytes();
    let payload: Vec<u8> = payload.into_iter().map(|byte| if byte == b'@' { 0xff } else { byte }).collect();
    assert_eq!(project.hook_with_bytes("claude", &payload).decision(), "ask");
}

#[test]
fn a_huge_command_is_asked_about() {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    let command = format!("echo {}; danger", "x".repeat(1024 * 1024));
    assert_eq!(project.decision(&command), "ask");
}

#[test]
fn commands_built_to_stall_or_overflow_a_parser_are_asked_about() {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    let nested_case = format!("{}danger{}", "case x in x) ".repeat(26), ";; esac".repeat(26));
    let nested_braces = format!("{}danger{}", "{ ".repeat(1600), "; }".repeat(1600));
    let nested_substitution = format!("{}danger{}", "$(".repeat(5000), ")".repeat(5000));
    let arithmetic = format!("echo $(({}1{}))", "(".repeat(5000), ")".repeat(5000));
    for command in [nested_case, nested_braces, nested_substitution, arithmetic] {
        assert_eq!(project.decision(&command), "ask", "{}", &command[..40]);
    }
}

/// Input whose nesting stays within the parsers' limits does not overflow a stack of 2 MiB.
#[test]
fn nested_input_fits_into_a_small_stack() {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    project.rule(
        "deep",
        &format!(
            "---\non: before_tool\nwhen: \"{}event.tool{}\"\naction: warn\n---\nHm.\n",
            "(".repeat(30),
            ")".repeat(30)
        ),
    );
    let deep = [
        format!("{}danger{}", "{ ".repeat(60), "; }".repeat(60)),
        format!("{}danger{}", "$(".repeat(60), ")".repeat(60)),
        format!("{}danger{}", "if true; then ".repeat(60), "; fi".repeat(60)),
        format!("{}danger{}", "( ".repeat(60), " )".repeat(60)),
    ];
    for command in deep {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", "ulimit -s 2048; exec \"$0\" hook claude", super::PROGRAM]).current_dir(project.root());
        let environment = project.command(&[]);
        shell.env_clear().envs(environment.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let reply = project.run_with_stdin(shell, project.bash_payload(&command).to_string().as_bytes());
        assert!(["deny", "ask"].contains(&reply.decision().as_str()), "{command}: {}", reply.transcript());
    }
}

#[test]
fn a_path_with_very_many_directories_is_judged() {
    let project = project();
    project.config("deadline: 20s\n").rule("vendored", "---\nwrites: ['vendor/**']\n---\nNo.\n");
    let deep = "d/".repeat(30_000);
    assert_eq!(project.decision(&format!("cat {deep}x")), "allow");
    let write = |path: String| {
        project.hook("claude", &project.tool_payload("Write", &json!({ "file_path": path, "content": "" }))).decision()
    };
    assert_eq!(write(format!("{}/src/{deep}x", project.root().display())), "allow");
    assert_eq!(write(format!("{}/vendor/{deep}x", project.root().display())), "deny");
}

#[test]
fn a_shell_call_without_a_command_is_asked_about() {
    let project = project();
    for input in [json!({}), json!({ "command": null }), json!({ "command": 7 }), json!("rm"), json!(null)] {
        let reply = project.hook("claude", &project.tool_payload("Bash", &input));
        assert_eq!(reply.decision(), "ask", "{input}");
    }
    insta::assert_snapshot!(project.hook("claude", &project.tool_payload("Bash", &json!({}))).reason(), @"
    Approval required by Linchpin: This shell call contains no command. Linchpin can't tell whether this is allowed, so a person must decide.

    A person can allow this call once: `linchpin allow 6`
    ");
}

#[test]
fn a_call_without_a_tool_name_or_path_is_asked_about() {
    let project = project();
    let call = |name: Value, input: Value| {
        let event =
            project.event_payload("PreToolUse", &json!({ "tool_name": name, "tool_input": input, "tool_use_id": "t" }));
        project.hook("claude", &event).decision()
    };
    assert_eq!(call(json!(null), json!({ "command": "danger" })), "ask");
    assert_eq!(call(json!(7), json!({ "command": "danger" })), "ask");
    assert_eq!(call(json!("Write"), json!({ "file_path": 7 })), "ask");
    assert_eq!(call(json!("Read"), json!({})), "ask");
    assert_eq!(call(json!("TodoWrite"), json!({})), "allow");
}

#[test]
fn an_unwritable_answer_blocks_the_call() {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a full device");
    let mut hook = project.command(&["hook", "claude"]);
    let mut child = hook.stdin(Stdio::piped()).stdout(full).stderr(Stdio::null()).spawn().expect("it runs");
    child
        .stdin
        .take()
        .expect("a pipe")
        .write_all(project.bash_payload("danger").to_string().as_bytes())
        .expect("input");
    assert_eq!(child.wait().expect("it ends").code(), Some(2));
}

#[test]
fn missing_fields_never_weaken_the_verdict() {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    let complete_payload = project.bash_payload("danger");
    for (field, expected) in [
        ("session_id", "deny"),
        ("transcript_path", "deny"),
        ("permission_mode", "deny"),
        ("tool_use_id", "deny"),
        ("cwd", "ask"),
        ("tool_input", "ask"),
    ] {
        let mut payload = complete_payload.clone();
        payload.as_object_mut().expect("an object").remove(field);
        let mut command = project.command(&["hook", "claude"]);
        command.env("CLAUDE_PROJECT_DIR", project.root());
        let reply = project.run_with_stdin(command, payload.to_string().as_bytes());
        assert_eq!(reply.decision(), expected, "without {field}: {}", reply.transcript());
    }
}

#[test]
fn an_event_without_a_name_is_refused() {
    let project = project();
    let mut payload = project.bash_payload("danger");
    payload.as_object_mut().expect("an object").remove("hook_event_name");
    insta::assert_snapshot!(project.hook("claude", &payload).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    Blocked by Linchpin: The payload does not name its event. Linchpin can't tell which event this is, so the event is refused. Tell the person: `linchpin doctor` checks the hooks.
    ");
}

#[test]
fn a_missing_working_directory_does_not_disable_rules() {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    let mut payload = project.bash_payload("danger");
    payload["cwd"] = json!(project.root().join("gone/for/good"));
    assert_eq!(project.hook("claude", &payload).decision(), "deny");
}

#[test]
fn without_a_policy_hooks_print_and_write_nothing() {
    let project = project_without_policy();
    for payload in [project.bash_payload("danger").to_string(), "hello".to_owned(), String::new()] {
        let reply = project.hook_with_bytes("claude", payload.as_bytes());
        assert_eq!((reply.stdout.as_str(), reply.stderr.as_str(), reply.code), ("", "", Some(0)));
    }
    assert!(!project.state().exists());
    assert!(!project.root().join(".linchpin").exists());
}

#[test]
fn input_that_never_ends_is_answered_at_the_deadline() {
    let project = project();
    let mut hook = project.command(&["hook", "claude"]);
    let mut child = hook.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(b"{\"hook_event_name\":\"PreToolUse\",").expect("some input");
    let output = child.wait_with_output().expect("it ends");
    drop(input);
    assert_eq!(output.status.code(), Some(2));
    insta::assert_snapshot!(String::from_utf8_lossy(&output.stderr), @"Blocked by Linchpin: The rules were not judged within 10000 ms. Linchpin can't tell which event this is, so the event is refused. Tell the person: `linchpin doctor` checks the hooks.");
}

#[test]
fn a_hook_for_an_unknown_agent_refuses_and_lists_the_agents() {
    let project = project();
    insta::assert_snapshot!(project.hook_with_bytes("clod", b"{}").transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: `linchpin hook` takes an agent's name (claude, codex, gemini, antigravity, cursor, copilot, opencode) and its event as JSON on standard input
    help: agents run this command: `linchpin install AGENT` sets that up, and `linchpin demo` shows an example
    ");
}

#[test]
fn a_working_directory_with_a_nul_byte_is_asked_about() {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    let mut payload = project.bash_payload("danger");
    payload["cwd"] = json!("/tmp/a\0b");
    let reply = project.hook("claude", &payload);
    assert!(reply.stdout.contains(r#""permissionDecision":"ask""#), "{}", reply.transcript());
}
