//! `check` with an unknown default branch.

use testkit::TestProject;

use super::checked;
use crate::file_rules::{README, commit, project, with_rule};

/// A branch with a changed source file. The default branch is `trunk`, which cannot be guessed.
fn on_a_branch_of_trunk() -> TestProject {
    let project = with_rule("readme", README);
    project.git(&["branch", "-m", "main", "trunk"]);
    project.git(&["checkout", "-q", "-b", "feat"]);
    project.file("src/a.py", "changed\n");
    commit(&project, "Changed");
    project
}

#[test]
fn with_an_unknown_default_branch_no_rule_is_met() {
    let project = on_a_branch_of_trunk();
    insta::assert_snapshot!(checked(&project, &["check"]), @"
    exit 2
    --- stdout
    --- stderr
    error: the default branch is not known: there are several branches, and none is `main` or `master`
    help: set `default_branch: NAME` in `.linchpin/config.yml`; or name the commit to compare with: `linchpin check --base REF`
    ");
    assert_eq!(project.run(&["check", "--staged"]).code, Some(2));
    assert_eq!(project.run(&["check", "--base", "trunk"]).code, Some(1));
    project.config("default_branch: nosuch\n");
    insta::assert_snapshot!(checked(&project, &["check"]), @"
    exit 2
    --- stdout
    --- stderr
    error: there is no branch `nosuch`, which `default_branch` names
    help: name another one in `.linchpin/config.yml`; or name the commit to compare with: `linchpin check --base REF`
    ");
    project.config("default_branch: trunk\n");
    assert_eq!(project.run(&["check"]).code, Some(1));
    // Without a rule that compares with the default branch, nothing is reported.
    project.config("").rule("readme", "---\ncommand_pattern: ^x\n---\nNo.\n");
    assert_eq!(project.run(&["check"]).code, Some(0));
}

#[test]
fn validate_and_doctor_report_an_unknown_default_branch() {
    let project = on_a_branch_of_trunk();
    let told = |project: &TestProject| {
        let replies = [project.run(&["validate"]).stdout, project.run(&["doctor"]).stdout];
        let lines = replies.iter().flat_map(|reply| reply.lines());
        let of_branch =
            |line: &&str| ["default branch", "default_branch", "NAME"].iter().any(|word| line.contains(word));
        lines.filter(of_branch).collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(told(&project), @"
    note: file rules do not know where a branch began: the default branch is not known: there are several branches, and none is `main` or `master`; set `default_branch: NAME` in `.linchpin/config.yml`
    bad   file rules do not know where a branch began: the default branch is not known: there are several branches, and none is `main` or `master`
          set `default_branch: NAME` in `.linchpin/config.yml`
    ");
    project.git(&["remote", "add", "origin", "../nowhere"]);
    insta::assert_snapshot!(told(&project), @"
    note: file rules do not know where a branch began: the default branch is not known: `origin/HEAD` is not set, and there is no `main` or `master`; set `default_branch: NAME` in `.linchpin/config.yml`, and run `git fetch origin NAME:refs/remotes/origin/NAME` if it was not fetched
    bad   file rules do not know where a branch began: the default branch is not known: `origin/HEAD` is not set, and there is no `main` or `master`
          set `default_branch: NAME` in `.linchpin/config.yml`, and run `git fetch origin NAME:refs/remotes/origin/NAME` if it was not fetched
    ");
    project.config("default_branch: nosuch\n");
    insta::assert_snapshot!(told(&project), @"
    note: file rules do not know where a branch began: there is no branch `nosuch`, which `default_branch` names; name another one in `.linchpin/config.yml`, or run `git fetch origin nosuch:refs/remotes/origin/nosuch`
    bad   file rules do not know where a branch began: there is no branch `nosuch`, which `default_branch` names
    ");
    project.config("default_branch: trunk\n");
    assert_eq!(told(&project), "");
    // Without a rule that compares with the default branch, nothing is reported either.
    project.config("").rule("readme", &README.replace("safety", "compare_to: prompt\nsafety"));
    assert_eq!(told(&project), "");
}

#[test]
fn a_rule_about_the_tip_of_a_default_branch_that_is_not_known() {
    let project = on_a_branch_of_trunk();
    project.rule("readme", &README.replace("safety", "compare_to: default_tip\nsafety"));
    assert_eq!(project.run(&["check"]).code, Some(2));
}

#[test]
fn a_clone_of_one_branch_does_not_know_what_to_compare_with() {
    let project = on_a_branch_of_trunk();
    project.git(&["checkout", "-q", "trunk"]);
    let from = format!("file://{}", project.root().display());
    let clone = project.home().join("clone");
    let clone_text = clone.to_string_lossy();
    project.git(&["clone", "-q", "--depth", "1", "--branch", "feat", &from, &clone_text]);
    let check = |variables: &[(&str, &str)]| {
        let mut command = project.command(&["check"]);
        command.current_dir(&clone).envs(variables.iter().copied());
        project.feed(command, b"")
    };
    assert_eq!(check(&[]).code, Some(2));
    insta::assert_snapshot!(check(&[("GITHUB_ACTIONS", "true")]).stderr, @"
    error: the default branch is not known: `origin/HEAD` is not set, and there is no `main` or `master`
    help: in CI, fetch enough history: `with: {fetch-depth: 0}` for `actions/checkout`
    ");
    let of_trunk = [("GITHUB_ACTIONS", "true"), ("GITHUB_BASE_REF", "trunk")];
    insta::assert_snapshot!(check(&of_trunk).stderr, @"
    error: the base branch of this pull request, `origin/trunk`, was not fetched
    help: in CI, fetch enough history: `with: {fetch-depth: 0}` for `actions/checkout`
    ");
    // In a full clone, the base is the target branch of the pull request.
    std::fs::remove_dir_all(&clone).expect("a folder");
    project.git(&["clone", "-q", "--branch", "feat", &from, &clone_text]);
    assert_eq!(check(&of_trunk).code, Some(1));
    assert_eq!(check(&[("GITHUB_ACTIONS", "true"), ("GITHUB_BASE_REF", "feat")]).code, Some(0));
}

/// Runs `check` in a clone of the project.
fn check_in(project: &TestProject, folder: &std::path::Path) -> testkit::Reply {
    let mut command = project.command(&["check"]);
    command.current_dir(folder);
    project.feed(command, b"")
}

#[test]
fn the_suggested_fetch_is_enough_in_a_single_branch_clone() {
    for settings in ["default_branch: main\n", "default_branch: origin/main\n"] {
        let project = with_rule("readme", README);
        project.git(&["checkout", "-q", "-b", "feat"]);
        project.config(settings).file("src/a.py", "changed\n");
        commit(&project, "Changed");
        let from = format!("file://{}", project.root().display());
        let clone = project.home().join("clone");
        let clone_text = clone.to_string_lossy();
        project.git(&["clone", "-q", "--single-branch", "--branch", "feat", &from, &clone_text]);
        let told = check_in(&project, &clone);
        assert_eq!(told.code, Some(2));
        assert!(
            told.stderr.contains("error: there is no branch `main`, which `default_branch` names\n")
                && told.stderr.contains(", or run `git fetch origin main:refs/remotes/origin/main`; or name"),
            "{}",
            told.stderr
        );
        project.git(&["-C", &clone_text, "fetch", "-q", "origin", "main:refs/remotes/origin/main"]);
        assert_eq!(check_in(&project, &clone).code, Some(1), "{settings}");
    }
}

#[test]
fn the_only_remote_says_what_its_default_is_whatever_it_is_called() {
    for settings in ["", "default_branch: main\n"] {
        let project = with_rule("readme", README);
        project.config(settings);
        commit(&project, "Configured");
        let from = format!("file://{}", project.root().display());
        let clone = project.home().join("clone");
        let clone_text = clone.to_string_lossy();
        project.git(&["clone", "-q", "--origin", "upstream", &from, &clone_text]);
        let in_clone = |words: &[&str]| project.git(&[&["-C", &clone_text][..], words].concat());
        assert_eq!(check_in(&project, &clone).code, Some(0));
        // The base is the pushed commit, and `main` is ahead of it.
        std::fs::write(clone.join("src/a.py"), "changed\n").expect("a file");
        in_clone(&["commit", "-q", "-a", "-m", "Changed"]);
        assert_eq!(check_in(&project, &clone).code, Some(1), "{settings}");
        in_clone(&["checkout", "-q", "-b", "feat"]);
        in_clone(&["branch", "-q", "-D", "main"]);
        assert_eq!(check_in(&project, &clone).code, Some(1), "{settings}");
    }
}

#[test]
fn a_repository_with_one_branch_or_without_a_commit_can_be_checked() {
    let project = with_rule("readme", README);
    project.git(&["branch", "-m", "main", "trunk"]);
    assert_eq!(project.run(&["check"]).code, Some(0));
    project.file("src/a.py", "changed\n");
    assert_eq!(project.run(&["check"]).code, Some(1));
    project.git(&["checkout", "-q", "--detach"]);
    assert_eq!(project.run(&["check"]).code, Some(1));
    let unborn = project_without_a_commit();
    assert_eq!(unborn.run(&["check"]).code, Some(1));
}

fn project_without_a_commit() -> TestProject {
    let project = project();
    project.git(&["init", "-q", "-b", "trunk"]);
    project.rule("readme", README).file("src/a.py", "new\n");
    project
}
