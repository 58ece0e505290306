//! Adding tasks, their blockers, and their transitions.

use super::TestDatabase;
use crate::{Task, TaskDraft, TaskError, TaskId, TaskState, Tasks, WorkDatabase, starter_id};

fn id(word: &str) -> TaskId {
    TaskId::parse(word).expect("an id")
}

fn draft_with_title(title: &str) -> TaskDraft<'_> {
    TaskDraft { title, ..TaskDraft::default() }
}

fn add(work: &WorkDatabase, title: &str) -> Task {
    work.tasks().add(None, &draft_with_title(title), 1).expect("added")
}

fn add_blocked(work: &WorkDatabase, title: &str, blockers: &[TaskId]) -> Task {
    work.tasks().add(None, &TaskDraft { title, blockers, ..TaskDraft::default() }, 1).expect("added")
}

fn add_child(work: &WorkDatabase, parent: TaskId, title: &str) -> Task {
    work.tasks().add(None, &TaskDraft { title, parent: Some(parent), ..TaskDraft::default() }, 1).expect("added")
}

fn ready(tasks: Tasks<'_>) -> Vec<String> {
    tasks.ready(9).expect("read").0.iter().map(|task| task.id.to_string()).collect()
}

#[test]
fn ids_are_parsed_as_people_type_them() {
    for word in ["t12", "T12", "12", "t012"] {
        assert_eq!(id(word).to_string(), "t12");
    }
    for word in ["", "t", "tt1", "m1", "-1", "t-1", "1.5", "t1 ", "99999999999999999999", "١"] {
        assert_eq!(TaskId::parse(word), None, "{word}");
    }
}

#[test]
fn a_task_is_stored_unchanged_except_for_secrets() {
    let database = TestDatabase::new();
    let work = database.work();
    let first = add(&work, "  First  ");
    let draft = TaskDraft {
        title: "Use GITHUB_TOKEN=ghp_0123456789abcdefghijABCDEFGHIJ012345",
        description: Some("As in\n  the plan\n"),
        parent: Some(first.id),
        blockers: &[first.id],
        priority: Some(1),
    };
    let task = work.tasks().add(Some("plan.second"), &draft, 7).expect("added");
    assert_eq!(task, database.work().tasks().find("t2").expect("kept"));
    insta::assert_snapshot!(serde_json::to_string_pretty(&task).expect("JSON"), @r#"
    {
      "id": "t2",
      "key": "plan.second",
      "title": "Use GITHUB_TOKEN=***",
      "description": "As in\n  the plan",
      "state": "open",
      "priority": 1,
      "parent": "t1",
      "blockers": [
        {
          "id": "t1",
          "state": "open"
        }
      ],
      "needs_review": false,
      "started_by": null,
      "created": 7,
      "changed": 7
    }
    "#);
    assert_eq!((first.title.as_str(), first.priority), ("First", 3));
    assert_eq!(work.tasks().children(first.id).expect("read"), [task]);
}

#[test]
fn invalid_tasks_are_errors() {
    let database = TestDatabase::new();
    let work = database.work();
    let tasks = work.tasks();
    add(&work, "First");
    tasks.add(Some("known"), &draft_with_title("Second"), 1).expect("added");
    let long_title = "x".repeat(501);
    let long_text = "x".repeat(64 * 1024 + 1);
    let unknown = [id("t9")];
    let refused = [
        tasks.add(None, &draft_with_title(" \t "), 1),
        tasks.add(None, &draft_with_title("two\nlines"), 1),
        tasks.add(None, &draft_with_title("two\u{2028}lines"), 1),
        tasks.add(None, &draft_with_title(&long_title), 1),
        tasks.add(None, &TaskDraft { description: Some(&long_text), ..draft_with_title("Long") }, 1),
        tasks.add(None, &TaskDraft { priority: Some(6), ..draft_with_title("Urgent") }, 1),
        tasks.add(None, &TaskDraft { priority: Some(0), ..draft_with_title("Urgent") }, 1),
        tasks.add(None, &TaskDraft { blockers: &unknown, ..draft_with_title("Blocked") }, 1),
        tasks.add(None, &TaskDraft { parent: Some(id("t9")), ..draft_with_title("Child") }, 1),
        tasks.add(Some("known"), &draft_with_title("Again"), 1),
        tasks.add(Some(""), &draft_with_title("Keyless"), 1),
        tasks.add(Some("token=ghp_0123456789abcdefghijABCDEFGHIJ012345"), &draft_with_title("Secret"), 1),
        tasks.find("first"),
    ];
    let messages: Vec<String> = refused.into_iter().map(|refused| refused.expect_err("refused").to_string()).collect();
    insta::assert_snapshot!(messages.join("\n"), @r"
    the title is empty
    the title must be one line of plain text
    the title must be one line of plain text
    the title has 501 characters; the maximum is 500
    the description has 65537 bytes; the maximum is 65536 (64 KiB)
    the priority must be a number from 1 to 5, not 6
    the priority must be a number from 1 to 5, not 0
    there is no task `t9`
    there is no task `t9`
    the key `known` belongs to t2 already
    the key is empty
    the key contains something that looks like a secret
    there is no task `first`
    ");
    assert_eq!(tasks.all().expect("read").len(), 2, "nothing was written");
    assert!(matches!(tasks.find("tt2"), Err(TaskError::NotFound(typed)) if typed == "tt2"));
    assert!(tasks.add(None, &draft_with_title(&"ä".repeat(500)), 1).is_ok(), "the limit is in characters, not bytes");
}

#[test]
fn ensure_adds_a_task_and_then_updates_it() {
    let database = TestDatabase::new();
    let work = database.work();
    let tasks = work.tasks();
    let other = add(&work, "Other");
    let created =
        tasks.ensure("a", &TaskDraft { description: Some("How"), ..draft_with_title("One") }, 1).expect("added");
    tasks.start(created.task.id, None, 2).expect("started");
    let blockers = [other.id];
    let draft = TaskDraft { priority: Some(1), blockers: &blockers, ..draft_with_title("One thing") };
    let updated = tasks.ensure("a", &draft, 3).expect("kept");
    assert!(created.is_new && !updated.is_new);
    let task = updated.task;
    assert_eq!((task.id, task.title.as_str(), task.description.as_str()), (created.task.id, "One thing", "How"));
    assert_eq!((task.priority, task.state, task.blockers.len()), (1, TaskState::InProgress, 1));
    assert_eq!(tasks.ensure("a", &draft, 3).expect("kept").task, task);
}

#[test]
fn cycles_are_refused() {
    let database = TestDatabase::new();
    let work = database.work();
    let tasks = work.tasks();
    let first = tasks.ensure("a", &draft_with_title("A"), 1).expect("added").task.id;
    let second = add_child(&work, first, "B").id;
    let third = add_child(&work, second, "C").id;
    let parent = |parent| TaskDraft { parent: Some(parent), ..draft_with_title("A") };
    insta::assert_snapshot!(
        tasks.ensure("a", &parent(third), 1).expect_err("a cycle"),
        @"a task cannot be its own ancestor: t1 → t3 → t2 → t1"
    );
    insta::assert_snapshot!(
        tasks.ensure("a", &parent(first), 1).expect_err("a cycle"),
        @"a task cannot be its own ancestor: t1 → t1"
    );
    let fourth = add_blocked(&work, "D", &[first, second]).id;
    let fifth = add_blocked(&work, "E", &[fourth]).id;
    let cyclic = TaskDraft { blockers: &[third, fifth], ..draft_with_title("A") };
    insta::assert_snapshot!(
        tasks.ensure("a", &cyclic, 1).expect_err("a cycle"),
        @"a task cannot wait for itself: t1 → t5 → t4 → t1"
    );
    assert_eq!(tasks.get(first).expect("read").blockers, [], "nothing was written");
}

#[test]
fn open_tasks_without_unfinished_blockers_are_ready() {
    let database = TestDatabase::new();
    let work = database.work();
    let tasks = work.tasks();
    let first = add(&work, "First").id;
    let second = add_blocked(&work, "Second", &[first]).id;
    let urgent = tasks.add(None, &TaskDraft { priority: Some(1), ..draft_with_title("Urgent") }, 1).expect("added").id;
    assert_eq!(ready(tasks), ["t3", "t1"]);
    assert_eq!(tasks.ready(1).expect("read").1, 2, "the rest is counted");

    tasks.start(first, None, 2).expect("started");
    assert_eq!(ready(tasks), ["t3"]);
    assert!(matches!(tasks.start(second, None, 2), Err(TaskError::Blocked { blockers, .. }) if blockers == [first]));

    tasks.fail(first, 3).expect("failed");
    assert_eq!(ready(tasks), ["t3", "t2"]);
    let failed_blockers: Vec<TaskId> =
        tasks.get(second).expect("read").failed_or_missing_blockers().map(|blocker| blocker.id).collect();
    assert_eq!(failed_blockers, [first]);

    work.connection.execute("DELETE FROM tasks WHERE id = ?1", [first]).expect("deleted");
    assert_eq!(ready(tasks), ["t3", "t2"]);
    let missing = tasks.get(second).expect("read");
    assert_eq!(missing.failed_or_missing_blockers().map(|blocker| blocker.state).collect::<Vec<_>>(), [None]);

    tasks.close(urgent, 4).expect("closed");
    tasks.close(second, 4).expect("closed");
    assert_eq!(ready(tasks), [""; 0]);
    assert_eq!(add(&work, "Next").id.to_string(), "t4");
}

#[test]
fn every_transition_from_every_state() {
    let database = TestDatabase::new();
    let work = database.work();
    let tasks = work.tasks();
    let mut table = Vec::new();
    for from in TaskState::ALL {
        for to in TaskState::ALL {
            let task = add(&work, "Any").id;
            match from {
                TaskState::Open => None,
                TaskState::InProgress => Some(tasks.start(task, None, 1)),
                TaskState::Closed => Some(tasks.close(task, 1)),
                TaskState::Failed => Some(tasks.fail(task, 1)),
            }
            .into_iter()
            .for_each(|change| assert!(!change.expect("moved").is_unchanged));
            let change = match to {
                TaskState::Open => tasks.reopen(task, 1),
                TaskState::InProgress => tasks.start(task, None, 1),
                TaskState::Closed => tasks.close(task, 1),
                TaskState::Failed => tasks.fail(task, 1),
            };
            let result = match change {
                Ok(change) if change.is_unchanged => "unchanged".to_owned(),
                Ok(change) => change.task.state.name().to_owned(),
                Err(error) => error.to_string().split_once(' ').expect("words").1.to_owned(),
            };
            table.push(format!("{} to {}: {result}", from.name(), to.name()));
        }
    }
    insta::assert_snapshot!(table.join("\n"), @r"
    open to open: unchanged
    open to in_progress: in_progress
    open to closed: closed
    open to failed: failed
    in_progress to open: open
    in_progress to in_progress: unchanged
    in_progress to closed: closed
    in_progress to failed: failed
    closed to open: open
    closed to in_progress: is closed: it cannot be started before it is reopened
    closed to closed: unchanged
    closed to failed: is closed: it cannot be marked as failed before it is reopened
    failed to open: open
    failed to in_progress: has failed: it cannot be started before it is reopened
    failed to closed: has failed: it cannot be closed before it is reopened
    failed to failed: unchanged
    ");
}

#[test]
fn a_task_in_progress_belongs_to_a_run() {
    let database = TestDatabase::new();
    let work = database.work();
    let tasks = work.tasks();
    let (mine, theirs, unowned) = (add(&work, "Mine").id, add(&work, "Theirs").id, add(&work, "Nobody's").id);
    tasks.start(mine, Some(&starter_id("r1", 2)), 1).expect("started");
    tasks.start(theirs, Some(&starter_id("r12", 2)), 1).expect("started");
    tasks.start(unowned, None, 1).expect("started");
    assert_eq!(tasks.count_claimed("r1").expect("read"), 1);
    assert_eq!(tasks.counts(None).expect("read").claimed, 0);
    insta::assert_snapshot!(
        tasks.start(mine, Some("r12/2"), 2).expect_err("held"),
        @"t1 is already in progress, started in run `r1`, iteration 2"
    );
    insta::assert_snapshot!(
        tasks.start(unowned, Some("r12/2"), 2).expect_err("held"),
        @"t3 is already in progress, started outside of a run"
    );
    let taken_over = tasks.start(mine, Some("r1/3"), 2).expect("the same run");
    assert!(taken_over.is_unchanged);
    let started = |by: &str| tasks.started_by(by).expect("read").iter().map(|task| task.id).collect::<Vec<_>>();
    assert_eq!((started("r1/2"), started("r1/3")), (vec![], vec![mine]));
    tasks.close(mine, 3).expect("closed");
    assert_eq!((started("r1/3"), tasks.count_claimed("r1").expect("read")), (vec![], 0));
    let reopened = tasks.reopen(mine, 4).expect("reopened").task;
    assert_eq!((reopened.state, reopened.started_by), (TaskState::Open, None));
}

#[test]
fn a_tree_is_complete_when_its_leaves_are_closed() {
    let database = TestDatabase::new();
    let work = database.work();
    let tasks = work.tasks();
    let root = add(&work, "Root").id;
    let branch = add_child(&work, root, "Branch").id;
    let leaf = add_child(&work, branch, "Leaf").id;
    let other = add_child(&work, root, "Other").id;
    let complete = |ids: &[TaskId]| tasks.trees_are_complete(ids).expect("read");
    assert!(complete(&[]));
    assert!(!complete(&[id("t99")]));
    assert!(!complete(&[root]));
    tasks.close(root, 1).expect("closed");
    assert!(!complete(&[root]), "its descendants are not closed");
    tasks.reopen(root, 1).expect("open");
    tasks.close(leaf, 1).expect("closed");
    assert!(complete(&[branch]) && complete(&[leaf]) && !complete(&[root]));
    tasks.fail(other, 1).expect("failed");
    assert!(!complete(&[root]) && !complete(&[branch, other]));
    tasks.reopen(other, 1).expect("open");
    tasks.close(other, 1).expect("closed");
    assert!(complete(&[root, branch, leaf, other]), "its own state does not matter");
    assert!(!complete(&[root, id("t99")]));
}

#[test]
fn tasks_are_counted_by_state_and_marked_for_review() {
    let database = TestDatabase::new();
    let work = database.work();
    let tasks = work.tasks();
    assert_eq!(tasks.counts(None).expect("read"), crate::TaskCounts::default());
    let all: Vec<TaskId> = ["a", "b", "c", "d"].map(|title| add(&work, title).id).to_vec();
    add_blocked(&work, "e", &[all[0]]);
    tasks.start(all[1], Some("r1"), 1).expect("started");
    tasks.close(all[2], 1).expect("closed");
    tasks.fail(all[3], 1).expect("failed");
    let counts = tasks.counts(Some("r1")).expect("read");
    let expected = crate::TaskCounts { open: 2, ready: 1, in_progress: 1, closed: 1, failed: 1, claimed: 1 };
    assert_eq!(counts, expected);

    assert!(!tasks.set_needs_review(all[0], true, 1).expect("marked").is_unchanged);
    assert!(tasks.set_needs_review(all[0], true, 1).expect("marked").is_unchanged);
    assert!(tasks.needs_review(all[0]).expect("read") && !tasks.needs_review(all[1]).expect("read"));
    assert!(!tasks.needs_review(id("t99")).expect("read"));
    tasks.set_needs_review(all[0], false, 1).expect("cleared");
    assert!(!tasks.needs_review(all[0]).expect("read"));
}
