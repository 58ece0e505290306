//! The commits of a session still trigger file rules after the session has moved the baseline past them, for example by
//! a push.

use testkit::{ProcessOutput, TestProject};

use super::queue::make_queues_unusable;
use super::{README_RULE, commit, notice, prompt, queue_directory, stop, with_rule};

/// A project on `main`, pushed to `origin`, in a running session.
fn running_session() -> TestProject {
    let project = project_with_remote();
    assert_eq!(prompt(&project, "Go on.").stdout, "");
    project
}

fn project_with_remote() -> TestProject {
    let project = with_rule("readme", README_RULE);
    project.git(&["init", "-q", "--bare", "-b", "main", "../remote"]);
    project.git(&["remote", "add", "origin", "../remote"]);
    project.git(&["push", "-q", "-u", "origin", "main"]);
    project
}

/// Changes a file in another clone, and pushes it.
fn push_from_another_clone(project: &TestProject, file: &str) {
    let other = project.root().join("../other");
    if !other.exists() {
        project.git(&["clone", "-q", "../remote", "../other"]);
    }
    std::fs::write(other.join(file), "theirs\n").expect("a file");
    project.git(&["-C", "../other", "pull", "-q"]);
    project.git(&["-C", "../other", "add", "-A"]);
    project.git(&["-C", "../other", "commit", "-q", "-m", "Theirs"]);
    project.git(&["-C", "../other", "push", "-q", "origin", "main"]);
}

fn change(project: &TestProject, file: &str) {
    project.file(file, "changed\n");
    commit(project, file);
}

/// Returns the trigger files that a held stop lists.
fn trigger_files(reply: &ProcessOutput) -> Vec<String> {
    let lines = if reply.stdout.is_empty() { String::new() } else { reply.reason() };
    lines.lines().filter(|line| line.strip_suffix(".py").is_some()).map(str::to_owned).collect()
}

#[test]
fn pushed_commits_still_trigger_rules() {
    for command in [
        ["push", "-q", "origin", "main"].as_slice(),
        &["update-ref", "refs/remotes/origin/main", "HEAD"],
        &["fetch", "-q", ".", "+HEAD:refs/remotes/origin/main"],
    ] {
        let project = running_session();
        change(&project, "src/a.py");
        project.git(command);
        assert_eq!(trigger_files(&stop(&project)), ["src/a.py"], "{command:?}");
        project.file("README.md", "Changed.\n");
        commit(&project, "Docs");
        assert_eq!(stop(&project).stdout, "", "{command:?}");
        // The rule was met at the last stop, so only later changes count.
        change(&project, "src/b.py");
        project.git(command);
        assert_eq!(trigger_files(&stop(&project)), ["src/b.py"], "{command:?}");
    }
}

#[test]
fn commits_trigger_rules_after_the_default_branch_is_moved_to_them() {
    for command in [
        ["branch", "-f", "main"].as_slice(),
        &["branch", "-f", "main", "HEAD~1"],
        &["update-ref", "refs/heads/main", "HEAD"],
    ] {
        let project = with_rule("readme", README_RULE);
        project.git(&["switch", "-q", "-c", "work"]);
        prompt(&project, "Go on.");
        change(&project, "src/a.py");
        change(&project, "other.txt");
        assert_eq!(trigger_files(&stop(&project)), ["src/a.py"]);
        project.git(command);
        assert_eq!(trigger_files(&stop(&project)), ["src/a.py"], "{command:?}");
    }
    let project = running_session();
    project.git(&["switch", "-q", "-c", "work"]);
    change(&project, "src/a.py");
    project.git(&["push", "-q", "origin", "work:main"]);
    assert_eq!(trigger_files(&stop(&project)), ["src/a.py"]);
}

#[test]
fn changes_on_an_orphan_branch_trigger_rules() {
    let project = running_session();
    project.git(&["checkout", "-q", "--orphan", "fresh"]);
    project.file("src/a.py", "changed\n");
    // The new branch has no history, but the README has the same contents as before, so it does not count as changed.
    assert_eq!(trigger_files(&stop(&project)), ["src/a.py"]);
    commit(&project, "Fresh");
    assert_eq!(trigger_files(&stop(&project)), ["src/a.py"]);
    project.git(&["push", "-q", "--force", "origin", "fresh:main"]);
    assert_eq!(trigger_files(&stop(&project)), ["src/a.py"]);
}

/// Commits a change on a separate branch in a linked working tree.
fn change_in_linked_tree(project: &TestProject, file: &str) {
    project.git(&["worktree", "add", "-q", "-b", "linked", "../linked"]);
    let tree = project.root().join("../linked");
    std::fs::create_dir_all(tree.join("src")).expect("a directory");
    std::fs::write(tree.join(file), "changed\n").expect("a file");
    project.git(&["-C", "../linked", "add", "-A"]);
    let mut commit = project.git_command(&["-C", "../linked", "commit", "-q", "-m", file]);
    // The test needs the real time in git's reflog. Git takes it from the committer date.
    commit.env_remove("GIT_COMMITTER_DATE").env_remove("GIT_AUTHOR_DATE");
    assert!(commit.status().expect("git").success());
}

#[test]
fn commits_in_a_linked_tree_trigger_rules() {
    for command in [&["merge", "-q", "linked"][..], &["rebase", "-q", "linked"], &["merge", "-q", "--no-ff", "linked"]]
    {
        let project = running_session();
        change_in_linked_tree(&project, "src/a.py");
        project.git(command);
        project.git(&["push", "-q", "origin", "main"]);
        assert_eq!(trigger_files(&stop(&project)), ["src/a.py"], "{command:?}");
    }
    // The change was pushed from the linked tree and pulled into the session's tree, and the linked tree was removed.
    let project = running_session();
    change_in_linked_tree(&project, "src/a.py");
    project.git(&["-C", "../linked", "push", "-q", "origin", "linked:main"]);
    project.git(&["worktree", "remove", "../linked"]);
    project.git(&["pull", "-q"]);
    assert_eq!(trigger_files(&stop(&project)), ["src/a.py"]);
}

#[test]
fn commits_of_others_trigger_no_rules() {
    // The session only pulled.
    let project = running_session();
    push_from_another_clone(&project, "src/theirs.py");
    project.git(&["pull", "-q"]);
    assert_eq!(stop(&project).stdout, "");
    // The session pulled first, then committed and pushed.
    push_from_another_clone(&project, "src/more.py");
    project.git(&["pull", "-q"]);
    change(&project, "src/a.py");
    project.git(&["push", "-q", "origin", "main"]);
    assert_eq!(trigger_files(&stop(&project)), ["src/a.py"]);
    // The session committed first, then pulled with rebase or merge, and pushed.
    for pull in ["--rebase", "--no-rebase"] {
        let project = running_session();
        push_from_another_clone(&project, "src/theirs.py");
        change(&project, "src/a.py");
        project.git(&["pull", "-q", pull]);
        project.git(&["push", "-q", "origin", "main"]);
        assert_eq!(trigger_files(&stop(&project)), ["src/a.py"], "{pull}");
    }
    // The session merged the newer default branch into the branch `work`.
    let project = running_session();
    project.git(&["switch", "-q", "-c", "work"]);
    change(&project, "src/a.py");
    push_from_another_clone(&project, "src/theirs.py");
    project.git(&["fetch", "-q"]);
    project.git(&["merge", "-q", "origin/main"]);
    assert_eq!(trigger_files(&stop(&project)), ["src/a.py"]);
}

#[test]
fn a_lost_start_commit_of_a_session_is_reported() {
    let project = project_with_remote();
    change(&project, "other.txt");
    prompt(&project, "Go on.");
    project.git(&["reset", "-q", "--hard", "HEAD~1"]);
    change(&project, "src/a.py");
    project.git(&["push", "-q", "origin", "main"]);
    project.git(&["reflog", "expire", "--expire=now", "--all"]);
    project.git(&["gc", "-q", "--prune=now"]);
    let reply = stop(&project);
    insta::assert_snapshot!(notice(&reply), @"Linchpin: git no longer has the commit that this session began with, so file rules might miss work that was committed before it was removed. To see all of a branch: `linchpin check --base REF`");
    assert_eq!(notice(&stop(&project)), "");
}

/// A rule that is met as long as nothing in `lib` changes.
const MET_RULE: &str = "---\ntrigger: lib/**\nsafety: lib.md\n---\nVerify lib.md.\n";

#[test]
fn commits_still_trigger_a_rule_that_has_given_up_after_another_rule_is_met() {
    let project = with_rule("readme", &README_RULE.replace("safety", "max_holds: 1\nsafety"));
    project.rule("met", MET_RULE);
    commit(&project, "Another rule");
    prompt(&project, "Go on.");
    change(&project, "src/a.py");
    assert_eq!(trigger_files(&stop(&project)), ["src/a.py"]);
    assert!(notice(&stop(&project)).contains("(max_holds: 1) and is still unmet"));
    assert_eq!(stop(&project).stdout, "");
    // The rule no longer holds a stop because of `src/a.py` alone. After another file changes, it makes a new demand
    // for both files.
    change(&project, "src/b.py");
    assert_eq!(trigger_files(&stop(&project)), ["src/a.py", "src/b.py"]);
}

#[test]
fn commits_still_trigger_a_rule_that_was_skipped_while_another_rule_is_met() {
    let project = with_rule("readme", README_RULE);
    project.rule("met", MET_RULE);
    commit(&project, "Another rule");
    prompt(&project, "Go on.");
    change(&project, "src/a.py");
    // A demand that cannot be written to the queue holds no stop.
    make_queues_unusable(&project);
    assert!(notice(&stop(&project)).contains("rule `readme` was skipped"));
    std::fs::remove_file(queue_directory(&project)).expect("a file");
    assert_eq!(trigger_files(&stop(&project)), ["src/a.py"]);
}
