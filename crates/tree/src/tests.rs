//! Real repositories, each odd in its own way.

mod net_difference;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use engine::file_rules::Changes;
use tempfile::TempDir;

use crate::{Repository, Snapshot, Tree, fingerprint};

struct Scene {
    folder: TempDir,
    root: PathBuf,
}

#[expect(clippy::disallowed_methods, reason = "git has to be found")]
fn git_with(folder: &Path, arguments: &[&str], variables: &[(&str, &Path)]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=T", "-c", "user.email=t@example.com", "-c", "protocol.file.allow=always"])
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .envs(variables.iter().copied())
        .output()
        .expect("git runs");
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn git_in(folder: &Path, arguments: &[&str]) -> String {
    git_with(folder, arguments, &[])
}

impl Scene {
    /// A repository with a commit on `main`, and `work` checked out.
    fn new() -> Self {
        let scene = Self::unborn();
        scene.write("kept.txt", "one\n").write("src/a.rs", "fn a() {}\n").git(&["add", "--all"]);
        scene.git(&["commit", "--quiet", "--message=first"]);
        scene.git(&["checkout", "--quiet", "-b", "work"]);
        scene
    }

    fn unborn() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("a folder").join("project");
        fs::create_dir(&root).expect("a folder");
        git_in(&root, &["init", "--quiet", "--initial-branch=main"]);
        Self { folder, root }
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
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
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
        let base = tree.base(None).expect("a base");
        listed(&tree.changes_since(&base.id).expect("changes"))
    }
}

fn listed(changes: &Changes) -> Vec<String> {
    changes.iter().map(|(path, status)| format!("{} {path}", status.letter())).collect()
}

#[test]
fn what_is_committed_staged_unstaged_and_untracked_counts() {
    let scene = Scene::new();
    assert_eq!(scene.changed(), [""; 0]);
    scene.write("committed.txt", "x").commit("second");
    scene.write("staged.txt", "x").git(&["add", "staged.txt"]);
    scene.write("kept.txt", "two\n").write("new/untracked.txt", "x").delete("src/a.rs");
    assert_eq!(scene.changed(), ["A committed.txt", "M kept.txt", "A new/untracked.txt", "D src/a.rs", "A staged.txt"]);
}

#[test]
fn what_is_as_it_was_did_not_change() {
    let scene = Scene::new();
    scene.write("kept.txt", "two\n").commit("second");
    scene.write("kept.txt", "one\n");
    assert_eq!(scene.changed(), [""; 0]);
    // Written anew with the same content, and staged otherwise in between.
    scene.write("kept.txt", "three\n").git(&["add", "kept.txt"]);
    scene.write("kept.txt", "one\n");
    assert_eq!(scene.changed(), [""; 0]);
    // Taken out of the index, and still there.
    scene.git(&["rm", "--cached", "--quiet", "src/a.rs"]);
    assert_eq!(scene.changed(), [""; 0]);
}

#[test]
fn looking_changes_nothing() {
    let scene = Scene::new();
    scene.write("kept.txt", "two\n").write("staged.txt", "x").git(&["add", "staged.txt"]);
    let index = || (fingerprint(&scene.root.join(".git/index")), scene.git(&["count-objects", "-v"]));
    let before = index();
    scene.changed();
    Snapshot::take(&scene.tree(), String::new()).expect("a snapshot");
    assert_eq!(index(), before);
}

#[test]
fn ignored_files_and_our_own_never_count() {
    let scene = Scene::new();
    scene.write(".gitignore", "*.log\n").commit("ignore");
    scene.write("a.log", "x").write(".linchpin/tmp/rules/queue/x.json", "{}").write(".linchpin/state.db", "");
    scene.write("sub/.linchpin/state.db-wal", "").write(".linchpin/rules/r.md", "");
    scene.write("sub/.linchpin/config.yml", "").write("other/.linchpin/tmp/tool.sh", "");
    // Where there is no policy, nothing is ours.
    let others = ["A other/.linchpin/tmp/tool.sh", "A sub/.linchpin/config.yml"];
    assert_eq!(scene.changed(), [["A .gitignore", "A .linchpin/rules/r.md"], others].concat());
}

#[test]
fn a_moved_file_is_a_change_of_both_paths_and_no_creation() {
    let scene = Scene::new();
    scene.git(&["mv", "src/a.rs", "src/b.rs"]);
    assert_eq!(scene.changed(), ["D src/a.rs", "M src/b.rs"]);
    scene.commit("moved");
    assert_eq!(scene.changed(), ["D src/a.rs", "M src/b.rs"]);
    let tree = scene.tree();
    let base = tree.base(None).expect("a base").id;
    let head = tree.head().expect("a commit");
    assert_eq!(listed(&tree.changes_between(&base, &head).expect("changes")), ["D src/a.rs", "M src/b.rs"]);
    // To have nothing in common is to be no copy.
    scene.write("src/empty.rs", "").commit("empty").delete("src/empty.rs").write("src/other.rs", "");
    scene.git(&["checkout", "--quiet", "-B", "main"]);
    assert_eq!(scene.changed(), ["D src/empty.rs", "A src/other.rs"]);
}

#[test]
fn a_move_that_git_does_not_know_of_is_one() {
    let scene = Scene::new();
    scene.git(&["mv", "src/a.rs", "src/b.rs"]);
    fs::rename(scene.root.join("kept.txt"), scene.root.join("moved.txt")).expect("a move");
    scene.write("new.txt", "other\n");
    assert_eq!(scene.changed(), ["D kept.txt", "M moved.txt", "A new.txt", "D src/a.rs", "M src/b.rs"]);
}

#[cfg(unix)]
#[test]
fn permissions_are_no_content_and_a_link_is() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let scene = Scene::new();
    fs::set_permissions(scene.root.join("kept.txt"), fs::Permissions::from_mode(0o755)).expect("a mode");
    assert_eq!(scene.changed(), [""; 0]);
    // Staged with the one mode, and put back with the other.
    scene.git(&["add", "--all"]);
    scene.delete("kept.txt").write("kept.txt", "one\n");
    assert_eq!(scene.changed(), [""; 0]);
    fs::set_permissions(scene.root.join("kept.txt"), fs::Permissions::from_mode(0o755)).expect("a mode");
    scene.commit("mode");
    assert_eq!(scene.changed(), [""; 0]);
    scene.delete("kept.txt");
    symlink("src/a.rs", scene.root.join("kept.txt")).expect("a link");
    assert_eq!(scene.changed(), ["M kept.txt"]);
}

#[cfg(unix)]
#[test]
fn odd_names_are_names() {
    let scene = Scene::new();
    for name in ["Ünïcode ☃.txt", "new\nline.txt", "tab\there.txt", "\"quoted\".txt", "-dash.txt", "a[1]{x}*.txt"] {
        scene.write(name, "x");
    }
    let expected =
        ["A \"quoted\".txt", "A -dash.txt", "A a[1]{x}*.txt", "A new\nline.txt", "A tab\there.txt", "A Ünïcode ☃.txt"];
    assert_eq!(scene.changed(), expected);
    scene.commit("odd");
    assert_eq!(scene.changed(), expected);
    fs::rename(scene.root.join("new\nline.txt"), scene.root.join("-other\nline.txt")).expect("a move");
    assert!(scene.changed().contains(&"A -other\nline.txt".to_owned()));
    // Moved since it was committed: both are new to the base.
    scene.delete("kept.txt").write("-kept.txt", "one\n");
    assert!(scene.changed().contains(&"M -kept.txt".to_owned()));
}

#[test]
fn before_the_first_commit_everything_is_new() {
    let scene = Scene::unborn();
    scene.write("a.txt", "x").write("b.txt", "x").git(&["add", "b.txt"]);
    assert_eq!(scene.changed(), ["A a.txt", "A b.txt"]);
    let tree = scene.tree();
    assert_eq!(tree.head(), None);
    let snapshot = Snapshot::take(&tree, String::new()).expect("a snapshot");
    assert_eq!(snapshot.commit, None);
    scene.write("c.txt", "x").write("a.txt", "y");
    assert_eq!(listed(&snapshot.changes(&tree).expect("changes")), ["M a.txt", "A c.txt"]);
}

#[test]
fn the_base_is_where_the_branch_left_the_default_branch() {
    let scene = Scene::new();
    let start = scene.git(&["rev-parse", "main"]);
    scene.write("mine.txt", "x").commit("mine");
    scene.git(&["checkout", "--quiet", "main"]);
    scene.write("theirs.txt", "other").commit("theirs");
    let tip = scene.git(&["rev-parse", "main"]);
    scene.git(&["checkout", "--quiet", "work"]);
    assert_eq!(scene.changed(), ["A mine.txt"]);
    let tree = scene.tree();
    assert_eq!(tree.base(None).expect("a base").id, start);
    assert_eq!(tree.default_tip(None).expect("a tip").id, tip);
    assert_eq!(listed(&tree.changes_since(&tip).expect("changes")), ["A mine.txt", "D theirs.txt"]);
    // A configured branch counts more than what is found.
    assert_eq!(tree.base(Some("work")).expect("a base").id, scene.git(&["rev-parse", "work"]));
    // Detached, and after a rebase.
    scene.git(&["checkout", "--quiet", "--detach"]);
    assert_eq!(scene.changed(), ["A mine.txt"]);
    scene.git(&["checkout", "--quiet", "work"]);
    scene.git(&["rebase", "--quiet", "main"]);
    assert_eq!(scene.tree().base(None).expect("a base").id, tip);
    assert_eq!(scene.changed(), ["A mine.txt"]);
}

#[test]
fn a_remote_says_what_its_default_is() {
    let scene = Scene::new();
    scene.git(&["checkout", "--quiet", "-b", "trunk", "main"]);
    scene.write("trunk.txt", "x").commit("trunk");
    let copy = scene.folder.path().join("clone");
    git_in(scene.folder.path(), &["clone", "--quiet", "--branch=trunk", "project", "clone"]);
    git_in(&copy, &["remote", "set-head", "origin", "trunk"]);
    git_in(&copy, &["checkout", "--quiet", "-b", "work"]);
    fs::write(copy.join("mine.txt"), "x").expect("a file");
    git_in(&copy, &["pack-refs", "--all"]);
    let tree = Tree::of(&copy, Duration::from_mins(1)).expect("a repository");
    let base = tree.base(None).expect("a base");
    assert_eq!(base.id, scene.git(&["rev-parse", "trunk"]));
    assert_eq!(listed(&tree.changes_since(&base.id).expect("changes")), ["A mine.txt"]);
}

#[test]
fn a_shallow_clone_compares_with_the_tip_and_says_so() {
    let scene = Scene::new();
    scene.write("mine.txt", "x").commit("mine").write("mine.txt", "y").commit("again");
    scene.git(&["checkout", "--quiet", "main"]);
    scene.write("theirs.txt", "x").commit("theirs");
    let url = format!("file://{}", scene.root.display());
    git_in(
        scene.folder.path(),
        &["clone", "--quiet", "--depth=1", "--no-single-branch", "--branch=work", &url, "shallow"],
    );
    let copy = scene.folder.path().join("shallow");
    let tree = Tree::of(&copy, Duration::from_mins(1)).expect("a repository");
    let base = tree.base(None).expect("a base");
    assert_eq!(base.id, scene.git(&["rev-parse", "main"]));
    assert!(base.note.expect("a note").contains("shallow"));
}

#[test]
fn a_linked_work_tree_is_one() {
    let scene = Scene::new();
    scene.git(&["worktree", "add", "--quiet", "-b", "other", "../linked", "main"]);
    let linked = scene.root.parent().expect("a folder").join("linked");
    fs::write(linked.join("mine.txt"), "x").expect("a file");
    let tree = Tree::of(&linked, Duration::from_mins(1)).expect("a repository");
    let base = tree.base(None).expect("a base");
    assert_eq!(listed(&tree.changes_since(&base.id).expect("changes")), ["A mine.txt"]);
    assert_eq!(scene.changed(), [""; 0]);
}

#[test]
fn a_submodule_is_one_path() {
    let inner = Scene::new();
    let scene = Scene::new();
    scene.git(&["submodule", "--quiet", "add", &inner.root.to_string_lossy(), "vendor/inner"]);
    assert_eq!(scene.changed(), ["A .gitmodules", "A vendor/inner"]);
    scene.commit("submodule");
    scene.git(&["checkout", "--quiet", "-B", "main"]);
    scene.git(&["checkout", "--quiet", "-b", "later"]);
    scene.write("vendor/inner/untracked.txt", "x");
    assert_eq!(scene.changed(), [""; 0]);
    git_in(&scene.root.join("vendor/inner"), &["commit", "--quiet", "--allow-empty", "--message=more"]);
    assert_eq!(scene.changed(), ["M vendor/inner"]);
}

#[test]
fn a_project_in_a_folder_of_a_repository_sees_its_own_part() {
    let scene = Scene::new();
    scene.write("part/inside.txt", "x").write("outside.txt", "x");
    let part = scene.root.join("part");
    let tree = Tree::of(&part, Duration::from_mins(1)).expect("a repository");
    let base = tree.base(None).expect("a base");
    assert_eq!(listed(&tree.changes_since(&base.id).expect("changes")), ["A inside.txt"]);
    scene.commit("both");
    assert_eq!(listed(&tree.changes_since(&base.id).expect("changes")), ["A inside.txt"]);
}

#[test]
fn a_file_in_conflict_changed() {
    let scene = Scene::new();
    scene.write("kept.txt", "mine\n").commit("mine");
    scene.git(&["checkout", "--quiet", "main"]);
    scene.write("kept.txt", "theirs\n").commit("theirs");
    scene.git(&["checkout", "--quiet", "work"]);
    let merged = Command::new("git")
        .args(["-c", "user.name=T", "-c", "user.email=t@example.com", "merge", "--quiet", "main"])
        .current_dir(&scene.root)
        .output()
        .expect("git runs");
    assert!(!merged.status.success());
    assert_eq!(scene.changed(), ["M kept.txt"]);
}

#[test]
fn since_a_snapshot_only_what_happened_since_counts() {
    let scene = Scene::new();
    scene.write("dirty.txt", "x").write("kept.txt", "dirty\n").write("doomed.txt", "x").delete("src/a.rs");
    let tree = scene.tree();
    let snapshot = Snapshot::take(&tree, "now".to_owned()).expect("a snapshot");
    assert_eq!(snapshot.untracked_files, ["dirty.txt", "doomed.txt"]);
    assert_eq!(listed(&snapshot.changes(&tree).expect("changes")), [""; 0]);
    // Committed, and still as it was.
    scene.commit("left over");
    assert_eq!(listed(&snapshot.changes(&tree).expect("changes")), [""; 0]);
    // Changed, changed back to what was committed, gone, back again, new and committed.
    scene.write("dirty.txt", "y").write("kept.txt", "one\n").delete("doomed.txt").write("src/a.rs", "fn a() {}\n");
    scene.write("new.txt", "x").commit("during the turn");
    assert_eq!(
        listed(&snapshot.changes(&tree).expect("changes")),
        ["M dirty.txt", "D doomed.txt", "M kept.txt", "A new.txt", "A src/a.rs"]
    );
}

#[cfg(unix)]
#[test]
fn nothing_of_the_repositorys_own_configuration_is_run() {
    use std::os::unix::fs::PermissionsExt;
    let scene = Scene::new();
    let trap = scene.folder.path().join("trap.sh");
    let sprung = scene.folder.path().join("sprung");
    fs::write(&trap, format!("#!/bin/sh\ntouch '{}'\ncat\n", sprung.display())).expect("a file");
    fs::set_permissions(&trap, fs::Permissions::from_mode(0o755)).expect("a mode");
    scene.write(".gitattributes", "*.txt filter=evil diff=evil\n").commit("attributes");
    let trap = trap.to_string_lossy().into_owned();
    for key in [
        "filter.evil.clean",
        "filter.evil.process",
        "core.fsmonitor",
        "diff.external",
        "diff.evil.textconv",
        "diff.evil.command",
    ] {
        scene.git(&["config", key, &trap]);
    }
    let hooks = scene.root.join(".git/hooks");
    fs::create_dir_all(&hooks).expect("a folder");
    fs::copy(&trap, hooks.join("post-index-change")).expect("a hook");
    scene.write("kept.txt", "two\n").write("other.txt", "x").delete("src/a.rs");
    assert_eq!(scene.changed(), ["A .gitattributes", "M kept.txt", "A other.txt", "D src/a.rs"]);
    Snapshot::take(&scene.tree(), String::new()).expect("a snapshot");
    assert_eq!(scene.tree().filters(), ["evil"]);
    assert!(!sprung.exists());
    // In a file that only some repositories have.
    scene.git(&["config", "extensions.worktreeConfig", "true"]);
    scene.git(&["config", "--unset", "filter.evil.clean"]);
    scene.git(&["config", "--unset", "filter.evil.process"]);
    scene.git(&["config", "--worktree", "filter.evil.clean", &trap]);
    scene.write("kept.txt", "three\n");
    assert_eq!(scene.tree().filters(), ["evil"]);
    scene.changed();
    assert!(!sprung.exists());
    // A name that a command line would cut.
    scene.write(".gitattributes", "*.txt filter=a=b\n").commit("attributes");
    scene.git(&["config", "filter.a=b.clean", &trap]);
    // To commit was this test's own doing.
    let _ = fs::remove_file(&sprung);
    scene.write("kept.txt", "four\n");
    assert_eq!(scene.tree().filters(), ["a=b", "evil"]);
    scene.changed();
    assert!(!sprung.exists());
    // A configuration that is no text to us is one to git.
    let config = scene.root.join(".git/config");
    let mut bytes = fs::read(&config).expect("a file");
    bytes.extend(b"[user]\n\tname = \xff\n");
    fs::write(&config, bytes).expect("a file");
    scene.write("kept.txt", "five\n");
    assert_eq!(scene.tree().filters(), ["a=b", "evil"]);
    scene.changed();
    assert!(!sprung.exists());
}

#[test]
fn branches_that_are_kept_in_a_table_are_known() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().canonicalize().expect("a folder").join("project");
    fs::create_dir(&root).expect("a folder");
    git_in(&root, &["init", "--quiet", "--initial-branch=main", "--ref-format=reftable"]);
    let scene = Scene { folder, root };
    let repository = || Repository::of(&scene.root).expect("a repository");
    assert_eq!((repository().branch(), repository().head()), (Some("main".to_owned()), None));
    scene.write("a.txt", "one\n").commit("first");
    let first = scene.git(&["rev-parse", "HEAD"]);
    assert_eq!(repository().head(), Some(first.clone()));
    assert_eq!(repository().default_branch(), Some("main".to_owned()));
    scene.git(&["checkout", "--quiet", "-b", "work"]);
    scene.write("b.txt", "two\n").commit("second");
    assert_eq!(repository().branch(), Some("work".to_owned()));
    assert_eq!(scene.tree().base(None).expect("a base").id, first);
    assert_eq!(scene.changed(), ["A b.txt"]);
    assert_eq!(repository().commits_since(1_000_000_000, None), Some(2));
    scene.git(&["checkout", "--quiet", "--detach"]);
    assert_eq!(repository().branch(), None);
}

#[cfg(unix)]
#[test]
fn a_branch_whose_name_is_no_text_hides_no_other() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let scene = Scene::new();
    scene.write("kept.txt", "two\n").commit("second");
    let head = scene.git(&["rev-parse", "HEAD"]);
    let name = OsStr::from_bytes(b".git/refs/heads/caf\xe9");
    fs::write(scene.root.join(name), format!("{head}\n")).expect("a branch");
    scene.git(&["pack-refs", "--all"]);
    assert_eq!(scene.changed(), ["M kept.txt"]);
}

#[test]
fn what_was_only_announced_and_is_gone_was_never_there() {
    let scene = Scene::new();
    scene.write("new.txt", "new\n").git(&["add", "--intent-to-add", "new.txt"]);
    assert_eq!(scene.changed(), ["A new.txt"]);
    scene.delete("new.txt");
    assert_eq!(scene.changed(), [""; 0]);
}

#[cfg(unix)]
#[test]
fn a_link_is_not_the_file_that_says_the_same() {
    let scene = Scene::new();
    scene.write("there", "kept.txt").commit("a file");
    scene.git(&["checkout", "--quiet", "main"]);
    scene.git(&["merge", "--quiet", "work"]);
    scene.git(&["checkout", "--quiet", "work"]);
    scene.delete("there");
    std::os::unix::fs::symlink("kept.txt", scene.root.join("there")).expect("a link");
    assert_eq!(scene.changed(), ["M there"]);
    scene.commit("a link");
    assert_eq!(scene.changed(), ["M there"]);
}

#[test]
fn settings_that_blind_git_do_not_blind_us() {
    let scene = Scene::new();
    for setting in ["core.trustctime=false", "core.checkStat=minimal", "sparse.expectFilesOutsideOfPatterns=true"] {
        let (key, value) = setting.split_once('=').expect("a setting");
        scene.git(&["config", key, value]);
    }
    scene.git(&["sparse-checkout", "set", "--no-cone", "/*", "!/src/a.rs"]);
    scene.write("src/a.rs", "fn evil() {}\n");
    assert_eq!(scene.changed(), ["M src/a.rs"]);
}

#[test]
fn outside_of_git_there_is_no_tree() {
    let folder = tempfile::tempdir().expect("a folder");
    assert!(Tree::of(folder.path(), Duration::from_mins(1)).is_none());
}

#[test]
fn a_commit_is_found_by_its_name_and_a_flag_is_none() {
    let scene = Scene::new();
    let tree = scene.tree();
    assert_eq!(tree.commit("main").expect("an answer"), tree.head());
    for name in ["nothing", "--all", "", "main..work", "HEAD:kept.txt"] {
        assert_eq!(tree.commit(name).expect("an answer"), None, "{name}");
    }
    scene.write("a", "x").commit("one\n\nLinchpin-Ack: x (y)");
    let messages = tree.messages("main", "work").expect("messages");
    assert!(messages.contains("Linchpin-Ack: x (y)"), "{messages}");
}

#[cfg(unix)]
#[test]
fn another_repository_in_the_way_is_not_taken_for_this_one() {
    let scene = Scene::new();
    // A bare one, which git would find first from within.
    let inner = scene.root.join("sub");
    git_in(&scene.root, &["init", "--quiet", "--bare", "sub"]);
    let sprung = scene.folder.path().join("sprung");
    git_in(&inner, &["config", "core.fsmonitor", &format!("touch '{}'; false", sprung.display())]);
    git_in(&inner, &["config", "core.bare", "false"]);
    git_in(&inner, &["config", "core.worktree", ".."]);
    scene.write("sub/mine.txt", "x");
    let tree = Tree::of(&inner, Duration::from_mins(1)).expect("a repository");
    let base = tree.base(None).expect("a base");
    assert_eq!(base.id, scene.git(&["rev-parse", "main"]));
    let changed = listed(&tree.changes_since(&base.id).expect("changes"));
    assert!(changed.contains(&"A mine.txt".to_owned()), "{changed:?}");
    assert!(!sprung.exists());
    // Nor is a folder that only has the name.
    fs::create_dir_all(scene.root.join("part/.git")).expect("a folder");
    let tree = Tree::of(&scene.root.join("part"), Duration::from_mins(1)).expect("a repository");
    assert_eq!(tree.head(), scene.tree().head());
}

#[test]
fn what_a_branch_file_says_is_an_id_or_nothing() {
    let scene = Scene::new();
    scene.write("kept.txt", "two\n");
    let target = scene.root.join("target.txt");
    fs::write(scene.root.join(".git/refs/heads/main"), format!("--output={}\n", target.display())).expect("a file");
    let tree = scene.tree();
    let base = tree.base(None).expect("a base");
    assert_eq!(Some(base.id.clone()), tree.head());
    tree.changes_since(&base.id).expect("changes");
    let _ = tree.changes_since(&format!("--output={}", target.display()));
    assert!(!target.exists());
}

#[test]
fn a_digest_is_of_the_content_and_not_of_how_git_holds_it() {
    let scene = Scene::new();
    scene.write(".gitignore", "built/\n").commit("ignored");
    let digest = |scene: &Scene| scene.tree().digest().expect("a digest");
    let first = digest(&scene);
    assert_eq!(digest(&scene), first);

    scene.write("kept.txt", "two\n").write("new.txt", "new\n");
    let edited = digest(&scene);
    assert_ne!(edited, first);
    scene.git(&["add", "--all"]);
    assert_eq!(digest(&scene), edited);
    scene.commit("second");
    assert_eq!(digest(&scene), edited);

    scene.write("built/out.o", "x").write(".linchpin/tmp/queue", "x").write(".linchpin/state.db", "x");
    assert_eq!(digest(&scene), edited);

    fs::remove_file(scene.root.join("new.txt")).expect("a file");
    scene.write("kept.txt", "one\n");
    assert_eq!(digest(&scene), first);
    scene.write("kept.txt", "three\n");
    let third = digest(&scene);
    assert!(third != first && third != edited);
}

#[cfg(unix)]
#[test]
fn a_digest_looks_into_files_whose_names_are_no_text() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let scene = Scene::new();
    let file = scene.root.join(OsStr::from_bytes(b"x\xff.sh"));
    let mut known = vec![scene.tree().digest().expect("a digest")];
    for text in ["one", "two", "six"] {
        fs::write(&file, text).expect("a file");
        let digest = scene.tree().digest().expect("a digest");
        assert!(!known.contains(&digest), "{text}");
        known.push(digest);
    }
}

#[cfg(unix)]
#[test]
fn a_digest_knows_names_modes_links_and_submodules() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let scene = Scene::new();
    let mut known = vec![scene.tree().digest().expect("a digest")];
    let mut is_new = |scene: &Scene| {
        let digest = scene.tree().digest().expect("a digest");
        let is_new = !known.contains(&digest);
        known.push(digest);
        is_new
    };
    fs::rename(scene.root.join("kept.txt"), scene.root.join("moved.txt")).expect("a file");
    assert!(is_new(&scene));
    fs::set_permissions(scene.root.join("moved.txt"), fs::Permissions::from_mode(0o755)).expect("a file");
    assert!(is_new(&scene));
    scene.commit("moved");
    assert!(!is_new(&scene));
    symlink("src/a.rs", scene.root.join("link")).expect("a link");
    assert!(is_new(&scene));
    fs::remove_file(scene.root.join("link")).expect("a link");
    symlink("src/b.rs", scene.root.join("link")).expect("a link");
    assert!(is_new(&scene));

    let other = Scene::new();
    let url = other.root.to_string_lossy().into_owned();
    scene.git(&["submodule", "--quiet", "add", &url, "inner"]);
    assert!(is_new(&scene));
    scene.commit("with a submodule");
    let _ = is_new(&scene);
    git_in(&scene.root.join("inner"), &["commit", "--quiet", "--allow-empty", "--message=on"]);
    assert!(is_new(&scene));
    git_in(&scene.root.join("inner"), &["commit", "--quiet", "--allow-empty", "--message=further"]);
    assert!(is_new(&scene));
}

#[test]
fn a_digest_is_of_the_projects_own_part() {
    let scene = Scene::new();
    let of_part = || Tree::of(&scene.root.join("src"), Duration::from_secs(10)).expect("a tree").digest().expect("one");
    let first = of_part();
    scene.write("kept.txt", "two\n").commit("elsewhere");
    assert_eq!(of_part(), first);
    scene.write("src/a.rs", "fn b() {}\n");
    let edited = of_part();
    assert_ne!(edited, first);
    scene.commit("here");
    assert_eq!(of_part(), edited);
    let unborn = Scene::unborn();
    let empty = unborn.tree().digest().expect("a digest");
    unborn.write("a.txt", "a");
    assert_ne!(unborn.tree().digest().expect("a digest"), empty);
}

#[test]
fn a_file_that_was_moved_and_edited_is_no_creation() {
    let text = "one\ntwo\nthree\nfour\nfive\n";
    let edited = text.replace("three", "3");
    let scene = Scene::new();
    scene.write("old.txt", text).git(&["add", "--all"]);
    scene.git(&["commit", "--quiet", "--message=second"]);
    let commit = scene.git(&["rev-parse", "HEAD"]);
    fs::remove_file(scene.root.join("old.txt")).expect("a file");
    scene.write("moved.txt", &edited).write("new.txt", "something else\n");
    let expected = ["M moved.txt", "A new.txt", "D old.txt"];
    assert_eq!(listed(&scene.tree().changes_since(&commit).expect("changes")), expected);
    scene.git(&["add", "--all"]);
    assert_eq!(listed(&scene.tree().changes_since(&commit).expect("changes")), expected);
    assert_eq!(listed(&scene.tree().changes_staged(&commit, None).expect("changes")), expected);
    scene.git(&["commit", "--quiet", "--message=third"]);
    assert_eq!(listed(&scene.tree().changes_since(&commit).expect("changes")), expected);
    assert_eq!(listed(&scene.tree().changes_between(&commit, "HEAD").expect("changes")), expected);
    // A file that has little of it is a new one.
    scene.write("moved.txt", "one\nand nothing else that was there before\n");
    let expected = ["A moved.txt", "A new.txt", "D old.txt"];
    assert_eq!(listed(&scene.tree().changes_since(&commit).expect("changes")), expected);
}

#[test]
fn the_only_branch_of_a_repository_without_a_remote_is_its_default() {
    let scene = Scene::new();
    scene.git(&["branch", "--quiet", "-D", "main"]);
    let branch = |scene: &Scene| Repository::of(&scene.root).expect("a repository").default_branch();
    assert_eq!(branch(&scene).as_deref(), Some("work"));
    scene.git(&["pack-refs", "--all"]);
    assert_eq!(branch(&scene).as_deref(), Some("work"));
    scene.git(&["branch", "team/other"]);
    assert_eq!(branch(&scene), None);
    scene.git(&["branch", "-D", "team/other"]);
    scene.git(&["update-ref", "refs/remotes/origin/work", "HEAD"]);
    assert_eq!(branch(&scene), None);
    assert!(scene.tree().base(None).expect("a commit").unknown.is_some());
}
