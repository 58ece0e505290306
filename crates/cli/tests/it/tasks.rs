//! `linchpin task`: tasks of people and agents, and rules that depend on tasks.

use serde_json::{Value, json};
use testkit::{ProcessOutput, TestProject};

use super::loops::{ONE_HAT_LOOP, with_loop};
use super::rules::run_as_agent;
use super::{project, project_without_policy};

fn task(project: &TestProject, arguments: &[&str]) -> ProcessOutput {
    project.run(&[&["task"], arguments].concat())
}

/// Runs a task command, which must succeed.
fn run_task(project: &TestProject, arguments: &[&str]) {
    let reply = task(project, arguments);
    assert_eq!(reply.code, Some(0), "{arguments:?}: {}", reply.transcript());
}

/// Runs the commands in order, and returns the output of each.
fn transcripts_of(project: &TestProject, commands: &[&[&str]]) -> String {
    let transcripts = commands.iter().map(|arguments| {
        let reply = task(project, arguments);
        let shown: Vec<String> = arguments.iter().map(|word| word.chars().take(60).collect()).collect();
        format!("$ task {}\n{}{}[{}]\n", shown.join(" "), reply.stdout, reply.stderr, reply.code.unwrap_or(-1))
    });
    transcripts.collect()
}

/// A project with three tasks: the second is a child of the first, and the third is blocked by the second.
fn with_tasks() -> TestProject {
    let project = project();
    run_task(&project, &["add", "Build the parser", "--key", "parser", "--description", "As in specs/parser.md."]);
    run_task(&project, &["add", "Write the lexer", "--parent", "t1", "--priority", "1"]);
    run_task(&project, &["add", "Fuzz it", "--blocked-by", "t2"]);
    project
}

#[test]
fn tasks_are_added_started_reviewed_and_closed() {
    let project = project();
    insta::assert_snapshot!(transcripts_of(
        &project,
        &[
            &["list"],
            &["ready"],
            &["add", "Build the parser", "--key", "parser", "--description", "As in specs/parser.md.\nNo recursion."],
            &["add", "Write the lexer", "--parent", "t1", "--priority", "1"],
            &["add", "Fuzz it", "--blocked-by", "t2,t1"],
            &["ensure", "Build the whole parser", "--key", "parser"],
            &["ensure", "Write docs", "--key", "docs", "--priority", "5"],
            &["list"],
            &["ready"],
            &["start", "t2"],
            &["start", "2"],
            &["close", "T2"],
            &["close", "t2"],
            &["fail", "t1"],
            &["fail", "t1"],
            &["review", "t3"],
            &["review", "t3"],
            &["ready"],
            &["list"],
            &["list", "--all"],
            &["show", "t1"],
            &["show", "t3"],
            &["reopen", "t2"],
            &["reopen", "t2"],
            &["close", "t2"],
            &["close", "t3"],
            &["close", "t4"],
            &["list"],
            &["ready"],
        ]
    ));
}

#[test]
fn invalid_changes_of_tasks_are_errors() {
    let project = with_tasks();
    let long = "x".repeat(501);
    insta::assert_snapshot!(transcripts_of(
        &project,
        &[
            &["start", "t9"],
            &["start", "tt2"],
            &["show", "parser"],
            &["start", "t3"],
            &["add", " "],
            &["add", "two\nlines"],
            &["add", &long],
            &["add", "Again", "--key", "parser"],
            &["add", "Lost", "--blocked-by", "t2,t77"],
            &["add", "Lost", "--parent", "t77"],
            &["add", "Urgent", "--priority", "0"],
            &["ensure", "Keyless"],
            &["ensure", "Build", "--key", "parser", "--parent", "t2"],
            &["ensure", "Build", "--key", "parser", "--blocked-by", "t1"],
            &["ensure", "Build", "--key", "parser", "--blocked-by", "t3"],
            &["ensure", "Build", "--key", "lexer", "--blocked-by", "t3", "--parent", "t3"],
            &["close", "t4"],
            &["start", "t4"],
            &["fail", "t4"],
        ]
    ));
    assert_eq!(task(&project, &["list", "--all", "--json"]).json()["tasks"].as_array().map(Vec::len), Some(4));
}

#[test]
fn a_cycle_of_blockers_is_shown() {
    let project = with_tasks();
    run_task(&project, &["ensure", "Fuzz more", "--key", "more", "--blocked-by", "t3"]);
    run_task(&project, &["ensure", "Fuzz first", "--key", "first"]);
    run_task(&project, &["ensure", "Fuzz more", "--key", "more", "--blocked-by", "t5"]);
    insta::assert_snapshot!(
        task(&project, &["ensure", "Fuzz first", "--key", "first", "--blocked-by", "t4"]).transcript()
    );
    insta::assert_snapshot!(task(&project, &["show", "t4"]).transcript());
}

#[test]
fn listing_tasks_without_a_policy_is_an_error() {
    insta::assert_snapshot!(task(&project_without_policy(), &["list"]).transcript());
}

#[test]
fn tasks_as_json() {
    let project = with_tasks();
    let without_times = |reply: &ProcessOutput| {
        let mut value = reply.json();
        let task = value["task"].as_object_mut().expect("a task");
        assert!(task.remove("created").is_some_and(|time| time.is_i64()));
        assert!(task.remove("changed").is_some_and(|time| time.is_i64()));
        value
    };
    let shown = without_times(&task(&project, &["show", "t1", "--json"]));
    insta::assert_snapshot!(serde_json::to_string_pretty(&shown).expect("JSON"));
    let ensured = without_times(&task(&project, &["ensure", "Build", "--key", "parser", "--json"]));
    assert_eq!((&ensured["added"], &ensured["task"]["title"]), (&json!(false), &json!("Build")));
    let ready = task(&project, &["ready", "--json"]).json();
    assert_eq!(ready["tasks"][0]["id"], "t2", "the most urgent");
    let refused = task(&project, &["start", "t3", "--json"]);
    assert_eq!((refused.code, &refused.json()["error"]["kind"]), (Some(1), &json!("TaskState")));
    let closed = without_times(&task(&project, &["close", "t2", "--json"]));
    assert_eq!((&closed["changed"], &closed["task"]["state"]), (&json!(true), &json!("closed")));
}

/// A project with this number of completed runs of a loop: `r1` and so on.
fn with_runs(count: usize) -> TestProject {
    let project = with_loop(ONE_HAT_LOOP, "\"$LINCHPIN_BIN\" emit loop.complete");
    for _ in 0..count {
        let reply = project.run(&["run", "-p", "Do it"]);
        assert_eq!(reply.code, Some(0), "{}", reply.transcript());
    }
    project
}

/// Starts the task `t1` as an agent of this run would.
fn start_task_in(run: &str, project: &TestProject) -> ProcessOutput {
    let mut command = project.command(&["task", "start", "t1"]);
    command.env("LINCHPIN_RUN", run);
    project.run_with_stdin(command, b"")
}

#[test]
fn a_task_started_by_a_run_belongs_to_it() {
    let project = with_runs(2);
    run_task(&project, &["add", "Write the lexer"]);
    assert_eq!(start_task_in("r1", &project).code, Some(0));
    assert_eq!(start_task_in("r1", &project).code, Some(0));
    insta::assert_snapshot!(start_task_in("r2", &project).transcript());
    insta::assert_snapshot!(task(&project, &["show", "t1"]).stdout);
}

#[test]
fn secrets_and_control_characters_are_not_stored_or_shown() {
    let project = project();
    let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    run_task(
        &project,
        &["add", &format!("Rotate GITHUB_TOKEN={token}"), "--description", &format!("was {token}\u{1b}[2J")],
    );
    let shown = task(&project, &["show", "t1"]).stdout;
    assert!(!shown.contains(token) && !shown.contains('\u{1b}') && shown.contains("***"), "{shown}");
    assert_eq!(task(&project, &["add", &"\u{1b}[2J".repeat(2)]).code, Some(2));
}

#[test]
fn a_person_approves_a_task_that_an_agent_marked_for_review() {
    let project = with_tasks();
    let run_as_agent = |arguments: &[&str]| run_as_agent(&project, arguments, "");
    assert_eq!(run_as_agent(&["task", "review", "t1"]).code, Some(0));
    insta::assert_snapshot!(run_as_agent(&["approve", "t1", "--yes"]).transcript());
    insta::assert_snapshot!(project.run(&["approve", "t1"]).transcript());
    insta::assert_snapshot!(project.run(&["approve", "t1", "--yes"]).transcript());
    insta::assert_snapshot!(project.run(&["approve", "t1", "--yes"]).transcript());
    insta::assert_snapshot!(project.run(&["approve", "t9", "--yes"]).transcript());
    insta::assert_snapshot!(project.run(&["approve", "human", "--yes"]).transcript());
}

#[test]
fn concurrent_changes_of_tasks_are_not_lost() {
    let project = with_runs(4);
    let replies: Vec<ProcessOutput> = std::thread::scope(|scope| {
        let writers: Vec<_> = (1..=4)
            .map(|number| {
                let project = &project;
                scope.spawn(move || {
                    run_task(project, &["add", &format!("Own {number}")]);
                    run_task(project, &["ensure", "Shared", "--key", "shared"]);
                    start_task_in(&format!("r{number}"), project)
                })
            })
            .collect();
        writers.into_iter().map(|writer| writer.join().expect("ended")).collect()
    });
    let tasks = task(&project, &["list", "--json"]).json();
    let titles: Vec<&Value> = tasks["tasks"].as_array().expect("tasks").iter().map(|task| &task["title"]).collect();
    assert_eq!(titles.len(), 5, "{titles:?}");
    assert_eq!(replies.iter().filter(|reply| reply.code == Some(0)).count(), 1, "exactly one starts it");
}

/// Returns the decision about a call of `deploy`.
fn deploy_decision(project: &TestProject) -> String {
    project.decision("deploy now")
}

fn with_rule(when: &str) -> TestProject {
    let project = project();
    project.rule("no-deploy", &format!("---\ncommand_pattern: ^deploy\nwhen: {when:?}\n---\nNot yet.\n"));
    assert_eq!(project.run(&["validate"]).code, Some(0), "{when}");
    project
}

#[test]
fn a_rule_counts_tasks() {
    let project = with_rule("tasks.open > 0 or tasks.in_progress > 0 or tasks.failed > 0");
    assert_eq!(deploy_decision(&project), "allow", "without any database");
    run_task(&project, &["add", "Test it"]);
    assert_eq!(deploy_decision(&project), "deny");
    run_task(&project, &["start", "t1"]);
    assert_eq!(deploy_decision(&project), "deny");
    run_task(&project, &["fail", "t1"]);
    assert_eq!(deploy_decision(&project), "deny");
    run_task(&project, &["reopen", "t1"]);
    run_task(&project, &["close", "t1"]);
    assert_eq!(deploy_decision(&project), "allow");
}

#[test]
fn a_rule_can_use_task_tree_complete() {
    let project = with_rule("not task_tree_complete('t1')");
    assert_eq!(deploy_decision(&project), "deny", "a task that is not there is not complete");
    run_task(&project, &["add", "Ship it"]);
    run_task(&project, &["add", "Test it", "--parent", "t1"]);
    assert_eq!(deploy_decision(&project), "deny");
    run_task(&project, &["close", "t2"]);
    assert_eq!(deploy_decision(&project), "allow", "its child is complete");
    let all = with_rule("not task_tree_complete(['t1', 't2']) or not task_tree_complete(None)");
    run_task(&all, &["add", "One"]);
    run_task(&all, &["add", "Two"]);
    run_task(&all, &["close", "t1"]);
    assert_eq!(deploy_decision(&all), "deny");
    run_task(&all, &["close", "t2"]);
    assert_eq!(deploy_decision(&all), "allow");
}

#[test]
fn a_rule_can_use_task_needs_user_review() {
    let project = with_rule("task_needs_user_review('t1')");
    assert_eq!(deploy_decision(&project), "allow");
    run_task(&project, &["add", "Ship it"]);
    assert_eq!(deploy_decision(&project), "allow");
    run_task(&project, &["review", "t1"]);
    assert_eq!(deploy_decision(&project), "deny");
    assert_eq!(project.run(&["approve", "t1", "--yes"]).code, Some(0));
    assert_eq!(deploy_decision(&project), "allow");
}

#[test]
fn a_rule_sees_the_tasks_claimed_by_its_run() {
    let project = with_runs(1);
    project.rule("claim-first", "---\ncommand_pattern: ^ls\nwhen: tasks.claimed == 0\n---\nClaim a task.\n");
    run_task(&project, &["add", "Test it"]);
    let decision_in_run = || {
        let mut command = project.command(&["hook", "claude"]);
        command.env("LINCHPIN_RUN", "r1");
        project.run_with_stdin(command, project.bash_payload("ls -l").to_string().as_bytes()).decision()
    };
    assert_eq!(decision_in_run(), "deny");
    assert_eq!(start_task_in("r1", &project).code, Some(0));
    assert_eq!(decision_in_run(), "allow");
    assert_eq!(project.decision("ls -l"), "deny", "outside of a run nothing is claimed");
}

#[test]
fn replay_judges_task_conditions_by_recorded_facts() {
    let project = with_rule("tasks.open > 0 and not task_tree_complete('t1') and not task_needs_user_review('t1')");
    run_task(&project, &["add", "Test it"]);
    assert_eq!(deploy_decision(&project), "deny");
    run_task(&project, &["close", "t1"]);
    let explained = project.run(&["explain", "last", "--json"]).json();
    let facts = &explained["event"]["facts"];
    assert_eq!(
        (&facts["tasks.open"], &facts["task_tree_complete(t1)"], &facts["task_needs_user_review(t1)"]),
        (&json!(1), &json!(false), &json!(false)),
        "{facts}"
    );
    let replayed = project.run(&["replay"]);
    assert_eq!(replayed.code, Some(0), "{}", replayed.transcript());
    project.rule("no-deploy", "---\ncommand_pattern: ^deploy\nwhen: tasks.failed > 0\n---\nNot yet.\n");
    let undecided = project.run(&["replay", "--json"]);
    assert!(undecided.stdout.contains("tasks.failed"), "{}", undecided.stdout);
}

#[test]
fn unreadable_tasks_are_reported() {
    let project = with_rule("tasks.open > 0");
    run_task(&project, &["add", "Test it"]);
    let directory =
        std::fs::read_dir(project.state().join("projects")).expect("a directory").next().expect("one").expect("it");
    for name in ["work.db", "work.db-wal", "work.db-shm"] {
        let path = directory.path().join(name);
        if name == "work.db" || path.exists() {
            std::fs::write(path, "this is no database at all ".repeat(90)).expect("written");
        }
    }
    let reply = project.hook("claude", &project.bash_payload("deploy now"));
    insta::assert_snapshot!(reply.transcript());
    insta::assert_snapshot!(task(&project, &["list"]).transcript());
    let doctor = project.run(&["doctor"]).stdout;
    assert!(
        doctor.contains("bad   the database of tasks, memories and runs cannot be used: file is not a database\n"),
        "{doctor}"
    );
}

#[test]
fn cases_can_define_tasks() {
    let project = project();
    let rule = "---\ncommand_pattern: ^deploy\nwhen: tasks.open > 0 or not task_tree_complete('t1') or task_needs_user_review('t2')\ntests:\n  \
        - {command: deploy, tasks: {open: 1, complete: [t1]}, expect: block}\n  \
        - {command: deploy, tasks: {complete: [t1]}, expect: allow}\n  \
        - {command: deploy, expect: block}\n  \
        - {command: deploy, tasks: {complete: [t1], needs_review: [t2]}, expect: block}\n---\nNot yet.\n";
    project.rule("no-deploy", rule);
    let tested = project.run(&["test"]);
    assert_eq!(tested.code, Some(0), "{}", tested.transcript());
}

#[test]
fn check_and_workflows_see_tasks() {
    let project = project();
    project.rule(
        "with-docs",
        "---\npair: {trigger: src/a.rs, expects: docs/a.md}\nwhen: tasks.open > 0\n---\nWrite docs.\n",
    );
    project.file("changes", "M\tsrc/a.rs\n");
    let check = || project.run(&["check", "--changed-from", "changes"]);
    let before = check();
    assert_eq!(before.code, Some(0), "{}", before.transcript());
    run_task(&project, &["add", "Write docs"]);
    let after = check();
    assert_eq!(after.code, Some(1), "{}", after.transcript());

    project.file(
        ".linchpin/workflows/ship.yml",
        "start_node: code\nnodes: {code: {prompt: 'Left: {{ tasks.open }}', transitions: [{when: task_tree_complete('t1'), to: done}]}}\n",
    );
    let started = project.run(&["start", "ship"]);
    assert!(started.stdout.contains("Left: 1"), "{}", started.transcript());
    assert_eq!(project.run(&["next"]).code, Some(1));
    let explained = project.run(&["explain", "when", "tasks.open == 1 and tasks.claimed == 0", "--json"]).json();
    assert_eq!(explained["value"], true);
    let with_values = ["explain", "when", "tasks.open", "--with", r#"{"tasks": {"open": 7}}"#, "--json"];
    assert_eq!(project.run(&with_values).json()["value"], 7);
    run_task(&project, &["close", "t1"]);
    let ended = project.run(&["next"]);
    assert_eq!(ended.code, Some(0), "{}", ended.transcript());
}
