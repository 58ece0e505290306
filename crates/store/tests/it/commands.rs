//! The commands that a session ran.

use engine::NotEnforced;
use engine::event::{CallOutcome, Event, EventKind};
use engine::verdict::{Finding, Level, Verdict};
use store::{EntryId, SessionKey, StateChanges, Store};

use crate::sample::{KEY, event, new_database_path, open, record, record_plain, shell_event};

fn recorded_commands(store: &Store, since: i64, limit: usize) -> Vec<(i64, String, Option<bool>)> {
    let commands = store.commands(KEY, since, limit).unwrap();
    commands.into_iter().map(|command| (command.time, command.text, command.succeeded)).collect()
}

#[test]
fn start_and_end_of_a_call_are_one_command_and_the_newest_comes_first() {
    let database = new_database_path();
    let mut store = open(&database.path);
    for (time, kind, command, call) in [
        (1, EventKind::BeforeTool, "a", Some("c1")),
        (2, EventKind::AfterTool, "a", Some("c1")),
        (3, EventKind::BeforeTool, "b", Some("c2")),
        (4, EventKind::BeforeTool, "b", Some("c3")),
        (5, EventKind::ToolFailed, "b", Some("c3")),
        (6, EventKind::BeforeTool, "c", None),
        (7, EventKind::AfterTool, "c", None),
        (8, EventKind::BeforeTool, "c", None),
    ] {
        // Agents do not always report the outcome of a call.
        let outcome = (time == 2).then_some(CallOutcome::Ok);
        record_plain(&mut store, &Event { outcome, ..shell_event(kind, time, command, call) });
        record_plain(&mut store, &event(EventKind::Notification, time));
    }
    let has_ended: Vec<bool> =
        store.commands(KEY, 0, 9).unwrap().into_iter().map(|command| command.has_ended).collect();
    assert_eq!(has_ended, [false, true, true, false, true]);
    let expected = [(8, "c", None), (7, "c", None), (5, "b", Some(false)), (3, "b", None), (2, "a", Some(true))];
    let expected = expected.map(|(time, text, succeeded)| (time, text.to_owned(), succeeded));
    assert_eq!(recorded_commands(&store, 0, 100), expected);
    assert_eq!(recorded_commands(&store, 5, 100), expected[..3]);
    assert_eq!(recorded_commands(&store, 0, 2), expected[..2]);
    assert_eq!(recorded_commands(&store, 0, 0), []);
    assert_eq!(store.commands(SessionKey { agent: "x", session: "y" }, 0, 9).unwrap(), []);
}

#[test]
fn failed_calls_did_not_succeed_and_blocked_calls_are_left_out() {
    let database = new_database_path();
    let mut store = open(&database.path);
    let mut failed = shell_event(EventKind::AfterTool, 1, "make", None);
    failed.outcome = Some(CallOutcome::Failed);
    record_plain(&mut store, &failed);
    let finding = Finding {
        rule: "r".to_owned(),
        level: Level::Block,
        reason: "no".to_owned(),
        because: Vec::new(),
        digest: None,
        protects_guard: false,
        section: None,
        is_combined: false,
    };
    let refused = shell_event(EventKind::BeforeTool, 2, "rm -rf /", None);
    record(&mut store, &refused, &Verdict::of(vec![finding.clone()]), &StateChanges::default());
    assert_eq!(recorded_commands(&store, 0, 9), [(1, "make".to_owned(), Some(false))]);
    let not_enforced = Verdict { not_enforced: Some(NotEnforced::Paused), ..Verdict::of(vec![finding]) };
    record(&mut store, &refused, &not_enforced, &StateChanges::default());
    assert_eq!(recorded_commands(&store, 0, 1), [(2, "rm -rf /".to_owned(), None)]);
}

#[test]
fn commands_are_found_by_the_index_without_sorting() {
    let database = new_database_path();
    drop(open(&database.path));
    let connection = rusqlite::Connection::open(&database.path).unwrap();
    let plan: String = connection
        .query_row(
            "EXPLAIN QUERY PLAN SELECT id FROM events WHERE session = ?1 AND (command IS NULL) = 0 AND time >= ?2 \
             ORDER BY id DESC",
            [1, 1],
            |row| row.get("detail"),
        )
        .unwrap();
    assert_eq!(plan, "SEARCH events USING INDEX events_of_session (session=? AND <expr>=?)");
}

#[test]
fn commands_before_an_event_exclude_that_event_and_later_ones() {
    let database = new_database_path();
    let mut store = open(&database.path);
    record_plain(&mut store, &shell_event(EventKind::BeforeTool, 1, "one", Some("a")));
    record_plain(&mut store, &shell_event(EventKind::AfterTool, 2, "one", Some("a")));
    let second_start = record_plain(&mut store, &shell_event(EventKind::BeforeTool, 3, "two", Some("b")));
    record_plain(&mut store, &shell_event(EventKind::AfterTool, 4, "two", Some("b")));
    let texts = |event| -> Vec<(i64, String)> {
        let commands = store.commands_before(KEY, event, 10).unwrap();
        commands.into_iter().map(|command| (command.time, command.text)).collect()
    };
    assert_eq!(texts(second_start), [(2, "one".to_owned())]);
    assert_eq!(texts(EntryId(2)), [(1, "one".to_owned())]);
    assert_eq!(texts(EntryId(1)), []);
}

#[test]
fn commands_of_all_sessions_are_limited_by_time_event_and_number() {
    let database = new_database_path();
    let mut store = open(&database.path);
    let mut ids = Vec::new();
    for time in 1..=6 {
        // Equal calls in two sessions count as two.
        for session in ["s1", "s2"] {
            let kind = if time % 2 == 0 { EventKind::AfterTool } else { EventKind::BeforeTool };
            let event = Event {
                session: session.to_owned(),
                ..shell_event(kind, time, "make", Some(&format!("c{}", (time + 1) / 2)))
            };
            ids.push(record_plain(&mut store, &event));
        }
    }
    let times = |since, before, limit| {
        let commands = store.commands_of_all_sessions(since, before, limit).unwrap();
        commands.into_iter().map(|command| command.time).collect::<Vec<_>>()
    };
    let end = EntryId(i64::MAX);
    assert_eq!(times(0, end, 99), [6, 6, 4, 4, 2, 2]);
    assert_eq!(times(4, end, 99), [6, 6, 4, 4]);
    assert_eq!(times(0, ids[5], 99), [3, 2, 2]);
    assert_eq!(times(0, end, 1), [6]);
    assert_eq!(times(7, end, 9), [] as [i64; 0]);
}
