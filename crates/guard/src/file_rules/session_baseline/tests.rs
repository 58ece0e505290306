//! Tests which commit is used as the baseline if the session's own commits moved the default baseline.

use std::fs;

use engine::EventKind;

use super::super::GIT_TIMEOUT;
use super::*;
use crate::tests::{Scratch, event};

fn commit_with_parents(id: &str, parents: &[&str]) -> CommitWithParents {
    CommitWithParents { id: id.to_owned(), parents: parents.iter().map(|&parent| parent.to_owned()).collect() }
}

fn before(history: &[CommitWithParents], own: &[&str]) -> StateBefore {
    state_before_own_commits(history, Some(&own.iter().map(|&id| id.to_owned()).collect()))
}

fn commit(id: &str) -> StateBefore {
    StateBefore::Commit(id.to_owned())
}

#[test]
fn a_history_without_the_sessions_commits_is_used_as_it_is() {
    assert_eq!(before(&[], &["x"]), StateBefore::NoOwnCommits);
    assert_eq!(
        before(&[commit_with_parents("b", &["a"]), commit_with_parents("a", &["start"])], &["x"]),
        StateBefore::NoOwnCommits
    );
    assert_eq!(
        before(&[commit_with_parents("b", &["a"]), commit_with_parents("a", &["start"])], &[]),
        StateBefore::NoOwnCommits
    );
}

#[test]
fn if_all_commits_are_the_sessions_the_first_ones_parent_is_the_baseline() {
    assert_eq!(
        before(&[commit_with_parents("b", &["a"]), commit_with_parents("a", &["start"])], &["a", "b"]),
        commit("start")
    );
    assert_eq!(before(&[commit_with_parents("a", &[])], &["a"]), StateBefore::Nothing);
}

#[test]
fn the_newest_commit_of_others_is_the_baseline() {
    // First another session made a commit, then this session made one.
    assert_eq!(
        before(&[commit_with_parents("own", &["theirs"]), commit_with_parents("theirs", &["start"])], &["own"]),
        commit("theirs")
    );
    // A commit on top of the session's commit counts as the session's, no matter who made it.
    let built_on = [
        commit_with_parents("later", &["own"]),
        commit_with_parents("own", &["theirs"]),
        commit_with_parents("theirs", &["start"]),
    ];
    assert_eq!(before(&built_on, &["own"]), commit("theirs"));
}

#[test]
fn a_merge_of_the_sessions_work_is_the_sessions() {
    let history = [
        commit_with_parents("merge", &["theirs", "own"]),
        commit_with_parents("theirs", &["start"]),
        commit_with_parents("own", &["start"]),
        commit_with_parents("start", &[]),
    ];
    assert_eq!(before(&history, &["own"]), commit("theirs"));
}

#[test]
fn without_a_reflog_any_commit_may_be_the_sessions() {
    assert_eq!(
        state_before_own_commits(&[commit_with_parents("b", &["a"]), commit_with_parents("a", &["start"])], None),
        commit("start")
    );
}

#[test]
fn a_session_stores_where_it_began() {
    let scratch = Scratch::new().committed();
    let head = scratch.git(&["rev-parse", "HEAD"]);
    let baseline = SessionBaseline::at(&event(EventKind::Prompt), &scratch.root);
    assert_eq!((baseline.commit.as_deref(), baseline.began()), (Some(head.as_str()), Some(1000)));
    let mut changes = StateChanges::default();
    baseline.add_to(&Map::new(), &mut changes);
    let variables = changes.session_variables.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
    assert_eq!(SessionBaseline::stored(&variables, &scratch.root), Some(baseline));
}

#[test]
fn each_repository_has_a_baseline_of_its_own() {
    let scratch = Scratch::new().committed();
    let (inner, event) = (scratch.root.join("inner"), event(EventKind::Prompt));
    scratch.file("inner/a", "text").git(&["init", "-q", "-b", "main", "inner"]);
    let mut variables = Map::new();
    let add = |baseline: &SessionBaseline, variables: &mut Map<String, Value>| {
        let mut changes = StateChanges::default();
        baseline.add_to(variables, &mut changes);
        variables.extend(changes.session_variables.into_iter().filter_map(|(name, value)| Some((name, value?))));
    };
    let outer = SessionBaseline::at(&event, &scratch.root);
    add(&outer, &mut variables);
    // Only the time is known until the session has stopped with the inner repository's rules met.
    let unknown = SessionBaseline::stored(&variables, &inner).expect("a baseline");
    assert_eq!((unknown.commit.as_deref(), unknown.began()), (None, Some(1000)));
    scratch.git(&["-C", "inner", "commit", "-q", "--allow-empty", "-m", "one"]);
    let updated = unknown.updated(&inner).expect("a commit");
    add(&updated, &mut variables);
    assert_eq!(SessionBaseline::stored(&variables, &inner), Some(updated));
    assert_eq!(SessionBaseline::stored(&variables, &scratch.root.join(".linchpin")), Some(outer));
}

#[test]
fn commits_in_a_repository_of_unknown_state_count_from_the_time_at_which_the_session_began() {
    let scratch = Scratch::new().committed();
    let tree = Tree::of(&scratch.root, GIT_TIMEOUT).expect("a repository");
    let default = scratch.git(&["rev-parse", "HEAD"]);
    let earlier = |began: i64| {
        let unknown = SessionBaseline::unknown(repository_id(&scratch.root));
        let baseline = SessionBaseline { began: Some(began), is_start_unknown: true, ..unknown };
        let earlier = baseline.earlier_baseline(&tree, &default).expect("git answers");
        assert!(!earlier.is_commit_lost);
        earlier.commit
    };
    assert_eq!(earlier(0), Some(tree.empty_tree().expect("the empty tree").id));
    // If the session began far in the future, no commit was made since.
    assert_eq!(earlier(100_000_000_000_000), None);
}

#[test]
fn a_session_whose_first_event_is_a_stop_began_at_an_unknown_time() {
    let scratch = Scratch::new().committed();
    for kind in EventKind::ALL {
        let baseline = SessionBaseline::at(&event(kind), &scratch.root);
        assert_eq!(baseline.began().is_none(), kind.is_stop(), "{kind:?}");
    }
}

#[test]
fn all_commits_in_a_repository_that_the_session_creates_are_its_own() {
    let scratch = Scratch::new();
    let baseline = SessionBaseline::at(&event(EventKind::Prompt), &scratch.root);
    scratch.git(&["init", "-q", "-b", "main"]);
    let default = scratch.file("a", "work").commit("work");
    let tree = Tree::of(&scratch.root, GIT_TIMEOUT).expect("a repository");
    let earlier = baseline.earlier_baseline(&tree, &default).expect("git answers");
    assert_eq!(earlier.commit, Some(tree.empty_tree().expect("the empty tree").id));
}

#[test]
fn a_session_without_a_stored_baseline_has_none() {
    let mut variables = Map::new();
    assert_eq!(SessionBaseline::stored(&variables, Path::new("/repo")), None);
    variables.insert(VARIABLE.to_owned(), Value::from("no baseline"));
    assert_eq!(SessionBaseline::stored(&variables, Path::new("/repo")), None);
}

#[test]
fn a_baseline_changes_only_with_the_checkout_and_keeps_its_time() {
    let scratch = Scratch::new().committed();
    let baseline = SessionBaseline::at(&event(EventKind::Prompt), &scratch.root);
    assert_eq!(baseline.updated(&scratch.root), None);
    let head = scratch.commit("second");
    let changed = baseline.updated(&scratch.root).expect("another commit");
    assert_eq!((changed.commit.as_deref(), changed.began()), (Some(head.as_str()), Some(1000)));
    assert!(changed.reflog_length > baseline.reflog_length);
}

/// A session that began at the first commit.
struct RunningSession {
    scratch: Scratch,
    baseline: SessionBaseline,
    first: String,
}

impl RunningSession {
    fn new() -> Self {
        let scratch = Scratch::new().committed();
        let baseline = SessionBaseline::at(&event(EventKind::Prompt), &scratch.root);
        let first = scratch.git(&["rev-parse", "HEAD"]);
        Self { scratch, baseline, first }
    }

    /// The commit to compare with in place of `default`, and whether the commit of the session's baseline is lost.
    fn earlier(&self, default: &str) -> (Option<String>, bool) {
        let tree = Tree::of(&self.scratch.root, GIT_TIMEOUT).expect("a repository");
        let earlier = self.baseline.earlier_baseline(&tree, default).expect("git answers");
        (earlier.commit, earlier.is_commit_lost)
    }
}

#[test]
fn without_commits_of_the_session_the_default_baseline_is_used() {
    let session = RunningSession::new();
    session.scratch.file("a", "not committed");
    assert_eq!(session.earlier(&session.first), (None, false));
}

#[test]
fn commits_of_the_session_on_the_default_branch_do_not_hide_its_work() {
    let session = RunningSession::new();
    session.scratch.file("a", "work").commit("work");
    let baseline = session.scratch.file("b", "more").commit("more");
    assert_eq!(session.earlier(&baseline), (Some(session.first.clone()), false));
    // A baseline that is older than the session's commits is used as it is.
    assert_eq!(session.earlier(&session.first), (None, false));
}

#[test]
fn a_baseline_commit_that_git_dropped_is_reported_as_lost() {
    let mut session = RunningSession::new();
    session.baseline.commit = Some("0123456789012345678901234567890123456789".to_owned());
    // If it is unknown when the session began, only the reflog of `HEAD` shows which commits are the session's.
    session.baseline.began = None;
    let baseline = session.scratch.file("a", "work").commit("work");
    // The reflog still shows the session's commits.
    assert_eq!(session.earlier(&baseline), (Some(session.first.clone()), true));
    // Without the reflog, any commit may be the session's own.
    fs::remove_file(session.scratch.root.join(".git/logs/HEAD")).expect("removed");
    assert_eq!(session.earlier(&baseline), (None, true));
}
