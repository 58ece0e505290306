//! Pace rules outside of workflows: they are judged at every call, and the session counts as the phase.

use insta::assert_snapshot;
use serde_json::json;
use testkit::{ProcessOutput, TestProject};

use crate::project;

fn with_rule(fields: &str) -> TestProject {
    let project = project();
    project.rule("circles", &format!("---\n{fields}\n---\n"));
    project
}

/// Returns the additional context for the agent.
fn additional_context(reply: &ProcessOutput) -> String {
    if reply.stdout.is_empty() {
        return String::new();
    }
    reply.json()["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned()
}

/// Replaces the times of day in the list items of a text.
pub fn without_times(text: &str) -> String {
    let line = |line: &str| {
        let item = line.strip_prefix("  - ").filter(|rest| rest.get(2..3) == Some(":"));
        item.and_then(|rest| rest.get(8..)).map_or_else(|| line.to_owned(), |rest| format!("  - HH:MM:SS{rest}"))
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_repeated_command_interrupts_once() {
    let project = with_rule("repeated_command: {pattern: 'cargo (build|test)', threshold: 3, window: 600}");
    let mut agent = project.agent();
    assert_eq!(additional_context(&agent.run("cargo build")), "");
    assert_eq!(additional_context(&agent.run("ls")), "");
    assert_eq!(additional_context(&agent.run("cd x && cargo test -q 2>&1 | tail")), "");
    assert_eq!(additional_context(&agent.run("echo cargo build")), "");
    assert_snapshot!(without_times(&additional_context(&agent.run("cargo build"))), @"
    Warning by Linchpin rule `circles`: cargo (build|test) matched 3 commands in 10m (2 × cargo build, 1 × cargo test -q)

    Pattern: cargo (build|test)
    Recent executions:
      - HH:MM:SS: cargo build
      - HH:MM:SS: cargo test -q
      - HH:MM:SS: cargo build

    Suggestion: You keep repeating the same step without progress. Read the first line of the last error. Before you run the command again, say what you expect to be different, and try the smallest check that would show it: one test, one file, one printed value.

    ---

    REFLECT AND DECIDE:

    Can you resolve this by yourself, or do you need a person?

    If you can resolve it yourself:
      - Explain briefly what you will do differently
      - Run: linchpin continue
      - The count then starts again from zero

    If you need a person:
      - Explain what you tried and why you are stuck
      - Wait for their answer before you continue
    ");
    assert_eq!(additional_context(&agent.run("cargo build")), "");
}

#[test]
fn a_call_counts_once_if_only_one_of_its_hooks_is_called() {
    let rule = "repeated_command: {pattern: make, threshold: 3, window: 600}";
    let only_after = with_rule(rule);
    let mut agent = only_after.agent();
    let fired: Vec<bool> =
        (0..4).map(|_| !additional_context(&agent.after_without_before("make")).is_empty()).collect();
    assert_eq!(fired, [false, false, true, false]);
    let only_before = with_rule(rule);
    let mut agent = only_before.agent();
    let fired: Vec<bool> = (0..5).map(|_| !agent.before("make").stdout.is_empty()).collect();
    assert_eq!(fired, [false, false, false, true, false]);
}

#[test]
fn a_call_reported_by_two_hooks_counts_once() {
    let project = with_rule("repeated_command: {pattern: make, threshold: 3, window: 1h}\nlive: block");
    for _ in 0..5 {
        assert_eq!(project.hook("claude", &project.bash_payload("make")).decision(), "allow");
    }
}

#[test]
fn edits_of_mcp_tools_count() {
    let project = with_rule("repeated_file_edit: {threshold: 3, window: 1h}\nlive: block");
    let edit = |number: usize, tool: &str| {
        let mut call = project.tool_payload(tool, &json!({"path": "src/a.rs", "content": "x"}));
        call["tool_use_id"] = json!(format!("toolu_{number}"));
        project.hook("claude", &call).decision()
    };
    let decisions: Vec<String> = (0..4).map(|number| edit(number, "mcp__fs__write_file")).collect();
    assert_eq!(decisions, ["allow", "allow", "allow", "deny"]);
    assert_eq!(edit(5, "mcp__fs__read_file"), "deny");
}

#[test]
fn without_a_pattern_the_same_command_counts() {
    let project = with_rule("type: repeated_command\nthreshold: 3\nwindow: 1h");
    let mut agent = project.agent();
    for command in ["git commit -m one", "git commit -m two", "git commit -m three", "make a", "make  a"] {
        assert_eq!(additional_context(&agent.run(command)), "", "{command}");
    }
    assert!(additional_context(&agent.run("make a")).contains("Same command 3 times in 1h: `make a`"));
}

#[test]
fn failures_only_counts_only_failures() {
    let project = with_rule("repeated_command: {threshold: 2, window: 600, failures_only: true}");
    let mut agent = project.agent();
    for _ in 0..3 {
        assert_eq!(additional_context(&agent.run("cargo test")), "");
    }
    assert_eq!(additional_context(&agent.run_failing("cargo test")), "");
    assert!(
        additional_context(&agent.run_failing("cargo test"))
            .contains("Same command failed 2 times in 10m: `cargo test`")
    );
}

#[test]
fn edits_count_by_file() {
    let project = with_rule("repeated_file_edit: {threshold: 3, window: 3m}");
    let mut agent = project.agent();
    assert_eq!(additional_context(&agent.edit("src/a.rs")), "");
    assert_eq!(additional_context(&agent.edit("src/b.rs")), "");
    assert_eq!(additional_context(&agent.edit("src/a.rs")), "");
    let interrupt = additional_context(&agent.edit("src/a.rs"));
    assert!(interrupt.contains("Same file edited 3 times in 3m: `src/a.rs`\n\nRecent edits:\n"), "{interrupt}");
    assert!(interrupt.contains(": Edit (src/a.rs)\n"), "{interrupt}");
}

#[test]
fn calls_are_refused_until_continue() {
    let project = with_rule("repeated_command: {pattern: make, threshold: 2, window: 600}\nlive: block");
    let mut agent = project.agent();
    agent.run("make");
    assert_eq!(additional_context(&agent.run("make")), "");
    let refused = agent.before("rm x");
    assert_eq!(refused.decision(), "deny");
    assert_snapshot!(without_times(&refused.reason()), @"
    Blocked by Linchpin rule `circles`: Same command 2 times in 10m: `make`

    Pattern: make
    Recent executions:
      - HH:MM:SS: make
      - HH:MM:SS: make

    Until `linchpin continue`, only reading and Linchpin's own commands are allowed.

    Suggestion: You keep repeating the same step without progress. Read the first line of the last error. Before you run the command again, say what you expect to be different, and try the smallest check that would show it: one test, one file, one printed value.

    ---

    REFLECT AND DECIDE:

    Can you resolve this by yourself, or do you need a person?

    If you can resolve it yourself:
      - Explain briefly what you will do differently
      - Run: linchpin continue
      - The count then starts again from zero

    If you need a person:
      - Explain what you tried and why you are stuck
      - Wait for their answer before you continue

    A person can allow this call once: `linchpin allow 5`
    ");
    // After the rule has fired, read-only commands and Linchpin's own commands stay allowed.
    for command in ["cat Makefile | head -5", "git log --oneline", "linchpin status", "cd src && sed -n 1,5p a.rs"] {
        assert_eq!(agent.before(command).decision(), "allow", "{command}");
    }
    for command in ["sed -i s/a/b/ a.rs", "cat a > b", "find . -delete", "git commit -m x"] {
        let project = with_rule("repeated_command: {pattern: make, threshold: 1, window: 600}\nlive: block");
        let mut agent = project.agent();
        agent.run("make");
        assert_eq!(agent.before(command).decision(), "deny", "{command}");
    }
    assert_eq!(agent.before("make").decision(), "deny");
    assert_eq!(agent.before("make").decision(), "deny");
    // After `max_holds` refusals the call is allowed, and the person is told.
    let allowed = agent.before("make");
    assert_eq!(allowed.decision(), "allow");
    assert_snapshot!(allowed.json()["systemMessage"].as_str().unwrap_or_default(), @"Linchpin: rule `circles` has refused 3 calls (max_holds: 3) without a `linchpin continue`; calls are allowed again");
    assert_eq!(agent.before("make").stdout, "");
}

#[test]
fn refused_calls_do_not_count() {
    let project = with_rule("repeated_command: {pattern: danger, threshold: 2, window: 600}");
    project.rule("no-danger", crate::NO_DANGER);
    let mut agent = project.agent();
    for _ in 0..4 {
        assert_eq!(agent.before("danger").decision(), "deny");
    }
    assert_eq!(additional_context(&agent.run("echo x && undangerous")), "");
}

#[test]
fn sessions_are_counted_separately() {
    let project = with_rule("repeated_command: {pattern: make, threshold: 2, window: 600}");
    let mut agent = project.agent();
    agent.run("make");
    let other = project.event_payload(
        "PostToolUse",
        &json!({"session_id": "session-2", "tool_name": "Bash", "tool_input": {"command": "make"}, "tool_response": {}}),
    );
    assert_eq!(project.hook("claude", &other).stdout, "");
    assert_ne!(additional_context(&agent.run("make")), "");
}

#[test]
fn replay_repeats_pace_verdicts() {
    let project = with_rule("repeated_command: {pattern: make, threshold: 2, window: 600}");
    let mut agent = project.agent();
    agent.run("make");
    agent.run("make");
    let replayed = project.run(&["replay"]);
    assert_snapshot!(replayed.transcript(), @"
    exit 0
    --- stdout
    4 events: 4 the same, 0 changed (0 stricter, 0 milder), 0 undecidable
    --- stderr
    ");
}

#[test]
fn cases_of_pace_rules_are_run() {
    let project = with_rule(
        "repeated_command: {pattern: 'cargo build', threshold: 2, window: 60}\nlive: off\ntests:\n  \
         - {events: [[0, command, cargo build], [60, failed_command, 'cd x && cargo build']], now: 60, expect: fires}\n  \
         - {events: [[0, command, cargo build], [60, command, cargo build]], now: 61, expect: quiet}\n  \
         - {events: [[0, command, cargo build]], now: 5, expect: fires}",
    );
    let reply = project.run(&["test", "circles"]);
    assert_snapshot!(reply.transcript(), @"
    exit 1
    --- stdout
    circles: 1 event in 5 seconds
      .linchpin/rules/circles.md:7:5
      expected fires, got quiet
      circles: does not apply
        .linchpin/rules/circles.md (project)
        repeated_command     false    1 of 2 commands in 1m

    2 cases passed, 1 failed.
    --- stderr
    ");
}

/// Calls Codex's hooks before and after a call that applies a patch, with the tool `apply_patch` or in a shell command.
pub fn call_with_patch(project: &TestProject, tool: &str, call: &str, paths: &[&str]) -> ProcessOutput {
    let changes: Vec<String> = paths.iter().map(|path| format!("*** Update File: {path}\n@@\n-a\n+b")).collect();
    let text = format!("*** Begin Patch\n{}\n*** End Patch", changes.join("\n"));
    let command = if tool == "Bash" { format!("apply_patch <<'EOF'\n{text}\nEOF") } else { text };
    let fields = json!({
        "session_id": "session-1", "turn_id": "turn-1", "tool_use_id": call, "tool_name": tool,
        "tool_input": {"command": command}, "tool_response": "Exit code: 0\nOutput:\nSuccess.",
    });
    assert_eq!(project.hook("codex", &project.event_payload("PreToolUse", &fields)).decision(), "allow");
    project.hook("codex", &project.event_payload("PostToolUse", &fields))
}

#[test]
fn a_patch_counts_each_of_its_files_once() {
    let project = with_rule("repeated_file_edit: {path_pattern: '^src/', threshold: 3, window: 3m}");
    let interrupt = additional_context(&call_with_patch(
        &project,
        "apply_patch",
        "call-1",
        &["src/a.rs", "src/b.rs", "src/c.rs", "src/a.rs"],
    ));
    let expected = "^src/ matched 3 edits in 3m (1 × src/a.rs, 1 × src/b.rs, 1 × src/c.rs)\n";
    assert!(interrupt.contains(expected), "{interrupt}");
}

#[test]
fn a_patch_in_a_shell_is_an_edit_and_a_command() {
    let project = with_rule("repeated_file_edit: {threshold: 2, window: 3m}");
    project.rule("commands", "---\nrepeated_command: {pattern: '^apply_patch', threshold: 2, window: 3m}\n---\n");
    assert_eq!(additional_context(&call_with_patch(&project, "Bash", "call-1", &["src/a.rs"])), "");
    let interrupt = additional_context(&call_with_patch(&project, "Bash", "call-2", &["src/a.rs"]));
    assert!(interrupt.contains("Same file edited 2 times in 3m: `src/a.rs`\n"), "{interrupt}");
    assert!(interrupt.contains("Same command 2 times in 3m: `apply_patch`\n"), "{interrupt}");
}

#[test]
fn continue_resets_the_time_of_a_session() {
    let project = with_rule("phase_timeout: {max_duration: 300}\nlive: block");
    let mut agent = project.agent();
    agent.run("make");
    let begin_session_earlier = |milliseconds: i64| {
        let journal = rusqlite::Connection::open(project.root().join(".linchpin/state.db")).expect("the journal");
        journal.execute("UPDATE sessions SET first_seen = first_seen - ?1", [milliseconds]).expect("a session");
    };
    begin_session_earlier(400_000);
    assert!(agent.before("make").reason().contains("Session running for 6m 4"));
    assert_eq!(agent.linchpin(&["continue"]).code, Some(0));
    assert_eq!(agent.before("make").decision(), "allow");
    begin_session_earlier(290_000);
    assert_eq!(agent.before("make").decision(), "allow");
    begin_session_earlier(20_000);
    let reason = agent.before("make").reason();
    assert!(reason.contains("Session running for 11m 5"), "{reason}");
    // The message shows the time of the whole session, the time since `linchpin continue`, and the configured limit.
    assert!(reason.contains("s, 5m 1") && reason.contains("s of it since `linchpin continue` (limit: 5m)"), "{reason}");
}

#[test]
fn continue_resets_only_the_rule_that_fired() {
    let project = project();
    project.rule("makes", "---\nrepeated_command: {pattern: ^make, threshold: 2, window: 600}\nlive: block\n---\n");
    project.rule("lists", "---\nrepeated_command: {pattern: ^ls, threshold: 3, window: 600}\nlive: block\n---\n");
    let mut agent = project.agent();
    for command in ["ls a", "ls b", "make", "make"] {
        agent.run_failing(command);
    }
    assert_eq!(agent.before("make").decision(), "deny");
    assert_eq!(agent.linchpin(&["continue"]).code, Some(0));
    agent.run_failing("make");
    agent.run_failing("ls c");
    assert!(agent.before("touch x").reason().contains("^ls matched 3 commands in 10m"));
}
