//! Tests of the public functions.

mod concurrency;
mod memories;
mod tasks;

use std::path::PathBuf;

use tempfile::TempDir;

use crate::WorkDatabase;

struct TestDatabase {
    folder: TempDir,
}

impl TestDatabase {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder") }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("project/work.db")
    }

    fn work(&self) -> WorkDatabase {
        WorkDatabase::open(&self.path()).expect("a database")
    }
}

#[test]
fn open_existing_creates_nothing() {
    let database = TestDatabase::new();
    assert!(WorkDatabase::open_existing(&database.path()).expect("no error").is_none());
    assert!(!database.path().exists());
}

#[test]
fn a_later_version_and_another_file_are_errors() {
    let database = TestDatabase::new();
    database.work().connection.pragma_update(None, "user_version", 7).expect("written");
    let error = WorkDatabase::open(&database.path()).expect_err("too new").to_string();
    assert!(error.ends_with("has version 7, this Linchpin knows up to 1"), "{error}");

    let other = TestDatabase::new();
    std::fs::create_dir_all(other.path().parent().expect("a folder")).expect("made");
    std::fs::write(other.path(), "no database at all, and longer than a header of one hundred bytes".repeat(9))
        .expect("written");
    insta::assert_snapshot!(
        WorkDatabase::open(&other.path()).expect_err("no database"),
        @"tasks, memories and runs cannot be had: file is not a database"
    );
}
