//! Concurrent processes, and processes that are killed.
//!
//! The child processes are this test binary, started with `LINCHPIN_STORE_CHILD` set to their task.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use engine::event::EventKind;
use engine::verdict::Verdict;
use serde_json::Map;
use store::{
    CounterChange, EntryId, EventRecord, JournalDetail, JournalFilter, RecordOutcome, SessionKey, StateChanges, Store,
};

use crate::sample::{KEY, event, new_database_path, open, options, shell_event};

const WRITERS: usize = 64;
const EVENTS_EACH: usize = 100;
const KILLS: usize = 200;
/// The number of processes that write at the same time. A killed process is replaced by a new one, until `KILLS`
/// processes were killed.
const WORKERS: usize = 4;

const TASK_VARIABLE: &str = "LINCHPIN_STORE_CHILD";

/// Starts a child process with a task (`count`, `write` or `lock`), a database and a session.
fn start_child(task: &str, path: &Path, session: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "processes::child", "--nocapture", "--test-threads=1"])
        .env(TASK_VARIABLE, task)
        .env("LINCHPIN_STORE_PATH", path)
        .env("LINCHPIN_STORE_SESSION", session)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Not a test, but the code of the child processes. Does nothing in the main process.
#[test]
#[expect(clippy::disallowed_methods, reason = "the main process passes the task to its children in variables")]
fn child() {
    let Ok(task) = std::env::var(TASK_VARIABLE) else { return };
    let path = PathBuf::from(std::env::var_os("LINCHPIN_STORE_PATH").unwrap());
    let session = std::env::var("LINCHPIN_STORE_SESSION").unwrap();
    match task.as_str() {
        "count" => {
            for time in 0..EVENTS_EACH {
                record_increment(&mut open(&path), &session, time);
            }
        }
        "write" => {
            for time in 0.. {
                let id = record_increment(&mut open(&path), &session, time);
                print_acknowledgement(&format!("stored {}", id.0));
            }
        }
        "lock" => {
            let connection = rusqlite::Connection::open(&path).unwrap();
            connection.execute_batch("BEGIN EXCLUSIVE").unwrap();
            print_acknowledgement("locked");
            let _ = std::io::stdin().read(&mut [0]);
        }
        other => panic!("{other}"),
    }
}

fn print_acknowledgement(line: &str) {
    let mut stdout = std::io::stdout();
    writeln!(stdout, "\n{line}").unwrap();
    stdout.flush().unwrap();
}

/// Acts like a hook: records an event that increments a counter, and stores the counter's earlier value in a variable.
fn record_increment(store: &mut Store, session: &str, time: usize) -> EntryId {
    let mut event = shell_event(EventKind::BeforeTool, i64::try_from(time).unwrap(), "cargo test", None);
    session.clone_into(&mut event.session);
    let empty = Map::new();
    let mut judgement = store.begin(SessionKey { agent: KEY.agent, session }).unwrap();
    loop {
        let mut changes = StateChanges::default();
        changes.change_counter("events", CounterChange::Add(1));
        changes.set("seen", judgement.session_state().counter("events"));
        let record = EventRecord {
            event: &event,
            root: "/",
            verdict: &Verdict::empty(),
            facts: &empty,
            fields: &empty,
            changes: &changes,
            detail: JournalDetail::Lean,
        };
        match judgement.record(&record).unwrap() {
            RecordOutcome::Stored(id) => return id,
            RecordOutcome::Conflict(retry) => judgement = *retry,
        }
    }
}

fn assert_intact(path: &Path) {
    let connection = rusqlite::Connection::open(path).unwrap();
    let result: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(result, "ok");
}

/// Holds the write lock until it is dropped.
pub struct LockHolder(Child);

impl LockHolder {
    pub fn start(path: &Path) -> Self {
        let mut child = start_child("lock", path, "");
        let lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
        assert!(lines.map(Result::unwrap).any(|line| line == "locked"));
        Self(child)
    }
}

impl Drop for LockHolder {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// No database exists when the processes start. Half of the processes share one session, so that they also compete for
/// its state.
#[test]
fn concurrent_processes_lose_nothing() {
    let database = new_database_path();
    let session =
        |number: usize| if number.is_multiple_of(2) { "shared".to_owned() } else { format!("session-{number}") };
    let children: Vec<Child> =
        (0..WRITERS).map(|number| start_child("count", &database.path, &session(number))).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    }
    let store = open(&database.path);
    assert_eq!(store.entries(&JournalFilter::default()).unwrap().len(), WRITERS * EVENTS_EACH);
    let count = |session| store.session_state(SessionKey { agent: KEY.agent, session }).unwrap().counter("events");
    assert_eq!(count("shared"), i64::try_from(WRITERS / 2 * EVENTS_EACH).unwrap());
    assert_eq!(count("session-1"), i64::try_from(EVENTS_EACH).unwrap());
    drop(store);
    assert_intact(&database.path);
}

#[test]
fn killed_processes_lose_nothing_that_was_acknowledged() {
    let database = new_database_path();
    drop(open(&database.path));
    std::thread::scope(|scope| {
        for worker in 0..WORKERS {
            let path = &database.path;
            scope.spawn(move || {
                for number in 0..KILLS / WORKERS {
                    write_and_kill(path, &format!("{worker}-{number}"), delay(worker, number));
                }
            });
        }
    });
    assert_intact(&database.path);
}

fn write_and_kill(path: &Path, session: &str, delay: Duration) {
    let mut child = start_child("write", path, session);
    std::thread::sleep(delay);
    child.kill().unwrap();
    let output = child.wait_with_output().unwrap();
    let acknowledged = acknowledged_ids(&String::from_utf8_lossy(&output.stdout));
    let store = Store::open(path, options()).unwrap();
    let filter = JournalFilter { session: Some(session.to_owned()), ..JournalFilter::default() };
    let stored: Vec<i64> = store.entries(&filter).unwrap().iter().map(|entry| entry.id.0).collect();
    assert!(stored.starts_with(&acknowledged), "{stored:?} {acknowledged:?}");
    assert!(stored.len() <= acknowledged.len() + 1);
    let count = store.session_state(SessionKey { agent: KEY.agent, session }).unwrap().counter("events");
    assert_eq!(count, i64::try_from(stored.len()).unwrap());
}

/// Returns the ids that a child process printed. Ignores an incomplete last line.
fn acknowledged_ids(output: &str) -> Vec<i64> {
    let complete_lines = output.rsplit_once('\n').map_or("", |(lines, _)| lines);
    complete_lines.lines().filter_map(|line| line.strip_prefix("stored ")?.parse().ok()).collect()
}

/// Up to 200 ms: different for each number, but the same in each test run.
fn delay(worker: usize, number: usize) -> Duration {
    let hash = (worker * 1_000 + number + 1).wrapping_mul(2_654_435_761) >> 7;
    Duration::from_micros(u64::try_from(hash % 200_000).unwrap())
}

#[test]
fn concurrent_processes_insert_a_session_once() {
    let database = new_database_path();
    let (mut one, mut two) = (open(&database.path), open(&database.path));
    let judgement = one.begin(KEY).unwrap();
    record_increment(&mut two, KEY.session, 1);
    let (event, empty) = (event(EventKind::Stop, 2), Map::new());
    let record = EventRecord {
        event: &event,
        root: "/other",
        verdict: &Verdict::empty(),
        facts: &empty,
        fields: &empty,
        changes: &StateChanges::default(),
        detail: JournalDetail::Lean,
    };
    crate::sample::stored_id(&judgement.record(&record).unwrap());
    let entries = two.entries(&JournalFilter::default()).unwrap();
    assert_eq!((entries[0].session.root.as_str(), entries[1].session.root.as_str()), ("/", "/"));
}
