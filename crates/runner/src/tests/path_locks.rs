use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;

use super::own_call;
use crate::PathLocks;

/// Longer than any test takes.
const PATIENCE: std::time::Duration = std::time::Duration::from_mins(1);

/// The name of the task that the second processes run.
pub const COUNT: &str = "count";
const PROCESSES: usize = 8;
const ROUNDS: usize = 50;

/// Increments a number in a file. The result is wrong if two processes do it at the same time.
pub fn count(words: impl Iterator<Item = OsString>) {
    let words: Vec<String> = words.map(|word| word.into_string().unwrap()).collect();
    let [locks, counter, paths @ ..] = words.as_slice() else { panic!("{words:?}") };
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    for _ in 0..ROUNDS {
        let _locks = PathLocks::take(Path::new(locks), &paths, PATIENCE).unwrap();
        let number: usize = fs::read_to_string(counter).unwrap().parse().unwrap();
        fs::write(counter, "").unwrap();
        thread::yield_now();
        fs::write(counter, (number + 1).to_string()).unwrap();
    }
}

fn start(locks: &Path, counter: &Path, paths: &[&str]) -> Child {
    let call = own_call(COUNT);
    let mut command = Command::new(&call[0]);
    command.args(&call[1..]).arg(locks).arg(counter).args(paths);
    command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap()
}

#[test]
fn locks_are_exclusive_and_do_not_deadlock() {
    let folder = tempfile::tempdir().unwrap();
    let (locks, counter) = (folder.path().join("deep/locks"), folder.path().join("counter"));
    fs::write(&counter, "0").unwrap();
    // All of them lock `src/ä.rs`, and they name their common paths in every order.
    let orders: [&[&str]; 4] =
        [&["src/ä.rs", "b"], &["b", "src/ä.rs"], &["c", "src/ä.rs", "b"], &["src/ä.rs", "c", "src/ä.rs"]];
    let started: Vec<Child> =
        orders.iter().cycle().take(PROCESSES).map(|paths| start(&locks, &counter, paths)).collect();
    for mut child in started {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(fs::read_to_string(&counter).unwrap(), (PROCESSES * ROUNDS).to_string());
    // One lock file for each path, and one for all of them.
    assert_eq!(fs::read_dir(&locks).unwrap().count(), 4);
}

#[test]
fn other_paths_stay_free_and_dropping_releases_locks() {
    let folder = tempfile::tempdir().unwrap();
    let first = PathLocks::take(folder.path(), &["a"], PATIENCE).unwrap();
    drop(PathLocks::take(folder.path(), &["b"], PATIENCE).unwrap());
    drop(PathLocks::take(folder.path(), &[], PATIENCE).unwrap());
    let place: PathBuf = folder.path().to_owned();
    let (sender, receiver) = mpsc::channel();
    let second = thread::spawn(move || {
        let _locks = PathLocks::take(&place, &["a"], PATIENCE).unwrap();
        sender.send(()).unwrap();
    });
    assert!(receiver.try_recv().is_err(), "nobody has it yet");
    drop(first);
    receiver.recv().unwrap();
    second.join().unwrap();
}

#[test]
fn a_folder_that_cannot_be_created_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    assert!(PathLocks::take(&folder.path().join("file/locks"), &["a"], PATIENCE).is_err());
}

#[test]
fn waiting_times_out() {
    let folder = tempfile::tempdir().unwrap();
    let _first = PathLocks::take(folder.path(), &["a"], PATIENCE).unwrap();
    let second = PathLocks::take(folder.path(), &["a"], std::time::Duration::from_millis(10));
    assert_eq!(second.unwrap_err().kind(), std::io::ErrorKind::TimedOut);
}

#[test]
fn locking_all_paths_is_exclusive() {
    let folder = tempfile::tempdir().unwrap();
    let soon = std::time::Duration::from_millis(10);
    let some = [PathLocks::take(folder.path(), &["a"], soon), PathLocks::take(folder.path(), &["b"], soon)];
    assert!(some.iter().all(Result::is_ok));
    assert!(PathLocks::take_all(folder.path(), soon).is_err());
    drop(some);
    let _all = PathLocks::take_all(folder.path(), soon).unwrap();
    assert!(PathLocks::take(folder.path(), &["a"], soon).is_err());
    assert!(PathLocks::take_all(folder.path(), soon).is_err());
}
