//! Tests of the public functions.

mod concurrency;
mod memories;
mod tasks;

use std::path::PathBuf;

use tempfile::TempDir;

use crate::WorkDatabase;

struct TestDatabase {
    directory: TempDir,
}

impl TestDatabase {
    fn new() -> Self {
        Self { directory: tempfile::tempdir().expect("a directory") }
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("project/work.db")
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
fn a_newer_database_and_a_file_that_is_no_database_are_errors() {
    let database = TestDatabase::new();
    database.work().connection.pragma_update(None, "user_version", 7).expect("written");
    let error = WorkDatabase::open(&database.path()).expect_err("too new").to_string();
    assert!(error.ends_with("it has version 7, and this Linchpin reads up to version 1"), "{error}");

    let other = TestDatabase::new();
    std::fs::create_dir_all(other.path().parent().expect("a directory")).expect("made");
    std::fs::write(other.path(), "no database at all, and longer than a header of one hundred bytes".repeat(9))
        .expect("written");
    insta::assert_snapshot!(
        WorkDatabase::open(&other.path()).expect_err("no database"),
        @"the database of tasks, memories and runs cannot be used: file is not a database"
    );
}
