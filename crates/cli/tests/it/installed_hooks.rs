//! Hooks of every agent: installed, checked and removed.

use agents::Agent;
use insta::assert_snapshot;
use serde_json::json;
use testkit::TestProject;

use crate::{NO_DANGER, project};

fn with_hooks(agents: &[&str]) -> TestProject {
    let project = project();
    for agent in agents {
        let reply = project.run(&["install", agent]);
        assert_eq!(reply.code, Some(0), "{agent}: {}{}", reply.stdout, reply.stderr);
    }
    project
}

fn doctor(project: &TestProject) -> String {
    project.redacted(&project.run(&["doctor"]).transcript())
}

#[test]
fn the_self_test_of_doctor_passes_for_every_agent() {
    for agent in Agent::ALL {
        for scope in [&[][..], &["--user"]] {
            let project = project();
            let arguments: Vec<&str> = ["install", agent.name()].into_iter().chain(scope.iter().copied()).collect();
            assert_eq!(project.run(&arguments).code, Some(0), "{agent:?}");
            let reply = project.run(&["doctor"]);
            let refused =
                format!("{}: self-test passed: the program answers; it would refuse `linchpin trust`", agent.title());
            assert!(reply.stdout.contains(&refused), "{}", reply.stdout);
            // Codex calls hooks only after a person has accepted them.
            let code = i32::from(agent == Agent::Codex);
            assert_eq!(reply.code, Some(code), "{}", reply.stdout);
            let arguments: Vec<&str> = ["uninstall", agent.name()].into_iter().chain(scope.iter().copied()).collect();
            assert_eq!(project.run(&arguments).code, Some(0), "{agent:?}");
            assert!(project.run(&["doctor"]).stdout.contains("no agent has Linchpin's hooks"), "{agent:?}");
        }
    }
}

#[test]
fn repeated_and_unaccepted_hooks_are_reported() {
    let project = with_hooks(&["claude", "codex", "copilot", "cursor"]);
    assert_eq!(project.run(&["install", "codex", "--user"]).code, Some(0));
    assert_snapshot!(doctor(&project));
}

#[test]
fn hooks_switched_off_in_another_file_are_reported() {
    let project = with_hooks(&["gemini"]);
    let settings = project.home().join(".gemini/settings.json");
    std::fs::create_dir_all(settings.parent().unwrap()).unwrap();
    std::fs::write(settings, "{\"hooksConfig\": {\"enabled\": false}}").unwrap();
    let reply = project.run(&["doctor"]);
    assert!(reply.stdout.contains("`hooksConfig.enabled` is off, so Gemini CLI calls no hooks"), "{}", reply.stdout);
    assert_eq!(reply.code, Some(1));
}

#[test]
fn hooks_switched_off_in_codex_are_reported() {
    let project = with_hooks(&["codex"]);
    let config = project.home().join(".codex/config.toml");
    std::fs::create_dir_all(config.parent().unwrap()).unwrap();
    for (text, is_off) in [
        ("[features]\nhooks = false # later\n", true),
        ("[features] # all\nhooks = false\n", true),
        ("[features]\nhooks = true\n", false),
    ] {
        std::fs::write(&config, text).unwrap();
        let reply = project.run(&["doctor"]);
        assert_eq!(reply.stdout.contains("Codex CLI: hooks are switched off"), is_off, "{}", reply.stdout);
    }
    let hooks = project.root().join(".codex/hooks.json");
    std::fs::write(&config, format!("[hooks.state.\"{}:pre_tool_use:0:0\"]\n", hooks.display())).unwrap();
    assert!(project.run(&["doctor"]).stdout.contains("Codex CLI: the hooks are accepted in"));
}

#[test]
fn a_changed_plugin_is_reported() {
    let project = with_hooks(&["opencode"]);
    let file = project.root().join(".opencode/plugins/linchpin.js");
    let text = std::fs::read_to_string(&file).unwrap().replace("throw new Error(answer.refuse)", "");
    std::fs::write(&file, text).unwrap();
    let reply = project.run(&["doctor"]);
    assert!(reply.stdout.contains("the plugin differs from the one that this Linchpin writes"), "{}", reply.stdout);
}

/// A project with one rule for each feature that some agent lacks, and one rule that every agent supports.
fn with_unsupported_rules(agents: &[&str]) -> TestProject {
    let project = with_hooks(agents);
    project.rule("ask-first", "---\ntools: [Bash]\ncommand_pattern: deploy\naction: ask\n---\nAsk first.\n");
    project.rule("no-prompt", "---\non: prompt\naction: block\nwhen: \"'x' in event.prompt\"\n---\nNo.\n");
    project.rule("no-failure", "---\non: tool_failed\n---\nThat failed.\n");
    project.rule("any-failure", "---\non: [after_tool, tool_failed]\n---\nThat failed.\n");
    project.rule("no-helper", "---\non: subagent_start\naction: block\n---\nDo it yourself.\n");
    project.rule("no-change", "---\non: after_tool\naction: block\n---\nTake it back.\n");
    project.rule("mind-it", "---\ncommand_pattern: deploy\naction: warn\n---\nMind it.\n");
    project.rule("well-done", "---\non: stop\n---\nWell done.\n");
    project.rule("together", "---\nset: ['src/{path}.rs', 'tests/{path}.rs']\n---\nBoth.\n");
    project.rule("no-issue", "---\nmcp_tools: ['github:create_issue']\n---\nNo.\n");
    project.rule("no-pull", "---\ntools: [Bash, mcp__github__create_pull]\n---\nNo.\n");
    project.rule("any-server", "---\ntools: ['mcp__*', 'mcp__*__drop']\nmcp_tools: ['*:drop']\n---\nNo.\n");
    project.user_rule("go-ahead", "---\ntools: [Bash]\ncommand_pattern: '^ls$'\naction: allow\n---\nLook.\n");
    project.rule("fine", "---\ntools: [Bash]\ncommand_pattern: deploy\n---\nNo.\n");
    project
}

#[test]
fn rules_that_an_agent_cannot_support_are_warned_about() {
    let transcripts = Agent::ALL.map(|agent| {
        let project = with_unsupported_rules(&[agent.name()]);
        format!("## {}\n{}", agent.title(), project.redacted(&project.run(&["validate"]).transcript()))
    });
    assert_snapshot!(transcripts.join("\n"));
}

#[test]
fn a_warning_is_shown_once_for_all_rules_and_in_full_as_json() {
    let project = with_hooks(&["codex", "gemini", "cursor"]);
    let ids: Vec<String> = (1..=30).map(|number| format!("ask-{number:02}")).collect();
    for id in &ids {
        project.rule(id, "---\ntools: [Bash]\ncommand_pattern: deploy\naction: ask\n---\nAsk first.\n");
    }
    assert_snapshot!(project.run(&["validate"]).transcript());
    let report = project.run(&["validate", "--json"]).json();
    let unsupported = report["shortfalls"].as_array().expect("a list");
    for agent in ["codex", "gemini", "cursor"] {
        let unsupported_by_agent = unsupported.iter().filter(|shortfall| shortfall["agent"] == agent);
        let rules: Vec<&str> = unsupported_by_agent.filter_map(|shortfall| shortfall["rule"].as_str()).collect();
        assert_eq!(rules, ids, "{agent}");
    }
    assert_snapshot!(serde_json::to_string_pretty(&unsupported[0]).expect("JSON"));
}

/// `validate` checks rules of a workflow for unsupported features, too, wherever the workflow's file defines them.
#[test]
fn rules_of_a_workflow_are_checked_too() {
    let project = with_hooks(&["codex"]);
    project.file(
        ".linchpin/workflows/work.yml",
        "start_node: a\nrule_definitions: {ship: {command_pattern: deploy, action: ask, reason: Ask.}}\n\
         rules: [{tools: [WebFetch], action: ask, reason: Ask.}]\nnodes:\n  \
         a: {prompt: A., rules: [ship], transitions: [{when: a_complete, to: b}]}\n  \
         b: {prompt: B., rules: [ship], transitions: [{when: b_complete, to: done}]}\n",
    );
    assert_snapshot!(project.run(&["validate"]).transcript());
}

/// If an agent can show a rule's warning to nobody, `validate` reports that as a hint.
#[test]
fn a_warning_that_no_one_can_read_is_a_hint() {
    let project = with_hooks(&["cursor", "antigravity"]);
    project.rule("mind-it", "---\ncommand_pattern: deploy\naction: warn\n---\nMind it.\n");
    project.rule("heard", "---\non: session_start\n---\nRead the guide.\n");
    project.rule("slow", "---\nphase_timeout: {max_duration: 300}\n---\nHurry.\n");
    project.rule("counts-only", "---\nphase_timeout: {max_duration: 300}\nlive: off\n---\nHurry.\n");
    assert_snapshot!(project.run(&["validate"]).transcript());
}

/// Copilot reads Claude Code's settings and runs the hook's program without its arguments.
#[test]
fn a_call_by_copilot_without_arguments_is_a_hook() {
    let project = project();
    let root = project.root();
    let payload = json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "cwd": root, "tool_name": "Bash",
        "tool_input": {"command": "linchpin trust"},
    });
    let mut command = project.command(&[]);
    command.env("COPILOT_PROJECT_DIR", &root);
    let reply = project.run_with_stdin(command, payload.to_string().as_bytes());
    assert!(reply.stdout.contains("\"permissionDecision\":\"deny\""), "{}{}", reply.stdout, reply.stderr);
}

/// Cursor runs Claude Code's hooks with its own payloads.
#[test]
fn a_claude_hook_called_by_cursor_answers_in_cursors_format() {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    let payload = json!({
        "conversation_id": "c", "hook_event_name": "preToolUse", "workspace_roots": [project.root()], "cwd": "",
        "tool_name": "Shell", "tool_input": { "command": "danger" },
    });
    let mut hook = project.command(&["hook", "claude"]);
    hook.env("CURSOR_PROJECT_DIR", project.root());
    let answer = project.run_with_stdin(hook, payload.to_string().as_bytes());
    assert!(answer.stdout.contains(r#""permission":"deny""#), "{}{}", answer.stdout, answer.stderr);
}

/// Linchpin does not take additional fields of Cursor's payload for arguments of the call.
#[test]
fn extra_fields_in_cursors_payload_are_ignored() {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    for field in ["url", "command", "file_path"] {
        let mut payload = json!({
            "conversation_id": "c", "hook_event_name": "preToolUse", "workspace_roots": [project.root()],
            "tool_name": "Shell", "tool_input": { "command": "danger" },
        });
        payload[field] = json!("x");
        let answer = project.hook("cursor", &payload);
        assert!(answer.stdout.contains("no-danger"), "{field}: {}", answer.stdout);
    }
}

#[test]
fn an_interrupted_agent_is_not_told_to_continue() {
    let project = project();
    project.rule("hold", "---\non: stop\naction: block\n---\nGo on.\n");
    let stop = |status: &str| {
        let payload = json!({
            "conversation_id": "c", "hook_event_name": "stop", "workspace_roots": [project.root()],
            "status": status, "loop_count": 0,
        });
        project.hook("cursor", &payload).stdout
    };
    assert!(stop("completed").contains("Held by Linchpin"));
    assert!(!stop("aborted").contains("Held by Linchpin"));
}

#[test]
fn a_missing_transcript_leaves_time_to_judge() {
    let project = project();
    project.config("deadline: 500ms\n").rule("hold", "---\non: stop\naction: block\n---\nGo on.\n");
    let payload = json!({
        "hook_event_name": "Stop", "session_id": "s", "cwd": project.root(),
        "transcript_path": project.root().join("none.jsonl"),
    });
    let answer = project.hook("copilot", &payload);
    assert!(answer.stdout.contains("Held by Linchpin"), "{}{}", answer.stdout, answer.stderr);
}

/// The payload is nested too deeply to be parsed. Linchpin finds only the directory in it, and the session is unknown.
#[test]
fn an_unreadable_first_event_is_judged_in_the_agents_project() {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let root = project.root().display().to_string();
    let payload = format!(r#"{{"conversationId":"c","workspacePaths":["{root}"],"toolCall":{deep}}}"#);
    let mut hook = project.command(&["hook", "antigravity", "PreToolUse"]);
    hook.current_dir("/");
    let answer = project.run_with_stdin(hook, payload.as_bytes());
    assert!(answer.stdout.contains("force_ask"), "{}{}", answer.stdout, answer.stderr);
}

/// A patch in a shell command is recognized however the command passes it to `apply_patch`.
#[test]
fn a_patch_in_a_shell_command_is_recognized() {
    let project = project();
    project.rule("kept", "---\nwrites: ['kept/**']\n---\nNo.\n").file("kept/a", "a\n");
    let patch =
        |file: &str| format!("<<'EOF'\n*** Begin Patch\n*** Update File: {file}\n@@\n-a\n+b\n*** End Patch\nEOF");
    for (command, is_refused) in [
        (format!("apply_patch {}", patch("kept/a")), true),
        (format!("applypatch {}", patch("kept/a")), true),
        (format!("cd\tkept && apply_patch {}", patch("a")), true),
        (format!("mkdir -p y; cd kept; apply_patch {}", patch("a")), true),
        (format!("apply_patch {}", patch("other/a")), false),
    ] {
        let payload = json!({
            "hook_event_name": "PreToolUse", "session_id": "s", "cwd": project.root(), "tool_name": "Bash",
            "tool_input": { "command": command },
        });
        let answer = project.hook("codex", &payload).stdout;
        assert_eq!(answer.contains("`kept`"), is_refused, "{command}: {answer}");
    }
}
