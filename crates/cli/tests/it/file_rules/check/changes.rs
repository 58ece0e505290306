//! The changes that `check` judges: ranges, bases and lists.

use serde_json::json;

use super::{check_changes, with_unmet_rules};
use crate::file_rules::{README_RULE, commit, project, repository, with_rule};

#[test]
fn ranges_and_bases_select_the_compared_commits() {
    let project = with_rule("readme", README_RULE);
    project.git(&["switch", "-q", "-c", "work"]);
    project.file("src/a.py", "changed\n");
    commit(&project, "Code");
    project.file("README.md", "changed\n");
    commit(&project, "Words");
    project.git(&["switch", "-q", "main"]);
    project.file("src/b.py", "changed\n");
    commit(&project, "Meanwhile");
    project.git(&["switch", "-q", "work"]);
    let code = |arguments: &[&str]| project.run(arguments).code;
    assert_eq!(code(&["check", "main..work"]), Some(0));
    assert_eq!(code(&["check", "main..work~1"]), Some(1));
    assert_eq!(code(&["check", "main...work~1"]), Some(1));
    assert_eq!(code(&["check", "main.."]), Some(0));
    // The change of `src/b.py` does not count: it was committed on `main` after `work` left it.
    let report = project.run(&["check", "main..work~1", "--json"]).json();
    assert_eq!(report["rules"][0]["trigger_files"], json!(["src/a.py"]));
    // A range compares commits; a base is compared with the working tree.
    project.file("src/a.py", "dirty\n").file("src/new.py", "new\n");
    assert_eq!(project.run(&["check", "work~1..work", "--json"]).json()["changed"], 1);
    let report = project.run(&["check", "--base", "work~1", "--json"]).json();
    assert_eq!(report["changed"], 3);
    assert_eq!(report["rules"][0]["outcome"], "met");
    assert_eq!(code(&["check", "--base", "HEAD"]), Some(1));
    insta::assert_snapshot!(project.run(&["check", "nothing..work"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: git has no commit `nothing`
    help: check the name; in CI, fetch enough history: `with: {fetch-depth: 0}` for `actions/checkout`
    ");
    insta::assert_snapshot!(project.run(&["check", "work"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: invalid range of commits `work`
    help: write `A..B`, or to compare the working tree with a commit, use `--base A`
    ");
    insta::assert_snapshot!(project.run(&["check", "--base", "--output=x"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: unexpected argument '--output' found

      tip: to pass '--output' as a value, use '-- --output'

    Usage: linchpin check [OPTIONS] [A..B]

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(project.run(&["check", "--base=--output=x"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: git has no commit `--output=x`
    help: check the name; in CI, fetch enough history: `with: {fetch-depth: 0}` for `actions/checkout`
    ");
    assert!(!project.root().join("x").exists());
    assert_eq!(code(&["check", "main..work", "--base", "main"]), Some(2));
    assert_eq!(code(&["check", "main..work", "--fix"]), Some(2));
}

#[test]
fn a_list_of_changes_needs_no_git() {
    let project = project();
    project.rule("readme", README_RULE);
    let reply =
        check_changes(&project, "M\tsrc/a.py\n\n  \nA\t./src/b.py\nD\tsrc/deep/c.py\nM\tother.txt\n", &["--json"]);
    assert_eq!(reply.code, Some(1));
    assert_eq!(reply.json()["rules"][0]["trigger_files"], json!(["src/a.py", "src/b.py", "src/deep/c.py"]));
    assert_eq!(reply.json()["changed"], 4);
    // If two lines have the same path, the later one counts.
    let reply = check_changes(&project, "A\tsrc/a.py\nM\tsrc/a.py\n", &["--json"]);
    assert_eq!(reply.json()["changed"], 1);
    // The list may have Windows line endings.
    assert_eq!(check_changes(&project, "M\tsrc/a.py\r\n", &[]).code, Some(1));
    project.file("changes.txt", "M\tsrc/a.py\n");
    insta::assert_snapshot!(project.run(&["check", "--changed-from", "changes.txt"]).transcript(), @"
    exit 1
    --- stdout
    ## README Accuracy
    src/a.py
    (changing README.md satisfies it)

    Source files changed. Verify README.md is accurate.
    (readme in .linchpin/rules/readme.md)

    1 of 1 file rule unmet; 1 file changed according to `changes.txt`.
    --- stderr
    ");
    insta::assert_snapshot!(project.run(&["check", "--changed-from", "nowhere.txt"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: `nowhere.txt` cannot be read: No such file or directory (os error 2)
    ");
    insta::assert_snapshot!(project.run(&["check"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: `[BASE]/project` is not in a git repository
    help: list the changes in a file for `--changed-from FILE`: on each line `M`, `A` or `D`, a tab and the path
    ");
}

#[test]
fn invalid_lines_of_a_list_are_errors() {
    let project = project();
    project.rule("readme", README_RULE);
    insta::assert_snapshot!(check_changes(&project, "M\tsrc/a.py\nsrc/b.py\n", &[]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: -:2: invalid change `src/b.py`
    help: write `M`, `A` or `D`, a tab and a path relative to the project's root
    ");
    for line in ["X\ta", "M a", "R100\ta", "M\t", "M\t/a", "M\t../a", "M\ta//b", "M\ta/../b", "MM\ta", "\ta"] {
        let reply = check_changes(&project, &format!("{line}\n"), &[]);
        assert_eq!(reply.code, Some(2), "{line:?}: {}", reply.stdout);
        assert!(reply.stderr.contains("invalid change"), "{line:?}: {}", reply.stderr);
    }
}

#[test]
fn git_filters_of_the_repository_are_not_run() {
    let project = with_rule("readme", README_RULE);
    project.file(".gitattributes", "*.py filter=evil\n");
    commit(&project, "Attributes");
    project.git(&["config", "filter.evil.clean", "touch ran; cat"]);
    project.git(&["config", "core.fsmonitor", "touch ran"]);
    project.file("src/a.py", "changed\n");
    let reply = project.run(&["check"]);
    assert_eq!(reply.code, Some(1));
    assert!(
        reply
            .stdout
            .contains("Note: the repository's git configuration has filters, which Linchpin does not run: evil."),
        "{}",
        reply.stdout
    );
    assert!(!project.root().join("ran").exists());
}

#[test]
fn compare_to_prompt_falls_back_to_the_branch_base() {
    let project = with_rule("readme", &README_RULE.replace("safety", "compare_to: prompt\nsafety"));
    project.file("src/a.py", "changed\n");
    let report = project.run(&["check", "--json"]);
    assert_eq!(report.code, Some(1));
    insta::assert_snapshot!(report.json()["notes"].to_string(), @r#"["`check` knows no prompts, so rules with `compare_to: prompt` compare with the base of the branch instead"]"#);
}

#[test]
fn check_works_before_the_first_commit() {
    let project = repository();
    project.rule("readme", README_RULE).file("src/a.py", "new\n");
    let report = project.run(&["check", "--json"]);
    assert_eq!((report.code, report.json()["rules"][0]["trigger_files"].clone()), (Some(1), json!(["src/a.py"])));
    assert_eq!(project.run(&["check", "--base", "HEAD"]).code, Some(2));
}

#[test]
fn a_list_can_be_the_output_of_git() {
    let project = with_rule("readme", README_RULE);
    project.file("src/ä.py", "x\n").file("src/c.py", "moved\n").git(&["add", "-A"]);
    let renamed = "A\t\"src/\\303\\244.py\"\nR100\tsrc/b.py\tsrc/c.py\nT\tlink\n";
    let reply = check_changes(&project, renamed, &["--json"]).json();
    assert_eq!(reply["rules"][0]["trigger_files"], serde_json::json!(["src/b.py", "src/c.py", "src/ä.py"]));
}

#[test]
fn formats_for_tools_show_paths_relative_to_the_repository() {
    let project = with_rule("readme", README_RULE);
    project.file("sub/.linchpin/rules/readme.md", README_RULE).file("sub/src/a.py", "changed\n");
    let mut command = project.command(&["check", "--format", "github"]);
    command.current_dir(project.root().join("sub"));
    let reply = project.run_with_stdin(command, b"");
    assert!(reply.stdout.starts_with("::error file=sub/src/a.py,"), "{}", reply.stdout);
}

#[test]
fn a_file_that_was_moved_and_edited_is_not_created() {
    let project = with_rule("new", "---\ncreated: src/**\n---\nNo.\n");
    project.file("src/long.py", "one\ntwo\nthree\nfour\nfive\n");
    commit(&project, "Long");
    project.git(&["mv", "src/long.py", "src/moved.py"]);
    project.file("src/moved.py", "one\ntwo\n3\nfour\nfive\n");
    assert_eq!(project.run(&["check"]).code, Some(0));
    project.file("src/moved.py", "nothing of it\n");
    assert_eq!(project.run(&["check"]).code, Some(1));
}

#[test]
fn a_commit_that_was_not_fetched_is_an_error() {
    let project = with_unmet_rules();
    insta::assert_snapshot!(project.run(&["check", "--base", "origin/release"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: git has no commit `origin/release`
    help: fetch it: `git fetch origin release`; in CI, fetch enough history: `with: {fetch-depth: 0}` for `actions/checkout`
    ");
    insta::assert_snapshot!(project.run(&["check", "--base", "relase"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: git has no commit `relase`
    help: check the name; in CI, fetch enough history: `with: {fetch-depth: 0}` for `actions/checkout`
    ");
}
