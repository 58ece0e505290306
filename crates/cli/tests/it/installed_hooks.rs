//! Every agent's hooks: put in, looked at, taken out again.

use agents::Agent;
use insta::assert_snapshot;
use serde_json::json;
use testkit::Scratch;

use crate::{NO_DANGER, project};

fn installed(agents: &[&str]) -> Scratch {
    let scratch = project();
    for agent in agents {
        let reply = scratch.run(&["install", agent]);
        assert_eq!(reply.code, Some(0), "{agent}: {}{}", reply.stdout, reply.stderr);
    }
    scratch
}

fn doctor(scratch: &Scratch) -> String {
    scratch.shown(&scratch.run(&["doctor"]).transcript())
}

#[test]
fn an_installed_hook_refuses_a_forged_event() {
    for agent in Agent::ALL {
        for scope in [&[][..], &["--user"]] {
            let scratch = project();
            let arguments: Vec<&str> = ["install", agent.name()].into_iter().chain(scope.iter().copied()).collect();
            assert_eq!(scratch.run(&arguments).code, Some(0), "{agent:?}");
            let reply = scratch.run(&["doctor"]);
            let refused = format!("{}: a forged `linchpin trust` was refused", agent.title());
            assert!(reply.stdout.contains(&refused), "{}", reply.stdout);
            assert_eq!(reply.code, Some(0), "{}", reply.stdout);
            let arguments: Vec<&str> = ["uninstall", agent.name()].into_iter().chain(scope.iter().copied()).collect();
            assert_eq!(scratch.run(&arguments).code, Some(0), "{agent:?}");
            assert!(scratch.run(&["doctor"]).stdout.contains("no agent calls Linchpin"), "{agent:?}");
        }
    }
}

#[test]
fn who_is_called_twice_and_what_is_not_accepted_is_said() {
    let scratch = installed(&["claude", "codex", "copilot", "cursor"]);
    assert_eq!(scratch.run(&["install", "codex", "--user"]).code, Some(0));
    assert_snapshot!(doctor(&scratch));
}

#[test]
fn a_switch_in_another_file_is_found() {
    let scratch = installed(&["gemini"]);
    let settings = scratch.home().join(".gemini/settings.json");
    std::fs::create_dir_all(settings.parent().unwrap()).unwrap();
    std::fs::write(settings, "{\"hooksConfig\": {\"enabled\": false}}").unwrap();
    let reply = scratch.run(&["doctor"]);
    assert!(reply.stdout.contains("`hooksConfig.enabled` is off, so Gemini CLI calls no hooks"), "{}", reply.stdout);
    assert_eq!(reply.code, Some(1));
}

#[test]
fn hooks_that_codex_has_switched_off_are_found() {
    let scratch = installed(&["codex"]);
    let config = scratch.home().join(".codex/config.toml");
    std::fs::create_dir_all(config.parent().unwrap()).unwrap();
    for (text, is_off) in [("[features]\nhooks = false # later\n", true), ("[features]\nhooks = true\n", false)] {
        std::fs::write(&config, text).unwrap();
        let reply = scratch.run(&["doctor"]);
        assert_eq!(reply.stdout.contains("Codex CLI: hooks are switched off"), is_off, "{}", reply.stdout);
    }
    let hooks = scratch.root().join(".codex/hooks.json");
    std::fs::write(&config, format!("[hooks.state.\"{}:pre_tool_use:0:0\"]\n", hooks.display())).unwrap();
    assert!(scratch.run(&["doctor"]).stdout.contains("Codex CLI: the hooks, or their folder, are named in"));
}

#[test]
fn a_plugin_that_somebody_changed_is_found() {
    let scratch = installed(&["opencode"]);
    let file = scratch.root().join(".opencode/plugins/linchpin.js");
    let text = std::fs::read_to_string(&file).unwrap().replace("throw new Error(answer.refuse)", "");
    std::fs::write(&file, text).unwrap();
    let reply = scratch.run(&["doctor"]);
    assert!(reply.stdout.contains("the plugin is not the one that this Linchpin writes"), "{}", reply.stdout);
}

/// A project with one rule of each kind that some agent falls short of, and one that none does.
fn demanding(agents: &[&str]) -> Scratch {
    let scratch = installed(agents);
    scratch.rule("ask-first", "---\ntools: [Bash]\ncommand_pattern: deploy\naction: ask\n---\nAsk first.\n");
    scratch.rule("no-prompt", "---\non: prompt\naction: block\nwhen: \"'x' in event.prompt\"\n---\nNo.\n");
    scratch.rule("no-failure", "---\non: tool_failed\n---\nThat failed.\n");
    scratch.rule("any-failure", "---\non: [after_tool, tool_failed]\n---\nThat failed.\n");
    scratch.rule("no-helper", "---\non: subagent_start\naction: block\n---\nDo it yourself.\n");
    scratch.rule("no-change", "---\non: after_tool\naction: block\n---\nTake it back.\n");
    scratch.rule("mind-it", "---\ncommand_pattern: deploy\naction: warn\n---\nMind it.\n");
    scratch.rule("well-done", "---\non: stop\n---\nWell done.\n");
    scratch.rule("together", "---\nset: ['src/{path}.rs', 'tests/{path}.rs']\n---\nBoth.\n");
    scratch.rule("no-issue", "---\nmcp_tools: ['github:create_issue']\n---\nNo.\n");
    scratch.rule("no-pull", "---\ntools: [Bash, mcp__github__create_pull]\n---\nNo.\n");
    scratch.rule("any-server", "---\ntools: ['mcp__*', 'mcp__*__drop']\nmcp_tools: ['*:drop']\n---\nNo.\n");
    scratch.user_rule("go-ahead", "---\ntools: [Bash]\ncommand_pattern: '^ls$'\naction: allow\n---\nLook.\n");
    scratch.rule("fine", "---\ntools: [Bash]\ncommand_pattern: deploy\n---\nNo.\n");
    scratch
}

#[test]
fn rules_that_ask_for_what_an_agent_cannot_do_are_warned_about() {
    let said = Agent::ALL.map(|agent| {
        let scratch = demanding(&[agent.name()]);
        format!("## {}\n{}", agent.title(), scratch.shown(&scratch.run(&["validate"]).transcript()))
    });
    assert_snapshot!(said.join("\n"));
}

#[test]
fn a_warning_is_told_once_for_all_rules_and_in_full_to_programs() {
    let scratch = installed(&["codex", "gemini", "cursor"]);
    let ids: Vec<String> = (1..=30).map(|number| format!("ask-{number:02}")).collect();
    for id in &ids {
        scratch.rule(id, "---\ntools: [Bash]\ncommand_pattern: deploy\naction: ask\n---\nAsk first.\n");
    }
    assert_snapshot!(scratch.run(&["validate"]).transcript());
    let report = scratch.run(&["validate", "--json"]).json();
    let shortfalls = report["shortfalls"].as_array().expect("a list");
    for agent in ["codex", "gemini", "cursor"] {
        let of_agent = shortfalls.iter().filter(|shortfall| shortfall["agent"] == agent);
        let rules: Vec<&str> = of_agent.filter_map(|shortfall| shortfall["rule"].as_str()).collect();
        assert_eq!(rules, ids, "{agent}");
    }
    assert_snapshot!(serde_json::to_string_pretty(&shortfalls[0]).expect("JSON"));
}

/// Rules of workflows count like any other, wherever in the file they stand.
#[test]
fn rules_of_a_workflow_are_looked_at_too() {
    let scratch = installed(&["codex"]);
    scratch.file(
        ".linchpin/workflows/work.yml",
        "start_node: a\nrule_definitions: {ship: {command_pattern: deploy, action: ask, reason: Ask.}}\n\
         rules: [{tools: [WebFetch], action: ask, reason: Ask.}]\nnodes:\n  \
         a: {prompt: A., rules: [ship], transitions: [{when: a_complete, to: b}]}\n  \
         b: {prompt: B., rules: [ship], transitions: [{when: b_complete, to: done}]}\n",
    );
    assert_snapshot!(scratch.run(&["validate"]).transcript());
}

/// What nobody hears is told of, and is no failure.
#[test]
fn a_warning_that_reaches_nobody_is_a_hint() {
    let scratch = installed(&["cursor", "antigravity"]);
    scratch.rule("mind-it", "---\ncommand_pattern: deploy\naction: warn\n---\nMind it.\n");
    scratch.rule("heard", "---\non: session_start\n---\nRead the guide.\n");
    scratch.rule("slow", "---\nphase_timeout: {max_duration: 300}\n---\nHurry.\n");
    scratch.rule("counts-only", "---\nphase_timeout: {max_duration: 300}\nlive: off\n---\nHurry.\n");
    assert_snapshot!(scratch.run(&["validate"]).transcript());
}

/// Copilot reads Claude Code's settings, and runs the program of a hook without its arguments.
#[test]
fn a_bare_call_by_copilot_is_a_hook() {
    let scratch = project();
    let root = scratch.root();
    let payload = json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "cwd": root, "tool_name": "Bash",
        "tool_input": {"command": "linchpin trust"},
    });
    let mut command = scratch.command(&[]);
    command.env("COPILOT_PROJECT_DIR", &root);
    let reply = scratch.feed(command, payload.to_string().as_bytes());
    assert!(reply.stdout.contains("\"permissionDecision\":\"deny\""), "{}{}", reply.stdout, reply.stderr);
}

/// Cursor hands Claude Code's hooks its own payloads.
#[test]
fn a_call_by_cursor_of_claude_codes_hook_is_cursors() {
    let scratch = project();
    scratch.rule("no-danger", NO_DANGER);
    let payload = json!({
        "conversation_id": "c", "hook_event_name": "preToolUse", "workspace_roots": [scratch.root()], "cwd": "",
        "tool_name": "Shell", "tool_input": { "command": "danger" },
    });
    let mut hook = scratch.command(&["hook", "claude"]);
    hook.env("CURSOR_PROJECT_DIR", scratch.root());
    let answer = scratch.feed(hook, payload.to_string().as_bytes());
    assert!(answer.stdout.contains(r#""permission":"deny""#), "{}{}", answer.stdout, answer.stderr);
}

/// Its new fields are nobody's command.
#[test]
fn a_field_beside_a_call_of_cursors_makes_no_other_call_of_it() {
    let scratch = project();
    scratch.rule("no-danger", NO_DANGER);
    for field in ["url", "command", "file_path"] {
        let mut payload = json!({
            "conversation_id": "c", "hook_event_name": "preToolUse", "workspace_roots": [scratch.root()],
            "tool_name": "Shell", "tool_input": { "command": "danger" },
        });
        payload[field] = json!("x");
        let answer = scratch.hook("cursor", &payload);
        assert!(answer.stdout.contains("no-danger"), "{field}: {}", answer.stdout);
    }
}

#[test]
fn whoever_is_interrupted_is_not_sent_on() {
    let scratch = project();
    scratch.rule("hold", "---\non: stop\naction: block\n---\nGo on.\n");
    let stop = |status: &str| {
        let payload = json!({
            "conversation_id": "c", "hook_event_name": "stop", "workspace_roots": [scratch.root()],
            "status": status, "loop_count": 0,
        });
        scratch.hook("cursor", &payload).stdout
    };
    assert!(stop("completed").contains("Held by Linchpin"));
    assert!(!stop("aborted").contains("Held by Linchpin"));
}

#[test]
fn a_transcript_that_never_comes_leaves_time_to_judge() {
    let scratch = project();
    scratch.config("deadline: 500ms\n").rule("hold", "---\non: stop\naction: block\n---\nGo on.\n");
    let payload = json!({
        "hook_event_name": "Stop", "session_id": "s", "cwd": scratch.root(),
        "transcript_path": scratch.root().join("none.jsonl"),
    });
    let answer = scratch.hook("copilot", &payload);
    assert!(answer.stdout.contains("Held by Linchpin"), "{}{}", answer.stdout, answer.stderr);
}

/// Nothing of it can be read but where it belongs, and nobody remembers its session.
#[test]
fn a_first_event_that_cannot_be_read_is_judged_where_its_agent_works() {
    let scratch = project();
    scratch.rule("no-danger", NO_DANGER);
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let root = scratch.root().display().to_string();
    let payload = format!(r#"{{"conversationId":"c","workspacePaths":["{root}"],"toolCall":{deep}}}"#);
    let mut hook = scratch.command(&["hook", "antigravity", "PreToolUse"]);
    hook.current_dir("/");
    let answer = scratch.feed(hook, payload.as_bytes());
    assert!(answer.stdout.contains("force_ask"), "{}{}", answer.stdout, answer.stderr);
}

/// A patch counts in whatever way a shell is given it.
#[test]
fn a_patch_in_a_shells_text_is_seen() {
    let scratch = project();
    scratch.rule("kept", "---\nwrites: ['kept/**']\n---\nNo.\n").file("kept/a", "a\n");
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
            "hook_event_name": "PreToolUse", "session_id": "s", "cwd": scratch.root(), "tool_name": "Bash",
            "tool_input": { "command": command },
        });
        let answer = scratch.hook("codex", &payload).stdout;
        assert_eq!(answer.contains("`kept`"), is_refused, "{command}: {answer}");
    }
}
