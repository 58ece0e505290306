//! The baseline of a session whose own commits moved the usual one.

use std::fs;

use engine::EventKind;

use super::super::GIT_LIMIT;
use super::*;
use crate::tests::{Scratch, event};

fn made(id: &str, parents: &[&str]) -> CommitWithParents {
    CommitWithParents { id: id.to_owned(), parents: parents.iter().map(|&parent| parent.to_owned()).collect() }
}

fn before(history: &[CommitWithParents], own: &[&str]) -> Before {
    before_own(history, Some(&own.iter().map(|&id| id.to_owned()).collect()))
}

fn commit(id: &str) -> Before {
    Before::Commit(id.to_owned())
}

#[test]
fn a_history_without_the_sessions_commits_is_used_as_it_is() {
    assert_eq!(before(&[], &["x"]), Before::NoOwnCommits);
    assert_eq!(before(&[made("b", &["a"]), made("a", &["start"])], &["x"]), Before::NoOwnCommits);
    assert_eq!(before(&[made("b", &["a"]), made("a", &["start"])], &[]), Before::NoOwnCommits);
}

#[test]
fn if_all_commits_are_the_sessions_the_first_ones_parent_is_the_baseline() {
    assert_eq!(before(&[made("b", &["a"]), made("a", &["start"])], &["a", "b"]), commit("start"));
    assert_eq!(before(&[made("a", &[])], &["a"]), Before::Nothing);
}

#[test]
fn the_newest_commit_of_others_is_the_baseline() {
    // Another session made a commit, and then this session.
    assert_eq!(before(&[made("own", &["theirs"]), made("theirs", &["start"])], &["own"]), commit("theirs"));
    // Commits on top of the session's commit count as the session's, no matter who made them.
    let built_on = [made("later", &["own"]), made("own", &["theirs"]), made("theirs", &["start"])];
    assert_eq!(before(&built_on, &["own"]), commit("theirs"));
}

#[test]
fn a_merge_of_the_sessions_work_is_the_sessions() {
    let history =
        [made("merge", &["theirs", "own"]), made("theirs", &["start"]), made("own", &["start"]), made("start", &[])];
    assert_eq!(before(&history, &["own"]), commit("theirs"));
}

#[test]
fn without_a_reflog_any_commit_may_be_the_sessions() {
    assert_eq!(before_own(&[made("b", &["a"]), made("a", &["start"])], None), commit("start"));
}

#[test]
fn a_session_remembers_where_it_began() {
    let scratch = Scratch::new().committed();
    let head = scratch.git(&["rev-parse", "HEAD"]);
    let start = SessionBaseline::at(&event(EventKind::Prompt), &scratch.root);
    assert_eq!((start.commit.as_deref(), start.began()), (Some(head.as_str()), Some(1000)));
    let mut changes = StateChanges::default();
    start.remember(&mut changes);
    let variables = changes.variables.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
    assert_eq!(SessionBaseline::of(&variables), Some(start));
}

#[test]
fn a_session_first_heard_of_at_a_stop_began_at_an_unknown_time() {
    let scratch = Scratch::new().committed();
    for kind in EventKind::ALL {
        let start = SessionBaseline::at(&event(kind), &scratch.root);
        assert_eq!(start.began().is_none(), kind.is_stop(), "{kind:?}");
    }
}

#[test]
fn all_commits_in_a_repository_that_the_session_creates_are_its_own() {
    let scratch = Scratch::new();
    let start = SessionBaseline::at(&event(EventKind::Prompt), &scratch.root);
    scratch.git(&["init", "-q", "-b", "main"]);
    let baseline = scratch.file("a", "work").commit("work");
    let tree = Tree::of(&scratch.root, GIT_LIMIT).expect("a repository");
    let earlier = start.before(&tree, &baseline).expect("git answers");
    assert_eq!(earlier.commit, Some(tree.empty_tree().expect("the empty tree").id));
}

#[test]
fn a_session_without_a_start_remembers_nothing() {
    let mut variables = Map::new();
    assert_eq!(SessionBaseline::of(&variables), None);
    variables.insert(VARIABLE.to_owned(), Value::from("nothing of the kind"));
    assert_eq!(SessionBaseline::of(&variables), None);
}

#[test]
fn a_start_moves_only_with_the_checkout_and_keeps_its_time() {
    let scratch = Scratch::new().committed();
    let start = SessionBaseline::at(&event(EventKind::Prompt), &scratch.root);
    assert_eq!(start.moved(&scratch.root), None);
    let head = scratch.commit("second");
    let moved = start.moved(&scratch.root).expect("another commit");
    assert_eq!((moved.commit.as_deref(), moved.began()), (Some(head.as_str()), Some(1000)));
    assert!(moved.log > start.log);
}

/// A session that began at the first commit. `before` returns the baseline that it gets in place of `baseline`.
struct Begun {
    scratch: Scratch,
    start: SessionBaseline,
    first: String,
}

impl Begun {
    fn new() -> Self {
        let scratch = Scratch::new().committed();
        let start = SessionBaseline::at(&event(EventKind::Prompt), &scratch.root);
        let first = scratch.git(&["rev-parse", "HEAD"]);
        Self { scratch, start, first }
    }

    fn before(&self, baseline: &str) -> (Option<String>, bool) {
        let tree = Tree::of(&self.scratch.root, GIT_LIMIT).expect("a repository");
        let earlier = self.start.before(&tree, baseline).expect("git answers");
        (earlier.commit, earlier.is_start_lost)
    }
}

#[test]
fn without_commits_of_the_session_the_usual_baseline_is_used() {
    let begun = Begun::new();
    begun.scratch.file("a", "not committed");
    assert_eq!(begun.before(&begun.first), (None, false));
}

#[test]
fn commits_of_the_session_on_the_default_branch_do_not_hide_its_work() {
    let begun = Begun::new();
    begun.scratch.file("a", "work").commit("work");
    let baseline = begun.scratch.file("b", "more").commit("more");
    assert_eq!(begun.before(&baseline), (Some(begun.first.clone()), false));
    // A baseline that is older than the session's commits is used as it is.
    assert_eq!(begun.before(&begun.first), (None, false));
}

#[test]
fn a_start_commit_that_git_dropped_is_reported_as_lost() {
    let mut begun = Begun::new();
    begun.start.commit = Some("0123456789012345678901234567890123456789".to_owned());
    // Without a time, only the reflog of `HEAD` counts.
    begun.start.began = None;
    let baseline = begun.scratch.file("a", "work").commit("work");
    // The reflog still shows the session's commits.
    assert_eq!(begun.before(&baseline), (Some(begun.first.clone()), true));
    // Without the reflog, any commit may be the session's own.
    fs::remove_file(begun.scratch.root.join(".git/logs/HEAD")).expect("removed");
    assert_eq!(begun.before(&baseline), (None, true));
}
