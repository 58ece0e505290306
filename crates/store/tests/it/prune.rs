//! Which entries `prune` deletes, and which it keeps.

use engine::event::EventKind;
use engine::verdict::{Finding, Level, Verdict};
use serde_json::Map;
use store::{JournalFilter, Note, NoteKind, PERSON_SESSION, SessionKey, StateChanges};

use crate::sample::{event, new_database_path, open, record, record_plain};

#[test]
fn old_events_are_deleted_with_their_findings_and_with_the_variables_of_old_sessions() {
    let database = new_database_path();
    let mut store = open(&database.path);
    let warning = || {
        Verdict::of(vec![Finding {
            rule: "r".into(),
            level: Level::Warn,
            reason: "hm".into(),
            because: Vec::new(),
            digest: None,
            protects_guard: false,
            section: None,
            is_combined: false,
        }])
    };
    let mut changes = StateChanges::default();
    changes.set("kept", true);
    for time in 0..5_000 {
        let mut event = event(EventKind::Stop, time);
        if time < 4_000 { "old" } else { "new" }.clone_into(&mut event.session);
        record(&mut store, &event, &warning(), &changes);
    }
    assert_eq!(store.prune(4_500).unwrap(), 4_500);
    assert_eq!(store.prune(4_500).unwrap(), 0);
    let entries = store.entries(&JournalFilter { rule: Some("r".into()), ..JournalFilter::default() }).unwrap();
    assert_eq!((entries.len(), entries[0].time), (500, 4_500));
    let state = |session| store.session_state(SessionKey { agent: "claude", session }).unwrap();
    assert_eq!(state("old").first_seen, Some(0));
    assert_eq!(state("old").variables.len(), 0);
    assert_eq!(state("new").variables.len(), 1);
}

#[test]
fn the_newest_event_is_kept_so_that_ids_are_not_reused() {
    let database = new_database_path();
    let mut store = open(&database.path);
    for time in 0..3 {
        record_plain(&mut store, &event(EventKind::Stop, time));
    }
    assert_eq!(store.prune(i64::MAX).unwrap(), 2);
    assert_eq!(record_plain(&mut store, &event(EventKind::Stop, 9)).0, 4);
}

#[test]
fn old_events_are_pruned_even_if_the_clock_was_set_back() {
    let database = new_database_path();
    let mut store = open(&database.path);
    record_plain(&mut store, &event(EventKind::Stop, 999_999));
    for time in 0..100 {
        record_plain(&mut store, &event(EventKind::Stop, time));
    }
    assert_eq!(store.prune(50).unwrap(), 50);
    assert_eq!(store.prune(0).unwrap(), 0);
}

#[test]
fn an_empty_journal_has_nothing_to_prune() {
    let database = new_database_path();
    assert_eq!(open(&database.path).prune(i64::MAX).unwrap(), 0);
}

#[test]
fn the_state_of_a_workflow_is_never_pruned() {
    let database = new_database_path();
    let mut store = open(&database.path);
    let mut changes = StateChanges::default();
    changes.workflow_variables.insert("at".to_owned(), Some("code".into()));
    let note = Note {
        kind: NoteKind::Start,
        session: PERSON_SESSION,
        time: 60,
        root: "/srv/project",
        cwd: "/srv/project",
        fields: &Map::new(),
        changes: &changes,
    };
    let workflow = store.workflow_state().unwrap();
    store.write_workflow_note(&note, &workflow).unwrap();
    record_plain(&mut store, &event(EventKind::Stop, 300));
    assert_eq!(store.prune(250).unwrap(), 1);
    assert_eq!(store.workflow_state().unwrap().variables.get("at"), Some(&"code".into()));
}
