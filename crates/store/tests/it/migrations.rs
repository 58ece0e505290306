//! Databases of earlier versions.

use std::fs;
use std::path::Path;

use engine::event::EventKind;
use rusqlite::Connection;
use serde_json::json;
use store::{JournalFilter, RuleVersion, SessionKey, StateChanges, Store};

use crate::sample::{event, new_database_path, open, options, record};

/// A database of version 1, with one event and one variable.
const VERSION_1: &str = "
    PRAGMA page_size = 2048;
    PRAGMA journal_mode = WAL;
    CREATE TABLE meta (name TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID;
    INSERT INTO meta VALUES ('digest_key', randomblob(32));
    CREATE TABLE sessions (id INTEGER PRIMARY KEY, agent TEXT NOT NULL, session TEXT NOT NULL, root TEXT NOT NULL,
        first_seen INTEGER NOT NULL, UNIQUE (agent, session)) STRICT;
    CREATE TABLE state (session INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, value ANY NOT NULL,
        PRIMARY KEY (session, kind, name)) STRICT, WITHOUT ROWID;
    CREATE TABLE events (id INTEGER PRIMARY KEY, session INTEGER NOT NULL, time INTEGER NOT NULL, kind TEXT NOT NULL,
        level TEXT NOT NULL, approved INTEGER NOT NULL, name TEXT NOT NULL, tool TEXT, command TEXT,
        command_missing INTEGER NOT NULL, outcome TEXT, call TEXT, cwd TEXT NOT NULL, held_before INTEGER NOT NULL,
        subagent TEXT, aliases TEXT, mcp TEXT, paths TEXT, fields TEXT, facts TEXT, digests TEXT, notices TEXT,
        event TEXT) STRICT;
    CREATE INDEX events_of_session ON events (session, command IS NULL);
    CREATE TABLE findings (event INTEGER NOT NULL, place INTEGER NOT NULL, rule TEXT NOT NULL, level TEXT NOT NULL,
        reason TEXT NOT NULL, because TEXT, digest TEXT, PRIMARY KEY (event, place)) STRICT, WITHOUT ROWID;
    INSERT INTO sessions VALUES (1, 'claude', 's1', '/srv/project', 5);
    INSERT INTO state VALUES (1, 'variable', 'release', 'true'), (1, 'revision', '', 1);
    INSERT INTO events (session, time, kind, level, approved, name, command, command_missing, cwd, held_before, facts)
        VALUES (1, 5, 'before_tool', 'block', 0, 'PreToolUse', 'danger', 0, '/srv/project', 0, '{\"git.branch\":\"main\"}');
    INSERT INTO findings VALUES (1, 0, 'no-danger', 'block', 'No.', NULL, 'd1');
    PRAGMA user_version = 1;
";

fn create_version_1(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    Connection::open(path).unwrap().execute_batch(VERSION_1).unwrap();
}

fn version_of(path: &Path) -> i64 {
    Connection::open(path).unwrap().query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
}

#[test]
fn a_journal_of_version_1_is_migrated() {
    let database = new_database_path();
    create_version_1(&database.path);
    let mut store = open(&database.path);
    assert_eq!(store.take_notices(), []);
    let mut changes = StateChanges::default();
    changes.set("release", false);
    changes.unset("other");
    record(&mut store, &event(EventKind::Stop, 9), &engine::verdict::Verdict::empty(), &changes);
    store
        .store_rule_versions(&[RuleVersion { id: "a", digest: "d", tier: "user", source: "a.md", text: "a" }], 9)
        .unwrap();
    let entries = store.entries(&JournalFilter::default()).unwrap();
    assert_eq!((entries[0].tool.command.as_deref(), entries[0].verdict.findings.len()), (Some("danger"), 1));
    assert_eq!((json!(entries[0].facts), entries[0].changes.len()), (json!({"git.branch": "main"}), 0));
    assert_eq!(json!(entries[1].changes), json!({"other": null, "release": false}));
    let state = store.session_state(SessionKey { agent: "claude", session: "s1" }).unwrap();
    assert_eq!((state.first_seen, &state.variables["release"]), (Some(5), &json!(false)));
    assert_eq!(version_of(&database.path), 3);
}

#[test]
fn opening_read_only_migrates_a_journal_of_version_1() {
    let database = new_database_path();
    create_version_1(&database.path);
    let store = Store::open_read_only(&database.path, options()).unwrap();
    assert_eq!(store.entries(&JournalFilter::default()).unwrap().len(), 1);
}
