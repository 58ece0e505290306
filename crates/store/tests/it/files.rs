//! Opening a database, and its files.

use std::fs;

use store::{Store, StoreNotice};

use crate::sample::{self, event, new_database_path, open, record_plain};
use engine::event::EventKind;

#[test]
fn a_missing_database_is_created_with_one_notice() {
    let database = new_database_path();
    let mut store = open(&database.path);
    assert_eq!(store.take_notices(), [StoreNotice::Created { path: database.path.clone() }]);
    assert_eq!(store.take_notices(), []);
    drop(store);
    assert_eq!(open(&database.path).take_notices(), []);
}

#[test]
fn a_deleted_database_is_created_again_empty_even_if_its_wal_remains() {
    let database = new_database_path();
    record_plain(&mut open(&database.path), &event(EventKind::Stop, 1));
    fs::remove_file(&database.path).unwrap();
    let mut store = open(&database.path);
    assert_eq!(store.take_notices().len(), 1);
    assert_eq!(store.entries(&store::JournalFilter::default()).unwrap(), []);
    record_plain(&mut store, &event(EventKind::Stop, 2));
}

#[test]
fn an_empty_file_is_an_empty_database() {
    let database = new_database_path();
    fs::create_dir_all(database.path.parent().unwrap()).unwrap();
    fs::write(&database.path, "").unwrap();
    record_plain(&mut open(&database.path), &event(EventKind::Stop, 1));
}

#[test]
fn opening_read_only_creates_nothing() {
    let database = new_database_path();
    let error = Store::open_read_only(&database.path, sample::options()).unwrap_err();
    assert_eq!(error.kind(), "missing");
    assert!(!database.path.parent().unwrap().exists());
}

#[cfg(unix)]
#[test]
fn only_the_owner_may_read() {
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let database = new_database_path();
    let mut store = open(&database.path);
    record_plain(&mut store, &event(EventKind::Stop, 1));
    let companion = |suffix: &str| database.directory.path().join(".linchpin").join(format!("state.db{suffix}"));
    assert_eq!(mode(database.path.parent().unwrap()), 0o700);
    for suffix in ["", "-wal", "-shm"] {
        assert_eq!(mode(&companion(suffix)), 0o600, "{suffix}");
    }
    fs::set_permissions(&database.path, fs::Permissions::from_mode(0o644)).unwrap();
    drop(store);
    open(&database.path);
    assert_eq!(mode(&database.path), 0o600);
}

#[test]
fn a_long_wal_is_checkpointed() {
    let database = new_database_path();
    let wal = database.path.with_file_name("state.db-wal");
    let mut longest = 0;
    let mut store = open(&database.path);
    for time in 0..2_000 {
        record_plain(&mut store, &event(EventKind::Stop, time));
        longest = longest.max(fs::metadata(&wal).unwrap().len());
    }
    let one_event = 16 * 1024;
    assert!((250 * 1024..=256 * 1024 + one_event).contains(&longest), "{longest}");
}
