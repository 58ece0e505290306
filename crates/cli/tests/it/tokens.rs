//! Token usage, counted from the transcripts of agents.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;

use insta::assert_snapshot;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use testkit::{ProcessOutput, TestProject};

use crate::project;

const BUDGET: &str = "---\ntoken_budget: {max_tokens: 1000}\n---\n";

const WORKFLOW: &str = r#"
start_node: spec
nodes:
  spec:
    prompt: "Spec. Tokens: {{ phase.tokens if phase.tokens is not none else 'unknown' }}."
    rules: [{token_budget: {max_tokens: 1000}, live: off}]
    transitions: [{when: spec_complete, to: code}]
  code:
    prompt: Code.
    rules: [{token_budget: {max_tokens: 1000}}]
    transitions: [{when: code_complete, to: done}]
"#;

/// A running session and its transcript.
struct Session<'a> {
    project: &'a TestProject,
    id: &'a str,
}

impl Session<'_> {
    fn transcript(&self) -> PathBuf {
        self.project.home().join(format!("{}.jsonl", self.id))
    }

    fn append(&self, text: &str) -> &Self {
        let file = OpenOptions::new().create(true).append(true).open(self.transcript());
        file.and_then(|mut file| file.write_all(text.as_bytes())).expect("a transcript");
        self
    }

    fn add_message(&self, message: &str, tokens: u64) -> &Self {
        self.append(&transcript_line(message, tokens, Timestamp::now()))
    }

    fn hook(&self, event: &str, fields: &Value) -> ProcessOutput {
        let mut payload = self.project.event_payload(event, fields);
        payload["session_id"] = json!(self.id);
        payload["transcript_path"] = json!(self.transcript());
        self.project.hook("claude", &payload)
    }

    fn start(&self) -> ProcessOutput {
        self.hook("SessionStart", &json!({"source": "startup"}))
    }

    /// Calls the hook after a tool call.
    fn after_call(&self) -> ProcessOutput {
        let call = json!({"tool_name": "Read", "tool_input": {"file_path": "/x"}, "tool_use_id": "toolu_1", "tool_response": {}});
        self.hook("PostToolUse", &call)
    }

    fn is_warned(&self) -> bool {
        self.after_call().stdout.contains("Token budget exceeded")
    }
}

/// Returns a message as a line of Claude Code's transcript.
fn transcript_line(id: &str, tokens: u64, time: Timestamp) -> String {
    let usage = json!({
        "input_tokens": tokens / 2, "output_tokens": tokens - tokens / 2,
        "cache_read_input_tokens": 70_000, "cache_creation_input_tokens": 900,
    });
    let content = json!([{"type": "text", "text": "I see."}]);
    let message = json!({"id": id, "role": "assistant", "model": "m", "content": content, "usage": usage});
    format!("{}\n", json!({"type": "assistant", "message": message, "timestamp": time.to_string()}))
}

fn session<'a>(project: &'a TestProject, id: &'a str) -> Session<'a> {
    Session { project, id }
}

fn with_budget() -> TestProject {
    let project = project();
    project.rule("budget", BUDGET);
    project
}

/// A project whose workflow is at its first node.
fn with_active_workflow() -> TestProject {
    let project = project();
    project.file(".linchpin/workflows/work.yml", WORKFLOW);
    assert_eq!(project.run(&["start", "work"]).code, Some(0));
    project
}

/// Runs `linchpin next`. Returns the diagnostic if a pace rule interrupts the move.
fn diagnostic_of_next(project: &TestProject) -> Option<String> {
    let reply = project.run(&["next"]);
    let diagnostic = reply.stdout.lines().find_map(|line| line.strip_prefix("Diagnostic: ")).map(str::to_owned);
    assert_eq!(reply.code, Some(if diagnostic.is_some() { 3 } else { 0 }), "{}", reply.transcript());
    diagnostic
}

#[test]
fn a_session_over_its_budget_is_interrupted_once() {
    let project = with_budget();
    let session = session(&project, "s1");
    session.start();
    session.add_message("msg_1", 900);
    assert_eq!(session.after_call().stdout, "");
    session.add_message("msg_2", 600);
    assert_snapshot!(session.after_call().json()["hookSpecificOutput"]["additionalContext"].as_str().expect("text"));
    session.add_message("msg_3", 600);
    assert_eq!(session.after_call().stdout, "");
}

#[test]
fn repeated_messages_are_not_counted_twice() {
    let project = with_budget();
    let first = session(&project, "s1");
    first.start();
    // A message has several lines in the transcript, each with the tokens that the message has used so far. Some lines
    // are repeated.
    first.add_message("msg_1", 2).add_message("msg_1", 300).add_message("msg_1", 300);
    assert!(!first.is_warned());
    first.add_message("msg_1", 600).add_message("msg_2", 400).add_message("msg_1", 600);
    assert!(!first.is_warned());
    // A transcript that was rewritten contains the same messages at other places.
    let text = fs::read_to_string(first.transcript()).expect("a transcript");
    fs::write(first.transcript(), format!("{{\"type\":\"summary\"}}\n{text}")).expect("a transcript");
    assert!(!first.is_warned());
    // The session `fork` was forked from `first`, so its transcript repeats these messages. They must not count again
    // in either session.
    let fork = session(&project, "s2");
    fork.start();
    fork.append(&text).add_message("msg_3", 1_000);
    assert!(!fork.is_warned());
    assert!(!first.is_warned());
    first.add_message("msg_2", 401);
    assert!(first.is_warned());
    fork.add_message("msg_4", 1);
    assert!(fork.is_warned());
}

#[test]
fn messages_repeated_by_a_fork_count_once_in_a_phase() {
    let project = with_active_workflow();
    let first = session(&project, "s1");
    first.start();
    first.add_message("msg_1", 700);
    first.after_call();
    let text = fs::read_to_string(first.transcript()).expect("a transcript");
    let fork = session(&project, "s2");
    fork.start();
    fork.append(&text).add_message("msg_2", 300);
    fork.after_call();
    let repeated = project.run(&["repeat"]).stdout;
    assert_eq!(repeated, "Spec. Tokens: 1000.\n");
    fork.add_message("msg_3", 1);
    fork.after_call();
    assert!(diagnostic_of_next(&project).is_some_and(|why| why.contains("1,001")));
}

#[test]
fn tokens_from_before_the_first_event_do_not_count() {
    let project = with_budget();
    let session = session(&project, "s1");
    let earlier = Timestamp::now() - SignedDuration::from_hours(1);
    session.append(&transcript_line("msg_1", 5_000, earlier)).start();
    assert!(!session.is_warned());
}

#[test]
fn tokens_of_subagents_count() {
    let project = with_budget();
    let session = session(&project, "s1");
    session.start();
    session.add_message("msg_1", 400);
    let directory = project.home().join("s1/subagents");
    fs::create_dir_all(&directory).expect("a directory");
    fs::write(directory.join("agent-a.jsonl"), transcript_line("msg_a", 400, Timestamp::now())).expect("a transcript");
    assert!(!session.is_warned());
    // Linchpin learns the path of this transcript only from the hook `SubagentStop`.
    let elsewhere = project.home().join("rollout.jsonl");
    fs::write(&elsewhere, transcript_line("msg_b", 201, Timestamp::now())).expect("a transcript");
    let stopped = json!({"agent_id": "b", "agent_type": "Explore", "agent_transcript_path": elsewhere});
    // The warning is not shown when the subagent stops, but after the next tool call.
    assert_eq!(session.hook("SubagentStop", &stopped).stdout, "");
    assert!(session.is_warned());
}

#[test]
fn a_budget_that_blocks_refuses_the_next_call() {
    let project = project();
    project.rule("budget", "---\ntoken_budget: {max_tokens: 1000}\nlive: block\n---\n");
    let session = session(&project, "s1");
    session.start();
    session.add_message("msg_1", 1_001);
    let call = json!({"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "toolu_1"});
    // The hook before a call reads no transcript, because the agent waits for its answer.
    assert_eq!(session.hook("PreToolUse", &call).decision(), "allow");
    assert_eq!(session.hook("Stop", &json!({})).stdout, "");
    let reply = session.hook("PreToolUse", &call);
    assert_eq!(reply.decision(), "deny");
    assert!(reply.reason().contains("1,001 / 1,000"), "{}", reply.reason());
}

#[test]
fn a_phase_over_its_budget_interrupts() {
    let project = with_active_workflow();
    let session = session(&project, "s1");
    session.start();
    session.add_message("msg_1", 1_000);
    assert_eq!(project.run(&["status", "--json"]).json()["workflow"]["rules"][0]["progress"], "1,000 of 1,000 tokens");
    session.add_message("msg_2", 500);
    assert_eq!(diagnostic_of_next(&project).as_deref(), Some("Token budget exceeded: 1,500 / 1,000"));
}

#[test]
fn a_budget_counts_only_in_its_phase() {
    let project = with_active_workflow();
    let session = session(&project, "s1");
    session.start();
    session.add_message("msg_1", 1_500);
    let reply = project.run(&["next"]);
    assert_eq!(reply.code, Some(3));
    assert_snapshot!(reply.stdout);
    let reply = project.run(&["next", "--json"]).json();
    assert_eq!(reply["interrupt"]["snapshot"], json!({"input": 750, "output": 750, "total": 1500, "limit": 1000}));
    // `linchpin continue` allows the next move. In the next phase, the count of tokens starts at zero.
    project.run(&["continue"]);
    assert_eq!(diagnostic_of_next(&project), None);
    session.add_message("msg_2", 900);
    assert!(!session.is_warned());
    session.add_message("msg_3", 101);
    assert!(session.is_warned());
    assert_eq!(diagnostic_of_next(&project).as_deref(), Some("Token budget exceeded: 1,001 / 1,000"));
}

#[test]
fn continue_resets_a_budget() {
    let project = with_active_workflow();
    let session = session(&project, "s1");
    session.start();
    assert_eq!(diagnostic_of_next(&project), None);
    session.add_message("msg_1", 1_500);
    assert!(session.is_warned());
    project.run(&["continue"]);
    let progress = || project.run(&["status", "--json"]).json()["workflow"]["rules"][0]["progress"].clone();
    assert_eq!(progress(), "0 of 1,000 tokens since `linchpin continue`, 1,500 in all");
    session.add_message("msg_2", 1_000);
    assert!(!session.is_warned());
    session.add_message("msg_3", 1);
    assert!(session.is_warned());
    let expected = "Token budget exceeded: 1,001 / 1,000 since `linchpin continue`";
    assert_eq!(diagnostic_of_next(&project).as_deref(), Some(expected));
}

#[test]
fn a_message_that_is_read_late_counts_in_the_phase_in_which_it_was_written() {
    let project = with_active_workflow();
    let session = session(&project, "s1");
    session.start();
    let earlier = Timestamp::now();
    assert_eq!(diagnostic_of_next(&project), None);
    session.append(&transcript_line("msg_1", 5_000, earlier)).add_message("msg_2", 7);
    assert!(!session.is_warned());
    session.add_message("msg_3", 1_000);
    assert_eq!(diagnostic_of_next(&project).as_deref(), Some("Token budget exceeded: 1,007 / 1,000"));
}

#[test]
fn the_tokens_of_all_sessions_count_in_a_phase() {
    let project = with_active_workflow();
    for id in ["s1", "s2"] {
        session(&project, id).start();
        session(&project, id).add_message(&format!("msg_{id}"), 501);
    }
    assert_eq!(diagnostic_of_next(&project).as_deref(), Some("Token budget exceeded: 1,002 / 1,000"));
}

#[test]
fn expressions_see_the_tokens_of_a_phase() {
    let project = with_active_workflow();
    let session = session(&project, "s1");
    assert_eq!(project.run(&["repeat"]).stdout, "Spec. Tokens: unknown.\n");
    session.start();
    session.add_message("msg_1", 321);
    assert_eq!(project.run(&["repeat"]).stdout, "Spec. Tokens: 321.\n");
}

#[test]
fn status_shows_the_tokens_of_a_phase() {
    let project = with_active_workflow();
    let shown = |word: &str| project.run(&["status"]).stdout.lines().any(|line| line == word);
    assert!(shown("Tokens  unknown in this phase"));
    let session = session(&project, "s1");
    session.start();
    assert!(shown("Tokens  unknown in this phase"));
    session.add_message("msg_1", 321);
    assert!(shown("Tokens  160 input, 161 output in this phase"));
    project.run(&["abort"]);
    assert!(!project.run(&["status"]).stdout.to_lowercase().contains("tokens"));
}

#[test]
fn unknown_tokens_are_reported_once() {
    let project = with_budget();
    let session = session(&project, "s1");
    session.start();
    assert_snapshot!(session.after_call().stdout);
    assert_eq!(session.after_call().stdout, "");
    // Tokens count as soon as a transcript exists.
    session.add_message("msg_1", 1_001);
    assert!(session.is_warned());
}

#[test]
fn a_missing_or_damaged_transcript_loses_only_its_own_tokens() {
    let project = with_active_workflow();
    let [lost, damaged, intact] = ["lost", "damaged", "intact"].map(|id| session(&project, id));
    for session in [&lost, &damaged, &intact] {
        session.start();
    }
    lost.add_message("msg_1", 100);
    // The second half of this line is written later. The line counts as soon as it is complete.
    let half = transcript_line("msg_2", 1_000, Timestamp::now());
    let (front, rear) = half.split_at(half.len() / 2);
    damaged.append("no JSON\n\0\u{1}\n{\"type\":\"assistant\",\"usage\":{}}\n").add_message("msg_3", 10).append(front);
    intact.add_message("msg_4", 1);
    assert_eq!(project.run(&["repeat"]).stdout, "Spec. Tokens: 111.\n");
    fs::remove_file(lost.transcript()).expect("a transcript");
    damaged.append(rear);
    assert_eq!(diagnostic_of_next(&project).as_deref(), Some("Token budget exceeded: 1,111 / 1,000"));
    // The messages that were read before the transcript was truncated still count, and so does the message that is
    // written afterwards.
    fs::write(damaged.transcript(), transcript_line("msg_5", 9, Timestamp::now())).expect("a transcript");
    assert_eq!(diagnostic_of_next(&project).as_deref(), Some("Token budget exceeded: 1,120 / 1,000"));
    fs::remove_file(damaged.transcript()).expect("a transcript");
    fs::create_dir(damaged.transcript()).expect("a directory");
    assert_eq!(diagnostic_of_next(&project).as_deref(), Some("Token budget exceeded: 1,120 / 1,000"));
}

#[test]
fn transcripts_are_not_read_twice() {
    let project = with_active_workflow();
    let session = session(&project, "s1");
    session.start();
    let now = Timestamp::now();
    let mut text = String::new();
    for number in 0..20_000 {
        let _ = write!(text, "{}", transcript_line(&format!("msg_{number:05}"), 10, now));
    }
    session.append(&text);
    assert_eq!(diagnostic_of_next(&project).as_deref(), Some("Token budget exceeded: 200,000 / 1,000"));
    // The ids in the first half of the transcript change. If Linchpin read that half again, its messages would count as
    // new.
    let (front, rear) = text.split_at(text.len() / 2);
    fs::write(session.transcript(), format!("{}{rear}", front.replace("msg_", "new_"))).expect("a transcript");
    session.add_message("msg_last", 7);
    assert_eq!(diagnostic_of_next(&project).as_deref(), Some("Token budget exceeded: 200,007 / 1,000"));
}

#[test]
fn a_hook_reads_a_long_transcript_in_several_steps() {
    let project = with_budget();
    let session = session(&project, "s1");
    session.start();
    let (now, noise) = (Timestamp::now(), format!("{{\"type\":\"user\",\"x\":\"{}\"}}\n", "y".repeat(900_000)));
    session
        .append(&transcript_line("msg_1", 600, now))
        .append(&noise.repeat(3))
        .append(&transcript_line("msg_2", 600, now));
    let warned: Vec<bool> = (0..4).map(|_| session.is_warned()).collect();
    assert_eq!(warned, [false, true, false, false]);
}

#[test]
fn transcripts_are_read_only_if_a_rule_needs_them() {
    let project = project();
    let session = session(&project, "s1");
    session.start();
    session.add_message("msg_1", 5_000);
    assert_eq!(session.after_call().stdout, "");
    let journal = rusqlite::Connection::open(project.root().join(".linchpin/state.db")).expect("a journal");
    let rows = "SELECT count(*) FROM state WHERE kind LIKE 'consumed%' OR name = '_transcripts'";
    let rows: i64 = journal.query_row(rows, [], |row| row.get(0)).expect("a number");
    assert_eq!(rows, 0);
}

#[test]
fn continue_resets_the_tokens_of_a_session() {
    let project = project();
    project.rule("budget", "---\ntoken_budget: {max_tokens: 1000}\nlive: block\n---\n");
    let session = session(&project, "s1");
    let is_refused = |tokens: u64| {
        session.add_message(&format!("msg_{tokens}"), tokens).after_call();
        let call = json!({"tool_name": "Bash", "tool_input": {"command": "make"}});
        session.hook("PreToolUse", &call).decision() == "deny"
    };
    session.start();
    assert!(is_refused(1_500));
    // A message written before `linchpin continue` does not count afterwards, even if no hook has read it yet.
    session.add_message("msg_last", 5_000);
    assert_eq!(project.agent_session("s1").linchpin(&["continue"]).code, Some(0));
    assert!(!is_refused(600));
    assert!(is_refused(401));
}

#[test]
fn a_budget_that_blocks_and_has_refused_nothing_has_not_fired() {
    let project = project();
    project.file(
        ".linchpin/workflows/work.yml",
        "start_node: code\nnodes:\n  code:\n    prompt: Code.\n    rules: [{token_budget: {max_tokens: 1000}, live: block}]\n    \
         transitions: [{when: code_complete, to: done}]\n",
    );
    assert_eq!(project.run(&["start", "work"]).code, Some(0));
    let session = session(&project, "s1");
    session.start();
    session.add_message("msg_1", 1_200).after_call();
    let call = |command: &str| json!({"tool_name": "Bash", "tool_input": {"command": command}});
    assert_eq!(session.hook("PreToolUse", &call("echo hi")).decision(), "allow");
    let output = project.run(&["continue"]).stdout;
    assert!(output.starts_with("No pace rule has fired at `code`"), "{output}");
    assert_eq!(session.hook("PreToolUse", &call("make")).decision(), "deny");
    assert_eq!(project.run(&["continue"]).stdout, "Code.\n");
    assert_eq!(session.hook("PreToolUse", &call("make")).decision(), "allow");
}
