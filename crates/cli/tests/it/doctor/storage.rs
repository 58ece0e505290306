//! `linchpin doctor`: a journal, queue or policy directory that cannot be written.

use std::fs;

use insta::assert_snapshot;
use testkit::TestProject;

use crate::project;

/// Returns the results of `doctor` that are about the journal and other stored data.
fn storage_results(reply: &testkit::ProcessOutput) -> String {
    let report = reply.json();
    let checks = report["checks"].as_array().expect("checks").iter();
    let checks =
        checks.filter_map(|check| Some(format!("{}: {}", check["state"].as_str()?, check["message"].as_str()?)));
    checks
        .filter(|check| ["journal", "kept", "ulimit"].iter().any(|word| check.contains(word)))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn a_journal_that_cannot_be_written_is_reported() {
    let project = project();
    project.decision("ls");
    assert_snapshot!(storage_results(&project.run(&["doctor", "--json"])), @"ok: journal at [BASE]/project/.linchpin/state.db");
    let files = || {
        let mut names: Vec<_> = fs::read_dir(project.root().join(".linchpin")).expect("a directory").collect();
        names.sort_by_key(|entry| entry.as_ref().map(fs::DirEntry::file_name).ok());
        names.into_iter().filter_map(|entry| entry.ok().map(|entry| entry.file_name())).collect::<Vec<_>>()
    };
    let before = files();
    project.run(&["doctor"]);
    assert_eq!(files(), before, "doctor leaves nothing behind");
    let other_connection = rusqlite::Connection::open(project.root().join(".linchpin/state.db")).expect("the journal");
    other_connection.execute_batch("BEGIN IMMEDIATE").expect("a lock");
    assert_snapshot!(storage_results(&project.run(&["doctor", "--json"])), @"bad: the journal is locked by another process");
}

#[test]
fn a_file_size_limit_that_kills_hooks_is_reported() {
    let project = project();
    let doctor = project.command(&[]);
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "ulimit -f 10; exec \"$0\" doctor --json"]).arg(doctor.get_program());
    shell.current_dir(project.root()).env_clear();
    shell.envs(doctor.get_envs().filter_map(|(name, value)| Some((name, value?))));
    assert_snapshot!(storage_results(&project.run_with_stdin(shell, b"")), @"bad: the file size limit (`ulimit -f`) does not let Linchpin write a file");
}

#[cfg(unix)]
fn make_accessible_to_all(directory: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt;

    fs::set_permissions(directory, fs::Permissions::from_mode(0o777)).expect("a mode");
    for entry in fs::read_dir(directory).expect("a directory").flatten() {
        let kind = entry.file_type().expect("a kind");
        if kind.is_dir() {
            make_accessible_to_all(&entry.path());
        } else if kind.is_file() {
            let mode = if entry.path().extension().is_none() { 0o777 } else { 0o666 };
            fs::set_permissions(entry.path(), fs::Permissions::from_mode(mode)).expect("a mode");
        }
    }
}

/// Returns a command that runs `linchpin` as a user whom file permissions restrict. Root can write everywhere, so if
/// the tests run as root, the command runs as `nobody`. It then runs a copy of the program, because `nobody` might be
/// unable to read the program's own directory.
#[cfg(unix)]
fn command_without_root(project: &TestProject, arguments: &[&str]) -> std::process::Command {
    use std::os::unix::fs::MetadataExt;
    use std::os::unix::process::CommandExt;

    const NOBODY: u32 = 65534;
    let command = project.command(arguments);
    if project.root().metadata().expect("a directory").uid() != 0 {
        return command;
    }
    let base = project.root().parent().expect("a directory").to_owned();
    let program = base.join("linchpin");
    if !program.exists() {
        // Another process copies the file. If this process wrote it, child processes of parallel tests could inherit
        // the open file, and the system would refuse to run it ("text file busy").
        let copied = std::process::Command::new("cp").arg(command.get_program()).arg(&program).status();
        assert!(copied.expect("a copy").success());
    }
    make_accessible_to_all(&base);
    let mut unprivileged = std::process::Command::new(&program);
    unprivileged.args(arguments).current_dir(project.root()).env_clear().uid(NOBODY).gid(NOBODY);
    unprivileged.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    unprivileged
}

#[cfg(unix)]
fn set_mode(path: &std::path::Path, mode: u32) {
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).expect("a mode");
}

#[test]
#[cfg(unix)]
fn a_read_only_policy_directory_is_reported() {
    for has_journal in [true, false] {
        let project = project();
        if has_journal {
            project.decision("ls");
        }
        let doctor = command_without_root(&project, &["doctor", "--json"]);
        let policy = project.root().join(".linchpin");
        set_mode(&policy, 0o555);
        for file in fs::read_dir(&policy).expect("a directory").flatten().filter(|entry| entry.path().is_file()) {
            set_mode(&file.path(), 0o444);
        }
        let reply = project.run_with_stdin(doctor, b"");
        set_mode(&policy, 0o755);
        let results = storage_results(&reply);
        assert!(
            results.contains("bad: the journal cannot be written: it is read-only"),
            "{results}\n{}",
            reply.transcript()
        );
        assert!(results.contains("so the demands of file rules are kept in "), "{results}");
    }
}

#[test]
#[cfg(unix)]
fn a_read_only_journal_in_a_writable_directory_is_reported() {
    let project = project();
    project.decision("ls");
    let doctor = command_without_root(&project, &["doctor", "--json"]);
    set_mode(&project.root().join(".linchpin/state.db"), 0o444);
    let reply = project.run_with_stdin(doctor, b"");
    assert_snapshot!(storage_results(&reply), @"bad: the journal cannot be written: it is read-only");
}

#[test]
fn a_queue_that_cannot_be_written_is_reported() {
    let project = project();
    project.decision("ls");
    project.file(".linchpin/tmp", "in the way\n");
    let results = |reply: testkit::ProcessOutput| {
        let lines = reply.stdout.lines().filter(|line| line.contains("file rules") || line.contains("delete it"));
        without_project_digest(&lines.collect::<Vec<_>>().join("\n"))
    };
    assert_snapshot!(results(project.run(&["doctor"])), @"
    note  [BASE]/project/.linchpin/tmp is not a writable folder, so the demands of file rules are kept in [BASE]/state/linchpin/projects/[PROJECT]/tmp
          delete it, or make it writable
    ");
    for directory in fs::read_dir(project.state().join("projects")).expect("a directory").flatten() {
        fs::write(directory.path().join("tmp"), "in the way\n").expect("a file");
    }
    let reply = project.run(&["doctor"]);
    assert_eq!(reply.code, Some(1));
    assert_snapshot!(results(reply), @"
    bad   the demands of file rules cannot be written to [BASE]/state/linchpin/projects/[PROJECT]/tmp: not a directory
          until it can be written, file rules are skipped when an agent stops
    ");
}

/// Replaces the digest in the path of a project's directory in the user's state.
fn without_project_digest(text: &str) -> String {
    let mut parts = text.split("/projects/");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + "/projects/[PROJECT]/" + part.split_once('/').map_or("", |(_, rest)| rest))
}
