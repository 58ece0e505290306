//! Tests with real git repositories in unusual states.

mod contents_digest;
mod net_changes;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use engine::file_rules::Changes;
use tempfile::TempDir;

use crate::{Repository, Snapshot, Tree, fingerprint};

struct TestProject {
    directory: TempDir,
    root: PathBuf,
}

#[expect(clippy::disallowed_methods, reason = "git has to be found")]
fn git_with(directory: &Path, arguments: &[&str], variables: &[(&str, &Path)]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=T", "-c", "user.email=t@example.com", "-c", "protocol.file.allow=always"])
        .args(arguments)
        .current_dir(directory)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", directory)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .envs(variables.iter().copied())
        .output()
        .expect("git runs");
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn git_in(directory: &Path, arguments: &[&str]) -> String {
    git_with(directory, arguments, &[])
}

impl TestProject {
    /// Creates a repository with one commit on `main`, and checks out a new branch `work`.
    fn new() -> Self {
        let project = Self::without_commit();
        project.write("kept.txt", "one\n").write("src/a.rs", "fn a() {}\n").git(&["add", "--all"]);
        project.git(&["commit", "--quiet", "--message=first"]);
        project.git(&["checkout", "--quiet", "-b", "work"]);
        project
    }

    fn without_commit() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let root = directory.path().canonicalize().expect("a directory").join("project");
        fs::create_dir(&root).expect("a directory");
        git_in(&root, &["init", "--quiet", "--initial-branch=main"]);
        Self { directory, root }
    }

    fn git(&self, arguments: &[&str]) -> String {
        git_in(&self.root, arguments)
    }

    fn commit(&self, message: &str) -> &Self {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", &format!("--message={message}")]);
        self
    }

    fn write(&self, path: &str, text: &str) -> &Self {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        fs::write(path, text).expect("a file");
        self
    }

    fn delete(&self, path: &str) -> &Self {
        fs::remove_file(self.root.join(path)).expect("a file");
        self
    }

    fn tree(&self) -> Tree {
        Tree::of(&self.root, Duration::from_mins(1)).expect("a repository")
    }

    fn changed(&self) -> Vec<String> {
        let tree = self.tree();
        let base = tree.merge_base_with_default(None).expect("a base");
        changed_files(&tree.changes_since(&base.id).expect("changes"))
    }
}

fn changed_files(changes: &Changes) -> Vec<String> {
    changes.iter().map(|(path, status)| format!("{} {path}", status.letter())).collect()
}

#[test]
fn committed_staged_unstaged_and_untracked_changes_count() {
    let project = TestProject::new();
    assert_eq!(project.changed(), [""; 0]);
    project.write("committed.txt", "x").commit("second");
    project.write("staged.txt", "x").git(&["add", "staged.txt"]);
    project.write("kept.txt", "two\n").write("new/untracked.txt", "x").delete("src/a.rs");
    assert_eq!(
        project.changed(),
        ["A committed.txt", "M kept.txt", "A new/untracked.txt", "D src/a.rs", "A staged.txt"]
    );
}

#[test]
fn reverted_files_are_not_changes() {
    let project = TestProject::new();
    project.write("kept.txt", "two\n").commit("second");
    project.write("kept.txt", "one\n");
    assert_eq!(project.changed(), [""; 0]);
    // `kept.txt` is staged with other content, and then gets its old content again.
    project.write("kept.txt", "three\n").git(&["add", "kept.txt"]);
    project.write("kept.txt", "one\n");
    assert_eq!(project.changed(), [""; 0]);
    // `src/a.rs` is removed from the index, but stays in the working tree.
    project.git(&["rm", "--cached", "--quiet", "src/a.rs"]);
    assert_eq!(project.changed(), [""; 0]);
}

#[test]
fn queries_do_not_change_the_repository() {
    let project = TestProject::new();
    project.write("kept.txt", "two\n").write("staged.txt", "x").git(&["add", "staged.txt"]);
    let index = || (fingerprint(&project.root.join(".git/index")), project.git(&["count-objects", "-v"]));
    let before = index();
    project.changed();
    Snapshot::take(&project.tree(), String::new()).expect("a snapshot");
    assert_eq!(index(), before);
}

#[test]
fn ignored_files_and_files_of_linchpin_are_not_changes() {
    let project = TestProject::new();
    project.write(".gitignore", "*.log\n").commit("ignore");
    project.write("a.log", "x").write(".linchpin/tmp/rules/queue/x.json", "{}").write(".linchpin/state.db", "");
    project.write("sub/.linchpin/state.db-wal", "").write(".linchpin/rules/r.md", "");
    project.write("sub/.linchpin/config.yml", "").write("other/.linchpin/tmp/tool.sh", "");
    // In a directory without a policy, files below `.linchpin` are ordinary files.
    let ordinary = ["A other/.linchpin/tmp/tool.sh", "A sub/.linchpin/config.yml"];
    assert_eq!(project.changed(), [["A .gitignore", "A .linchpin/rules/r.md"], ordinary].concat());
}

#[test]
fn a_renamed_file_is_a_change_and_not_a_creation() {
    let project = TestProject::new();
    project.git(&["mv", "src/a.rs", "src/b.rs"]);
    assert_eq!(project.changed(), ["D src/a.rs", "M src/b.rs"]);
    project.commit("moved");
    assert_eq!(project.changed(), ["D src/a.rs", "M src/b.rs"]);
    let tree = project.tree();
    let base = tree.merge_base_with_default(None).expect("a base").id;
    let head = tree.head().expect("a commit");
    assert_eq!(changed_files(&tree.changes_between(&base, &head).expect("changes")), ["D src/a.rs", "M src/b.rs"]);
    // Two empty files are not a rename.
    project.write("src/empty.rs", "").commit("empty").delete("src/empty.rs").write("src/other.rs", "");
    project.git(&["checkout", "--quiet", "-B", "main"]);
    assert_eq!(project.changed(), ["D src/empty.rs", "A src/other.rs"]);
}

#[test]
fn an_unstaged_rename_is_a_rename() {
    let project = TestProject::new();
    project.git(&["mv", "src/a.rs", "src/b.rs"]);
    fs::rename(project.root.join("kept.txt"), project.root.join("moved.txt")).expect("a move");
    project.write("new.txt", "other\n");
    assert_eq!(project.changed(), ["D kept.txt", "M moved.txt", "A new.txt", "D src/a.rs", "M src/b.rs"]);
}

#[cfg(unix)]
#[test]
fn changed_permissions_are_not_changes_and_new_symlinks_are() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let project = TestProject::new();
    fs::set_permissions(project.root.join("kept.txt"), fs::Permissions::from_mode(0o755)).expect("a mode");
    assert_eq!(project.changed(), [""; 0]);
    // `kept.txt` is staged as executable, and then gets its old mode again.
    project.git(&["add", "--all"]);
    project.delete("kept.txt").write("kept.txt", "one\n");
    assert_eq!(project.changed(), [""; 0]);
    fs::set_permissions(project.root.join("kept.txt"), fs::Permissions::from_mode(0o755)).expect("a mode");
    project.commit("mode");
    assert_eq!(project.changed(), [""; 0]);
    project.delete("kept.txt");
    symlink("src/a.rs", project.root.join("kept.txt")).expect("a symlink");
    assert_eq!(project.changed(), ["M kept.txt"]);
}

#[cfg(unix)]
#[test]
fn unusual_file_names_are_reported_exactly() {
    let project = TestProject::new();
    for name in ["Ünïcode ☃.txt", "new\nline.txt", "tab\there.txt", "\"quoted\".txt", "-dash.txt", "a[1]{x}*.txt"] {
        project.write(name, "x");
    }
    let expected =
        ["A \"quoted\".txt", "A -dash.txt", "A a[1]{x}*.txt", "A new\nline.txt", "A tab\there.txt", "A Ünïcode ☃.txt"];
    assert_eq!(project.changed(), expected);
    project.commit("odd");
    assert_eq!(project.changed(), expected);
    fs::rename(project.root.join("new\nline.txt"), project.root.join("-other\nline.txt")).expect("a move");
    assert!(project.changed().contains(&"A -other\nline.txt".to_owned()));
    // `kept.txt` is in the base commit, so after a rename its new name is reported as modified, not as added.
    project.delete("kept.txt").write("-kept.txt", "one\n");
    assert!(project.changed().contains(&"M -kept.txt".to_owned()));
}

#[test]
fn before_the_first_commit_everything_is_new() {
    let project = TestProject::without_commit();
    project.write("a.txt", "x").write("b.txt", "x").git(&["add", "b.txt"]);
    assert_eq!(project.changed(), ["A a.txt", "A b.txt"]);
    let tree = project.tree();
    assert_eq!(tree.head(), None);
    let snapshot = Snapshot::take(&tree, String::new()).expect("a snapshot");
    assert_eq!(snapshot.commit, None);
    project.write("c.txt", "x").write("a.txt", "y");
    assert_eq!(changed_files(&snapshot.changes(&tree).expect("changes")), ["M a.txt", "A c.txt"]);
}

#[test]
fn the_base_is_the_merge_base_with_the_default_branch() {
    let project = TestProject::new();
    let start = project.git(&["rev-parse", "main"]);
    project.write("mine.txt", "x").commit("mine");
    project.git(&["checkout", "--quiet", "main"]);
    project.write("theirs.txt", "other").commit("theirs");
    let tip = project.git(&["rev-parse", "main"]);
    project.git(&["checkout", "--quiet", "work"]);
    assert_eq!(project.changed(), ["A mine.txt"]);
    let tree = project.tree();
    assert_eq!(tree.merge_base_with_default(None).expect("a base").id, start);
    assert_eq!(tree.default_tip(None).expect("a tip").id, tip);
    assert_eq!(changed_files(&tree.changes_since(&tip).expect("changes")), ["A mine.txt", "D theirs.txt"]);
    // A configured branch takes precedence over the detected one.
    assert_eq!(tree.merge_base_with_default(Some("work")).expect("a base").id, project.git(&["rev-parse", "work"]));
    // The base is the same with a detached `HEAD`, and moves with a rebase.
    project.git(&["checkout", "--quiet", "--detach"]);
    assert_eq!(project.changed(), ["A mine.txt"]);
    project.git(&["checkout", "--quiet", "work"]);
    project.git(&["rebase", "--quiet", "main"]);
    assert_eq!(project.tree().merge_base_with_default(None).expect("a base").id, tip);
    assert_eq!(project.changed(), ["A mine.txt"]);
}

#[test]
fn the_default_branch_of_the_remote_is_used() {
    let project = TestProject::new();
    project.git(&["checkout", "--quiet", "-b", "trunk", "main"]);
    project.write("trunk.txt", "x").commit("trunk");
    let copy = project.directory.path().join("clone");
    git_in(project.directory.path(), &["clone", "--quiet", "--branch=trunk", "project", "clone"]);
    git_in(&copy, &["remote", "set-head", "origin", "trunk"]);
    git_in(&copy, &["checkout", "--quiet", "-b", "work"]);
    fs::write(copy.join("mine.txt"), "x").expect("a file");
    git_in(&copy, &["pack-refs", "--all"]);
    let tree = Tree::of(&copy, Duration::from_mins(1)).expect("a repository");
    let base = tree.merge_base_with_default(None).expect("a base");
    assert_eq!(base.id, project.git(&["rev-parse", "trunk"]));
    assert_eq!(changed_files(&tree.changes_since(&base.id).expect("changes")), ["A mine.txt"]);
}

#[test]
fn a_shallow_clone_is_compared_with_the_tip_and_a_note() {
    let project = TestProject::new();
    project.write("mine.txt", "x").commit("mine").write("mine.txt", "y").commit("again");
    project.git(&["checkout", "--quiet", "main"]);
    project.write("theirs.txt", "x").commit("theirs");
    let url = format!("file://{}", project.root.display());
    git_in(
        project.directory.path(),
        &["clone", "--quiet", "--depth=1", "--no-single-branch", "--branch=work", &url, "shallow"],
    );
    let copy = project.directory.path().join("shallow");
    let tree = Tree::of(&copy, Duration::from_mins(1)).expect("a repository");
    let base = tree.merge_base_with_default(None).expect("a base");
    assert_eq!(base.id, project.git(&["rev-parse", "main"]));
    assert!(base.note.expect("a note").contains("shallow"));
}

#[test]
fn a_linked_working_tree_is_supported() {
    let project = TestProject::new();
    project.git(&["worktree", "add", "--quiet", "-b", "other", "../linked", "main"]);
    let linked = project.root.parent().expect("a directory").join("linked");
    fs::write(linked.join("mine.txt"), "x").expect("a file");
    let tree = Tree::of(&linked, Duration::from_mins(1)).expect("a repository");
    let base = tree.merge_base_with_default(None).expect("a base");
    assert_eq!(changed_files(&tree.changes_since(&base.id).expect("changes")), ["A mine.txt"]);
    assert_eq!(project.changed(), [""; 0]);
}

#[test]
fn a_submodule_is_one_path() {
    let inner = TestProject::new();
    let project = TestProject::new();
    project.git(&["submodule", "--quiet", "add", &inner.root.to_string_lossy(), "vendor/inner"]);
    assert_eq!(project.changed(), ["A .gitmodules", "A vendor/inner"]);
    project.commit("submodule");
    project.git(&["checkout", "--quiet", "-B", "main"]);
    project.git(&["checkout", "--quiet", "-b", "later"]);
    project.write("vendor/inner/untracked.txt", "x");
    assert_eq!(project.changed(), [""; 0]);
    git_in(&project.root.join("vendor/inner"), &["commit", "--quiet", "--allow-empty", "--message=more"]);
    assert_eq!(project.changed(), ["M vendor/inner"]);
}

#[test]
fn a_project_in_a_subdirectory_sees_only_its_own_files() {
    let project = TestProject::new();
    project.write("part/inside.txt", "x").write("outside.txt", "x");
    let part = project.root.join("part");
    let tree = Tree::of(&part, Duration::from_mins(1)).expect("a repository");
    let base = tree.merge_base_with_default(None).expect("a base");
    assert_eq!(changed_files(&tree.changes_since(&base.id).expect("changes")), ["A inside.txt"]);
    project.commit("both");
    assert_eq!(changed_files(&tree.changes_since(&base.id).expect("changes")), ["A inside.txt"]);
}

#[test]
fn a_file_in_conflict_has_changed() {
    let project = TestProject::new();
    project.write("kept.txt", "mine\n").commit("mine");
    project.git(&["checkout", "--quiet", "main"]);
    project.write("kept.txt", "theirs\n").commit("theirs");
    project.git(&["checkout", "--quiet", "work"]);
    let merged = Command::new("git")
        .args(["-c", "user.name=T", "-c", "user.email=t@example.com", "merge", "--quiet", "main"])
        .current_dir(&project.root)
        .output()
        .expect("git runs");
    assert!(!merged.status.success());
    assert_eq!(project.changed(), ["M kept.txt"]);
}

#[test]
fn a_snapshot_reports_only_later_changes() {
    let project = TestProject::new();
    project.write("dirty.txt", "x").write("kept.txt", "dirty\n").write("doomed.txt", "x").delete("src/a.rs");
    let tree = project.tree();
    let snapshot = Snapshot::take(&tree, "now".to_owned()).expect("a snapshot");
    assert_eq!(snapshot.untracked_files, ["dirty.txt", "doomed.txt"]);
    assert_eq!(changed_files(&snapshot.changes(&tree).expect("changes")), [""; 0]);
    // The files are committed without any other change.
    project.commit("left over");
    assert_eq!(changed_files(&snapshot.changes(&tree).expect("changes")), [""; 0]);
    // One file is changed, one reverted, one deleted and one restored; then a file is added, and all are committed.
    project.write("dirty.txt", "y").write("kept.txt", "one\n").delete("doomed.txt").write("src/a.rs", "fn a() {}\n");
    project.write("new.txt", "x").commit("during the turn");
    assert_eq!(
        changed_files(&snapshot.changes(&tree).expect("changes")),
        ["M dirty.txt", "D doomed.txt", "M kept.txt", "A new.txt", "A src/a.rs"]
    );
}

#[cfg(unix)]
#[test]
fn programs_in_the_repositorys_configuration_are_not_run() {
    use std::os::unix::fs::PermissionsExt;
    let project = TestProject::new();
    let evil_program = project.directory.path().join("evil.sh");
    let evil_output = project.directory.path().join("evil-output");
    fs::write(&evil_program, format!("#!/bin/sh\ntouch '{}'\ncat\n", evil_output.display())).expect("a file");
    fs::set_permissions(&evil_program, fs::Permissions::from_mode(0o755)).expect("a mode");
    project.write(".gitattributes", "*.txt filter=evil diff=evil\n").commit("attributes");
    let evil_program = evil_program.to_string_lossy().into_owned();
    for key in [
        "filter.evil.clean",
        "filter.evil.process",
        "core.fsmonitor",
        "diff.external",
        "diff.evil.textconv",
        "diff.evil.command",
    ] {
        project.git(&["config", key, &evil_program]);
    }
    let hooks = project.root.join(".git/hooks");
    fs::create_dir_all(&hooks).expect("a directory");
    fs::copy(&evil_program, hooks.join("post-index-change")).expect("a hook");
    project.write("kept.txt", "two\n").write("other.txt", "x").delete("src/a.rs");
    assert_eq!(project.changed(), ["A .gitattributes", "M kept.txt", "A other.txt", "D src/a.rs"]);
    Snapshot::take(&project.tree(), String::new()).expect("a snapshot");
    assert_eq!(project.tree().disabled_filters(), ["evil"]);
    assert!(!evil_output.exists());
    // The filter is moved to `config.worktree`, which git reads only if `extensions.worktreeConfig` is set.
    project.git(&["config", "extensions.worktreeConfig", "true"]);
    project.git(&["config", "--unset", "filter.evil.clean"]);
    project.git(&["config", "--unset", "filter.evil.process"]);
    project.git(&["config", "--worktree", "filter.evil.clean", &evil_program]);
    project.write("kept.txt", "three\n");
    assert_eq!(project.tree().disabled_filters(), ["evil"]);
    project.changed();
    assert!(!evil_output.exists());
    // The name of this filter contains the character at which git splits a setting on the command line.
    project.write(".gitattributes", "*.txt filter=a=b\n").commit("attributes");
    project.git(&["config", "filter.a=b.clean", &evil_program]);
    // The `git commit` of this test itself has run the filter, so its output is deleted.
    let _ = fs::remove_file(&evil_output);
    project.write("kept.txt", "four\n");
    assert_eq!(project.tree().disabled_filters(), ["a=b", "evil"]);
    project.changed();
    assert!(!evil_output.exists());
    // Git also reads a configuration file that is not UTF-8.
    let config = project.root.join(".git/config");
    let mut bytes = fs::read(&config).expect("a file");
    bytes.extend(b"[user]\n\tname = \xff\n");
    fs::write(&config, bytes).expect("a file");
    project.write("kept.txt", "five\n");
    assert_eq!(project.tree().disabled_filters(), ["a=b", "evil"]);
    project.changed();
    assert!(!evil_output.exists());
}

#[test]
fn branches_in_a_reftable_are_found() {
    let directory = tempfile::tempdir().expect("a directory");
    let root = directory.path().canonicalize().expect("a directory").join("project");
    fs::create_dir(&root).expect("a directory");
    git_in(&root, &["init", "--quiet", "--initial-branch=main", "--ref-format=reftable"]);
    let project = TestProject { directory, root };
    let repository = || Repository::of(&project.root).expect("a repository");
    assert_eq!((repository().branch(), repository().head()), (Some("main".to_owned()), None));
    project.write("a.txt", "one\n").commit("first");
    let first = project.git(&["rev-parse", "HEAD"]);
    assert_eq!(repository().head(), Some(first.clone()));
    assert_eq!(repository().default_branch(), Some("main".to_owned()));
    project.git(&["checkout", "--quiet", "-b", "work"]);
    project.write("b.txt", "two\n").commit("second");
    assert_eq!(repository().branch(), Some("work".to_owned()));
    assert_eq!(project.tree().merge_base_with_default(None).expect("a base").id, first);
    assert_eq!(project.changed(), ["A b.txt"]);
    assert_eq!(repository().count_commits_since(1_000_000_000, None), Some(2));
    project.git(&["checkout", "--quiet", "--detach"]);
    assert_eq!(repository().branch(), None);
}

#[cfg(unix)]
#[test]
fn a_branch_name_that_is_not_utf8_hides_no_other_branch() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let project = TestProject::new();
    project.write("kept.txt", "two\n").commit("second");
    let head = project.git(&["rev-parse", "HEAD"]);
    let name = OsStr::from_bytes(b".git/refs/heads/caf\xe9");
    fs::write(project.root.join(name), format!("{head}\n")).expect("a branch");
    project.git(&["pack-refs", "--all"]);
    assert_eq!(project.changed(), ["M kept.txt"]);
}

#[test]
fn a_deleted_file_that_was_added_with_intent_to_add_is_no_change() {
    let project = TestProject::new();
    project.write("new.txt", "new\n").git(&["add", "--intent-to-add", "new.txt"]);
    assert_eq!(project.changed(), ["A new.txt"]);
    project.delete("new.txt");
    assert_eq!(project.changed(), [""; 0]);
}

#[cfg(unix)]
#[test]
fn a_symlink_differs_from_a_file_with_the_same_content() {
    let project = TestProject::new();
    project.write("there", "kept.txt").commit("a file");
    project.git(&["checkout", "--quiet", "main"]);
    project.git(&["merge", "--quiet", "work"]);
    project.git(&["checkout", "--quiet", "work"]);
    project.delete("there");
    std::os::unix::fs::symlink("kept.txt", project.root.join("there")).expect("a symlink");
    assert_eq!(project.changed(), ["M there"]);
    project.commit("a link");
    assert_eq!(project.changed(), ["M there"]);
}

#[test]
fn git_settings_that_hide_changes_have_no_effect() {
    let project = TestProject::new();
    for setting in ["core.trustctime=false", "core.checkStat=minimal", "sparse.expectFilesOutsideOfPatterns=true"] {
        let (key, value) = setting.split_once('=').expect("a setting");
        project.git(&["config", key, value]);
    }
    project.git(&["sparse-checkout", "set", "--no-cone", "/*", "!/src/a.rs"]);
    project.write("src/a.rs", "fn evil() {}\n");
    assert_eq!(project.changed(), ["M src/a.rs"]);
}

#[test]
fn a_directory_outside_of_git_has_no_tree() {
    let directory = tempfile::tempdir().expect("a directory");
    assert!(Tree::of(directory.path(), Duration::from_mins(1)).is_none());
}

#[test]
fn a_commit_is_found_by_name_and_a_flag_is_not_taken_as_a_name() {
    let project = TestProject::new();
    let tree = project.tree();
    assert_eq!(tree.resolve_commit("main").expect("an answer"), tree.head());
    for name in ["nothing", "--all", "", "main..work", "HEAD:kept.txt"] {
        assert_eq!(tree.resolve_commit(name).expect("an answer"), None, "{name}");
    }
    project.write("a", "x").commit("one\n\nLinchpin-Ack: x (y)");
    let messages = tree.commit_messages("main", "work").expect("messages");
    assert!(messages.contains("Linchpin-Ack: x (y)"), "{messages}");
}

#[cfg(unix)]
#[test]
fn a_bare_repository_in_the_project_directory_is_not_used() {
    let project = TestProject::new();
    // If git searched from `sub`, it would find the bare repository there before the project's repository.
    let inner = project.root.join("sub");
    git_in(&project.root, &["init", "--quiet", "--bare", "sub"]);
    let evil_output = project.directory.path().join("evil-output");
    git_in(&inner, &["config", "core.fsmonitor", &format!("touch '{}'; false", evil_output.display())]);
    git_in(&inner, &["config", "core.bare", "false"]);
    git_in(&inner, &["config", "core.worktree", ".."]);
    project.write("sub/mine.txt", "x");
    let tree = Tree::of(&inner, Duration::from_mins(1)).expect("a repository");
    let base = tree.merge_base_with_default(None).expect("a base");
    assert_eq!(base.id, project.git(&["rev-parse", "main"]));
    let changed = changed_files(&tree.changes_since(&base.id).expect("changes"));
    assert!(changed.contains(&"A mine.txt".to_owned()), "{changed:?}");
    assert!(!evil_output.exists());
    // An empty directory named `.git` is no repository.
    fs::create_dir_all(project.root.join("part/.git")).expect("a directory");
    let tree = Tree::of(&project.root.join("part"), Duration::from_mins(1)).expect("a repository");
    assert_eq!(tree.head(), project.tree().head());
}

#[test]
fn a_branch_file_without_an_id_is_ignored() {
    let project = TestProject::new();
    project.write("kept.txt", "two\n");
    let target = project.root.join("target.txt");
    fs::write(project.root.join(".git/refs/heads/main"), format!("--output={}\n", target.display())).expect("a file");
    let tree = project.tree();
    let base = tree.merge_base_with_default(None).expect("a base");
    assert_eq!(Some(base.id.clone()), tree.head());
    tree.changes_since(&base.id).expect("changes");
    let _ = tree.changes_since(&format!("--output={}", target.display()));
    assert!(!target.exists());
}

#[test]
fn a_renamed_and_edited_file_is_not_a_creation() {
    let text = "one\ntwo\nthree\nfour\nfive\n";
    let edited = text.replace("three", "3");
    let project = TestProject::new();
    project.write("old.txt", text).git(&["add", "--all"]);
    project.git(&["commit", "--quiet", "--message=second"]);
    let commit = project.git(&["rev-parse", "HEAD"]);
    fs::remove_file(project.root.join("old.txt")).expect("a file");
    project.write("moved.txt", &edited).write("new.txt", "something else\n");
    let expected = ["M moved.txt", "A new.txt", "D old.txt"];
    assert_eq!(changed_files(&project.tree().changes_since(&commit).expect("changes")), expected);
    project.git(&["add", "--all"]);
    assert_eq!(changed_files(&project.tree().changes_since(&commit).expect("changes")), expected);
    assert_eq!(changed_files(&project.tree().staged_changes_since(&commit, None).expect("changes")), expected);
    project.git(&["commit", "--quiet", "--message=third"]);
    assert_eq!(changed_files(&project.tree().changes_since(&commit).expect("changes")), expected);
    assert_eq!(changed_files(&project.tree().changes_between(&commit, "HEAD").expect("changes")), expected);
    // A file that has little in common with the old one counts as new.
    project.write("moved.txt", "one\nand nothing else that was there before\n");
    let expected = ["A moved.txt", "A new.txt", "D old.txt"];
    assert_eq!(changed_files(&project.tree().changes_since(&commit).expect("changes")), expected);
}

#[test]
fn the_only_branch_of_a_repository_without_a_remote_is_its_default() {
    let project = TestProject::new();
    project.git(&["branch", "--quiet", "-D", "main"]);
    let branch = |project: &TestProject| Repository::of(&project.root).expect("a repository").default_branch();
    assert_eq!(branch(&project).as_deref(), Some("work"));
    project.git(&["pack-refs", "--all"]);
    assert_eq!(branch(&project).as_deref(), Some("work"));
    project.git(&["branch", "team/other"]);
    assert_eq!(branch(&project), None);
    project.git(&["branch", "-D", "team/other"]);
    project.git(&["update-ref", "refs/remotes/origin/work", "HEAD"]);
    assert_eq!(branch(&project), None);
    assert!(project.tree().merge_base_with_default(None).expect("a commit").unknown_default.is_some());
}
