//! The project's root is fixed for a session, so an agent cannot escape the policy.

use std::fs;

use serde_json::json;

use super::{NO_DANGER, project, project_without_policy};

#[test]
fn the_policy_applies_in_any_directory_of_the_project() {
    let project = project();
    project.rule("no-danger", NO_DANGER).file("a/b/c/file", "");
    let mut payload = project.bash_payload("danger");
    payload["cwd"] = json!(project.root().join("a/b/c"));
    assert_eq!(project.hook("claude", &payload).decision(), "deny");
}

#[test]
fn changing_the_directory_does_not_change_the_root() {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    assert_eq!(project.decision("ls"), "allow");
    let mut payload = project.bash_payload("danger");
    payload["cwd"] = json!("/");
    assert_eq!(project.hook("claude", &payload).decision(), "deny");
}

#[test]
fn the_agents_project_variable_precedes_the_working_directory() {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    let mut payload = project.bash_payload("danger");
    payload["cwd"] = json!("/");
    let mut command = project.command(&["hook", "claude"]);
    command.env("CLAUDE_PROJECT_DIR", project.root());
    assert_eq!(project.run_with_stdin(command, payload.to_string().as_bytes()).decision(), "deny");
}

/// The session starts in a directory that contains projects, but has no policy itself.
#[test]
fn a_session_that_starts_above_a_project_is_guarded_after_it_enters_the_project() {
    let project = project_without_policy();
    project.file("one/.linchpin/rules/no-danger.md", NO_DANGER).file("two/file", "");
    let decision_in = |command: &str, directory: &str| {
        let mut payload = project.bash_payload(command);
        payload["cwd"] = json!(project.root().join(directory));
        let mut hook = project.command(&["hook", "claude"]);
        hook.env("CLAUDE_PROJECT_DIR", project.root());
        project.run_with_stdin(hook, payload.to_string().as_bytes()).decision()
    };
    assert_eq!(decision_in("danger", "two"), "allow");
    assert_eq!(decision_in("danger", "one"), "deny");
    // The policy of `one` stays in force after the agent has left that directory.
    assert_eq!(decision_in("danger", "two"), "deny");
    assert_eq!(decision_in("danger", "."), "deny");
}

#[test]
fn a_nested_policy_only_adds_to_the_outer_one() {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    assert_eq!(project.decision("ls"), "allow");
    project.file("sub/.linchpin/rules/no-hazard.md", "---\ncommand_pattern: ^hazard\n---\nNo.\n");
    project.file("sub/.linchpin/rules/no-danger.md", "---\ncommand_pattern: ^never\nenabled: false\n---\nNo.\n");
    let decision_in = |command: &str, directory: &str| {
        let mut payload = project.bash_payload(command);
        payload["cwd"] = json!(project.root().join(directory));
        project.hook("claude", &payload).decision()
    };
    assert_eq!(decision_in("hazard", "sub"), "deny");
    assert_eq!(decision_in("danger", "sub"), "deny");
    assert_eq!(decision_in("hazard", "."), "allow");
    let mut list = project.command(&["rules", "list"]);
    list.current_dir(project.root().join("sub"));
    let listed = project.run_with_stdin(list, b"").stdout;
    let note = "The policy in [BASE]/project applies here too: `linchpin status` shows the rules of both.";
    assert!(listed.contains(note), "{listed}");
}

#[test]
fn patterns_of_a_nested_policy_are_relative_to_its_own_directory() {
    let project = project();
    project.file("sub/.linchpin/rules/generated.md", "---\nwrites: ['dist/**']\n---\nMade.\n");
    let write = |path: &str| {
        let input = json!({ "file_path": project.root().join(path), "content": "" });
        project.hook("claude", &project.tool_payload("Write", &input)).decision()
    };
    assert_eq!(write("sub/dist/x"), "deny");
    assert_eq!(write("dist/x"), "allow");
}

#[test]
fn a_nested_policy_applies_to_commands_that_run_there_or_name_paths_there() {
    let project = project();
    project.file("sub/.linchpin/rules/no-hazard.md", "---\ncommand_pattern: ^hazard\n---\nNo.\n");
    project.file("sub/.linchpin/rules/kept.md", "---\ndeletes: [keep.txt]\n---\nKept.\n");
    project.file("sub/.linchpin/rules/inside.md", "---\nwrites: [outside_project]\n---\nOutside.\n");
    project.file("sub/deep/x", "").file("other/x", "");
    let cases = [
        ("cd sub && hazard", "deny"),
        ("cd sub/deep; hazard", "deny"),
        ("(cd sub && ls) && make -C sub && hazard", "allow"),
        ("hazard sub/deep/x", "deny"),
        ("hazard > sub/deep/log", "deny"),
        ("hazard; cat sub/deep/x", "allow"),
        ("bash -c 'cd sub; hazard'", "deny"),
        ("rm sub/keep.txt", "deny"),
        ("rm -r sub", "deny"),
        ("cd sub && rm ./keep.txt", "deny"),
        ("cp sub/deep/x /r", "deny"),
        ("touch other/x; cat sub/deep/x", "allow"),
        ("cd other && hazard && rm keep.txt", "allow"),
    ];
    for (command, expected) in cases {
        assert_eq!(project.decision(command), expected, "{command}");
    }
    let reply = project.run(&["replay"]);
    let expected = format!("{0} events: {0} the same, 0 changed (0 stricter, 0 milder), 0 undecidable\n", cases.len());
    assert_eq!(reply.stdout, expected);
}

#[test]
fn a_nested_policy_approves_only_commands_inside_it() {
    let project = project();
    project.file("sub/.linchpin/rules/some.md", "---\ncommand_pattern: ^(stroll|gaze)\naction: allow\n---\nGo.\n");
    project.file("sub/.linchpin/rules/all.md", "---\ntools: [Bash]\naction: allow\n---\nGo.\n");
    let mut trust = project.command(&["trust", "--yes"]);
    trust.current_dir(project.root().join("sub"));
    let trusted = project.run_with_stdin(trust, b"");
    assert_eq!(trusted.code, Some(0), "{}", trusted.transcript());
    let approved = |command: &str, directory: &str| {
        let mut payload = project.bash_payload(command);
        payload["cwd"] = json!(project.root().join(directory));
        project.hook("claude", &payload).stdout.contains("\"allow\"")
    };
    assert!(approved("stroll x; gaze", "sub"));
    assert!(!approved("stroll x; cd ..; gaze", "sub"));
    assert!(!approved("stroll x; gaze sub/x", "."));
    assert!(!approved("stroll sub/x", "."));
}

#[test]
fn a_policy_that_disappears_during_the_session_stays_in_force() {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    assert_eq!(project.decision("ls"), "allow");
    fs::rename(project.root().join(".linchpin"), project.root().join("elsewhere")).expect("moved");
    for _ in 0..3 {
        assert_eq!(project.decision("danger"), "deny");
    }
    assert!(!project.root().join(".linchpin").exists());
}

#[test]
fn deleting_policy_files_during_the_session_changes_nothing() {
    let project = project();
    project.config("rules: []\n").rule("no-danger", NO_DANGER);
    assert_eq!(project.decision("ls"), "allow");
    fs::remove_dir_all(project.root().join(".linchpin/rules")).expect("removed");
    fs::remove_file(project.root().join(".linchpin/config.yml")).expect("removed");
    for _ in 0..3 {
        assert_eq!(project.decision("danger"), "deny");
    }
}

#[test]
fn with_only_user_rules_the_root_is_fixed_and_notices_come_once() {
    let project = project_without_policy();
    project.user_rule("no-danger", NO_DANGER).user_rule("broken", "---\ntoolz: x\n---\nNo.\n");
    let first = project.hook("claude", &project.event_payload("Notification", &json!({ "message": "hi" })));
    assert!(first.stdout.contains("broken policy file"), "{}", first.stdout);
    let second = project.hook("claude", &project.event_payload("Notification", &json!({ "message": "hi" })));
    assert_eq!(second.stdout, "");
    assert!(!project.root().join(".linchpin").exists());
}

#[test]
fn a_nested_policy_has_its_own_variables_and_reports_its_errors() {
    let project = project();
    project.file("sub/.linchpin/config.yml", "variables: {frozen: true}\n");
    project.file("sub/.linchpin/rules/frozen.md", "---\ncommand_pattern: ^hazard\nwhen: frozen\n---\nFrozen.\n");
    project.file("sub/.linchpin/rules/broken.md", "---\ntoolz: x\n---\nNo.\n");
    let mut payload = project.bash_payload("hazard");
    payload["cwd"] = json!(project.root().join("sub"));
    let reply = project.hook("claude", &payload);
    assert_eq!(reply.decision(), "deny");
    assert!(reply.stdout.contains("broken policy file"), "{}", reply.stdout);
}

#[test]
fn a_policy_that_appears_during_a_session_applies() {
    let project = project_without_policy();
    assert_eq!(project.decision("danger"), "allow");
    project.rule("no-danger", NO_DANGER);
    assert_eq!(project.decision("danger"), "deny");
}

#[test]
fn two_sessions_have_two_roots() {
    let project = project();
    project
        .rule("no-danger", NO_DANGER)
        .file("../other/.linchpin/rules/no-hazard.md", "---\ncommand_pattern: ^hazard\n---\nNo.\n");
    let decision_in = |session: &str, directory: &str, command: &str| {
        let mut payload = project.bash_payload(command);
        payload["session_id"] = json!(session);
        payload["cwd"] = json!(project.root().join(directory).canonicalize().expect("a directory"));
        project.hook("claude", &payload).decision()
    };
    assert_eq!(decision_in("one", ".", "danger"), "deny");
    assert_eq!(decision_in("two", "../other", "danger"), "allow");
    assert_eq!(decision_in("two", ".", "hazard"), "deny");
    assert_eq!(decision_in("one", "../other", "danger"), "deny");
}

#[test]
fn other_spellings_of_the_root_do_not_bypass_rules() {
    let project = project();
    project.rule("secrets", "---\nreads: ['secrets/**']\n---\nNo.\n").file("secrets/key", "");
    let symlink = project.home().join("link");
    std::os::unix::fs::symlink(project.root(), &symlink).expect("a symlink");
    let spellings = [
        format!("{}/.", project.root().display()),
        format!("/{}", project.root().display()),
        symlink.display().to_string(),
    ];
    for (number, cwd) in spellings.iter().enumerate() {
        for path in [format!("{cwd}/secrets/key"), project.root().join("secrets/key").display().to_string()] {
            let mut payload = project.tool_payload("Read", &json!({ "file_path": path }));
            payload["cwd"] = json!(cwd);
            payload["session_id"] = json!(format!("spelling-{number}"));
            assert_eq!(project.hook("claude", &payload).decision(), "deny", "{path} in {cwd}");
        }
    }
}

#[test]
fn a_session_that_begins_in_a_nested_policy_is_judged_by_the_outer_one_too() {
    let project = project();
    project.rule("no-danger", NO_DANGER).file("sub/.linchpin/config.yml", "rules: []\n");
    let mut payload = project.bash_payload("danger");
    payload["cwd"] = json!(project.root().join("sub"));
    assert_eq!(project.hook("claude", &payload).decision(), "deny");
}

/// The working directory of a call is not the session's directory, even if the call is the session's first event.
#[test]
fn the_directory_of_a_first_call_is_not_the_sessions_root() {
    let payloads = |root: &str| {
        let opencode = json!({
            "hook_event_name": "PreToolUse", "session_id": "s", "cwd": root, "tool_name": "shell",
            "tool_input": { "command": "danger", "workdir": "/" },
        });
        let gemini = json!({
            "hook_event_name": "BeforeTool", "session_id": "s", "cwd": root, "tool_name": "run_shell_command",
            "tool_input": { "command": "danger", "dir_path": "/" },
        });
        let cursor = json!({
            "hook_event_name": "preToolUse", "conversation_id": "s", "workspace_roots": [root], "cwd": "/",
            "tool_name": "Shell", "tool_input": { "command": "danger" },
        });
        let antigravity = json!({
            "conversationId": "s", "workspacePaths": [root],
            "toolCall": { "name": "run_command", "args": { "CommandLine": "danger", "Cwd": "/" } },
        });
        [("opencode", opencode), ("gemini", gemini), ("cursor", cursor), ("antigravity", antigravity)]
    };
    let project = project();
    project.rule("no-danger", NO_DANGER);
    for (agent, payload) in payloads(&project.root().to_string_lossy()) {
        let mut hook = project.command(&["hook", agent, "PreToolUse"]);
        hook.current_dir("/");
        let answer = project.run_with_stdin(hook, payload.to_string().as_bytes());
        assert!(answer.stdout.contains("no-danger"), "{agent}: {}", answer.stdout);
    }
}

/// The session and its directory are recognized even in a truncated payload.
#[test]
fn a_truncated_payload_is_judged_in_its_sessions_project() {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    let root = project.root().to_string_lossy().into_owned();
    for (agent, key) in [("antigravity", "conversationId"), ("cursor", "conversation_id"), ("copilot", "sessionId")] {
        let call_hook = |payload: &str| {
            let mut hook = project.command(&["hook", agent, "PreToolUse"]);
            hook.current_dir("/");
            project.run_with_stdin(hook, payload.as_bytes())
        };
        call_hook(&format!(
            r#"{{"{key}":"s","cwd":"{root}","workspacePaths":["{root}"],"workspace_roots":["{root}"]}}"#
        ));
        let answer = call_hook(&format!(r#"{{"{key}":"s","cwd":"/","toolCall":{{"name":"run_command","args":{{"#));
        assert!(answer.stdout.contains("readable JSON"), "{agent}: {} {}", answer.stdout, answer.stderr);
    }
}

#[test]
fn the_first_workspace_folder_with_a_policy_counts() {
    let project = project_without_policy();
    project.file("one/file", "").file("two/.linchpin/rules/no-danger.md", NO_DANGER);
    let roots = [project.root().join("one"), project.root().join("two")];
    let payload = json!({
        "hook_event_name": "preToolUse", "conversation_id": "s", "workspace_roots": roots, "cwd": "",
        "tool_name": "Shell", "tool_input": { "command": "danger" },
    });
    let mut hook = project.command(&["hook", "cursor"]);
    hook.current_dir("/");
    assert!(project.run_with_stdin(hook, payload.to_string().as_bytes()).stdout.contains("no-danger"));
}

#[test]
fn a_deleted_working_directory_counts_as_its_nearest_existing_parent() {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    let mut payload = project.bash_payload("danger");
    payload["cwd"] = json!(project.root().join("gone/deeper"));
    let mut hook = project.command(&["hook", "claude"]);
    hook.current_dir("/");
    assert_eq!(project.run_with_stdin(hook, payload.to_string().as_bytes()).decision(), "deny");
}
