//! The sandbox of rules' commands.

use std::fs;

use testkit::TestProject;

use super::{commit, notice, only_entry, repository, stop};

fn with_script(script: &str) -> TestProject {
    let project = repository();
    project.rule("run", "---\ntrigger: src/**\naction: {command: 'sh tools/run.sh {file}'}\n---\nNo.\n");
    project.file("tools/run.sh", script);
    commit(&project, "Begin");
    assert_eq!(project.run(&["trust", "--yes"]).code, Some(0));
    project.file("src/a.py", "new\n");
    project
}

#[test]
fn a_command_cannot_write_outside_of_the_repository() {
    let project =
        with_script("echo x > \"$TMPDIR/scratch\" || exit 7\necho x > inside.txt || exit 8\necho x > \"$HOME/evil\"\n");
    let reply = stop(&project);
    assert!(project.root().join("inside.txt").exists());
    assert!(project.home().join("../tmp/scratch").exists());
    if project.home().join("evil").exists() {
        // Without Landlock, the command runs unrestricted, and that is reported.
        assert!(notice(&reply).contains("was not limited"), "{}", reply.stdout);
        eprintln!("skipped: this kernel has no Landlock");
        return;
    }
    let reason = reply.reason();
    assert!(reason.contains("exit code 2") || reason.contains("exit code 1"), "{reason}");
    assert!(reason.to_lowercase().contains("permission denied"), "{reason}");
    assert_eq!(only_entry(&project).1["status"], "failed");
}

#[test]
fn a_person_can_switch_the_sandbox_off() {
    let project = with_script("echo x > \"$HOME/good\"\n");
    project.config("sandbox: off\n");
    // Without trust, `sandbox: off` in the repository has no effect.
    let reply = stop(&project);
    let is_confined = !project.home().join("good").exists();
    assert!(is_confined || notice(&reply).contains("was not limited"), "{}", reply.stdout);
    project.run(&["trust", "--yes"]);
    project.file("src/a.py", "changed\n");
    assert_eq!(stop(&project).stdout, "");
    assert!(project.home().join("good").exists());
}

#[test]
fn a_change_of_the_policy_by_a_command_is_reported() {
    let project = with_script("mkdir -p .linchpin/rules && echo '---' > .linchpin/rules/extra.md\n");
    let reply = stop(&project);
    insta::assert_snapshot!(reply.reason(), @r#"
    The following rules require attention:

    ## run
    `sh tools/run.sh src/a.py`: the command changed policy files, which a rule's command must not do: `.linchpin/rules/extra.md`; ask a person to undo the change

    No.

    If a rule does not apply, run `linchpin ack run --reason "…"`.
    "#);
    insta::assert_snapshot!(notice(&reply), @"Linchpin: rule `run`: the command changed policy files, which a rule's command must not do: `.linchpin/rules/extra.md`; ask a person to undo the change");
    assert_eq!(only_entry(&project).1["status"], "failed");
}

#[test]
fn programs_that_a_command_adds_to_gits_configuration_are_not_run() {
    // The command may write in the repository, which includes git's configuration.
    let project = with_script(
        "git config core.fsmonitor ./tools/spy.sh; echo 'touch spied' > tools/spy.sh; chmod +x tools/spy.sh\n",
    );
    stop(&project);
    stop(&project);
    assert!(!project.root().join("spied").exists());
}

#[test]
fn a_command_has_an_empty_stdin() {
    let project = with_script("cat > read.txt; test ! -s read.txt\n");
    assert_eq!(stop(&project).stdout, "");
    assert_eq!(fs::read_to_string(project.root().join("read.txt")).expect("a file"), "");
}

#[test]
fn with_sandbox_require_no_command_runs_without_a_sandbox() {
    let project = with_script("echo x > inside.txt\n");
    project.config("sandbox: require\n");
    project.run(&["trust", "--yes"]);
    let reply = stop(&project);
    if project.root().join("inside.txt").exists() {
        assert_eq!(reply.stdout, "");
    } else {
        assert!(reply.reason().contains("sandbox"), "{}", reply.stdout);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_command_ends_with_the_hook_that_started_it() {
    for sandbox in ["repo", "off"] {
        let project = with_script("touch begun; sleep 1; touch late\n");
        project.config(&format!("sandbox: {sandbox}\n"));
        project.run(&["trust", "--yes"]);
        let payload =
            super::session_event(&project, "session-1", "Stop", &serde_json::json!({ "stop_hook_active": false }));
        project.file("event.json", payload.to_string());
        let mut hook = project.command(&["hook", "claude"]);
        hook.stdin(fs::File::open(project.root().join("event.json")).expect("a file"));
        let mut hook = hook.stdout(std::process::Stdio::null()).spawn().expect("a hook");
        while !project.root().join("begun").exists() {
            assert_eq!(hook.try_wait().expect("a process"), None);
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        hook.kill().expect("a process");
        hook.wait().expect("a process");
        std::thread::sleep(std::time::Duration::from_millis(1500));
        assert!(!project.root().join("late").exists(), "{sandbox}");
    }
}
