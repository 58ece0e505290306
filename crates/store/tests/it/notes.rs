//! Notes in the journal.

use serde_json::{Map, json};
use store::{JournalFilter, Note, NoteKind, PERSON_SESSION, SessionKey, StateChanges};

use crate::sample::{KEY, event, new_database_path, open, record_plain};
use engine::event::EventKind;

fn note<'a>(kind: NoteKind, session: SessionKey<'a>, fields: &'a Map<String, serde_json::Value>) -> Note<'a> {
    const NO_CHANGES: &StateChanges = &StateChanges {
        session_variables: std::collections::BTreeMap::new(),
        counters: std::collections::BTreeMap::new(),
        attempts: Vec::new(),
        workflow_variables: std::collections::BTreeMap::new(),
        rule_outcomes: Vec::new(),
    };
    Note { kind, session, time: 5, root: "/srv/project", cwd: "/srv/project", fields, changes: NO_CHANGES }
}

#[test]
fn a_note_is_read_back_with_its_secrets_masked() {
    let database = new_database_path();
    let mut store = open(&database.path);
    let fields = Map::from_iter([("reason".to_owned(), json!("deploy with --password hunter2"))]);
    store.write_note(&note(NoteKind::Pause, PERSON_SESSION, &fields)).unwrap();
    let entry = store.entries(&JournalFilter::default()).unwrap().pop().unwrap();
    assert_eq!((entry.kind.as_str(), entry.session.agent.as_str(), entry.session.id.as_str()), ("pause", "person", ""));
    assert_eq!(entry.fields["reason"], json!("deploy with --password ***"));
}

#[test]
fn a_note_changes_the_state_of_its_session() {
    let database = new_database_path();
    let mut store = open(&database.path);
    record_plain(&mut store, &event(EventKind::Prompt, 1));
    let mut changes = StateChanges::default();
    changes.set("_ack:rule", json!({ "digest": "d1" }));
    let fields = Map::new();
    store.write_note(&Note { changes: &changes, ..note(NoteKind::Ack, KEY, &fields) }).unwrap();
    assert_eq!(store.session_state(KEY).unwrap().variables["_ack:rule"]["digest"], "d1");
    let mut judgement = store.begin(KEY).unwrap();
    assert_eq!(judgement.session_state().variables.len(), 1);
    assert!(judgement.input_digest(&event(EventKind::Stop, 2)).unwrap().is_none());
}
