//! Start and end times of calls.

use engine::event::EventKind;
use store::{Store, StoreOptions};

use crate::sample::{event, new_database_path, open, options, record_plain, shell_event};

const MINUTE: i64 = 60_000;

#[test]
fn a_call_without_an_end_runs_until_now_or_the_maximum_duration() {
    let database = new_database_path();
    record_plain(&mut open(&database.path), &shell_event(EventKind::BeforeTool, MINUTE, "make", Some("1")));
    let ended = |now: i64| {
        let store = Store::open_read_only(&database.path, StoreOptions { now, ..options() }).unwrap();
        let calls = store.calls(10).unwrap().calls;
        (calls[0].ended, calls[0].has_ended)
    };
    assert_eq!(ended(3 * MINUTE), (3 * MINUTE, false));
    assert_eq!(ended(60 * MINUTE), (11 * MINUTE, false));
    record_plain(&mut open(&database.path), &event(EventKind::SessionEnd, 2 * MINUTE));
    assert_eq!(ended(3 * MINUTE), (2 * MINUTE, false));
}

#[test]
fn a_call_without_an_end_runs_until_its_session_is_idle() {
    for idle_kind in [EventKind::Prompt, EventKind::Stop, EventKind::SessionStart, EventKind::SessionEnd] {
        let database = new_database_path();
        let mut store = open(&database.path);
        record_plain(&mut store, &shell_event(EventKind::BeforeTool, 3, "make", Some("2")));
        record_plain(&mut store, &shell_event(EventKind::BeforeTool, 5, "ls", Some("3")));
        record_plain(&mut store, &event(idle_kind, 7));
        let calls = store.calls(10).unwrap().calls;
        let ends: Vec<(i64, bool)> = calls.iter().map(|call| (call.ended, call.has_ended)).collect();
        assert_eq!(ends, [(7, false), (7, false)], "{idle_kind:?}");
    }
}

#[test]
fn a_list_of_calls_that_reached_the_limit_is_not_complete() {
    let database = new_database_path();
    let mut store = open(&database.path);
    record_plain(&mut store, &shell_event(EventKind::BeforeTool, 3, "make", Some("2")));
    record_plain(&mut store, &shell_event(EventKind::BeforeTool, 5, "ls", Some("3")));
    let all = store.calls(3).unwrap();
    assert_eq!((all.calls.len(), all.is_complete), (2, true));
    let newest = store.calls(1).unwrap();
    assert_eq!((newest.calls.len(), newest.is_complete), (1, false));
}
