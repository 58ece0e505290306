//! Tests which sessions own a change, depending on when their calls ran and which paths the calls name.

use engine::event::FileAccess;
use engine::file_rules::{Change, Status};
use engine::{Event, EventKind};
use std::time::{Duration, SystemTime};

use super::*;
use crate::tests::{Scratch, after_call, before_call, options};

const MINUTE: i64 = 60 * 1000;

/// A shell call of a session during this time.
fn shell_call(session: &str, (started, ended): (i64, i64), command: &str) -> RecordedCall {
    RecordedCall {
        agent: "claude".to_owned(),
        session: session.to_owned(),
        started,
        ended,
        quiet_after: ended,
        has_ended: true,
        tool: "Bash".to_owned(),
        command: Some(command.to_owned()),
        paths: Vec::new(),
        cwd: "/repo".to_owned(),
    }
}

/// A call of an editing tool.
fn edit(session: &str, times: (i64, i64), path: &str) -> RecordedCall {
    RecordedCall {
        tool: "Edit".to_owned(),
        command: None,
        paths: vec![FileAccess::new(path.to_owned(), Access::Write)],
        ..shell_call(session, times, "")
    }
}

/// The same call, but without a recorded end.
fn unfinished(call: RecordedCall) -> RecordedCall {
    RecordedCall { has_ended: false, ..call }
}

fn sessions(owners: &Owners<'_>) -> Vec<String> {
    owners.iter().map(|(_, session)| (*session).to_owned()).collect()
}

/// The sessions that own a change at this time. `writers` has the calls that write the path; `others` has all other
/// calls.
fn owners_at(time: i64, writers: &[RecordedCall], others: &[RecordedCall]) -> Vec<String> {
    let all: Vec<RecordedCall> = writers.iter().chain(others).cloned().collect();
    let writers: Vec<&RecordedCall> = writers.iter().collect();
    sessions(&owners_of_change(time, &writers, &all))
}

const ALL_SESSIONS: [&str; 0] = [];

#[test]
fn a_change_belongs_to_the_call_that_names_the_file_and_ran_then() {
    let writers = [edit("a", (10, 20), "/repo/f")];
    let others = [shell_call("b", (0, 100), "make")];
    for time in [10, 15, 20] {
        assert_eq!(owners_at(time, &writers, &others), ["a"], "{time}");
    }
}

#[test]
fn a_change_after_every_call_that_names_the_file_belongs_to_the_calls_that_ran_then() {
    let writers = [edit("a", (10, 20), "/repo/f")];
    // The earlier writer still owns its part of the change.
    assert_eq!(owners_at(50, &writers, &[shell_call("b", (40, 60), "make")]), ["a", "b"]);
    assert_eq!(owners_at(50, &[], &[shell_call("b", (40, 60), "make"), shell_call("c", (50, 50), "make")]), ["b", "c"]);
}

#[test]
fn a_change_while_no_call_ran_belongs_to_all_sessions() {
    assert_eq!(owners_at(50, &[], &[]), ALL_SESSIONS);
    assert_eq!(
        owners_at(50, &[], &[shell_call("b", (10, 49), "make"), shell_call("c", (51, 60), "make")]),
        ALL_SESSIONS
    );
    // A person changed the file later.
    assert_eq!(owners_at(50, &[edit("a", (10, 20), "/repo/f")], &[]), ALL_SESSIONS);
}

#[test]
fn an_edit_of_another_file_does_not_own_the_change() {
    assert_eq!(owners_at(50, &[], &[edit("b", (40, 60), "/repo/other")]), ALL_SESSIONS);
    let mcp = RecordedCall { tool: "mcp__files__write".to_owned(), ..edit("b", (40, 60), "/repo/other") };
    assert_eq!(owners_at(50, &[], &[mcp]), ["b"]);
}

#[test]
fn a_finished_call_may_own_an_older_change() {
    // A program may set a modification time in the past.
    assert_eq!(owners_at(5, &[edit("a", (10, 20), "/repo/f")], &[]), ["a"]);
    assert_eq!(owners_at(5, &[unfinished(edit("a", (10, 20), "/repo/f"))], &[]), ALL_SESSIONS);
}

#[test]
fn a_finished_call_owns_changes_by_its_agents_other_hooks_right_after() {
    let formatted = RecordedCall { quiet_after: 30, ..edit("a", (10, 20), "/repo/f") };
    assert_eq!(owners_at(30, std::slice::from_ref(&formatted), &[]), ["a"]);
    assert_eq!(owners_at(31, &[formatted], &[]), ALL_SESSIONS);
}

#[test]
fn an_unfinished_call_owns_only_changes_while_it_may_have_run() {
    let call = unfinished(edit("a", (10, 20), "/repo/f"));
    assert_eq!(owners_at(15, std::slice::from_ref(&call), &[]), ["a"]);
    assert_eq!(owners_at(21, std::slice::from_ref(&call), &[]), ALL_SESSIONS);
    // The unfinished call does not own a later change, so only the session whose call ran at that time owns it.
    assert_eq!(owners_at(50, &[call], &[shell_call("b", (40, 60), "make")]), ["b"]);
}

#[test]
fn all_sessions_that_wrote_a_file_own_its_change() {
    let writers = [edit("a", (10, 20), "/repo/f"), edit("b", (30, 40), "/repo/f"), edit("c", (50, 60), "/repo/f")];
    assert_eq!(owners_at(35, &writers, &[]), ["a", "b", "c"]);
}

#[test]
fn a_deletion_belongs_to_the_calls_that_may_have_made_it() {
    let gone = Path::new("/nowhere/at/all");
    let deleting = RecordedCall {
        paths: vec![FileAccess::new("/nowhere/at/all".to_owned(), Access::Delete)],
        ..edit("tool", (10, 20), "")
    };
    let calls = [
        shell_call("shell", (10, 20), "rm all"),
        deleting,
        edit("writer", (10, 20), "/nowhere/at/all"),
        unfinished(shell_call("unfinished", (10, 20), "rm all")),
    ];
    let writers: Vec<&RecordedCall> = calls.iter().collect();
    assert_eq!(sessions(&owners_of_deletion(gone, &writers)), ["shell", "tool"]);
}

#[test]
fn files_that_a_shell_command_writes_are_found() {
    let attribution = attribution(Path::new("/nowhere"));
    for (command, expected) in [
        ("echo x > a.txt", &["/repo/a.txt"][..]),
        ("cd src && rm b.rs", &["/repo/src/b.rs"]),
        ("cat a.txt", &[]),
        ("cp a.txt /tmp/b.txt", &["/tmp/b.txt"]),
    ] {
        let written: Vec<String> = attribution
            .written_paths(&shell_call("a", (0, 1), command))
            .iter()
            .map(|path| path::normalize(path))
            .collect();
        assert_eq!(written, expected, "{command}");
    }
    assert_eq!(attribution.written_paths(&edit("a", (0, 1), "/repo/f")), ["/repo/f"]);
    let read =
        RecordedCall { paths: vec![FileAccess::new("/repo/f".to_owned(), Access::Read)], ..edit("a", (0, 1), "") };
    assert_eq!(attribution.written_paths(&read), [""; 0]);
}

#[test]
fn a_session_is_read_only_while_all_its_commands_only_read() {
    let attribution = attribution(Path::new("/nowhere"));
    for (calls, has_only_read) in [
        // No call was recorded, perhaps because the agent's hooks do not report calls.
        (vec![], false),
        (vec![shell_call("other", (0, 1), "rm f")], true),
        (vec![shell_call("s", (0, 1), "cat a.txt | grep x")], true),
        (vec![shell_call("s", (0, 1), "git status")], true),
        (vec![shell_call("s", (0, 1), "echo x > a.txt")], false),
        (vec![shell_call("s", (0, 1), "./build.sh")], false),
        (vec![shell_call("s", (0, 1), "make")], false),
        (vec![shell_call("s", (0, 1), "cat \"unclosed")], false),
        (vec![edit("s", (0, 1), "/repo/f")], false),
        (vec![RecordedCall { tool: "mcp__files__read".to_owned(), paths: vec![], ..edit("s", (0, 1), "") }], false),
        (vec![RecordedCall { tool: "Read".to_owned(), paths: vec![], ..edit("s", (0, 1), "") }], true),
        (vec![shell_call("s", (0, 1), "ls"), shell_call("other", (0, 1), "rm f")], true),
        (vec![shell_call("s", (0, 1), "ls"), shell_call("s", (0, 1), "rm f")], false),
    ] {
        let mut recorded = RecordedCalls { oldest: Some(5), ..recorded(calls) };
        assert_eq!(attribution.has_only_read(&recorded, Some(6)), has_only_read, "{recorded:?}");
        // The calls that are missing in this incomplete record were made before the session began, at 6.
        recorded.is_complete = false;
        assert_eq!(attribution.has_only_read(&recorded, Some(6)), has_only_read, "{recorded:?}");
        // If the session began at 5 or at an unknown time, one of the missing calls may be its own, and may have
        // written a file.
        for first_seen in [None, Some(5)] {
            assert!(!attribution.has_only_read(&recorded, first_seen), "{recorded:?}");
        }
    }
}

fn recorded(calls: Vec<RecordedCall>) -> RecordedCalls {
    RecordedCalls { calls, is_complete: true, oldest: None, started_sessions: BTreeSet::new() }
}

#[test]
fn a_session_without_calls_is_read_only_if_its_agent_reports_calls() {
    let attribution = attribution(Path::new("/nowhere"));
    let started = |agent: &str, session: &str| RecordedCalls {
        started_sessions: BTreeSet::from([(agent.to_owned(), session.to_owned())]),
        ..recorded(Vec::new())
    };
    assert!(attribution.has_only_read(&started("claude", "s"), Some(1)));
    assert!(attribution.has_only_read(&recorded(vec![shell_call("other", (0, 1), "rm f")]), Some(1)));
    for unknown in [recorded(Vec::new()), started("codex", "s"), started("claude", "other")] {
        assert!(!attribution.has_only_read(&unknown, Some(1)), "{unknown:?}");
    }
}

fn attribution(store: &Path) -> Attribution {
    Attribution {
        journal_path: store.to_owned(),
        options: options(100 * MINUTE),
        agent: "claude".to_owned(),
        session: "s".to_owned(),
        home: None,
    }
}

fn changes(paths: &[&str]) -> Changes {
    paths.iter().map(|path| Change { status: Status::Modified, path: (*path).to_owned() }).collect()
}

/// The changed files that session `s` owns; `None` if it owns all.
fn owned_files(scratch: &Scratch, paths: &[&str]) -> Option<Vec<String>> {
    let store = scratch.project().journal_path(&scratch.environment);
    let attributed = attribution(&store).attribute(&scratch.root, &changes(paths))?;
    let owned = attributed.paths().filter(|path| attributed.is_own(path));
    Some(owned.map(str::to_owned).collect())
}

/// Creates a file that was last changed at this time.
fn create_file_changed_at(scratch: &Scratch, path: &str, time: i64) {
    scratch.file(path, "text");
    let file = fs::File::options().write(true).open(scratch.root.join(path)).expect("a file");
    let time = SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(time).expect("a time"));
    file.set_modified(time).expect("a time");
}

/// Records a call that began at this time and ran for a minute.
fn record_call(scratch: &Scratch, session: &str, command: &str, time: i64) {
    let at = |event: Event, time: i64| {
        scratch.record(&Event {
            session: session.to_owned(),
            time,
            cwd: scratch.root.to_string_lossy().into_owned(),
            ..event
        });
    };
    at(before_call(command), time);
    at(after_call(command), time + MINUTE);
}

#[test]
fn a_session_alone_in_the_tree_owns_all_changes() {
    let scratch = Scratch::new();
    assert_eq!(owned_files(&scratch, &["a"]), None, "no session is recorded");
    record_call(&scratch, "s", "echo x > f", 10 * MINUTE);
    assert_eq!(owned_files(&scratch, &["a"]), None);
    // A session without tool calls owns nothing.
    scratch.record(&Event { session: "other".to_owned(), ..scratch.event(EventKind::Prompt, 20 * MINUTE) });
    assert_eq!(owned_files(&scratch, &["a"]), None);
}

#[test]
fn each_of_two_sessions_owns_changes_during_its_calls() {
    let scratch = Scratch::new();
    record_call(&scratch, "s", "make", 10 * MINUTE);
    record_call(&scratch, "other", "make", 20 * MINUTE);
    for (path, time) in [("mine", 10 * MINUTE + 5), ("others", 20 * MINUTE + 5), ("unattributed", 50 * MINUTE)] {
        create_file_changed_at(&scratch, path, time);
    }
    assert_eq!(
        owned_files(&scratch, &["mine", "unattributed", "others"]),
        Some(vec!["mine".to_owned(), "unattributed".to_owned()])
    );
}

#[test]
fn a_session_that_only_reads_owns_no_change() {
    let scratch = Scratch::new();
    record_call(&scratch, "s", "cat old", 10 * MINUTE);
    create_file_changed_at(&scratch, "old", MINUTE);
    create_file_changed_at(&scratch, "new", 10 * MINUTE + 5);
    assert_eq!(owned_files(&scratch, &["new", "old"]), Some(Vec::new()));
    record_call(&scratch, "s", "make", 20 * MINUTE);
    assert_eq!(owned_files(&scratch, &["new", "old"]), None);
}
