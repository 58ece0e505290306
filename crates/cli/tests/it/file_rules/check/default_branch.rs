//! Where the default branch is not known.

use testkit::Scratch;

use super::checked;
use crate::file_rules::{README, commit, project, with_rule};

/// A branch that has changed a source file, of a default branch that nobody would guess.
fn on_a_branch_of_trunk() -> Scratch {
    let project = with_rule("readme", README);
    project.git(&["branch", "-m", "main", "trunk"]);
    project.git(&["checkout", "-q", "-b", "feat"]);
    project.file("src/a.py", "changed\n");
    commit(&project, "Changed");
    project
}

#[test]
fn where_the_default_branch_is_not_known_nothing_is_met() {
    let project = on_a_branch_of_trunk();
    insta::assert_snapshot!(checked(&project, &["check"]), @"
    exit 2
    --- stdout
    --- stderr
    error: the default branch is not known: there are several, and none is `main` or `master`
    help: set `default_branch: NAME` in `.linchpin/config.yml`; or say what to compare with: `linchpin check --base REF`
    ");
    assert_eq!(project.run(&["check", "--staged"]).code, Some(2));
    assert_eq!(project.run(&["check", "--base", "trunk"]).code, Some(1));
    project.config("default_branch: nosuch\n");
    insta::assert_snapshot!(checked(&project, &["check"]), @"
    exit 2
    --- stdout
    --- stderr
    error: there is no branch `nosuch`, which `default_branch` names
    help: name another one in `.linchpin/config.yml`; or say what to compare with: `linchpin check --base REF`
    ");
    project.config("default_branch: trunk\n");
    assert_eq!(project.run(&["check"]).code, Some(1));
    // Nothing is said of it where no rule asks.
    project.config("").rule("readme", "---\ncommand_pattern: ^x\n---\nNo.\n");
    assert_eq!(project.run(&["check"]).code, Some(0));
}

#[test]
fn that_the_default_branch_is_not_known_is_told_by_validate_and_doctor() {
    let project = on_a_branch_of_trunk();
    let told = |project: &Scratch| {
        let replies = [project.run(&["validate"]).stdout, project.run(&["doctor"]).stdout];
        let lines = replies.iter().flat_map(|reply| reply.lines());
        let of_branch =
            |line: &&str| ["default branch", "default_branch", "NAME"].iter().any(|word| line.contains(word));
        lines.filter(of_branch).collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(told(&project), @"
    note: file rules cannot tell where a branch began: the default branch is not known: there are several, and none is `main` or `master`; set `default_branch: NAME` in `.linchpin/config.yml`
    bad   file rules cannot tell where a branch began: the default branch is not known: there are several, and none is `main` or `master`
          set `default_branch: NAME` in `.linchpin/config.yml`
    ");
    project.git(&["remote", "add", "origin", "../nowhere"]);
    insta::assert_snapshot!(told(&project), @"
    note: file rules cannot tell where a branch began: the default branch is not known: `origin/HEAD` is not set, and there is no `main` or `master`; set `default_branch: NAME` in `.linchpin/config.yml`, or run `git remote set-head origin --auto`
    bad   file rules cannot tell where a branch began: the default branch is not known: `origin/HEAD` is not set, and there is no `main` or `master`
          set `default_branch: NAME` in `.linchpin/config.yml`, or run `git remote set-head origin --auto`
    ");
    project.config("default_branch: nosuch\n");
    insta::assert_snapshot!(told(&project), @"
    note: file rules cannot tell where a branch began: there is no branch `nosuch`, which `default_branch` names; name another one in `.linchpin/config.yml`, or run `git fetch origin nosuch`
    bad   file rules cannot tell where a branch began: there is no branch `nosuch`, which `default_branch` names
    ");
    project.config("default_branch: trunk\n");
    assert_eq!(told(&project), "");
    // Nor where no rule compares with it.
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
    error: `origin/trunk`, which this pull request is compared with, was not fetched
    help: in CI, fetch enough history: `with: {fetch-depth: 0}` for `actions/checkout`
    ");
    // With all of it, the base is what the pull request is for.
    std::fs::remove_dir_all(&clone).expect("a folder");
    project.git(&["clone", "-q", "--branch", "feat", &from, &clone_text]);
    assert_eq!(check(&of_trunk).code, Some(1));
    assert_eq!(check(&[("GITHUB_ACTIONS", "true"), ("GITHUB_BASE_REF", "feat")]).code, Some(0));
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

fn project_without_a_commit() -> Scratch {
    let project = project();
    project.git(&["init", "-q", "-b", "trunk"]);
    project.rule("readme", README).file("src/a.py", "new\n");
    project
}
