//! Variables, counters, and judgement transactions.

use engine::event::EventKind;
use engine::verdict::Verdict;
use serde_json::{Map, json};
use store::{
    CounterChange, EventRecord, JournalDetail, JournalFilter, RecordOutcome, SessionKey, StateChanges, StoredState,
};

use crate::sample::{KEY, event, new_database_path, open, record, record_plain, stored_id};

#[test]
fn an_unknown_session_has_no_state() {
    let database = new_database_path();
    assert_eq!(open(&database.path).session_state(KEY).unwrap(), StoredState::default());
}

#[test]
fn variables_and_counters_outlive_the_process() {
    let database = new_database_path();
    let mut changes = StateChanges::default();
    changes.set("tests_ran", true);
    changes.set("notes", json!({"a": [1, "two", null]}));
    changes.set("gone", "soon");
    changes.change_counter("hold:x", CounterChange::Add(2));
    changes.change_counter("y", CounterChange::Set(-7));
    record(&mut open(&database.path), &event(EventKind::Stop, 5), &Verdict::empty(), &changes);

    let mut changes = StateChanges::default();
    changes.unset("gone");
    changes.unset("never was");
    changes.change_counter("hold:x", CounterChange::Add(1));
    record(&mut open(&database.path), &event(EventKind::Stop, 6), &Verdict::empty(), &changes);

    let state = open(&database.path).session_state(KEY).unwrap();
    assert_eq!(json!(state.variables), json!({"notes": {"a": [1, "two", null]}, "tests_ran": true}));
    assert_eq!((state.counter("hold:x"), state.counter("y"), state.counter("z")), (3, -7, 0));
    assert_eq!((state.root.as_deref(), state.first_seen), (Some("/srv/project"), Some(5)));
}

#[test]
fn equal_session_ids_of_two_agents_are_two_sessions() {
    let database = new_database_path();
    let mut store = open(&database.path);
    let mut changes = StateChanges::default();
    changes.set("mine", 1);
    record(&mut store, &event(EventKind::Stop, 1), &Verdict::empty(), &changes);
    let other = SessionKey { agent: "codex", session: KEY.session };
    assert_eq!(store.session_state(other).unwrap(), StoredState::default());
}

#[test]
fn secrets_in_variables_are_masked() {
    let database = new_database_path();
    let mut store = open(&database.path);
    let mut changes = StateChanges::default();
    changes.set("last", "deploy --token abc123");
    changes.set("login", json!({"password": "hunter2"}));
    record(&mut store, &event(EventKind::Stop, 1), &Verdict::empty(), &changes);
    let state = store.session_state(KEY).unwrap();
    assert_eq!(json!(state.variables), json!({"last": "deploy --token ***", "login": {"password": "***"}}));
}

/// Records an event that increments `count`, and stores the earlier value of `count` in a variable.
fn record_increment(judgement: store::JudgementTransaction<'_>, time: i64) -> RecordOutcome<'_> {
    let mut changes = StateChanges::default();
    changes.change_counter("count", CounterChange::Add(1));
    changes.set("seen", judgement.session_state().counter("count"));
    let (event, empty) = (event(EventKind::Stop, time), Map::new());
    judgement
        .record(&EventRecord {
            event: &event,
            root: "/",
            verdict: &Verdict::empty(),
            facts: &empty,
            fields: &empty,
            changes: &changes,
            detail: JournalDetail::Lean,
        })
        .unwrap()
}

#[test]
fn a_judgement_by_an_outdated_state_is_repeated() {
    let database = new_database_path();
    let (mut one, mut two) = (open(&database.path), open(&database.path));
    let outdated = one.begin(KEY).unwrap();
    stored_id(&record_increment(two.begin(KEY).unwrap(), 1));
    let RecordOutcome::Conflict(retry) = record_increment(outdated, 2) else { panic!("recorded by an old state") };
    assert_eq!(retry.session_state().counter("count"), 1);
    stored_id(&record_increment(*retry, 2));
    let state = two.session_state(KEY).unwrap();
    assert_eq!((state.counter("count"), &state.variables["seen"]), (2, &json!(1)));
    assert_eq!(two.entries(&JournalFilter::default()).unwrap().len(), 2);
}

#[test]
fn an_event_that_changes_nothing_is_never_judged_twice() {
    let database = new_database_path();
    let (mut one, mut two) = (open(&database.path), open(&database.path));
    stored_id(&record_increment(two.begin(KEY).unwrap(), 1));
    let outdated = one.begin(KEY).unwrap();
    stored_id(&record_increment(two.begin(KEY).unwrap(), 1));
    let (event, empty) = (event(EventKind::Stop, 2), Map::new());
    let mut unchanged = StateChanges::default();
    unchanged.set("seen", 0);
    unchanged.change_counter("count", CounterChange::Add(0));
    let record = EventRecord {
        event: &event,
        root: "/",
        verdict: &Verdict::empty(),
        facts: &empty,
        fields: &empty,
        changes: &unchanged,
        detail: JournalDetail::Lean,
    };
    stored_id(&outdated.record(&record).unwrap());
}

#[test]
fn dropping_a_judgement_writes_nothing_and_releases_the_lock() {
    let database = new_database_path();
    let (mut one, mut two) = (open(&database.path), open(&database.path));
    let outdated = one.begin(KEY).unwrap();
    stored_id(&record_increment(two.begin(KEY).unwrap(), 1));
    let RecordOutcome::Conflict(retry) = record_increment(outdated, 2) else { panic!("recorded by an old state") };
    drop(retry);
    record_plain(&mut two, &event(EventKind::Stop, 3));
    assert_eq!(two.session_state(KEY).unwrap().counter("count"), 1);
    assert_eq!(two.entries(&JournalFilter::default()).unwrap().len(), 2);
}

#[test]
fn counters_do_not_overflow() {
    let database = new_database_path();
    let mut store = open(&database.path);
    for change in [CounterChange::Set(i64::MAX), CounterChange::Add(1)] {
        let mut changes = StateChanges::default();
        changes.change_counter("n", change);
        record(&mut store, &event(EventKind::Stop, 1), &Verdict::empty(), &changes);
    }
    assert_eq!(store.session_state(KEY).unwrap().counter("n"), i64::MAX);
}
