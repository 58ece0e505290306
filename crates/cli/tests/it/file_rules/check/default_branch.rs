//! `linchpin check` with an unknown default branch.

use testkit::TestProject;

use super::check_transcript;
use crate::file_rules::{README_RULE, commit, project, with_rule};

/// A project on the branch `feat` with a changed source file. The default branch is `trunk`, a name that Linchpin does
/// not guess.
fn on_a_branch_of_trunk() -> TestProject {
    let project = with_rule("readme", README_RULE);
    project.git(&["branch", "-m", "main", "trunk"]);
    project.git(&["checkout", "-q", "-b", "feat"]);
    project.file("src/a.py", "changed\n");
    commit(&project, "Changed");
    project
}

#[test]
fn check_fails_with_an_unknown_default_branch() {
    let project = on_a_branch_of_trunk();
    insta::assert_snapshot!(check_transcript(&project, &["check"]), @"
    exit 2
    --- stdout
    --- stderr
    error: the default branch is not known: there are several branches, and none is `main` or `master`
    help: set `default_branch: NAME` in `.linchpin/config.yml`; or name the commit to compare with: `linchpin check --base REF`
    ");
    assert_eq!(project.run(&["check", "--staged"]).code, Some(2));
    assert_eq!(project.run(&["check", "--base", "trunk"]).code, Some(1));
    project.config("default_branch: nosuch\n");
    insta::assert_snapshot!(check_transcript(&project, &["check"]), @"
    exit 2
    --- stdout
    --- stderr
    error: `default_branch` names the branch `nosuch`, which does not exist
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
    let default_branch_lines = |project: &TestProject| {
        let replies = [project.run(&["validate"]).stdout, project.run(&["doctor"]).stdout];
        let lines = replies.iter().flat_map(|reply| reply.lines());
        let is_about_default_branch =
            |line: &&str| ["default branch", "default_branch", "NAME"].iter().any(|word| line.contains(word));
        lines.filter(is_about_default_branch).collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(default_branch_lines(&project), @"
    note: Linchpin can't tell where the branch left the default branch, so file rules may miss changes: the default branch is not known: there are several branches, and none is `main` or `master`; set `default_branch: NAME` in `.linchpin/config.yml`
    bad   Linchpin can't tell where the branch left the default branch, so file rules may miss changes: the default branch is not known: there are several branches, and none is `main` or `master`
          set `default_branch: NAME` in `.linchpin/config.yml`
    ");
    project.git(&["remote", "add", "origin", "../nowhere"]);
    insta::assert_snapshot!(default_branch_lines(&project), @"
    note: Linchpin can't tell where the branch left the default branch, so file rules may miss changes: the default branch is not known: `origin/HEAD` is not set, and there is no `main` or `master`; set `default_branch: NAME` in `.linchpin/config.yml`, and run `git fetch origin NAME:refs/remotes/origin/NAME` if it was not fetched
    bad   Linchpin can't tell where the branch left the default branch, so file rules may miss changes: the default branch is not known: `origin/HEAD` is not set, and there is no `main` or `master`
          set `default_branch: NAME` in `.linchpin/config.yml`, and run `git fetch origin NAME:refs/remotes/origin/NAME` if it was not fetched
    ");
    project.config("default_branch: nosuch\n");
    insta::assert_snapshot!(default_branch_lines(&project), @"
    note: Linchpin can't tell where the branch left the default branch, so file rules may miss changes: `default_branch` names the branch `nosuch`, which does not exist; name another one in `.linchpin/config.yml`, or run `git fetch origin nosuch:refs/remotes/origin/nosuch`
    bad   Linchpin can't tell where the branch left the default branch, so file rules may miss changes: `default_branch` names the branch `nosuch`, which does not exist
    ");
    project.config("default_branch: trunk\n");
    assert_eq!(default_branch_lines(&project), "");
    // Without a rule that compares with the default branch, nothing is reported either.
    project.config("").rule("readme", &README_RULE.replace("safety", "compare_to: prompt\nsafety"));
    assert_eq!(default_branch_lines(&project), "");
}

#[test]
fn compare_to_default_tip_needs_a_known_default_branch() {
    let project = on_a_branch_of_trunk();
    project.rule("readme", &README_RULE.replace("safety", "compare_to: default_tip\nsafety"));
    assert_eq!(project.run(&["check"]).code, Some(2));
}

#[test]
fn a_single_branch_clone_reports_the_missing_base() {
    let project = on_a_branch_of_trunk();
    project.git(&["checkout", "-q", "trunk"]);
    let from = format!("file://{}", project.root().display());
    let clone = project.home().join("clone");
    let clone_text = clone.to_string_lossy();
    project.git(&["clone", "-q", "--depth", "1", "--branch", "feat", &from, &clone_text]);
    let check = |variables: &[(&str, &str)]| {
        let mut command = project.command(&["check"]);
        command.current_dir(&clone).envs(variables.iter().copied());
        project.run_with_stdin(command, b"")
    };
    assert_eq!(check(&[]).code, Some(2));
    insta::assert_snapshot!(check(&[("GITHUB_ACTIONS", "true")]).stderr, @"
    error: the default branch is not known: `origin/HEAD` is not set, and there is no `main` or `master`
    help: in CI, fetch enough history: `with: {fetch-depth: 0}` for `actions/checkout`
    ");
    let pull_request_to_trunk = [("GITHUB_ACTIONS", "true"), ("GITHUB_BASE_REF", "trunk")];
    insta::assert_snapshot!(check(&pull_request_to_trunk).stderr, @"
    error: the base branch of this pull request, `origin/trunk`, was not fetched
    help: in CI, fetch enough history: `with: {fetch-depth: 0}` for `actions/checkout`
    ");
    // In a full clone, the base is the target branch of the pull request.
    std::fs::remove_dir_all(&clone).expect("a directory");
    project.git(&["clone", "-q", "--branch", "feat", &from, &clone_text]);
    assert_eq!(check(&pull_request_to_trunk).code, Some(1));
    assert_eq!(check(&[("GITHUB_ACTIONS", "true"), ("GITHUB_BASE_REF", "feat")]).code, Some(0));
}

#[test]
fn on_github_a_push_to_the_default_branch_is_compared_with_the_commit_before_it() {
    let project = with_rule("readme", README_RULE);
    let before = project.git(&["rev-parse", "HEAD"]);
    project.file("src/a.py", "pushed\n");
    commit(&project, "Pushed");
    let payload = project.home().join("event.json");
    let check = |payload_text: &str| {
        std::fs::write(&payload, payload_text).expect("written");
        let mut command = project.command(&["check"]);
        command.envs([("GITHUB_ACTIONS", "true"), ("GITHUB_EVENT_NAME", "push"), ("GITHUB_REF", "refs/heads/main")]);
        command.env("GITHUB_EVENT_PATH", &payload);
        project.run_with_stdin(command, b"")
    };
    let push_from = |commit: &str| check(&format!("{{\"before\": \"{commit}\"}}"));
    assert_eq!(push_from(&before).code, Some(1), "{}", push_from(&before).transcript());
    // If the commit before the push is unknown, `check` compares with the default branch. GitHub writes zeros for a new
    // branch.
    assert_eq!(push_from(&"0".repeat(40)).code, Some(0));
    assert_eq!(check("not JSON").code, Some(0));
    insta::assert_snapshot!(push_from(&"1".repeat(40)).stderr, @"
    error: `1111111111111111111111111111111111111111`, the commit before this push, was not fetched
    help: in CI, fetch enough history: `with: {fetch-depth: 0}` for `actions/checkout`
    ");
}

/// Runs `check` in a clone of the project.
fn check_in(project: &TestProject, directory: &std::path::Path) -> testkit::ProcessOutput {
    let mut command = project.command(&["check"]);
    command.current_dir(directory);
    project.run_with_stdin(command, b"")
}

#[test]
fn the_suggested_fetch_is_enough_in_a_single_branch_clone() {
    for settings in ["default_branch: main\n", "default_branch: origin/main\n"] {
        let project = with_rule("readme", README_RULE);
        project.git(&["checkout", "-q", "-b", "feat"]);
        project.config(settings).file("src/a.py", "changed\n");
        commit(&project, "Changed");
        let from = format!("file://{}", project.root().display());
        let clone = project.home().join("clone");
        let clone_text = clone.to_string_lossy();
        project.git(&["clone", "-q", "--single-branch", "--branch", "feat", &from, &clone_text]);
        let reply = check_in(&project, &clone);
        assert_eq!(reply.code, Some(2));
        assert!(
            reply.stderr.contains("error: `default_branch` names the branch `main`, which does not exist\n")
                && reply.stderr.contains(", or run `git fetch origin main:refs/remotes/origin/main`; or name"),
            "{}",
            reply.stderr
        );
        project.git(&["-C", &clone_text, "fetch", "-q", "origin", "main:refs/remotes/origin/main"]);
        assert_eq!(check_in(&project, &clone).code, Some(1), "{settings}");
    }
}

#[test]
fn the_only_remote_determines_the_default_branch_whatever_its_name() {
    for settings in ["", "default_branch: main\n"] {
        let project = with_rule("readme", README_RULE);
        project.config(settings);
        commit(&project, "Configured");
        let from = format!("file://{}", project.root().display());
        let clone = project.home().join("clone");
        let clone_text = clone.to_string_lossy();
        project.git(&["clone", "-q", "--origin", "upstream", &from, &clone_text]);
        let in_clone = |words: &[&str]| project.git(&[&["-C", &clone_text][..], words].concat());
        assert_eq!(check_in(&project, &clone).code, Some(0));
        // The base is the last commit in the remote. The local branch `main` is one commit ahead of it.
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
    let project = with_rule("readme", README_RULE);
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
    project.rule("readme", README_RULE).file("src/a.py", "new\n");
    project
}
