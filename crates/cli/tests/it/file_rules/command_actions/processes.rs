//! Whether and how often a rule's command runs, and what happens to processes that it leaves behind.

use std::fs;

use testkit::ProcessOutput;

use super::{read_file, rule_with_action, run_count, with_script};
use crate::file_rules::{commit, notice, repository, stop, stop_in_session, summary};

#[test]
fn a_formatter_runs_again_only_if_it_changed_the_file() {
    let project = with_script(
        "command: 'sh tools/run.sh {file}'",
        "echo run >> runs.log; tr a-z A-Z < \"$1\" > x.log && cat x.log > \"$1\"\n",
    );
    project.file("src/a.py", "shout\n");
    assert_eq!(stop(&project).stdout, "");
    assert_eq!(read_file(&project, "src/a.py"), "SHOUT\n");
    assert_eq!(run_count(&project), 2);
    assert_eq!(summary(&project), "passed 0x run: src/a.py");
    project.file("src/a.py", "LOUD\n");
    assert_eq!(stop(&project).stdout, "");
    assert_eq!(run_count(&project), 3);
}

#[test]
fn sessions_that_stop_concurrently_wait_for_each_other() {
    let project = with_script("command: 'sh tools/run.sh {file}', timeout: 1s", "sleep 0.4\n");
    project.file("src/a.py", "changed\n");
    std::thread::scope(|scope| {
        for number in 0..6 {
            let project = &project;
            scope.spawn(move || {
                assert_eq!(stop_in_session(project, &format!("session-{number}"), "Done.").stdout, "", "{number}");
            });
        }
    });
}

#[test]
fn a_repositorys_command_is_not_run_until_a_person_accepts_it() {
    let project = repository();
    project.rule("run", &rule_with_action("command: 'sh tools/run.sh {file}'")).file("tools/run.sh", "touch ran\n");
    commit(&project, "Begin");
    project.file("src/a.py", "new\n");
    insta::assert_snapshot!(stop(&project).transcript(), @r#"
    exit 0
    --- stdout
    {"systemMessage":"Linchpin: .linchpin/rules/run.md: this rule is ignored until a person runs `linchpin trust`, because it runs a command"}
    --- stderr
    "#);
    insta::assert_snapshot!(project.run(&["check", "--fix"]).transcript(), @"
    exit 0
    --- stdout
    Note: .linchpin/rules/run.md: this rule is ignored until a person runs `linchpin trust`, because it runs a command.
    No file rules are in force.
    --- stderr
    ");
    assert!(!project.root().join("ran").exists());
    assert_eq!(crate::file_rules::queue(&project).len(), 0);
    insta::assert_snapshot!(project.run(&["trust", "--yes"]).transcript(), @"
    exit 0
    --- stdout
    .linchpin/rules/run.md: this rule runs a command
        name: Run it
        trigger: '**/*.py'
        action: {command: 'sh tools/run.sh {file}'}

    Accepted. The acceptance is valid until one of these parts changes.
    --- stderr
    ");
    assert_eq!(stop(&project).stdout, "");
    assert!(project.root().join("ran").exists());
    // No person has accepted the changed command, so a new session ignores the rule. A running session keeps the
    // command that was accepted.
    fs::remove_file(project.root().join("ran")).expect("a file");
    project.rule("run", &rule_with_action("command: 'sh tools/run.sh {file} --now'")).file("src/b.py", "new\n");
    let reply = stop_in_session(&project, "session-2", "Done.");
    assert!(
        notice(&reply).contains("this rule is ignored until a person runs `linchpin trust`, because it runs a command"),
        "{}",
        reply.stdout
    );
    assert!(!project.root().join("ran").exists());
}

#[test]
fn no_command_runs_in_observe_mode() {
    let project = with_script("command: 'sh tools/run.sh {file}'", "echo run >> runs.log\n");
    project.config("mode: observe\n");
    project.run(&["trust", "--yes"]);
    project.file("src/a.py", "changed\n");
    stop(&project);
    assert_eq!(run_count(&project), 0);
}

#[test]
fn a_command_of_a_user_rule_needs_no_trust() {
    let project = repository();
    commit(&project, "Begin");
    project.user_rule("mine", &rule_with_action("command: 'touch ran'")).file("src/a.py", "new\n");
    assert_eq!(stop(&project).stdout, "");
    assert!(project.root().join("ran").exists());
}

#[test]
fn a_command_never_runs_twice_at_once_for_one_file() {
    let script = "mkdir busy.log || exit 9; sleep 0.1; rmdir busy.log; echo run >> runs.log\n";
    let project = with_script("command: 'sh tools/run.sh {file}'", script);
    project.file("src/a.py", "changed\n");
    let replies: Vec<ProcessOutput> = std::thread::scope(|scope| {
        let stops = ["one", "two", "three"];
        let stops = stops.map(|session| {
            scope.spawn({
                let project = &project;
                move || stop_in_session(project, session, "Done.")
            })
        });
        stops.map(|reply| reply.join().expect("a reply")).into()
    });
    for reply in replies {
        assert_eq!(reply.stdout, "");
    }
    assert!((1..=3).contains(&run_count(&project)));
}

#[test]
fn leftover_processes_of_a_command_are_killed() {
    let project = with_script(
        "command: 'sh tools/run.sh {file}'",
        "( sleep 2; echo late >> runs.log ) > /dev/null 2>&1 &\necho run >> runs.log\n",
    );
    project.file("src/a.py", "changed\n");
    assert_eq!(stop(&project).stdout, "");
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(3);
    while std::time::Instant::now() < deadline {
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    assert_eq!(read_file(&project, "runs.log"), "run\n");
}
