//! Databases that are corrupt, newer, locked, full, read-only or missing.
//!
//! Root may write everywhere, so file modes are tested only if another user runs the tests. For every user, a read-only
//! connection and a file in place of the directory cause the same errors.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use engine::event::EventKind;
use engine::verdict::Verdict;
use serde_json::Map;
use store::{
    EventRecord, JournalDetail, JournalFilter, RecordOutcome, StateChanges, Store, StoreError, StoreNotice,
    StoreOptions,
};

use crate::processes::LockHolder;
use crate::sample::{KEY, event, new_database_path, open, options, record_plain};

const PAGE: usize = 2048;

/// Records an event that changes no state, and handles a conflict as a hook does.
fn try_record(store: &mut Store) -> Result<(), StoreError> {
    let (event, empty, changes) = (event(EventKind::Stop, 1), Map::new(), StateChanges::default());
    let record = EventRecord {
        event: &event,
        root: "/",
        verdict: &Verdict::empty(),
        facts: &empty,
        fields: &empty,
        changes: &changes,
        detail: JournalDetail::Lean,
    };
    let mut judgement = store.begin(KEY)?;
    loop {
        match judgement.record(&record)? {
            RecordOutcome::Stored(_) => return Ok(()),
            RecordOutcome::Conflict(retry) => judgement = *retry,
        }
    }
}

/// Creates a database of some hundred pages, all of them in the main file.
fn filled_database(path: &Path) -> Vec<u8> {
    let mut store = open(path);
    for time in 0..1_500 {
        let mut event = event(EventKind::Stop, time);
        event.session = format!("s{}", time % 50);
        record_plain(&mut store, &event);
    }
    drop(store);
    // Closing the last connection with default settings checkpoints and deletes the WAL.
    drop(
        rusqlite::Connection::open(path).and_then(|db| db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))),
    );
    fs::read(path).unwrap()
}

fn renamed_databases(path: &Path) -> Vec<PathBuf> {
    let mut names: Vec<PathBuf> =
        fs::read_dir(path.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.retain(|name| {
        let name = name.file_name().unwrap().to_string_lossy();
        name.contains(".corrupt-") && !name.ends_with("-wal") && !name.ends_with("-shm")
    });
    names
}

fn assert_replaced(path: &Path, corrupt: &[u8]) {
    fs::write(path, corrupt).unwrap();
    let mut store = open(path);
    try_record(&mut store).unwrap();
    let renamed_to = renamed_databases(path);
    assert_eq!(renamed_to.len(), 1);
    assert_eq!(fs::read(&renamed_to[0]).unwrap(), corrupt);
    assert_eq!(
        store.take_notices(),
        [StoreNotice::ReplacedCorrupt { path: path.to_owned(), renamed_to: renamed_to[0].clone() }]
    );
    assert_eq!(store.entries(&JournalFilter::default()).unwrap().len(), 1);
    drop(store);
    let mut reopened = open(path);
    try_record(&mut reopened).unwrap();
    assert_eq!(reopened.take_notices(), []);
}

#[test]
fn a_file_that_is_no_database_is_replaced() {
    let database = new_database_path();
    fs::create_dir_all(database.path.parent().unwrap()).unwrap();
    assert_replaced(&database.path, &b"this is not a database, but somebody's notes\n".repeat(200));
}

#[test]
fn a_database_with_a_corrupt_header_is_replaced() {
    let database = new_database_path();
    let mut bytes = filled_database(&database.path);
    bytes[..50].fill(0x5a);
    assert_replaced(&database.path, &bytes);
}

#[test]
fn a_database_with_a_corrupt_schema_is_replaced() {
    let database = new_database_path();
    let mut bytes = filled_database(&database.path);
    bytes[100..PAGE].fill(0x5a);
    assert_replaced(&database.path, &bytes);
}

#[test]
fn a_truncated_database_is_replaced() {
    let database = new_database_path();
    let bytes = filled_database(&database.path);
    assert_replaced(&database.path, &bytes[..PAGE * 2]);
}

#[test]
fn a_database_with_only_its_first_page_intact_is_replaced() {
    let database = new_database_path();
    let mut bytes = filled_database(&database.path);
    bytes[PAGE..].fill(0x5a);
    assert_replaced(&database.path, &bytes);
}

#[test]
fn an_event_is_recorded_whichever_page_is_corrupt() {
    let database = new_database_path();
    let bytes = filled_database(&database.path);
    for page in 0..bytes.len() / PAGE {
        let mut corrupt = bytes.clone();
        corrupt[page * PAGE + 500..][..1000].fill(0xa5);
        for companion in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(database.path.with_file_name(format!("state.db{companion}")));
        }
        fs::write(&database.path, corrupt).unwrap();
        try_record(&mut open(&database.path)).unwrap();
    }
}

#[test]
fn a_corrupt_database_is_replaced_once_by_two_connections() {
    let database = new_database_path();
    let mut bytes = filled_database(&database.path);
    let (mut one, mut two) = (open(&database.path), open(&database.path));
    bytes[PAGE..].fill(0x5a);
    fs::write(&database.path, &bytes).unwrap();
    try_record(&mut one).unwrap();
    try_record(&mut two).unwrap();
    assert_eq!(renamed_databases(&database.path).len(), 1);
    assert_eq!((one.take_notices().len(), two.take_notices().len()), (1, 0));
    assert_eq!(two.entries(&JournalFilter::default()).unwrap().len(), 2);
}

#[test]
fn two_corrupt_databases_get_different_names() {
    let database = new_database_path();
    fs::create_dir_all(database.path.parent().unwrap()).unwrap();
    for garbage in
        ["first, and long enough for SQLite to look at it", "second, and long enough for SQLite to look at it"]
    {
        fs::write(&database.path, garbage.repeat(100)).unwrap();
        open(&database.path);
        let _ = fs::remove_file(database.path.with_file_name("state.db-wal"));
    }
    assert_eq!(renamed_databases(&database.path).len(), 2);
}

#[test]
fn reading_a_corrupt_database_changes_nothing() {
    let database = new_database_path();
    fs::create_dir_all(database.path.parent().unwrap()).unwrap();
    fs::write(&database.path, "no database".repeat(500)).unwrap();
    let error = Store::open_read_only(&database.path, options()).unwrap_err();
    assert_eq!(error.kind(), "corrupt");
    assert_eq!(renamed_databases(&database.path).len(), 0);
}

#[test]
fn a_newer_database_is_not_changed() {
    let database = new_database_path();
    drop(open(&database.path));
    let connection = rusqlite::Connection::open(&database.path).unwrap();
    connection.execute_batch("PRAGMA user_version = 99; PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    drop(connection);
    let before = fs::read(&database.path).unwrap();
    for error in [
        Store::open(&database.path, options()).unwrap_err(),
        Store::open_read_only(&database.path, options()).unwrap_err(),
    ] {
        assert_eq!(
            error.to_string(),
            "a newer Linchpin wrote the journal: it has version 99, and this Linchpin reads up to version 3"
        );
        assert_eq!(error.kind(), "newer");
    }
    assert_eq!(fs::read(&database.path).unwrap(), before);
    assert_eq!(renamed_databases(&database.path).len(), 0);
}

#[test]
fn waiting_for_a_lock_ends_at_the_timeout() {
    let database = new_database_path();
    try_record(&mut open(&database.path)).unwrap();
    let lock_holder = LockHolder::start(&database.path);
    let started = Instant::now();
    let mut store =
        Store::open(&database.path, StoreOptions { busy_timeout: Duration::from_millis(100), now: 0, run: None })
            .unwrap();
    let error = try_record(&mut store).unwrap_err();
    assert_eq!(error.kind(), "locked");
    assert!(started.elapsed() >= Duration::from_millis(100));
    assert_eq!(store.entries(&JournalFilter::default()).unwrap().len(), 1, "reading does not wait");
    drop(lock_holder);
    try_record(&mut store).unwrap();
}

#[test]
fn a_full_disk_loses_no_earlier_events() {
    let database = new_database_path();
    let mut store = open(&database.path);
    try_record(&mut store).unwrap();
    store.limit_pages(1).unwrap();
    let mut stored = 1;
    let error = loop {
        match try_record(&mut store) {
            Ok(()) => stored += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind(), "full");
    assert_eq!(store.entries(&JournalFilter::default()).unwrap().len(), stored);
    store.limit_pages(1_000_000).unwrap();
    try_record(&mut store).unwrap();
}

#[test]
fn a_read_only_connection_does_not_write() {
    let database = new_database_path();
    try_record(&mut open(&database.path)).unwrap();
    let mut store = Store::open_read_only(&database.path, options()).unwrap();
    assert_eq!(try_record(&mut store).unwrap_err().kind(), "read_only");
}

#[test]
fn a_file_in_place_of_the_directory_is_an_error() {
    let database = new_database_path();
    fs::write(database.path.parent().unwrap(), "").unwrap();
    assert_eq!(Store::open(&database.path, options()).unwrap_err().kind(), "unavailable");
}

#[test]
fn a_directory_in_place_of_the_database_is_an_error() {
    let database = new_database_path();
    fs::create_dir_all(&database.path).unwrap();
    assert_eq!(Store::open(&database.path, options()).unwrap_err().kind(), "unavailable");
}

#[cfg(unix)]
#[test]
fn a_database_or_directory_without_write_permission_is_reported_as_read_only() {
    use std::os::unix::fs::PermissionsExt;
    let database = new_database_path();
    let read_only_directory = database.directory.path().join("read-only");
    fs::create_dir(&read_only_directory).unwrap();
    fs::set_permissions(&read_only_directory, fs::Permissions::from_mode(0o500)).unwrap();
    if fs::write(read_only_directory.join("probe"), "").is_ok() {
        return; // root
    }
    assert_eq!(Store::open(&read_only_directory.join("state.db"), options()).unwrap_err().kind(), "read_only");
    drop(open(&database.path));
    fs::set_permissions(&database.path, fs::Permissions::from_mode(0o400)).unwrap();
    let error = Store::open(&database.path, options()).and_then(|mut store| try_record(&mut store)).unwrap_err();
    assert_eq!(error.kind(), "read_only");
}

#[test]
fn messages_of_all_errors() {
    let errors = [
        StoreError::Missing { path: PathBuf::from("/p/state.db") },
        StoreError::Newer { found: 9, known: 2 },
        StoreError::Locked,
        StoreError::ReadOnly,
        StoreError::Full,
        StoreError::Corrupt,
        StoreError::Unavailable { reason: "no such device".to_owned() },
        StoreError::Sql(rusqlite::Error::InvalidQuery),
    ];
    let messages: Vec<String> = errors.iter().map(|error| format!("{}: {error}", error.kind())).collect();
    insta::assert_snapshot!(messages.join("\n"), @"
    missing: there is no journal at `/p/state.db`
    newer: a newer Linchpin wrote the journal: it has version 9, and this Linchpin reads up to version 2
    locked: the journal is locked by another process
    read_only: the journal cannot be written: it is read-only
    full: the journal cannot be written: the disk is full
    corrupt: the journal is corrupt
    unavailable: the journal cannot be used: no such device
    sql: an SQL statement on the journal failed
    ");
}

#[test]
fn messages_of_all_notices() {
    let path = PathBuf::from("/p/state.db");
    let notices = [
        StoreNotice::Created { path: path.clone() },
        StoreNotice::ReplacedCorrupt { path, renamed_to: PathBuf::from("/p/state.db.corrupt-7") },
    ];
    let messages: Vec<String> = notices.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(messages.join("\n"), @"
    the journal `/p/state.db` is new: the earlier one is gone, with its history and, if there was one, the active workflow
    the journal `/p/state.db` was corrupt: it was renamed to `/p/state.db.corrupt-7`, and a new one was created
    ");
}
