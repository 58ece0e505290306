//! Tests how queue entries are written and found: also damaged files, and files that come with a repository.

use super::*;
use crate::tests::write as write_file;

/// A directory with the `tmp` directory of a project and a state directory.
struct TestDirectory {
    temporary: tempfile::TempDir,
}

impl TestDirectory {
    fn new() -> Self {
        Self { temporary: tempfile::tempdir().expect("a directory") }
    }

    fn queue(&self) -> Queue {
        Queue::new(&self.tmp(), &self.temporary.path().join("state"))
    }

    fn tmp(&self) -> PathBuf {
        self.temporary.path().join("tmp")
    }

    fn entry_file(&self, hash: &str, status: QueueStatus) -> PathBuf {
        self.tmp().join("rules/queue").join(format!("{hash}{}", status.ending()))
    }
}

const HASH: &str = "0123456789ab";

fn entry(status: QueueStatus) -> QueueEntry {
    QueueEntry {
        rule_name: "docs".to_owned(),
        demand_hash: HASH.to_owned(),
        status,
        created_at: "2026-01-01T00:00:00Z".to_owned(),
        evaluated_at: Some("2026-01-01T00:00:01Z".to_owned()),
        baseline_ref: "main".to_owned(),
        trigger_files: vec!["a.rs".to_owned()],
        expected_files: vec!["a.md".to_owned()],
        matched_files: vec!["b.md".to_owned()],
        action_result: Some(ActionResult {
            kind: "command".to_owned(),
            command: Some("make docs".to_owned()),
            exit_code: Some(2),
            message: None,
            stdout: Some("out".to_owned()),
            stderr: Some("err".to_owned()),
            uncommitted_digest: Some("t".to_owned()),
        }),
        session: "s".to_owned(),
        shown: 3,
        asked: BTreeMap::from([("s".to_owned(), TimesAsked { times: 2, progress_digest: "x".to_owned() })]),
        content_digest: "c".to_owned(),
    }
}

fn baseline_id(id: &str) -> BaselineId {
    BaselineId::from(id.to_owned())
}

#[test]
fn an_entry_is_read_as_it_was_written() {
    for status in QueueStatus::ALL {
        let directory = TestDirectory::new();
        directory.queue().put(&entry(status)).expect("written");
        assert_eq!(directory.queue().find_or_discard("docs", HASH), Some(entry(status)), "{status:?}");
    }
}

#[test]
fn an_entry_has_one_status_at_a_time() {
    let directory = TestDirectory::new();
    let queue = directory.queue();
    for status in QueueStatus::ALL {
        queue.put(&entry(status)).expect("written");
        let files: Vec<_> =
            QueueStatus::ALL.into_iter().filter(|at| directory.entry_file(HASH, *at).exists()).collect();
        assert_eq!(files, [status]);
    }
}

#[test]
fn an_answer_takes_precedence_over_files_left_by_a_killed_process() {
    for (answer, left) in [
        (QueueStatus::Passed, QueueStatus::Queued),
        (QueueStatus::Passed, QueueStatus::Failed),
        (QueueStatus::Failed, QueueStatus::Queued),
        (QueueStatus::Skipped, QueueStatus::Queued),
    ] {
        let directory = TestDirectory::new();
        directory.queue().put(&entry(answer)).expect("written");
        write_file(&directory.entry_file(HASH, left), &serde_json::to_string(&entry(left)).expect("JSON"));
        assert_eq!(
            directory.queue().find_or_discard("docs", HASH).map(|found| found.status),
            Some(answer),
            "{answer:?} beside {left:?}"
        );
    }
}

#[test]
fn an_unusable_entry_is_removed_with_a_notice() {
    let whole = serde_json::to_string(&entry(QueueStatus::Queued)).expect("JSON");
    let half: String = whole.chars().take(whole.len() / 2).collect();
    for (text, why) in [
        (half, "it is truncated"),
        (String::new(), "it is truncated"),
        ("no JSON".to_owned(), "it is not JSON"),
        (r#"{"rule_name": "docs"}"#.to_owned(), "a field is missing or has the wrong type"),
        (whole.replace(HASH, "ba9876543210"), "its content does not match its name"),
        (whole.replace("\"queued\"", "\"passed\""), "its content does not match its name"),
    ] {
        let directory = TestDirectory::new();
        let queue = directory.queue();
        queue.put(&entry(QueueStatus::Queued)).expect("written");
        let file = directory.entry_file(HASH, QueueStatus::Queued);
        write_file(&file, &text);
        assert_eq!(queue.find_or_discard("docs", HASH), None, "{why}");
        assert!(!file.exists(), "{why}");
        let notices = format!(
            "the queue entry `{HASH}.queued.json` of rule `docs` cannot be used: {why}. It was removed; a demand that still \
             holds is made again"
        );
        assert_eq!(queue.take_problems(), [notices]);
        assert_eq!(queue.take_problems(), [""; 0], "reported once");
    }
}

#[test]
fn a_directory_at_an_entrys_path_is_removed_like_a_damaged_entry() {
    let directory = TestDirectory::new();
    let queue = directory.queue();
    let file = directory.entry_file(HASH, QueueStatus::Queued);
    fs::create_dir_all(file.join("inside")).expect("a directory");
    assert_eq!(queue.find_or_discard("docs", HASH), None);
    assert!(!file.exists());
    assert_eq!(queue.take_problems().len(), 1);
}

#[test]
fn a_dry_run_writes_and_removes_nothing() {
    let directory = TestDirectory::new();
    let queue = directory.queue().for_dry_run(true);
    queue.put(&entry(QueueStatus::Passed)).expect("nothing to write");
    queue.record_answer("docs", "a.rs", &baseline_id("main"), "c").expect("nothing to write");
    assert!(!directory.tmp().exists());
    directory.queue().record_answer("docs", "a.rs", &baseline_id("main"), "c").expect("written");
    queue.remove_answers("docs", ["a.rs"].into_iter(), &baseline_id("main"));
    assert_eq!(directory.queue().answer_fingerprints("docs", "a.rs", &baseline_id("main")), ["c"]);
    let damaged = directory.entry_file(HASH, QueueStatus::Queued);
    write_file(&damaged, "no JSON");
    assert_eq!(queue.find_or_discard("docs", HASH), None);
    // The damaged entry is reported, and left in place for the next hook.
    assert!(damaged.exists());
    assert_eq!(queue.take_problems().len(), 1);
}

#[test]
fn answers_that_a_repository_contains_do_not_count() {
    let (ours, theirs) = (TestDirectory::new(), TestDirectory::new());
    ours.queue().put(&entry(QueueStatus::Passed)).expect("written");
    ours.queue().record_answer("docs", "a.rs", &baseline_id("main"), "c").expect("written");
    // Copies what a repository could contain: the entry and the project's random name, but not the user's state
    // directory.
    let name = fs::read_to_string(ours.tmp().join("rules/name")).expect("a name");
    for path in [PathBuf::from("rules/name"), PathBuf::from(format!("rules/queue/{HASH}.passed.json"))] {
        write_file(&theirs.tmp().join(&path), &fs::read_to_string(ours.tmp().join(&path)).expect("a file"));
    }
    write_file(&theirs.tmp().join("rules/demands").join(&name).join(HASH), "");
    let queue = theirs.queue();
    assert_eq!(queue.find_or_discard("docs", HASH), None);
    assert!(queue.take_problems().concat().contains("it was not written here"));
    assert_eq!(queue.answer_fingerprints("docs", "a.rs", &baseline_id("main")), [""; 0]);
}

#[test]
fn an_invalid_name_is_replaced() {
    let directory = TestDirectory::new();
    for text in ["", "../../elsewhere", "0123456789abcdef0123456z", "0123456789abcdef012345678"] {
        write_file(&directory.tmp().join("rules/name"), text);
        assert_eq!(directory.queue().project_name(), None, "{text}");
        directory.queue().record_answer("docs", "a.rs", &baseline_id("main"), "c").expect("written");
        let name = directory.queue().project_name().expect("a name");
        assert_ne!(name, text);
        assert_eq!(directory.queue().answer_fingerprints("docs", "a.rs", &baseline_id("main")), ["c"]);
    }
}

#[test]
fn an_answer_is_for_one_rule_and_one_baseline() {
    let directory = TestDirectory::new();
    let queue = directory.queue();
    queue.record_answer("docs", "a.rs", &baseline_id("main"), "content").expect("written");
    assert_eq!(queue.answer_fingerprints("docs", "a.rs", &baseline_id("main")), ["content"]);
    for (rule, file, baseline) in [("tests", "a.rs", "main"), ("docs", "b.rs", "main"), ("docs", "a.rs", "other")] {
        assert_eq!(queue.answer_fingerprints(rule, file, &baseline_id(baseline)), [""; 0], "{rule} {file} {baseline}");
    }
    queue.remove_answers("docs", ["a.rs"].into_iter(), &baseline_id("main"));
    assert_eq!(queue.answer_fingerprints("docs", "a.rs", &baseline_id("main")), [""; 0]);
}

#[test]
fn an_answer_to_two_baselines_counts_for_each() {
    let directory = TestDirectory::new();
    let queue = directory.queue();
    let both = BaselineId { id: "start".to_owned(), also: Some("main".to_owned()) };
    queue.record_answer("docs", "a.rs", &both, "content").expect("written");
    assert_eq!(queue.answer_fingerprints("docs", "a.rs", &baseline_id("main")), ["content"]);
    assert_eq!(queue.answer_fingerprints("docs", "a.rs", &baseline_id("start")), ["content"]);
    queue.remove_answers("docs", ["a.rs"].into_iter(), &both);
    assert_eq!(queue.answer_fingerprints("docs", "a.rs", &baseline_id("main")), [""; 0]);
}

#[test]
fn a_demand_is_identified_by_its_rule_its_files_in_any_order_and_its_baseline() {
    let hash = |rule: &str, files: &[&str], baseline: &str| demand_hash(rule, files.iter().copied(), baseline);
    let demand = hash("docs", &["a", "b"], "main");
    assert_eq!(demand.len(), 12);
    assert_eq!(demand, hash("docs", &["b", "a"], "main"));
    for other in [
        hash("doc", &["a", "b"], "main"),
        hash("docs", &["a"], "main"),
        hash("docs", &["a", "b", "c"], "main"),
        hash("docs", &["ab"], "main"),
        hash("docs", &["a", "b"], "mai"),
        hash("docsm", &["a", "b"], "ain"),
    ] {
        assert_ne!(demand, other);
    }
}

#[test]
fn unreadable_entries_are_removed_and_other_files_kept() {
    let directory = TestDirectory::new();
    let queue = directory.queue();
    queue.put(&entry(QueueStatus::Queued)).expect("written");
    let queue_directory = directory.tmp().join("rules/queue");
    write_file(&queue_directory.join("ba9876543210.failed.json"), "{");
    write_file(&queue_directory.join("notes.txt"), "mine");
    write_file(&queue_directory.join("notes.json"), "{");
    let notices = queue.remove_unreadable();
    assert_eq!(notices.len(), 1);
    assert!(
        notices[0].starts_with("the queue entry `ba9876543210.failed.json` cannot be used: it is truncated."),
        "{}",
        notices[0]
    );
    let mut left: Vec<String> = fs::read_dir(&queue_directory)
        .expect("a directory")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    left.sort();
    assert_eq!(left, [format!("{HASH}.queued.json"), "notes.json".to_owned(), "notes.txt".to_owned()]);
}

#[test]
fn a_failed_write_names_the_file() {
    let directory = TestDirectory::new();
    write_file(&directory.tmp().join("rules"), "a file in the place of the directory");
    let error = directory.queue().put(&entry(QueueStatus::Queued)).expect_err("no directory");
    assert!(error.to_string().contains("rules/name` cannot be written"), "{error}");
}

#[test]
fn answers_are_listed_once_and_own_answers_are_added() {
    let directory = TestDirectory::new();
    let (queue, other, main) = (directory.queue(), directory.queue(), baseline_id("main"));
    let answers = |queue: &Queue| queue.answer_fingerprints("docs", "a.rs", &main);
    assert_eq!(answers(&queue), [""; 0]);
    other.record_answer("docs", "a.rs", &main, "one").expect("written");
    // Another process gave this answer after the list was read.
    assert_eq!((answers(&queue), answers(&other)), (Vec::new(), vec!["one".to_owned()]));
    queue.record_answer("docs", "a.rs", &main, "two").expect("written");
    assert_eq!(answers(&queue), ["two"]);
    queue.remove_answers("docs", ["a.rs"].into_iter(), &main);
    assert_eq!(answers(&queue), [""; 0]);
}
