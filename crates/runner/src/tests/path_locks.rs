use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;

use super::child_command;
use crate::PathLocks;

/// Longer than any test takes.
const LOCK_TIMEOUT: std::time::Duration = std::time::Duration::from_mins(1);

/// The task of a child process that calls [`count`].
pub const COUNT: &str = "count";
const PROCESSES: usize = 8;
const ROUNDS: usize = 50;

/// Increments a number in a file. The result is wrong if two processes do it at the same time.
pub fn count(arguments: impl Iterator<Item = OsString>) {
    let arguments: Vec<String> = arguments.map(|argument| argument.into_string().unwrap()).collect();
    let [locks, counter, paths @ ..] = arguments.as_slice() else { panic!("{arguments:?}") };
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    for _ in 0..ROUNDS {
        let _locks = PathLocks::acquire(Path::new(locks), &paths, LOCK_TIMEOUT).unwrap();
        let number: usize = fs::read_to_string(counter).unwrap().parse().unwrap();
        fs::write(counter, "").unwrap();
        thread::yield_now();
        fs::write(counter, (number + 1).to_string()).unwrap();
    }
}

fn start(locks: &Path, counter: &Path, paths: &[&str]) -> Child {
    let command_line = child_command(COUNT);
    let mut command = Command::new(&command_line[0]);
    command.args(&command_line[1..]).arg(locks).arg(counter).args(paths);
    command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap()
}

#[test]
fn locks_are_exclusive_and_do_not_deadlock() {
    let directory = tempfile::tempdir().unwrap();
    let (locks, counter) = (directory.path().join("deep/locks"), directory.path().join("counter"));
    fs::write(&counter, "0").unwrap();
    // Every process locks `src/ä.rs`. Paths that several processes lock are listed in different orders.
    let orders: [&[&str]; 4] =
        [&["src/ä.rs", "b"], &["b", "src/ä.rs"], &["c", "src/ä.rs", "b"], &["src/ä.rs", "c", "src/ä.rs"]];
    let started: Vec<Child> =
        orders.iter().cycle().take(PROCESSES).map(|paths| start(&locks, &counter, paths)).collect();
    for mut child in started {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(fs::read_to_string(&counter).unwrap(), (PROCESSES * ROUNDS).to_string());
    // One lock file for each of the three paths, and one for all paths.
    assert_eq!(fs::read_dir(&locks).unwrap().count(), 4);
}

#[test]
fn other_paths_stay_unlocked_and_dropping_releases_locks() {
    let directory = tempfile::tempdir().unwrap();
    let first = PathLocks::acquire(directory.path(), &["a"], LOCK_TIMEOUT).unwrap();
    drop(PathLocks::acquire(directory.path(), &["b"], LOCK_TIMEOUT).unwrap());
    drop(PathLocks::acquire(directory.path(), &[], LOCK_TIMEOUT).unwrap());
    let lock_directory: PathBuf = directory.path().to_owned();
    let (sender, receiver) = mpsc::channel();
    let second = thread::spawn(move || {
        let _locks = PathLocks::acquire(&lock_directory, &["a"], LOCK_TIMEOUT).unwrap();
        sender.send(()).unwrap();
    });
    assert!(receiver.try_recv().is_err(), "the lock is still held");
    drop(first);
    receiver.recv().unwrap();
    second.join().unwrap();
}

#[test]
fn a_directory_that_cannot_be_created_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("file"), "").unwrap();
    assert!(PathLocks::acquire(&directory.path().join("file/locks"), &["a"], LOCK_TIMEOUT).is_err());
}

#[test]
fn waiting_times_out() {
    let directory = tempfile::tempdir().unwrap();
    let _first = PathLocks::acquire(directory.path(), &["a"], LOCK_TIMEOUT).unwrap();
    let second = PathLocks::acquire(directory.path(), &["a"], std::time::Duration::from_millis(10));
    assert_eq!(second.unwrap_err().kind(), std::io::ErrorKind::TimedOut);
}

#[test]
fn locking_all_paths_is_exclusive() {
    let directory = tempfile::tempdir().unwrap();
    let short_timeout = std::time::Duration::from_millis(10);
    let some = [
        PathLocks::acquire(directory.path(), &["a"], short_timeout),
        PathLocks::acquire(directory.path(), &["b"], short_timeout),
    ];
    assert!(some.iter().all(Result::is_ok));
    assert!(PathLocks::acquire_all(directory.path(), short_timeout).is_err());
    drop(some);
    let _all = PathLocks::acquire_all(directory.path(), short_timeout).unwrap();
    assert!(PathLocks::acquire(directory.path(), &["a"], short_timeout).is_err());
    assert!(PathLocks::acquire_all(directory.path(), short_timeout).is_err());
}
