//! Tests that every edit changes the digest of a tree's contents, and that staging and committing do not.

use std::fs;
use std::time::Duration;

use super::{TestProject, git_in};
use crate::Tree;

#[test]
fn a_digest_depends_on_content_and_not_on_the_state_of_git() {
    let project = TestProject::new();
    project.write(".gitignore", "built/\n").commit("ignored");
    let digest = |project: &TestProject| project.tree().digest().expect("a digest");
    let first = digest(&project);
    assert_eq!(digest(&project), first);

    project.write("kept.txt", "two\n").write("new.txt", "new\n");
    let edited = digest(&project);
    assert_ne!(edited, first);
    project.git(&["add", "--all"]);
    assert_eq!(digest(&project), edited);
    project.commit("second");
    assert_eq!(digest(&project), edited);

    project.write("built/out.o", "x").write(".linchpin/tmp/queue", "x").write(".linchpin/state.db", "x");
    assert_eq!(digest(&project), edited);

    fs::remove_file(project.root.join("new.txt")).expect("a file");
    project.write("kept.txt", "one\n");
    assert_eq!(digest(&project), first);
    project.write("kept.txt", "three\n");
    let third = digest(&project);
    assert!(third != first && third != edited);
}

#[cfg(unix)]
#[test]
fn a_digest_includes_files_whose_names_are_not_utf8() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let project = TestProject::new();
    let file = project.root.join(OsStr::from_bytes(b"x\xff.sh"));
    let mut digests = vec![project.tree().digest().expect("a digest")];
    for text in ["one", "two", "six"] {
        fs::write(&file, text).expect("a file");
        let digest = project.tree().digest().expect("a digest");
        assert!(!digests.contains(&digest), "{text}");
        digests.push(digest);
    }
}

#[cfg(unix)]
#[test]
fn a_digest_includes_names_modes_symlinks_and_submodules() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let project = TestProject::new();
    let mut digests = vec![project.tree().digest().expect("a digest")];
    let mut has_new_digest = |project: &TestProject| {
        let digest = project.tree().digest().expect("a digest");
        let is_new = !digests.contains(&digest);
        digests.push(digest);
        is_new
    };
    fs::rename(project.root.join("kept.txt"), project.root.join("moved.txt")).expect("a file");
    assert!(has_new_digest(&project));
    fs::set_permissions(project.root.join("moved.txt"), fs::Permissions::from_mode(0o755)).expect("a file");
    assert!(has_new_digest(&project));
    project.commit("moved");
    assert!(!has_new_digest(&project));
    symlink("src/a.rs", project.root.join("link")).expect("a symlink");
    assert!(has_new_digest(&project));
    fs::remove_file(project.root.join("link")).expect("a symlink");
    symlink("src/b.rs", project.root.join("link")).expect("a symlink");
    assert!(has_new_digest(&project));

    let other = TestProject::new();
    let url = other.root.to_string_lossy().into_owned();
    project.git(&["submodule", "--quiet", "add", &url, "inner"]);
    assert!(has_new_digest(&project));
    project.commit("with a submodule");
    let _ = has_new_digest(&project);
    git_in(&project.root.join("inner"), &["commit", "--quiet", "--allow-empty", "--message=on"]);
    assert!(has_new_digest(&project));
    git_in(&project.root.join("inner"), &["commit", "--quiet", "--allow-empty", "--message=further"]);
    assert!(has_new_digest(&project));
}

#[test]
fn a_digest_includes_only_the_project() {
    let project = TestProject::new();
    let digest_of_part =
        || Tree::of(&project.root.join("src"), Duration::from_secs(10)).expect("a tree").digest().expect("a digest");
    let first = digest_of_part();
    project.write("kept.txt", "two\n").commit("elsewhere");
    assert_eq!(digest_of_part(), first);
    project.write("src/a.rs", "fn b() {}\n");
    let edited = digest_of_part();
    assert_ne!(edited, first);
    project.commit("here");
    assert_eq!(digest_of_part(), edited);
}

#[test]
fn a_digest_exists_before_the_first_commit() {
    let project = TestProject::without_commit();
    let empty = project.tree().digest().expect("a digest");
    project.write("a.txt", "a");
    assert_ne!(project.tree().digest().expect("a digest"), empty);
}
