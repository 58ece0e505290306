//! Tokens, counted from the transcripts of agents.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;

use insta::assert_snapshot;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use testkit::{Reply, Scratch};

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

/// An agent at work, and its transcript.
struct Session<'a> {
    scratch: &'a Scratch,
    id: &'a str,
}

impl Session<'_> {
    fn transcript(&self) -> PathBuf {
        self.scratch.home().join(format!("{}.jsonl", self.id))
    }

    fn append(&self, text: &str) -> &Self {
        let file = OpenOptions::new().create(true).append(true).open(self.transcript());
        file.and_then(|mut file| file.write_all(text.as_bytes())).expect("a transcript");
        self
    }

    fn says(&self, message: &str, tokens: u64) -> &Self {
        self.append(&line(message, tokens, Timestamp::now()))
    }

    fn hook(&self, event: &str, fields: &Value) -> Reply {
        let mut payload = self.scratch.event(event, fields);
        payload["session_id"] = json!(self.id);
        payload["transcript_path"] = json!(self.transcript());
        self.scratch.hook("claude", &payload)
    }

    fn starts(&self) -> Reply {
        self.hook("SessionStart", &json!({"source": "startup"}))
    }

    /// What it is told after a call.
    fn after_call(&self) -> Reply {
        let call = json!({"tool_name": "Read", "tool_input": {"file_path": "/x"}, "tool_use_id": "toolu_1", "tool_response": {}});
        self.hook("PostToolUse", &call)
    }

    fn is_warned(&self) -> bool {
        self.after_call().stdout.contains("Token budget exceeded")
    }
}

/// As Claude Code writes a message.
fn line(id: &str, tokens: u64, time: Timestamp) -> String {
    let usage = json!({
        "input_tokens": tokens / 2, "output_tokens": tokens - tokens / 2,
        "cache_read_input_tokens": 70_000, "cache_creation_input_tokens": 900,
    });
    let content = json!([{"type": "text", "text": "I see."}]);
    let message = json!({"id": id, "role": "assistant", "model": "m", "content": content, "usage": usage});
    format!("{}\n", json!({"type": "assistant", "message": message, "timestamp": time.to_string()}))
}

fn session<'a>(scratch: &'a Scratch, id: &'a str) -> Session<'a> {
    Session { scratch, id }
}

fn with_budget() -> Scratch {
    let scratch = project();
    scratch.rule("budget", BUDGET);
    scratch
}

/// At the first node of the workflow.
fn at_work() -> Scratch {
    let scratch = project();
    scratch.file(".linchpin/workflows/work.yml", WORKFLOW);
    assert_eq!(scratch.run(&["start", "work"]).code, Some(0));
    scratch
}

/// What is wrong, where a move is interrupted.
fn interrupt(scratch: &Scratch) -> Option<String> {
    let reply = scratch.run(&["next"]);
    let diagnostic = reply.stdout.lines().find_map(|line| line.strip_prefix("Diagnostic: ")).map(str::to_owned);
    assert_eq!(reply.code, Some(if diagnostic.is_some() { 3 } else { 0 }), "{}", reply.transcript());
    diagnostic
}

#[test]
fn a_session_over_its_budget_is_told_once() {
    let scratch = with_budget();
    let session = session(&scratch, "s1");
    session.starts();
    session.says("msg_1", 900);
    assert_eq!(session.after_call().stdout, "");
    session.says("msg_2", 600);
    assert_snapshot!(session.after_call().json()["hookSpecificOutput"]["additionalContext"].as_str().expect("text"));
    session.says("msg_3", 600);
    assert_eq!(session.after_call().stdout, "");
}

#[test]
fn fault_tokens_are_not_counted_twice() {
    let scratch = with_budget();
    let first = session(&scratch, "s1");
    first.starts();
    // A message is several lines, each with the figure so far, and some are repeated.
    first.says("msg_1", 2).says("msg_1", 300).says("msg_1", 300);
    assert!(!first.is_warned());
    first.says("msg_1", 600).says("msg_2", 400).says("msg_1", 600);
    assert!(!first.is_warned());
    // A transcript that is written anew tells the same again.
    let text = fs::read_to_string(first.transcript()).expect("a transcript");
    fs::write(first.transcript(), format!("{{\"type\":\"summary\"}}\n{text}")).expect("a transcript");
    assert!(!first.is_warned());
    // So does that of a fork, to both.
    let fork = session(&scratch, "s2");
    fork.starts();
    fork.append(&text).says("msg_3", 1_000);
    assert!(!fork.is_warned());
    assert!(!first.is_warned());
    first.says("msg_2", 401);
    assert!(first.is_warned());
    fork.says("msg_4", 1);
    assert!(fork.is_warned());
}

/// What a fork repeats was said in the same phase, and once.
#[test]
fn fault_a_fork_does_not_count_twice_in_a_phase() {
    let scratch = at_work();
    let first = session(&scratch, "s1");
    first.starts();
    first.says("msg_1", 700);
    first.after_call();
    let text = fs::read_to_string(first.transcript()).expect("a transcript");
    let fork = session(&scratch, "s2");
    fork.starts();
    fork.append(&text).says("msg_2", 300);
    fork.after_call();
    let repeated = scratch.run(&["repeat"]).stdout;
    assert_eq!(repeated, "Spec. Tokens: 1000.\n");
    fork.says("msg_3", 1);
    fork.after_call();
    assert!(interrupt(&scratch).is_some_and(|why| why.contains("1,001")));
}

#[test]
fn what_was_said_before_the_session_was_heard_of_does_not_count() {
    let scratch = with_budget();
    let session = session(&scratch, "s1");
    let earlier = Timestamp::now() - SignedDuration::from_hours(1);
    session.append(&line("msg_1", 5_000, earlier)).starts();
    assert!(!session.is_warned());
}

#[test]
fn subagents_count() {
    let scratch = with_budget();
    let session = session(&scratch, "s1");
    session.starts();
    session.says("msg_1", 400);
    let folder = scratch.home().join("s1/subagents");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("agent-a.jsonl"), line("msg_a", 400, Timestamp::now())).expect("a transcript");
    assert!(!session.is_warned());
    // One that only its own hook names.
    let elsewhere = scratch.home().join("rollout.jsonl");
    fs::write(&elsewhere, line("msg_b", 201, Timestamp::now())).expect("a transcript");
    let stopped = json!({"agent_id": "b", "agent_type": "Explore", "agent_transcript_path": elsewhere});
    // Nobody but the person hears what is said at a stop.
    assert_eq!(session.hook("SubagentStop", &stopped).stdout, "");
    assert!(session.is_warned());
}

#[test]
fn a_budget_that_blocks_refuses_the_next_call() {
    let scratch = project();
    scratch.rule("budget", "---\ntoken_budget: {max_tokens: 1000}\nlive: block\n---\n");
    let session = session(&scratch, "s1");
    session.starts();
    session.says("msg_1", 1_001);
    let call = json!({"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "toolu_1"});
    // Before a call, nothing is read: the agent waits.
    assert_eq!(session.hook("PreToolUse", &call).decision(), "allow");
    assert_eq!(session.hook("Stop", &json!({})).stdout, "");
    let reply = session.hook("PreToolUse", &call);
    assert_eq!(reply.decision(), "deny");
    assert!(reply.reason().contains("1,001 / 1,000"), "{}", reply.reason());
}

#[test]
fn scenario_1_a_token_budget() {
    let scratch = at_work();
    let session = session(&scratch, "s1");
    session.starts();
    session.says("msg_1", 1_000);
    assert_eq!(scratch.run(&["status", "--json"]).json()["workflow"]["rules"][0]["progress"], "1,000 of 1,000 tokens");
    session.says("msg_2", 500);
    assert_eq!(interrupt(&scratch).as_deref(), Some("Token budget exceeded: 1,500 / 1,000"));
}

#[test]
fn scenario_12_a_budget_counts_in_its_phase_alone() {
    let scratch = at_work();
    let session = session(&scratch, "s1");
    session.starts();
    session.says("msg_1", 1_500);
    let reply = scratch.run(&["next"]);
    assert_eq!(reply.code, Some(3));
    assert_snapshot!(reply.stdout);
    let reply = scratch.run(&["next", "--json"]).json();
    assert_eq!(reply["interrupt"]["snapshot"], json!({"input": 750, "output": 750, "total": 1500, "limit": 1000}));
    // Past it for one move; the next phase begins with nothing.
    scratch.run(&["continue"]);
    assert_eq!(interrupt(&scratch), None);
    session.says("msg_2", 900);
    assert!(!session.is_warned());
    session.says("msg_3", 101);
    assert!(session.is_warned());
    assert_eq!(interrupt(&scratch).as_deref(), Some("Token budget exceeded: 1,001 / 1,000"));
}

#[test]
fn continue_lets_a_budget_be_used_up_once_more() {
    let scratch = at_work();
    let session = session(&scratch, "s1");
    session.starts();
    assert_eq!(interrupt(&scratch), None);
    session.says("msg_1", 1_500);
    assert!(session.is_warned());
    scratch.run(&["continue"]);
    let progress = || scratch.run(&["status", "--json"]).json()["workflow"]["rules"][0]["progress"].clone();
    assert_eq!(progress(), "0 of 1,000 tokens since `linchpin continue`, 1,500 in all");
    session.says("msg_2", 1_000);
    assert!(!session.is_warned());
    session.says("msg_3", 1);
    assert!(session.is_warned());
    let told = "Token budget exceeded: 1,001 / 1,000 since `linchpin continue`";
    assert_eq!(interrupt(&scratch).as_deref(), Some(told));
}

#[test]
fn a_message_that_is_read_late_belongs_to_the_phase_it_was_written_in() {
    let scratch = at_work();
    let session = session(&scratch, "s1");
    session.starts();
    let earlier = Timestamp::now();
    assert_eq!(interrupt(&scratch), None);
    session.append(&line("msg_1", 5_000, earlier)).says("msg_2", 7);
    assert!(!session.is_warned());
    session.says("msg_3", 1_000);
    assert_eq!(interrupt(&scratch).as_deref(), Some("Token budget exceeded: 1,007 / 1,000"));
}

#[test]
fn the_tokens_of_all_sessions_count_in_a_phase() {
    let scratch = at_work();
    for id in ["s1", "s2"] {
        session(&scratch, id).starts();
        session(&scratch, id).says(&format!("msg_{id}"), 501);
    }
    assert_eq!(interrupt(&scratch).as_deref(), Some("Token budget exceeded: 1,002 / 1,000"));
}

#[test]
fn expressions_know_the_tokens_of_a_phase() {
    let scratch = at_work();
    let session = session(&scratch, "s1");
    assert_eq!(scratch.run(&["repeat"]).stdout, "Spec. Tokens: unknown.\n");
    session.starts();
    session.says("msg_1", 321);
    assert_eq!(scratch.run(&["repeat"]).stdout, "Spec. Tokens: 321.\n");
}

#[test]
fn the_status_shows_the_tokens_of_a_phase() {
    let scratch = at_work();
    let shown = |word: &str| scratch.run(&["status"]).stdout.lines().any(|line| line == word);
    assert!(shown("Tokens  unknown in this phase"));
    let session = session(&scratch, "s1");
    session.starts();
    assert!(shown("Tokens  unknown in this phase"));
    session.says("msg_1", 321);
    assert!(shown("Tokens  160 input, 161 output in this phase"));
    scratch.run(&["abort"]);
    assert!(!scratch.run(&["status"]).stdout.to_lowercase().contains("tokens"));
}

#[test]
fn where_tokens_are_unknown_a_session_is_told_once() {
    let scratch = with_budget();
    let session = session(&scratch, "s1");
    session.starts();
    assert_snapshot!(session.after_call().stdout);
    assert_eq!(session.after_call().stdout, "");
    // As soon as there is something to read, it counts.
    session.says("msg_1", 1_001);
    assert!(session.is_warned());
}

#[test]
fn a_transcript_that_is_missing_or_damaged_costs_what_it_would_have_told() {
    let scratch = at_work();
    let [lost, damaged, sound] = ["lost", "damaged", "sound"].map(|id| session(&scratch, id));
    for session in [&lost, &damaged, &sound] {
        session.starts();
    }
    lost.says("msg_1", 100);
    // Half a line is read when it is whole.
    let half = line("msg_2", 1_000, Timestamp::now());
    let (front, rear) = half.split_at(half.len() / 2);
    damaged.append("no JSON\n\0\u{1}\n{\"type\":\"assistant\",\"usage\":{}}\n").says("msg_3", 10).append(front);
    sound.says("msg_4", 1);
    assert_eq!(scratch.run(&["repeat"]).stdout, "Spec. Tokens: 111.\n");
    fs::remove_file(lost.transcript()).expect("a transcript");
    damaged.append(rear);
    assert_eq!(interrupt(&scratch).as_deref(), Some("Token budget exceeded: 1,111 / 1,000"));
    // What it told before it was cut still counts, and what it tells from then on.
    fs::write(damaged.transcript(), line("msg_5", 9, Timestamp::now())).expect("a transcript");
    assert_eq!(interrupt(&scratch).as_deref(), Some("Token budget exceeded: 1,120 / 1,000"));
    fs::remove_file(damaged.transcript()).expect("a transcript");
    fs::create_dir(damaged.transcript()).expect("a folder");
    assert_eq!(interrupt(&scratch).as_deref(), Some("Token budget exceeded: 1,120 / 1,000"));
}

#[test]
fn what_was_read_is_not_read_again() {
    let scratch = at_work();
    let session = session(&scratch, "s1");
    session.starts();
    let now = Timestamp::now();
    let mut text = String::new();
    for number in 0..20_000 {
        let _ = write!(text, "{}", line(&format!("msg_{number:05}"), 10, now));
    }
    session.append(&text);
    assert_eq!(interrupt(&scratch).as_deref(), Some("Token budget exceeded: 200,000 / 1,000"));
    // Whoever read the beginning again would find other messages there.
    let (front, rear) = text.split_at(text.len() / 2);
    fs::write(session.transcript(), format!("{}{rear}", front.replace("msg_", "new_"))).expect("a transcript");
    session.says("msg_last", 7);
    assert_eq!(interrupt(&scratch).as_deref(), Some("Token budget exceeded: 200,007 / 1,000"));
}

#[test]
fn a_hook_reads_a_long_transcript_bit_by_bit() {
    let scratch = with_budget();
    let session = session(&scratch, "s1");
    session.starts();
    let (now, noise) = (Timestamp::now(), format!("{{\"type\":\"user\",\"x\":\"{}\"}}\n", "y".repeat(900_000)));
    session.append(&line("msg_1", 600, now)).append(&noise.repeat(3)).append(&line("msg_2", 600, now));
    let warned: Vec<bool> = (0..4).map(|_| session.is_warned()).collect();
    assert_eq!(warned, [false, true, false, false]);
}

#[test]
fn nothing_is_read_where_nobody_asks() {
    let scratch = project();
    let session = session(&scratch, "s1");
    session.starts();
    session.says("msg_1", 5_000);
    assert_eq!(session.after_call().stdout, "");
    let journal = rusqlite::Connection::open(scratch.root().join(".linchpin/state.db")).expect("a journal");
    let rows = "SELECT count(*) FROM state WHERE kind LIKE 'consumed%' OR name = '_transcripts'";
    let rows: i64 = journal.query_row(rows, [], |row| row.get(0)).expect("a number");
    assert_eq!(rows, 0);
}

#[test]
fn the_tokens_of_a_session_begin_again_with_continue() {
    let scratch = project();
    scratch.rule("budget", "---\ntoken_budget: {max_tokens: 1000}\nlive: block\n---\n");
    let session = session(&scratch, "s1");
    let is_refused = |tokens: u64| {
        session.says(&format!("msg_{tokens}"), tokens).after_call();
        let call = json!({"tool_name": "Bash", "tool_input": {"command": "make"}});
        session.hook("PreToolUse", &call).decision() == "deny"
    };
    session.starts();
    assert!(is_refused(1_500));
    // What is written before somebody goes on is behind them, too.
    session.says("msg_last", 5_000);
    assert_eq!(scratch.agent_session("s1").linchpin(&["continue"]).code, Some(0));
    assert!(!is_refused(600));
    assert!(is_refused(401));
}

#[test]
fn a_budget_that_blocks_and_has_refused_nothing_has_not_fired() {
    let scratch = project();
    scratch.file(
        ".linchpin/workflows/work.yml",
        "start_node: code\nnodes:\n  code:\n    prompt: Code.\n    rules: [{token_budget: {max_tokens: 1000}, live: block}]\n    \
         transitions: [{when: code_complete, to: done}]\n",
    );
    assert_eq!(scratch.run(&["start", "work"]).code, Some(0));
    let session = session(&scratch, "s1");
    session.starts();
    session.says("msg_1", 1_200).after_call();
    let call = |command: &str| json!({"tool_name": "Bash", "tool_input": {"command": command}});
    assert_eq!(session.hook("PreToolUse", &call("echo hi")).decision(), "allow");
    let told = scratch.run(&["continue"]).stdout;
    assert!(told.starts_with("No pace rule has fired at `code`"), "{told}");
    assert_eq!(session.hook("PreToolUse", &call("make")).decision(), "deny");
    assert_eq!(scratch.run(&["continue"]).stdout, "Code.\n");
    assert_eq!(session.hook("PreToolUse", &call("make")).decision(), "allow");
}
