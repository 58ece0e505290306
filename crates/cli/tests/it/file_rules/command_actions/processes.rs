//! Whether and how often a rule's command runs, and what happens to processes that it leaves behind.

use std::fs;

use testkit::Reply;

use super::{rule, runs, text, with_script};
use crate::file_rules::{commit, repository, stop, stop_of, summary, told};

#[test]
fn a_formatter_passes_and_is_run_twice_only_where_it_changed_something() {
    let project = with_script(
        "command: 'sh tools/run.sh {file}'",
        "echo run >> runs.log; tr a-z A-Z < \"$1\" > x.log && cat x.log > \"$1\"\n",
    );
    project.file("src/a.py", "shout\n");
    assert_eq!(stop(&project).stdout, "");
    assert_eq!(text(&project, "src/a.py"), "SHOUT\n");
    assert_eq!(runs(&project), 2);
    assert_eq!(summary(&project), "passed 0x run: src/a.py");
    project.file("src/a.py", "LOUD\n");
    assert_eq!(stop(&project).stdout, "");
    assert_eq!(runs(&project), 3);
}

#[test]
fn sessions_that_end_at_once_wait_for_each_other() {
    let project = with_script("command: 'sh tools/run.sh {file}', timeout: 1s", "sleep 0.4\n");
    project.file("src/a.py", "changed\n");
    std::thread::scope(|scope| {
        for number in 0..6 {
            let project = &project;
            scope.spawn(move || {
                assert_eq!(stop_of(project, &format!("session-{number}"), "Done.").stdout, "", "{number}");
            });
        }
    });
}

#[test]
fn a_repositorys_command_is_not_run_until_a_person_accepts_it() {
    let project = repository();
    project.rule("run", &rule("command: 'sh tools/run.sh {file}'")).file("tools/run.sh", "touch ran\n");
    commit(&project, "Begin");
    project.file("src/a.py", "new\n");
    insta::assert_snapshot!(stop(&project).transcript(), @r#"
    exit 0
    --- stdout
    {"systemMessage":"Linchpin: .linchpin/rules/run.md: ignored until a person trusts it: runs a command (`linchpin trust`)"}
    --- stderr
    "#);
    insta::assert_snapshot!(project.run(&["check", "--fix"]).transcript(), @"
    exit 0
    --- stdout
    Note: .linchpin/rules/run.md: ignored until a person trusts it: runs a command (`linchpin trust`).
    No file rules are in force.
    --- stderr
    ");
    assert!(!project.root().join("ran").exists());
    assert_eq!(crate::file_rules::queue(&project).len(), 0);
    insta::assert_snapshot!(project.run(&["trust", "--yes"]).transcript(), @"
    exit 0
    --- stdout
    .linchpin/rules/run.md: ignored until a person trusts it: runs a command
        name: Run it
        trigger: '**/*.py'
        action: {command: 'sh tools/run.sh {file}'}

    Accepted. The acceptance is valid until one of these parts changes.
    --- stderr
    ");
    assert_eq!(stop(&project).stdout, "");
    assert!(project.root().join("ran").exists());
    // A changed command has not been accepted. A running session keeps the accepted one.
    fs::remove_file(project.root().join("ran")).expect("a file");
    project.rule("run", &rule("command: 'sh tools/run.sh {file} --now'")).file("src/b.py", "new\n");
    let reply = stop_of(&project, "session-2", "Done.");
    assert!(told(&reply).contains("ignored until a person trusts it: runs a command"), "{}", reply.stdout);
    assert!(!project.root().join("ran").exists());
}

#[test]
fn nothing_is_run_in_observe_mode() {
    let project = with_script("command: 'sh tools/run.sh {file}'", "echo run >> runs.log\n");
    project.config("mode: observe\n");
    project.run(&["trust", "--yes"]);
    project.file("src/a.py", "changed\n");
    stop(&project);
    assert_eq!(runs(&project), 0);
}

#[test]
fn a_rule_of_the_users_own_needs_nobodys_trust() {
    let project = repository();
    commit(&project, "Begin");
    project.user_rule("mine", &rule("command: 'touch ran'")).file("src/a.py", "new\n");
    assert_eq!(stop(&project).stdout, "");
    assert!(project.root().join("ran").exists());
}

#[test]
fn two_processes_never_run_it_for_one_file_at_once() {
    let script = "mkdir busy.log || exit 9; sleep 0.1; rmdir busy.log; echo run >> runs.log\n";
    let project = with_script("command: 'sh tools/run.sh {file}'", script);
    project.file("src/a.py", "changed\n");
    let replies: Vec<Reply> = std::thread::scope(|scope| {
        let stopping = ["one", "two", "three"];
        let stopping = stopping.map(|session| {
            scope.spawn({
                let project = &project;
                move || stop_of(project, session, "Done.")
            })
        });
        stopping.map(|reply| reply.join().expect("a reply")).into()
    });
    for reply in replies {
        assert_eq!(reply.stdout, "");
    }
    assert!((1..=3).contains(&runs(&project)));
}

#[test]
fn leftover_processes_of_a_command_are_killed() {
    let project = with_script(
        "command: 'sh tools/run.sh {file}'",
        "( sleep 2; echo late >> runs.log ) > /dev/null 2>&1 &\necho run >> runs.log\n",
    );
    project.file("src/a.py", "changed\n");
    assert_eq!(stop(&project).stdout, "");
    let end = std::time::Instant::now() + std::time::Duration::from_secs(3);
    while std::time::Instant::now() < end {
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    assert_eq!(text(&project, "runs.log"), "run\n");
}
