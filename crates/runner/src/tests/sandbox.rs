use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::own_call;
use super::stage::Stage;
use crate::sandbox::writable;
use crate::{Confinement, ProcessNote, shim};

/// A stage with files to lose.
fn stage() -> Stage {
    let stage = Stage::new();
    stage.write("outside/kept", "kept");
    stage.write("repo/own", "own");
    stage
}

/// Runs it confined, and expects that it fails and nothing outside has changed.
#[track_caller]
fn refused(script: &str) {
    let stage = stage();
    let Some(outcome) = stage.confined_script(script) else { return };
    assert_ne!(outcome.exit_code, Some(0), "{script}: {}", outcome.stderr);
    assert_eq!(stage.read("outside/kept").as_deref(), Some("kept"), "{script}");
    let there: Vec<_> =
        std::fs::read_dir(stage.path("outside")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(there, ["kept"], "{script}");
    // It is the confinement that refuses, and not the script that is wrong.
    assert_eq!(self::stage().script(script).exit_code, Some(0), "{script}, free");
}

#[test]
fn the_repository_and_the_temporary_folder_can_be_written() {
    let stage = stage();
    let script = "set -e
        echo new > new; echo more >> own; mkdir -p a/b; mv new a/b/moved; ln own a/link; ln -s own symbolic
        rm symbolic; mkdir c; rmdir c; : > own; cat a/link
        echo t > \"$TMPDIR/t\"; mv \"$TMPDIR/t\" a/t; echo gone > /dev/null; echo said > /dev/stderr";
    let Some(outcome) = stage.confined_script(script) else { return };
    assert_eq!((outcome.exit_code, outcome.stderr.as_str(), outcome.stdout.as_str()), (Some(0), "said\n", ""));
    assert_eq!(outcome.notes, []);
    assert_eq!(stage.read("repo/a/b/moved").as_deref(), Some("new\n"));
    assert_eq!(stage.read("repo/a/t").as_deref(), Some("t\n"));
}

#[test]
fn everything_can_be_read_and_started() {
    let stage = stage();
    symlink("/bin/cat", stage.path("outside/tool")).unwrap();
    let Some(outcome) = stage.confined_script("ls ../outside; ../outside/tool ../outside/kept") else { return };
    assert_eq!(outcome.stdout, "kept\ntool\nkept");
}

#[test]
fn files_outside_are_not_written_made_or_removed() {
    refused("echo x > ../outside/kept");
    refused("echo x >> ../outside/kept");
    refused("echo x > ../outside/new");
    refused("mkdir ../outside/new");
    refused("ln -s kept ../outside/new");
    refused("mkfifo ../outside/new");
    refused("rm ../outside/kept");
    refused("truncate -s 0 ../outside/kept");
}

#[test]
fn nothing_is_moved_or_linked_across_the_border() {
    refused("mv own ../outside/new");
    refused("mv ../outside/kept taken");
    refused("ln own ../outside/new");
    // Else the link could be written, and with it what it is a link to.
    refused("ln ../outside/kept taken");
    refused("mv ../outside/kept ../outside/new");
}

#[test]
fn a_link_in_the_repository_is_no_way_out() {
    refused("ln -s ../outside door; echo x > door/kept");
    refused("ln -s ../outside/kept door; echo x > door");
}

#[test]
fn truncation_by_name_is_a_write() {
    let free = stage();
    // The first two versions of Landlock do not govern it.
    if !free.script("perl -e 1").is_success() {
        eprintln!("skipped: there is no perl");
        return;
    }
    refused("perl -e 'truncate(\"../outside/kept\", 0) or exit 1'");
}

#[test]
fn what_a_confined_process_starts_is_confined() {
    refused("sh -c 'sh -c \"echo x > ../outside/kept\"'");
    refused("(sh -c 'echo x > ../outside/kept') & wait $!");
    refused("env -i /bin/sh -c 'echo x > ../outside/kept'");
}

#[test]
fn a_confined_process_cannot_widen_its_limits() {
    let stage = stage();
    let inner: Vec<String> = own_call(shim::WORD).into_iter().map(|word| word.into_string().unwrap()).collect();
    let outside = stage.path("outside").into_os_string().into_string().unwrap();
    let repo = stage.path("repo").into_os_string().into_string().unwrap();
    let mut words: Vec<&str> = inner.iter().map(String::as_str).collect();
    words.extend([&outside, &repo, "--", "sh", "-c", "echo x > own; echo x > ../outside/kept"]);
    let Some(outcome) = stage.confined(&words) else { return };
    assert_ne!(outcome.unwrap().exit_code, Some(0));
    assert_eq!(stage.read("repo/own").as_deref(), Some("x\n"));
    assert_eq!(stage.read("outside/kept").as_deref(), Some("kept"));
}

#[test]
fn a_pipe_that_closes_ends_who_writes_it() {
    let Some(outcome) = stage().confined_script("yes | head -n 1") else { return };
    assert_eq!((outcome.stdout.as_str(), outcome.stderr.as_str()), ("y\n", ""));
}

#[test]
fn caches_can_be_written_and_the_rest_of_the_home_cannot() {
    let mut stage = stage();
    for folder in
        ["home/.cargo/registry", "home/.cargo/bin", "home/.cache", "home/.npm", "home/.ssh", "go/pkg", "go/bin"]
    {
        stage.write(&format!("{folder}/kept"), "kept");
    }
    stage.set("GOPATH", stage.path("go"));
    let script = "for folder in ~/.cargo/registry ~/.cargo/bin ~/.cache ~/.npm ~/.ssh ~ \"$GOPATH/pkg\" \"$GOPATH/bin\"
        do if (echo x > \"$folder/kept\") 2>/dev/null; then echo yes; else echo no; fi; done";
    let Some(outcome) = stage.confined_script(script) else { return };
    assert_eq!(outcome.stdout, "yes\nno\nyes\nyes\nno\nno\nyes\nno\n");
}

#[test]
fn without_landlock_it_runs_and_says_so_or_does_not_run() {
    let stage = stage();
    let root = stage.path("repo");
    let words = ["sh", "-c", "echo x > ../outside/new"];
    let outcome = stage.run_if(&words, Confinement::Repo { root: root.clone() }, false).unwrap();
    assert_eq!((outcome.exit_code, outcome.notes.as_slice()), (Some(0), [ProcessNote::Unconfined].as_slice()));
    let words = ["sh", "-c", "echo x > ../outside/newer"];
    let refused = stage.run_if(&words, Confinement::Require { root }, false).unwrap_err();
    let why = "`sh` was not started: what it may write cannot be limited, as this system has no Landlock";
    assert_eq!((refused.why.as_str(), stage.read("outside/newer")), (why, None));
}

#[test]
fn a_root_that_is_not_there_is_refused() {
    if !crate::is_supported() {
        eprintln!("skipped: this kernel has no Landlock");
        return;
    }
    let stage = stage();
    let refused = stage.run(&["true"], Confinement::Repo { root: stage.path("nowhere") }).unwrap_err();
    assert!(refused.why.contains("there is no folder"), "{refused}");
}

#[test]
fn a_program_cannot_widen_what_the_next_one_may_write() {
    let mut stage = stage();
    stage.write("home/.cache/go-build/kept", "kept");
    stage.set("GOCACHE", stage.path("home/.cache/go-build"));
    let Some(outcome) = stage.confined_script("rm -r \"$GOCACHE\" && ln -s \"$PWD/../outside\" \"$GOCACHE\"") else {
        return;
    };
    assert_eq!(outcome.exit_code, Some(0), "{}", outcome.stderr);
    let outcome = stage.confined_script("echo x > \"$GOCACHE/kept\"").unwrap();
    assert_ne!(outcome.exit_code, Some(0));
    assert_eq!(stage.read("outside/kept").as_deref(), Some("kept"));
}

#[test]
fn what_can_be_written_is_there_and_named_once() {
    let mut stage = stage();
    stage.write("home/.cache/uv/kept", "kept");
    stage.set("UV_CACHE_DIR", stage.path("home/.cache/uv"));
    stage.set("DENO_DIR", "/");
    stage.set("GOCACHE", "off");
    stage.set("PIP_CACHE_DIR", stage.path("home/.cache/../../outside"));
    let found = writable(&stage.path("repo"), &|name| stage.get(name));
    let mut expected =
        vec![PathBuf::from("/dev/null"), stage.path("home/.cache"), stage.path("repo"), stage.path("tmp")];
    expected.sort();
    assert_eq!(found, expected);

    stage.set("TMPDIR", "relative");
    assert!(writable(&stage.path("repo"), &|name| stage.get(name)).contains(&PathBuf::from("/tmp")));
    // As wide as the caller has it, if not wider.
    assert_eq!(writable(Path::new("/"), &|_| None), [Path::new("/")]);
}
