//! Verdicts reach the agent in its own protocol.

use serde_json::json;

use super::{NO_DANGER, project};

#[test]
fn a_forbidden_command_is_refused_and_a_harmless_one_is_not() {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    let refused = project.hook("claude", &project.bash_payload("cd x && /usr/bin/danger --all"));
    insta::assert_snapshot!(refused.transcript(), @r#"
    exit 0
    --- stdout
    {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"Blocked by Linchpin rule `no-danger`: Danger is not for agents. Use `safety`. Matched: `danger --all`\n\nA person can allow this call once: `linchpin allow 1`"}}
    --- stderr
    "#);
    let allowed = project.hook("claude", &project.bash_payload("echo danger; safety"));
    insta::assert_snapshot!(allowed.transcript(), @"
    exit 0
    --- stdout
    --- stderr
    ");
}

#[test]
fn codex_gets_its_own_format_and_ask_becomes_deny() {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    project.rule("ask-first", "---\ncommand_pattern: '^deploy( |$)'\naction: ask\n---\nA person deploys.\n");
    let event = |command: &str| {
        let mut event = project.bash_payload(command);
        event["turn_id"] = json!("turn-1");
        event
    };
    insta::assert_snapshot!(project.hook("codex", &event("danger")).transcript(), @r#"
    exit 0
    --- stdout
    {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"Blocked by Linchpin rule `no-danger`: Danger is not for agents. Use `safety`. Matched: `danger`\n\nA person can allow this call once: `linchpin allow 1`"}}
    --- stderr
    "#);
    insta::assert_snapshot!(project.hook("codex", &event("deploy now")).transcript(), @r#"
    exit 0
    --- stdout
    {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"Refused for now: only a person can allow this.\n\nApproval required by Linchpin rule `ask-first`: A person deploys. Matched: `deploy now`\n\nA person can allow this call once: `linchpin allow 2`"}}
    --- stderr
    "#);
    insta::assert_snapshot!(project.hook("codex", &event("safety")).transcript(), @"
    exit 0
    --- stdout
    --- stderr
    ");
}

#[test]
fn the_strictest_rule_wins_and_every_reason_is_shown() {
    let project = project();
    project.rule("a-warning", "---\ncommand_pattern: danger\naction: warn\n---\nMind the step.\n");
    project.rule("b-question", "---\ntools: [Bash]\naction: ask\n---\nWould you?\n");
    project.rule("c-refusal", NO_DANGER);
    insta::assert_snapshot!(project.hook("claude", &project.bash_payload("danger")).reason(), @"
    Blocked by Linchpin rule `c-refusal`: Danger is not for agents. Use `safety`. Matched: `danger`

    Approval required by Linchpin rule `b-question`: Would you?

    Warning by Linchpin rule `a-warning`: Mind the step. Matched: `danger`

    A person can allow this call once: `linchpin allow 1`
    ");
}

#[test]
fn a_warning_reaches_agent_and_person_and_stops_nothing() {
    let project = project();
    project.rule("careful", "---\ncommand_pattern: ^make\naction: warn\n---\nThis takes an hour.\n");
    insta::assert_snapshot!(project.hook("claude", &project.bash_payload("make all")).transcript(), @r#"
    exit 0
    --- stdout
    {"systemMessage":"Warning by Linchpin rule `careful`: This takes an hour. Matched: `make all`","hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"Warning by Linchpin rule `careful`: This takes an hour. Matched: `make all`"}}
    --- stderr
    "#);
}

#[test]
fn file_tools_are_judged_by_the_paths_they_name() {
    let project = project();
    project.rule("generated", "---\nwrites: ['dist/**']\n---\nMade by the build.\n");
    let edit = |path: &str| {
        let input = json!({ "file_path": project.root().join(path), "old_string": "a", "new_string": "b" });
        project.hook("claude", &project.tool_payload("Edit", &input)).decision()
    };
    assert_eq!(edit("dist/app.js"), "deny");
    assert_eq!(edit("src/../dist/app.js"), "deny");
    assert_eq!(edit("src/app.js"), "allow");
    let read = project.tool_payload("Read", &json!({ "file_path": project.root().join("dist/app.js") }));
    assert_eq!(project.hook("claude", &read).decision(), "allow");
}

#[test]
fn build_tools_and_formatters_write_to_the_paths_that_they_name() {
    let project = project();
    project.rule("generated", "---\nwrites: ['dist/**']\n---\nMade by the build.\n");
    for command in [
        "tsc --outDir dist",
        "npx esbuild src/a.ts --outfile=dist/a.js",
        "esbuild src/a.ts --outdir=dist",
        "rollup -c -o dist/a.js",
        "vite build --outDir dist",
        "webpack --output-path dist",
        "eslint --fix dist/a.js",
        "biome format --write dist/a.js",
    ] {
        assert_eq!(project.decision(command), "deny", "{command}");
    }
    for command in
        ["tsc -p dist/tsconfig.json --noEmit", "vite build --outDir build", "eslint dist/a.js", "biome check dist/a.js"]
    {
        assert_eq!(project.decision(command), "allow", "{command}");
    }
}

#[test]
fn an_unknown_program_is_asked_about_only_if_another_word_matches() {
    let project = project();
    project.rule("no-publish", "---\ncommand: {program: npm, subcommand: publish}\n---\nAsk the person.\n");
    for command in ["\"$BIN\" --help", "$BIN --version", "$(pyenv which python) -V", "$CC $CFLAGS -c x.c"] {
        assert_eq!(project.decision(command), "allow", "{command}");
    }
    project.rule(
        "no-reset",
        "---\ncommand: {program: git, subcommand: reset, flags_any: [--hard]}\n---\nAsk the person.\n",
    );
    for command in ["$NPM publish", "npm $ARGUMENTS", "$NPM $ARGUMENTS", "$GIT $SUBCOMMAND --hard", "$GIT_RESET --hard"]
    {
        assert_eq!(project.decision(command), "ask", "{command}");
    }
}

#[test]
fn a_symlink_does_not_bypass_a_rule() {
    let project = project();
    project.file("dist/app.js", "x").rule("generated", "---\nwrites: ['dist/**']\n---\nMade by the build.\n");
    std::os::unix::fs::symlink(project.root().join("dist"), project.root().join("innocent")).expect("a symlink");
    let input = json!({ "file_path": project.root().join("innocent/app.js"), "content": "y" });
    assert_eq!(project.hook("claude", &project.tool_payload("Write", &input)).decision(), "deny");
}

#[test]
fn two_dots_after_a_symlink_lead_to_the_parent_of_its_target() {
    let project = project();
    project.file("dist/deep/x", "").rule("generated", "---\nwrites: ['dist/*']\n---\nMade by the build.\n");
    std::os::unix::fs::symlink(project.root().join("dist/deep"), project.root().join("innocent")).expect("a symlink");
    let input = json!({ "file_path": project.root().join("innocent/../app.js"), "content": "y" });
    assert_eq!(project.hook("claude", &project.tool_payload("Write", &input)).decision(), "deny");
}

#[test]
fn a_symlink_to_a_missing_file_is_judged_as_that_file() {
    let project = project();
    std::os::unix::fs::symlink(".linchpin/rules/evil.md", project.root().join("notes.md")).expect("a symlink");
    let input = json!({ "file_path": project.root().join("notes.md"), "content": "y" });
    assert_eq!(project.hook("claude", &project.tool_payload("Write", &input)).decision(), "deny");
}

#[test]
fn linchpins_own_directories_are_protected_wherever_they_are() {
    let project = project();
    let write = |path: std::path::PathBuf| {
        project.hook("claude", &project.tool_payload("Write", &json!({ "file_path": path, "content": "" }))).decision()
    };
    assert_eq!(write(project.state().join("projects/x/trusted")), "deny");
    assert_eq!(write(project.user_policy().join("config.yml")), "deny");
    assert_eq!(write(project.home().join(".claude/settings.json")), "deny");
    assert_eq!(write(project.home().join("notes.md")), "allow");
    project.config("rules_dir: policies\n");
    assert_eq!(write(project.root().join("policies/a.md")), "deny");
    assert_eq!(project.decision("rm policies/a.md"), "deny");
}

#[test]
fn a_patch_of_codex_is_judged_file_by_file() {
    let project = project();
    project.rule("generated", "---\ntools: [Edit, Write]\npaths: ['dist/**']\n---\nMade by the build.\n");
    let patch = |path: &str| {
        let text = format!(
            "*** Begin Patch\n*** Update File: {path}\n@@\n-a\n+b\n*** Add File: src/new.rs\n+x\n*** End Patch"
        );
        let mut event = project.tool_payload("apply_patch", &json!({ "command": text }));
        event["turn_id"] = json!("turn-1");
        project.hook("codex", &event).decision()
    };
    assert_eq!(patch("dist/app.js"), "deny");
    assert_eq!(patch("src/app.js"), "allow");
}

#[test]
fn mcp_tools_are_recognized_directly_and_through_a_proxy() {
    let project = project();
    project.rule("no-merge", "---\nmcp_tools: ['github:merge_*']\n---\nPeople merge.\n");
    let call =
        |name: &str, input: serde_json::Value| project.hook("claude", &project.tool_payload(name, &input)).decision();
    assert_eq!(call("mcp__github__merge_pull_request", json!({})), "deny");
    assert_eq!(call("mcp__github__list_issues", json!({})), "allow");
    let proxied = json!({ "server_name": "github", "tool_name": "merge_pull_request", "arguments": {} });
    assert_eq!(call("mcp__hub__call_tool", proxied), "deny");
}

#[test]
fn a_stop_is_held_until_the_rule_is_met_or_max_holds_is_reached() {
    let project = project();
    project.rule(
        "tests-first",
        "---\non: stop\naction: block\nmax_holds: 2\nwhen: \"not command_ran('^cargo test')\"\n---\nRun the tests first.\n",
    );
    let stop =
        |again: bool| project.hook("claude", &project.event_payload("Stop", &json!({ "stop_hook_active": again })));
    insta::assert_snapshot!(stop(false).transcript(), @r#"
    exit 0
    --- stdout
    {"decision":"block","reason":"Held by Linchpin rule `tests-first`: Run the tests first."}
    --- stderr
    "#);
    assert_eq!(stop(true).json()["decision"], "block");
    insta::assert_snapshot!(stop(true).transcript(), @r#"
    exit 0
    --- stdout
    {"systemMessage":"Linchpin: rule `tests-first` has held this stop 2 times (max_holds: 2) and is still unmet; the agent may stop now\n\nWarning by Linchpin rule `tests-first`: Run the tests first."}
    --- stderr
    "#);
    // `stop_hook_active: false` shows that a new turn began. The count of holds starts again.
    assert_eq!(stop(false).json()["decision"], "block");
    project.hook("claude", &project.bash_payload("cd crates; cargo test --all"));
    insta::assert_snapshot!(stop(true).transcript(), @"
    exit 0
    --- stdout
    --- stderr
    ");
}

#[test]
fn blocked_calls_are_not_limited_by_max_holds() {
    let project = project();
    project.rule("no-danger", "---\ncommand_pattern: ^danger\nmax_holds: 1\n---\nNo.\n");
    for _ in 0..10 {
        assert_eq!(project.decision("danger"), "deny");
    }
}

#[test]
fn approval_needs_every_command_approved_and_no_stricter_rule() {
    let project = project();
    project.user_rule("builds", "---\ncommand_pattern: '^cargo (build|test)( |$)'\naction: allow\n---\nFine.\n");
    project.rule("no-danger", NO_DANGER);
    assert_eq!(
        project.hook("claude", &project.bash_payload("cargo build && cargo test -q")).json()["hookSpecificOutput"]["permissionDecision"],
        "allow"
    );
    for not_approved in [
        "cargo build && ls",
        "cargo build > ~/.bashrc",
        "PATH=. cargo build",
        "cargo build; $X",
        "cargo build $(ls)",
        "cargo build '",
    ] {
        let reply = project.hook("claude", &project.bash_payload(not_approved));
        assert!(!reply.stdout.contains(r#""permissionDecision":"allow""#), "{not_approved}: {}", reply.stdout);
    }
    assert_eq!(project.decision("cargo build; danger"), "deny");
}

#[test]
fn approval_by_path_needs_every_path_and_symlink_target_approved() {
    let project = project();
    project.user_rule("sources", "---\nwrites: ['src/**']\naction: allow\n---\nFine.\n").file("src/a.rs", "");
    std::os::unix::fs::symlink("/etc", project.root().join("src/link")).expect("a symlink");
    let write = |path: &str| {
        let input = json!({ "file_path": project.root().join(path), "content": "" });
        project
            .hook("claude", &project.tool_payload("Write", &input))
            .stdout
            .contains(r#""permissionDecision":"allow""#)
    };
    assert!(write("src/a.rs"));
    assert!(!write("src/link/passwd"));
    assert!(!write("other.rs"));
    let patch = |text: &str| {
        let mut event = project.event_payload(
            "PermissionRequest",
            &json!({ "tool_name": "apply_patch", "tool_input": { "command": text } }),
        );
        event["turn_id"] = json!("turn-1");
        project.hook("codex", &event).stdout.contains("allow")
    };
    project.user_rule("sources", "---\non: permission\nwrites: ['src/**']\naction: allow\n---\nFine.\n");
    assert!(patch("*** Begin Patch\n*** Update File: src/a.rs\n@@\n-a\n+b\n*** End Patch"));
    assert!(!patch(
        "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-a\n+b\n*** Update File: /etc/passwd\n@@\n-a\n+b\n*** End Patch"
    ));
    assert_eq!(project.hook("claude", &project.bash_payload("echo x > src/a.rs")).stdout, "");
}

#[test]
fn command_and_path_clauses_apply_to_the_same_command() {
    let project = project();
    project.config("rules: [delete-outside-project]\n");
    assert_eq!(project.decision("rm build/x && cat /usr/include/stdio.h"), "allow");
    assert_eq!(project.decision("rm -rf /usr/include"), "deny");
    assert_eq!(project.decision("cd /usr && rm -rf include"), "deny");
    assert_eq!(project.decision("find /usr/include -name '*.h' -delete"), "deny");
    assert_eq!(project.decision("rm -rf \"$DIR\""), "ask");
    assert_eq!(project.decision("cat \"$FILE\""), "allow");
}

#[test]
fn unknown_facts_are_asked_about_if_they_matter() {
    let project = project();
    project.rule("no-rm", "---\ncommand_pattern: '^rm -rf'\n---\nNo.\n");
    for (command, expected) in [
        ("$X -rf /", "ask"),
        ("$(echo rm) -rf /", "deny"),
        ("$(which rm) -rf /", "deny"),
        ("R=rm; $R -rf /", "deny"),
        ("$PY x.py", "allow"),
        ("git push -u origin \"$(git branch --show-current)\"", "allow"),
        ("echo '$X -rf /'", "allow"),
        ("rm -rf \"$DIR\"", "deny"),
        ("if then fi (", "ask"),
    ] {
        assert_eq!(project.decision(command), expected, "{command}");
    }
}

#[test]
fn incomplete_decides_about_unknown_commands() {
    let project = project();
    project.rule("lenient", "---\ncommand_pattern: '^rm -rf'\nincomplete: allow\n---\nNo.\n");
    assert_eq!(project.decision("$X -rf /"), "allow");
    project.rule("lenient", "---\ncommand_pattern: '^rm -rf'\nincomplete: block\n---\nNo.\n");
    assert_eq!(project.decision("$X -rf /"), "deny");
}

#[test]
fn an_edited_or_added_rule_counts_at_the_next_event() {
    let project = project();
    assert_eq!(project.decision("danger"), "allow");
    project.rule("no-danger", NO_DANGER);
    assert_eq!(project.decision("danger"), "deny");
    project.rule("no-danger", &NO_DANGER.replace("danger(", "hazard("));
    assert_eq!(project.decision("danger"), "allow");
    assert_eq!(project.decision("hazard"), "deny");
    project.config("rules: [hard-reset]\n");
    assert_eq!(project.decision("git reset --hard"), "deny");
}

#[test]
fn user_rules_count_in_every_project() {
    let project = super::project_without_policy();
    project.user_rule("no-danger", NO_DANGER);
    assert_eq!(project.decision("danger"), "deny");
    assert!(!project.root().join(".linchpin").exists());
}

#[test]
fn the_guard_protects_itself() {
    let project = project();
    let write = |path: &str| {
        let input = json!({ "file_path": project.root().join(path), "content": "" });
        project.hook("claude", &project.tool_payload("Write", &input)).decision()
    };
    for path in [
        ".linchpin/config.yml",
        ".linchpin/rules/x.md",
        ".claude/settings.json",
        ".git/hooks/pre-commit",
        "sub/.linchpin/rules/a.md",
    ] {
        assert_eq!(write(path), "deny", "{path}");
    }
    assert_eq!(write(".linchpin/agent/scratchpad.md"), "allow");
    assert_eq!(write("src/main.rs"), "allow");
    for command in [
        "rm -rf .linchpin",
        "sed -i s/block/warn/ .linchpin/rules/a.md",
        "echo > .claude/settings.json",
        "cd .linchpin && echo x > config.yml",
        "mv .linchpin away",
        "chmod 000 .linchpin/rules",
        "ln -sf /dev/null .claude/settings.json",
        "bash -c 'cp x .git/hooks/pre-commit'",
    ] {
        assert_eq!(project.decision(command), "deny", "{command}");
    }
    assert_eq!(project.decision("python3 -c \"open('.linchpin/config.yml','w')\""), "deny");
    assert_eq!(project.decision("git checkout HEAD~1 -- .linchpin"), "deny");
    for command in ["cat .linchpin/rules/a.md", "ls -la .linchpin", "grep -r x .linchpin", "git add .linchpin"] {
        assert_eq!(project.decision(command), "allow", "{command}");
    }
    assert_eq!(project.decision("linchpin trust --yes"), "deny");
    assert_eq!(project.decision("linchpin status"), "allow");
}

#[test]
fn events_without_a_matching_rule_print_nothing() {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    for name in
        ["SessionStart", "UserPromptSubmit", "PostToolUse", "Notification", "PreCompact", "SessionEnd", "SomethingNew"]
    {
        let reply = project.hook("claude", &project.event_payload(name, &json!({ "future_field": [1, 2] })));
        assert_eq!((reply.stdout.as_str(), reply.code), ("", Some(0)), "{name}");
    }
}

#[test]
fn an_unparsable_command_is_reported_once_for_all_rules() {
    let project = project();
    for number in 0..8 {
        project.rule(&format!("rule-{number}"), &format!("---\ncommand_pattern: ^never-{number}\n---\nNo.\n"));
    }
    insta::assert_snapshot!(project.hook("claude", &project.bash_payload("if then fi (")).reason(), @"
    Approval required by Linchpin: The command cannot be parsed: from `fi` on, at line 1, column 9. Linchpin can't tell whether this breaks the rules `protect-guardrails`, `rule-0`, `rule-1`, `rule-2`, `rule-3` and 4 more. Write the commands out in full, or split them into simpler ones.

    A person can allow this call once: `linchpin allow 1`
    ");
}

#[test]
fn facts_from_the_transcript_are_known_at_a_stop() {
    let project = project();
    project.rule(
        "say-done",
        "---\non: stop\naction: block\nwhen: \"'DONE' not in (event.message or '')\"\n---\nSay DONE.\n",
    );
    let transcript = project.home().join("transcript.jsonl");
    let say = |text: &str| {
        let line = json!({ "type": "assistant", "isSidechain": false, "message": { "role": "assistant", "content": [{ "type": "text", "text": text }] } });
        std::fs::write(&transcript, format!("{line}\n")).expect("a transcript");
        project.hook("claude", &project.event_payload("Stop", &json!({ "stop_hook_active": false }))).stdout
    };
    assert!(say("working on it").contains("Say DONE."));
    assert_eq!(say("all DONE"), "");
}

#[test]
fn an_unparsable_command_is_not_attributed_to_a_rule() {
    let project = project();
    project.config("rules: [hard-reset, read-secrets, delete-outside-project]\n");
    insta::assert_snapshot!(project.hook("claude", &project.bash_payload("make 'all")).reason(), @"
    Approval required by Linchpin: The command cannot be parsed: the single quote at line 1, column 6 is not closed. Linchpin can't tell whether this breaks the rules `delete-outside-project`, `hard-reset`, `protect-guardrails`, `read-secrets`. Write the commands out in full, or split them into simpler ones.

    A person can allow this call once: `linchpin allow 1`
    ");
    insta::assert_snapshot!(project.hook("claude", &project.bash_payload("make list | xargs rm -r")).reason(), @"
    Approval required by Linchpin rule `delete-outside-project`: Linchpin can't tell what this does to `the input of xargs`. It might delete files outside the project. Only files in the project and in temporary folders may be deleted (a temporary folder that contains the project does not count). Work inside the project, or ask the person to delete the files. Possible match: `rm -r $…`

    A person can allow this call once: `linchpin allow 2`
    ");
}

#[test]
fn flags_before_hook_do_not_disable_it() {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    for flag in ["--json", "--color=never"] {
        let payload = project.bash_payload("danger").to_string();
        let reply = project.run_with_stdin(project.command(&[flag, "hook", "claude"]), payload.as_bytes());
        assert_eq!(reply.decision(), "deny", "{flag}: {}", reply.transcript());
    }
}
