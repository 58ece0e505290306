use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::child_command;
use super::scratch_project::ScratchProject;
use crate::sandbox::writable_paths;
use crate::{ProcessNote, SandboxMode, shim};

/// A project with files that must not change.
fn project() -> ScratchProject {
    let project = ScratchProject::new();
    project.write("outside/kept", "kept");
    project.write("repo/own", "own");
    project
}

/// Asserts that a script fails and changes nothing outside of the repository if it is confined, and succeeds if it is
/// not.
#[track_caller]
fn assert_refused(script: &str) {
    let project = project();
    let Some(outcome) = project.confined_script(script) else { return };
    assert_ne!(outcome.exit_code, Some(0), "{script}: {}", outcome.stderr);
    assert_eq!(project.read("outside/kept").as_deref(), Some("kept"), "{script}");
    let outside_files: Vec<_> =
        std::fs::read_dir(project.path("outside")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(outside_files, ["kept"], "{script}");
    assert_eq!(self::project().script(script).exit_code, Some(0), "{script}, unconfined");
}

#[test]
fn the_repository_and_the_temporary_directory_can_be_written() {
    let project = project();
    let script = "set -e
        echo new > new; echo more >> own; mkdir -p a/b; mv new a/b/moved; ln own a/link; ln -s own symbolic
        rm symbolic; mkdir c; rmdir c; : > own; cat a/link
        echo t > \"$TMPDIR/t\"; mv \"$TMPDIR/t\" a/t; echo gone > /dev/null; echo said > /dev/stderr";
    let Some(outcome) = project.confined_script(script) else { return };
    assert_eq!((outcome.exit_code, outcome.stderr.as_str(), outcome.stdout.as_str()), (Some(0), "said\n", ""));
    assert_eq!(outcome.notes, []);
    assert_eq!(project.read("repo/a/b/moved").as_deref(), Some("new\n"));
    assert_eq!(project.read("repo/a/t").as_deref(), Some("t\n"));
}

#[test]
fn everything_can_be_read_and_started() {
    let project = project();
    symlink("/bin/cat", project.path("outside/tool")).unwrap();
    let Some(outcome) = project.confined_script("ls ../outside; ../outside/tool ../outside/kept") else { return };
    assert_eq!(outcome.stdout, "kept\ntool\nkept");
}

#[test]
fn files_outside_cannot_be_written_created_or_removed() {
    assert_refused("echo x > ../outside/kept");
    assert_refused("echo x >> ../outside/kept");
    assert_refused("echo x > ../outside/new");
    assert_refused("mkdir ../outside/new");
    assert_refused("ln -s kept ../outside/new");
    assert_refused("mkfifo ../outside/new");
    assert_refused("rm ../outside/kept");
    assert_refused("truncate -s 0 ../outside/kept");
}

#[test]
fn nothing_can_be_moved_or_linked_across_the_boundary() {
    assert_refused("mv own ../outside/new");
    assert_refused("mv ../outside/kept taken");
    assert_refused("ln own ../outside/new");
    // If the hard link could be created, writing to it would change the file outside.
    assert_refused("ln ../outside/kept taken");
    assert_refused("mv ../outside/kept ../outside/new");
}

#[test]
fn a_symlink_in_the_repository_cannot_be_used_to_write_outside() {
    assert_refused("ln -s ../outside link; echo x > link/kept");
    assert_refused("ln -s ../outside/kept link; echo x > link");
}

#[test]
fn truncation_by_path_is_a_write() {
    let unconfined = project();
    // The first two versions of Landlock do not restrict truncation by path.
    if !unconfined.script("perl -e 1").is_success() {
        eprintln!("skipped: there is no perl");
        return;
    }
    assert_refused("perl -e 'truncate(\"../outside/kept\", 0) or exit 1'");
}

#[test]
fn children_of_a_confined_process_are_confined() {
    assert_refused("sh -c 'sh -c \"echo x > ../outside/kept\"'");
    assert_refused("(sh -c 'echo x > ../outside/kept') & wait $!");
    assert_refused("env -i /bin/sh -c 'echo x > ../outside/kept'");
}

#[test]
fn a_confined_process_cannot_widen_its_limits() {
    let project = project();
    let inner: Vec<String> =
        child_command(shim::SHIM_ARGUMENT).into_iter().map(|argument| argument.into_string().unwrap()).collect();
    let outside = project.path("outside").into_os_string().into_string().unwrap();
    let repo = project.path("repo").into_os_string().into_string().unwrap();
    let mut argv: Vec<&str> = inner.iter().map(String::as_str).collect();
    argv.extend([&outside, &repo, "--", "sh", "-c", "echo x > own; echo x > ../outside/kept"]);
    let Some(outcome) = project.confined(&argv) else { return };
    assert_ne!(outcome.unwrap().exit_code, Some(0));
    assert_eq!(project.read("repo/own").as_deref(), Some("x\n"));
    assert_eq!(project.read("outside/kept").as_deref(), Some("kept"));
}

#[test]
fn a_closed_pipe_ends_its_writer() {
    let Some(outcome) = project().confined_script("yes | head -n 1") else { return };
    assert_eq!((outcome.stdout.as_str(), outcome.stderr.as_str()), ("y\n", ""));
}

#[test]
fn caches_can_be_written_and_the_rest_of_the_home_cannot() {
    let mut project = project();
    for directory in
        ["home/.cargo/registry", "home/.cargo/bin", "home/.cache", "home/.npm", "home/.ssh", "go/pkg", "go/bin"]
    {
        project.write(&format!("{directory}/kept"), "kept");
    }
    project.set("GOPATH", project.path("go"));
    let script = "for folder in ~/.cargo/registry ~/.cargo/bin ~/.cache ~/.npm ~/.ssh ~ \"$GOPATH/pkg\" \"$GOPATH/bin\"
        do if (echo x > \"$folder/kept\") 2>/dev/null; then echo yes; else echo no; fi; done";
    let Some(outcome) = project.confined_script(script) else { return };
    assert_eq!(outcome.stdout, "yes\nno\nyes\nyes\nno\nno\nyes\nno\n");
}

#[test]
fn without_landlock_mode_repo_adds_a_note_and_mode_require_refuses() {
    let project = project();
    let root = project.path("repo");
    let argv = ["sh", "-c", "echo x > ../outside/new"];
    let outcome = project.run_with_support(&argv, SandboxMode::Repo { root: root.clone() }, false).unwrap();
    assert_eq!((outcome.exit_code, outcome.notes.as_slice()), (Some(0), [ProcessNote::Unconfined].as_slice()));
    let argv = ["sh", "-c", "echo x > ../outside/newer"];
    let error = project.run_with_support(&argv, SandboxMode::Require { root }, false).unwrap_err();
    let why = "`sh` was not started: this system has no Landlock, so its writes cannot be limited";
    assert_eq!((error.why.as_str(), project.read("outside/newer")), (why, None));
}

#[test]
fn a_missing_root_is_refused() {
    if !crate::is_sandbox_supported() {
        eprintln!("skipped: this kernel has no Landlock");
        return;
    }
    let project = project();
    let error = project.run(&["true"], SandboxMode::Repo { root: project.path("nowhere") }).unwrap_err();
    assert!(error.why.contains("there is no folder"), "{error}");
}

#[test]
fn a_program_cannot_widen_the_limits_of_the_next_one() {
    let mut project = project();
    project.write("home/.cache/go-build/kept", "kept");
    project.set("GOCACHE", project.path("home/.cache/go-build"));
    let Some(outcome) = project.confined_script("rm -r \"$GOCACHE\" && ln -s \"$PWD/../outside\" \"$GOCACHE\"") else {
        return;
    };
    assert_eq!(outcome.exit_code, Some(0), "{}", outcome.stderr);
    let outcome = project.confined_script("echo x > \"$GOCACHE/kept\"").unwrap();
    assert_ne!(outcome.exit_code, Some(0));
    assert_eq!(project.read("outside/kept").as_deref(), Some("kept"));
}

#[test]
fn writable_paths_exist_and_are_not_nested() {
    let mut project = project();
    project.write("home/.cache/uv/kept", "kept");
    project.set("UV_CACHE_DIR", project.path("home/.cache/uv"));
    project.set("DENO_DIR", "/");
    project.set("GOCACHE", "off");
    project.set("PIP_CACHE_DIR", project.path("home/.cache/../../outside"));
    let found = writable_paths(&project.path("repo"), &|name| project.get(name));
    let mut expected =
        vec![PathBuf::from("/dev/null"), project.path("home/.cache"), project.path("repo"), project.path("tmp")];
    expected.sort();
    assert_eq!(found, expected);

    project.set("TMPDIR", "relative");
    assert!(writable_paths(&project.path("repo"), &|name| project.get(name)).contains(&PathBuf::from("/tmp")));
    // The caller may choose any root, even the root directory.
    assert_eq!(writable_paths(Path::new("/"), &|_| None), [Path::new("/")]);
}
