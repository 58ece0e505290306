//! Sample events, records and databases.

use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::event::{Event, EventKind, ShellText, ToolCall};
use engine::verdict::Verdict;
use serde_json::{Map, json};
use store::{EntryId, EventRecord, JournalDetail, RecordOutcome, SessionKey, StateChanges, Store, StoreOptions};
use tempfile::TempDir;

pub const KEY: SessionKey<'static> = SessionKey { agent: "claude", session: "s1" };

pub fn options() -> StoreOptions {
    StoreOptions { busy_timeout: Duration::from_secs(30), now: 1_700_000_000_000, run: None }
}

pub struct DatabasePath {
    pub directory: TempDir,
    pub path: PathBuf,
}

/// Returns a path in a new temporary directory, for a database that does not exist yet.
pub fn new_database_path() -> DatabasePath {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join(".linchpin").join("state.db");
    DatabasePath { directory, path }
}

pub fn open(path: &Path) -> Store {
    Store::open(path, options()).unwrap()
}

pub fn event(kind: EventKind, time: i64) -> Event {
    Event {
        kind,
        name: kind.name().to_owned(),
        session: KEY.session.to_owned(),
        cwd: "/srv/project".to_owned(),
        ..Event::unknown(KEY.agent, time)
    }
}

pub fn shell_event(kind: EventKind, time: i64, command: &str, call: Option<&str>) -> Event {
    Event {
        tool: Some(ToolCall {
            name: "Bash".to_owned(),
            id: call.map(str::to_owned),
            input: json!({"command": command, "description": "Does something"}),
            shell: Some(ShellText::Command(command.to_owned())),
            ..ToolCall::default()
        }),
        ..event(kind, time)
    }
}

/// Records `event` with a verdict and changes.
pub fn record(store: &mut Store, event: &Event, verdict: &Verdict, changes: &StateChanges) -> EntryId {
    let empty = Map::new();
    let record = EventRecord {
        event,
        root: "/srv/project",
        verdict,
        facts: &empty,
        fields: &empty,
        changes,
        detail: JournalDetail::Lean,
    };
    let judgement = store.begin(SessionKey { agent: &event.agent, session: &event.session }).unwrap();
    stored_id(&judgement.record(&record).unwrap())
}

pub fn record_plain(store: &mut Store, event: &Event) -> EntryId {
    record(store, event, &Verdict::empty(), &StateChanges::default())
}

pub fn stored_id(outcome: &RecordOutcome<'_>) -> EntryId {
    match outcome {
        RecordOutcome::Stored(id) => *id,
        RecordOutcome::Conflict(_) => panic!("the state changed, although no other process wrote"),
    }
}
