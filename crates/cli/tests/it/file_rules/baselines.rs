//! The baselines with which file rules compare.

use std::fs;

use serde_json::{Value, json};
use testkit::TestProject;

use super::{README_RULE, commit, notice, prompt, stop, stop_with_message, summary, tmp, with_rule};

fn with_prompt_baseline() -> TestProject {
    with_rule("readme", &README_RULE.replace("safety", "compare_to: prompt\nsafety"))
}

/// Returns the trigger files that a held stop lists.
fn trigger_files(project: &TestProject) -> Vec<String> {
    let reply = stop(project);
    let lines = if reply.stdout.is_empty() { String::new() } else { reply.reason() };
    lines.lines().filter(|line| line.strip_suffix(".py").is_some()).map(str::to_owned).collect()
}

#[test]
fn changes_from_before_the_prompt_do_not_count() {
    let project = with_prompt_baseline();
    project.file("src/a.py", "dirty\n").file("src/left.py", "new\n").file("src/staged.py", "new\n");
    project.git(&["add", "src/staged.py"]);
    assert_eq!(prompt(&project, "Go on.").stdout, "");
    let baselines: Vec<_> =
        fs::read_dir(tmp(&project).join("rules/baselines")).expect("a directory").flatten().collect();
    assert_eq!(baselines.len(), 1);
    let name = baselines[0].file_name().to_string_lossy().into_owned();
    let seconds = name.strip_prefix("prompt_").and_then(|rest| rest.strip_suffix("_session-1.json"));
    assert!(seconds.is_some_and(|seconds| seconds.parse::<u64>().is_ok()), "{name}");
    let snapshot: Value = serde_json::from_slice(&fs::read(baselines[0].path()).expect("a file")).expect("JSON");
    assert_eq!(snapshot["commit"], project.git(&["rev-parse", "HEAD"]));
    assert_eq!(snapshot["staged_files"], json!(["src/staged.py"]));
    assert_eq!(snapshot["untracked_files"], json!(["src/left.py"]));
    assert!(snapshot["timestamp"].as_str().is_some_and(|time| time.ends_with('Z')), "{snapshot}");
    let dirty: Vec<&String> = snapshot["contents"].as_object().expect("contents").keys().collect();
    assert_eq!(dirty, ["src/a.py", "src/left.py", "src/staged.py"]);
    // Nothing has changed since the prompt. To commit what was changed before the prompt does not count as a change.
    assert_eq!(trigger_files(&project), [""; 0]);
    commit(&project, "Leftovers");
    assert_eq!(trigger_files(&project), [""; 0]);
    // A change that is committed after the prompt counts.
    project.file("src/b.py", "changed\n");
    commit(&project, "Work");
    assert_eq!(trigger_files(&project), ["src/b.py"]);
    // A file that was modified before the prompt counts if it is modified again. A file
    // whose contents are the same as at the prompt does not count.
    project.file("src/left.py", "more\n").file("src/b.py", "b\n");
    assert_eq!(trigger_files(&project), ["src/left.py"]);
    fs::remove_file(project.root().join("src/a.py")).expect("a file");
    assert_eq!(trigger_files(&project), ["src/a.py", "src/left.py"]);
}

#[test]
fn a_new_prompt_starts_a_new_comparison() {
    let project = with_prompt_baseline();
    prompt(&project, "Begin.");
    project.file("src/a.py", "one\n");
    assert_eq!(trigger_files(&project), ["src/a.py"]);
    assert_eq!(stop_with_message(&project, "<promise>readme</promise>").stdout, "");
    project.file("src/a.py", "two\n");
    assert_eq!(trigger_files(&project), [""; 0]);
    prompt(&project, "And now this.");
    assert_eq!(trigger_files(&project), [""; 0]);
    project.file("src/a.py", "three\n");
    assert_eq!(trigger_files(&project), ["src/a.py"]);
    insta::assert_snapshot!(summary(&project), @"
    passed 1x readme: src/a.py
    queued 1x readme: src/a.py
    ");
}

#[test]
fn without_a_snapshot_the_branch_base_is_used_and_reported() {
    let project = with_prompt_baseline();
    project.file("src/a.py", "changed\n");
    let reply = stop(&project);
    assert!(reply.reason().contains("src/a.py"));
    insta::assert_snapshot!(notice(&reply), @"Linchpin: there is no snapshot of the tree from the last prompt, so rules with `compare_to: prompt` compare with the base of the branch instead");
    // The missing snapshot is reported once per session.
    assert_eq!(notice(&stop(&project)), "");
    // A snapshot that was deleted or cannot be read counts as missing.
    prompt(&project, "Go on.");
    assert_eq!(trigger_files(&project), [""; 0]);
    fs::remove_dir_all(tmp(&project)).expect("a directory");
    assert_eq!(trigger_files(&project), ["src/a.py"]);
}

#[test]
fn a_snapshot_that_cannot_be_written_is_reported() {
    let project = with_prompt_baseline();
    project.decision("make");
    project.file(".linchpin/tmp/rules/baselines", "in the way\n");
    for directory in fs::read_dir(project.state().join("projects")).expect("a directory").flatten() {
        fs::create_dir_all(directory.path().join("tmp/rules")).expect("a directory");
        fs::write(directory.path().join("tmp/rules/baselines"), "in the way\n").expect("a file");
    }
    let reply = prompt(&project, "Go on.");
    insta::assert_snapshot!(reply.transcript(), @r#"
    exit 0
    --- stdout
    {"systemMessage":"Linchpin: no snapshot of the tree was saved for this prompt (File exists (os error 17)), so rules with `compare_to: prompt` compare with the base of the branch instead"}
    --- stderr
    "#);
    project.file("src/a.py", "changed\n");
    assert_eq!(trigger_files(&project), ["src/a.py"]);
}

#[test]
fn a_rebase_onto_a_newer_default_branch_demands_again() {
    let project = with_rule("readme", README_RULE);
    project.git(&["switch", "-q", "-c", "work"]);
    project.file("src/a.py", "changed\n");
    commit(&project, "Work");
    assert_eq!(trigger_files(&project), ["src/a.py"]);
    assert_eq!(stop_with_message(&project, "<promise>readme</promise>").stdout, "");
    // A new commit on `main` alone does not change the base of the branch `work`.
    project.git(&["switch", "-q", "main"]);
    project.file("other.txt", "new\n");
    commit(&project, "Meanwhile");
    project.git(&["switch", "-q", "work"]);
    assert_eq!(trigger_files(&project), [""; 0]);
    project.git(&["rebase", "-q", "main"]);
    assert_eq!(trigger_files(&project), ["src/a.py"]);
    insta::assert_snapshot!(summary(&project), @"
    passed 1x readme: src/a.py
    queued 1x readme: src/a.py
    ");
}

#[test]
fn compare_to_default_tip_includes_newer_commits_of_the_default_branch() {
    let project = with_rule("base", README_RULE);
    project.rule(
        "tip",
        &README_RULE.replace("README Accuracy", "Tip").replace("safety", "compare_to: default_tip\nsafety"),
    );
    commit(&project, "Another rule");
    project.git(&["switch", "-q", "-c", "work"]);
    project.git(&["switch", "-q", "main"]);
    project.file("src/new.py", "new\n");
    commit(&project, "Meanwhile");
    project.git(&["switch", "-q", "work"]);
    let reason = stop(&project).reason();
    assert!(reason.contains("## Tip\nsrc/new.py\n") && !reason.contains("README Accuracy"), "{reason}");
}

#[test]
fn committed_staged_and_untracked_changes_count_by_net_difference() {
    let project = with_rule("readme", README_RULE);
    project.file(".gitignore", "*.log.py\n");
    commit(&project, "Ignore");
    project.git(&["switch", "-q", "-c", "work"]);
    project.file("src/a.py", "changed\n");
    commit(&project, "Committed");
    project.file("src/b.py", "staged\n").file("src/new.py", "untracked\n").file("src/x.log.py", "ignored\n");
    project.git(&["add", "src/b.py"]);
    assert_eq!(trigger_files(&project), ["src/a.py", "src/b.py", "src/new.py"]);
    // If a file has its original contents in the working tree, it counts as unchanged, even if a commit or the index
    // changed it.
    project.file("src/a.py", "a\n").file("src/b.py", "b\n");
    assert_eq!(trigger_files(&project), ["src/new.py"]);
    // The judgement has not changed git's index.
    assert_eq!(project.git(&["diff", "--cached", "--name-only"]), "src/b.py");
}

#[test]
fn without_a_commit_every_file_counts_as_changed() {
    let project = super::repository();
    project.rule("readme", README_RULE).file("src/a.py", "new\n");
    assert_eq!(trigger_files(&project), ["src/a.py"]);
    project.git(&["add", "-A"]);
    assert_eq!(trigger_files(&project), ["src/a.py"]);
    commit(&project, "Begin");
    // A commit does not close the demand.
    assert_eq!(trigger_files(&project), ["src/a.py"]);
}

#[test]
fn a_detached_head_and_a_linked_worktree_have_a_baseline() {
    let project = with_rule("readme", README_RULE);
    project.git(&["checkout", "-q", "--detach"]);
    project.file("src/a.py", "changed\n");
    assert_eq!(trigger_files(&project), ["src/a.py"]);
    project.git(&["checkout", "-q", "."]);
    project.git(&["worktree", "add", "-q", "-b", "other", "../other"]);
    let other = project.root().join("../other").canonicalize().expect("a directory");
    fs::write(other.join("src/b.py"), "changed\n").expect("a file");
    let mut command = project.command(&["check", "--json"]);
    command.current_dir(&other);
    assert_eq!(project.run_with_stdin(command, b"").json()["rules"][0]["trigger_files"], json!(["src/b.py"]));
    assert_eq!(project.run(&["check"]).code, Some(0));
}

#[test]
fn a_shallow_clone_reports_its_baseline() {
    let project = with_rule("readme", README_RULE);
    project.file("src/a.py", "second\n");
    commit(&project, "Second");
    project.git(&["branch", "work", "HEAD~1"]);
    let url = format!("file://{}", project.root().display());
    project.git(&["clone", "-q", "--depth", "1", "--no-single-branch", &url, "../clone"]);
    let clone = project.root().join("../clone").canonicalize().expect("a directory");
    let git = |arguments: &[&str]| {
        let output = project.git_command(arguments).current_dir(&clone).output().expect("git runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    git(&["switch", "-q", "work"]);
    fs::write(clone.join("src/new.py"), "new\n").expect("a file");
    let mut command = project.command(&["check", "--json"]);
    command.current_dir(&clone);
    let found = project.run_with_stdin(command, b"").json();
    assert_eq!(found["rules"][0]["trigger_files"], json!(["src/a.py", "src/new.py"]));
    insta::assert_snapshot!(found["notes"].to_string(), @r#"["no common commit is known (a shallow clone?), so changes are counted from the tip"]"#);
}

#[test]
fn unusual_names_modes_symlinks_and_submodules_are_handled() {
    let project = with_rule("all", "---\ntrigger: src/**\n---\nLook.\n");
    project.git(&["-c", "protocol.file.allow=always", "submodule", "add", "-q", "./", "src/sub"]);
    commit(&project, "A repository within");
    // Neither the changed permissions of a file nor a new file inside a submodule count as a change.
    let path = project.root().join("src/a.py");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&path, mode).expect("a mode");
    project.file("src/sub/new.py", "new\n");
    assert_eq!(stop(&project).stdout, "");
    for name in ["ü.py", "two words.py", "new\nline.py", "tab\there.py", "quo\"te.py"] {
        project.file(&format!("src/{name}"), "new\n");
    }
    std::os::unix::fs::symlink("nowhere", project.root().join("src/link.py")).expect("a symlink");
    let (_, entry) = {
        stop(&project);
        super::only_entry(&project)
    };
    let expected =
        ["src/link.py", "src/new\nline.py", "src/quo\"te.py", "src/tab\there.py", "src/two words.py", "src/ü.py"];
    assert_eq!(entry["trigger_files"], json!(expected));
}

#[test]
fn a_project_in_a_subdirectory_sees_only_its_own_files() {
    let project = with_rule("readme", README_RULE);
    project.file("part/.linchpin/rules/own.md", README_RULE).file("part/src/a.py", "a\n");
    commit(&project, "A part");
    project.file("src/a.py", "changed\n").file("part/src/a.py", "changed\n").file("part/src/new.py", "new\n");
    let check = |directory: &str| {
        let mut command = project.command(&["check", "--json"]);
        command.current_dir(project.root().join(directory));
        project.run_with_stdin(command, b"").json()["rules"][0]["trigger_files"].clone()
    };
    assert_eq!(check("part"), json!(["src/a.py", "src/new.py"]));
    assert_eq!(check(""), json!(["src/a.py"]));
    fs::rename(project.root().join("part/src/a.py"), project.root().join("part/src/b.py")).expect("moved");
    assert_eq!(check("part"), json!(["src/a.py", "src/b.py", "src/new.py"]));
}

#[test]
fn the_remotes_default_branch_precedes_a_local_one() {
    let project = with_rule("readme", README_RULE);
    project.git(&["init", "-q", "--bare", "-b", "main", "../remote"]);
    project.git(&["remote", "add", "origin", "../remote"]);
    project.git(&["push", "-q", "-u", "origin", "main"]);
    // A change that is committed and not pushed counts.
    project.file("src/a.py", "changed\n");
    commit(&project, "Work on the default branch");
    assert_eq!(trigger_files(&project), ["src/a.py"]);
    project.git(&["push", "-q"]);
    assert_eq!(trigger_files(&project), [""; 0]);
    // A default branch in the configuration precedes the remote's.
    project.git(&["branch", "develop", "HEAD~1"]);
    project.config("default_branch: develop\n");
    let found = project.run(&["check", "--json"]).json();
    assert_eq!(found["rules"][0]["trigger_files"], json!(["src/a.py"]));
}

/// A project on `main`, without a remote, in a running session.
fn running_session_on_main() -> TestProject {
    let project = with_rule("readme", README_RULE);
    assert_eq!(prompt(&project, "Go on.").stdout, "");
    project
}

#[test]
fn without_a_remote_commits_before_the_stop_count() {
    let project = running_session_on_main();
    project.file("src/a.py", "changed\n");
    commit(&project, "Changed");
    assert_eq!(trigger_files(&project), ["src/a.py"]);
    project.file("src/a.py", "changed again\n");
    project.git(&["commit", "-q", "-a", "--amend", "-m", "Amended"]);
    assert_eq!(trigger_files(&project), ["src/a.py"]);
    assert_eq!(stop_with_message(&project, "<promise>readme</promise>").stdout, "");
    assert_eq!(stop(&project).stdout, "");
    // After the demand is closed, only new changes count.
    project.file("src/b.py", "changed\n");
    commit(&project, "More");
    assert_eq!(trigger_files(&project), ["src/b.py"]);
}

#[test]
fn a_met_demand_does_not_cover_later_commits() {
    let project = running_session_on_main();
    project.file("src/a.py", "changed\n").file("README.md", "It works well.\n");
    commit(&project, "Changed");
    assert_eq!(stop(&project).stdout, "");
    project.file("src/b.py", "changed\n");
    commit(&project, "More");
    assert_eq!(trigger_files(&project), ["src/b.py"]);
}

#[test]
fn the_first_commit_of_a_repository_counts() {
    let project = super::repository();
    project.rule("readme", README_RULE);
    prompt(&project, "Begin.");
    project.file("src/a.py", "a\n");
    commit(&project, "Begin");
    assert_eq!(trigger_files(&project), ["src/a.py"]);
}

#[test]
fn files_of_a_repository_created_in_the_session_count() {
    let project = super::project();
    project.rule("readme", README_RULE).file(".linchpin/.gitignore", "tmp/\nstate.db*\n");
    prompt(&project, "Begin.");
    project.file("src/a.py", "a\n");
    project.git(&["init", "-q", "-b", "main"]);
    commit(&project, "Begin");
    assert_eq!(trigger_files(&project), ["src/a.py"]);
}

#[test]
fn checking_out_another_branch_is_not_a_change() {
    let project = with_rule("readme", README_RULE);
    project.git(&["checkout", "-q", "-b", "feat"]);
    project.file("src/a.py", "changed\n");
    commit(&project, "On feat");
    prompt(&project, "Go on.");
    project.git(&["checkout", "-q", "main"]);
    project.file("notes.txt", "x\n");
    commit(&project, "On main");
    assert_eq!(trigger_files(&project), [""; 0]);
}

#[test]
fn promises_for_committed_work_count_until_the_next_commit() {
    let project = running_session_on_main();
    project.file("src/a.py", "changed\n");
    commit(&project, "Changed");
    project.file("src/b.py", "changed\n");
    assert_eq!(trigger_files(&project), ["src/a.py", "src/b.py"]);
    assert_eq!(stop_with_message(&project, "<promise>readme</promise>").stdout, "");
    project.git(&["add", "-A"]);
    assert_eq!(project.run(&["check", "--staged"]).code, Some(0));
}

#[test]
fn an_unknown_default_branch_is_reported_once_and_known_changes_are_judged() {
    let project = with_rule("readme", README_RULE);
    project.git(&["branch", "-m", "main", "trunk"]);
    project.git(&["checkout", "-q", "-b", "feat"]);
    project.file("src/b.py", "from before\n");
    commit(&project, "Before the session");
    prompt(&project, "Go on.");
    let notes = project.home().join("notes.txt");
    project.hook("claude", &project.tool_payload("Write", &json!({ "file_path": notes, "content": "x" })));
    insta::assert_snapshot!(notice(&stop(&project)), @"Linchpin: the default branch is not known: there are several branches, and none is `main` or `master`. File rules see only uncommitted changes and this session's commits, not the earlier work of the branch. To have them see all of it, set `default_branch: NAME` in `.linchpin/config.yml`");
    assert_eq!(stop(&project).stdout, "");
    project.file("src/a.py", "changed\n");
    assert_eq!(trigger_files(&project), ["src/a.py"]);
    commit(&project, "Changed");
    assert_eq!(trigger_files(&project), ["src/a.py"]);
    // With a known default branch, all changes of the branch count, even those from before the session.
    project.config("default_branch: trunk\n");
    assert_eq!(trigger_files(&project), ["src/a.py", "src/b.py"]);
    project.config("default_branch: nosuch\n");
    insta::assert_snapshot!(notice(&stop(&project)), @"Linchpin: `default_branch` names the branch `nosuch`, which does not exist. File rules see only uncommitted changes and this session's commits, not the earlier work of the branch. To have them see all of it, name another one in `.linchpin/config.yml`");
}
