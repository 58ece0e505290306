//! `linchpin allow`: a person allows one refused call.

use std::thread;

use serde_json::json;

use super::{NO_DANGER, project, project_without_policy};

#[test]
fn an_allowed_call_passes_once() {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    insta::assert_snapshot!(project.hook("claude", &project.bash_payload("danger --all")).reason(), @"
    Blocked by Linchpin rule `no-danger`: Danger is not for agents. Use `safety`. Matched: `danger --all`

    A person can allow this call once: `linchpin allow 1`
    ");
    insta::assert_snapshot!(project.run(&["allow", "1", "--yes"]).transcript(), @"
    exit 0
    --- stdout
    Bash, refused in session session-1 of claude
        danger --all

    block no-danger: Danger is not for agents. Use `safety`. Matched: `danger --all`

    Allowed once: the agent's next try of this call will pass.
    --- stderr
    ");
    // The allowance is used up, and does not apply to other calls.
    assert_eq!(project.decision("danger"), "deny");
    insta::assert_snapshot!(project.hook("claude", &project.bash_payload("danger --all")).transcript(), @"
    exit 0
    --- stdout
    --- stderr
    ");
    assert_eq!(project.decision("danger --all"), "deny");
    let log = project.run(&["log"]).stdout;
    let shown: Vec<String> = log.lines().map(super::commands::without_time).collect();
    insta::assert_snapshot!(shown.join("\n"), @"
    block     1   claude before_tool Bash danger --all
          block no-danger
    note      2   claude allow 1, once
    block     3   claude before_tool Bash danger
          block no-danger
    block     4   claude before_tool Bash danger --all
          not enforced: allowed by a person (`linchpin allow 1`)
          block no-danger
    block     5   claude before_tool Bash danger --all
          block no-danger
    ");
    insta::assert_snapshot!(project.run(&["allow", "4", "--yes"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: event 4 was not refused: allowed by a person (`linchpin allow 1`)
    help: each refusal shows its number; `linchpin log --level ask` lists the refusals of this project
    ");
}

#[test]
fn an_allowed_call_passes_for_a_session() {
    let project = project();
    project.rule("generated", "---\nwrites: ['dist/**']\naction: ask\n---\nMade by the build.\n");
    let write = |session: &str, content: &str| {
        let input = json!({ "file_path": project.root().join("dist/a.js"), "content": content });
        let mut event = project.tool_payload("Write", &input);
        event["session_id"] = json!(session);
        project.hook("claude", &event).decision()
    };
    assert_eq!(write("session-1", "x"), "ask");
    insta::assert_snapshot!(project.run(&["allow", "1", "--session", "--yes"]).transcript(), @"
    exit 0
    --- stdout
    Write, refused in session session-1 of claude
        [BASE]/project/dist/a.js

    ask generated: Made by the build. Matched: `dist/a.js`

    Allowed for this session: this call passes each time.
    --- stderr
    ");
    assert_eq!(write("session-1", "x"), "allow");
    assert_eq!(write("session-1", "x"), "allow");
    assert_eq!(write("session-1", "y"), "ask");
    assert_eq!(write("session-2", "x"), "ask");
    let grant = std::fs::read_dir(project.state().join("projects")).expect("projects").next().expect("one");
    let grant = grant.expect("a directory").path().join("allowed");
    let file = std::fs::read_dir(grant).expect("grants").next().expect("one").expect("a file");
    let mode = std::os::unix::fs::PermissionsExt::mode(&file.metadata().expect("metadata").permissions());
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn one_allowance_lets_one_of_concurrent_hooks_pass() {
    let project = project();
    project.config("deadline: 20s\n").rule("no-danger", NO_DANGER);
    assert_eq!(project.decision("danger"), "deny");
    for round in 0..3 {
        project.run(&["allow", "1", "--yes"]);
        let decisions: Vec<String> = thread::scope(|scope| {
            let hooks: Vec<_> = (0..8).map(|_| scope.spawn(|| project.decision("danger"))).collect();
            hooks.into_iter().map(|hook| hook.join().expect("a hook")).collect()
        });
        assert_eq!(decisions.iter().filter(|decision| *decision == "allow").count(), 1, "round {round}: {decisions:?}");
    }
}

#[test]
fn an_allowed_call_passes_even_if_its_use_cannot_be_recorded() {
    let project = project();
    project.config("deadline: 1s\n").rule("no-danger", NO_DANGER);
    assert_eq!(project.decision("danger"), "deny");
    project.run(&["allow", "1", "--yes"]);
    let other_connection = rusqlite::Connection::open(project.root().join(".linchpin/state.db")).expect("the journal");
    other_connection.execute_batch("BEGIN IMMEDIATE").expect("the lock");
    let reply = project.hook("claude", &project.bash_payload("danger"));
    assert_eq!(reply.decision(), "allow", "{}", reply.transcript());
    other_connection.execute_batch("COMMIT").expect("no lock");
    assert_eq!(project.decision("danger"), "deny");
}

#[test]
fn invalid_allowances_are_errors() {
    let project = project();
    project.rule("no-danger", NO_DANGER).rule("wait", "---\non: stop\naction: block\n---\nNot yet.\n");
    insta::assert_snapshot!(project.run(&["allow", "1", "--yes"]).stderr, @"
    error: there is no journal yet for `[BASE]/project`
    help: the first event of an agent's hook creates it; `linchpin doctor` shows whether a hook is installed
    ");
    project.decision("ls");
    project.decision("danger");
    project.hook("claude", &project.event_payload("Stop", &json!({ "stop_hook_active": false })));
    for id in ["9", "1", "3"] {
        assert_eq!(project.run(&["allow", id, "--yes"]).code, Some(2));
    }
    insta::assert_snapshot!(project.run(&["allow", "9", "--yes"]).stderr, @"
    error: the journal has no event 9
    help: each refusal shows its number; `linchpin log --level ask` lists the refusals of this project
    ");
    insta::assert_snapshot!(project.run(&["allow", "1", "--yes"]).stderr, @"
    error: event 1 was not refused
    help: each refusal shows its number; `linchpin log --level ask` lists the refusals of this project
    ");
    insta::assert_snapshot!(project.run(&["allow", "3", "--yes"]).stderr, @r#"
    error: event 3 is a held stop, not a tool call
    help: acknowledge its rule: `linchpin ack wait --reason "…"`
    "#);
    // Without a terminal, `allow` cannot ask the person, so it allows nothing.
    insta::assert_snapshot!(project.run(&["allow", "2"]).transcript(), @"
    exit 2
    --- stdout
    Bash, refused in session session-1 of claude
        danger

    block no-danger: Danger is not for agents. Use `safety`. Matched: `danger`

    --- stderr
    error: cannot ask for confirmation without a terminal
    help: read the call, then run `linchpin allow 2 --yes`
    ");
    insta::assert_snapshot!(project.run(&["allow", "2", "--json", "--yes"]).stdout, @r#"{"allowed":2,"span":"once","agent":"claude","session":"session-1","tool":"Bash","command":"danger","paths":[]}"#);
}

#[test]
fn a_journal_of_another_project_allows_nothing_here() {
    let (here, elsewhere) = (project(), project());
    elsewhere.rule("no-danger", NO_DANGER);
    elsewhere.decision("danger");
    let journal = std::fs::read(elsewhere.root().join(".linchpin/state.db-wal")).expect("a journal");
    here.file(".linchpin/state.db-wal", journal);
    let journal = std::fs::read(elsewhere.root().join(".linchpin/state.db")).expect("a journal");
    here.file(".linchpin/state.db", journal);
    let error = here.run(&["allow", "1", "--yes"]).stderr;
    insta::assert_snapshot!(elsewhere.redacted(&error), @"
    error: event 1 belongs to another project, `[BASE]/project`
    help: run the command in that project
    ");
}

#[test]
fn an_agent_cannot_allow_pause_or_resume() {
    let project = project();
    for arguments in [&["allow", "1", "--yes"][..], &["pause", "1h", "--reason", "x"], &["resume"]] {
        let mut command = project.command(arguments);
        command.env("CODEX_THREAD_ID", "t");
        let reply = project.run_with_stdin(command, b"");
        assert_eq!(reply.code, Some(2));
        assert!(reply.stderr.contains("only people may run"), "{}", reply.stderr);
    }
}

#[test]
fn agents_may_not_run_commands_for_people() {
    let project = project();
    for command in [
        "linchpin allow 17",
        "cd x && /usr/local/bin/linchpin --json pause 1h --reason x",
        "(linchpin resume)",
        "sudo linchpin approve x",
        "linchpin stop",
        "linchpin runs stop 3",
        "linchpin log --limit 3 prune",
        "linchpin rules disable hard-reset",
        "linchpin rules --json accept x",
        "linchpin init",
        "linchpin hook claude",
    ] {
        assert_eq!(project.decision(command), "deny", "{command}");
    }
    for command in [
        "linchpin ack wait --reason 'not now'",
        "linchpin rules list",
        "linchpin rules which disable",
        "linchpin rules propose x",
        "linchpin status",
        "linchpin explain last",
        "linchpin log --limit 3",
        "linchpin validate",
        "linchpin test",
        "linchpin replay",
        "linchpin runs",
    ] {
        assert_eq!(project.decision(command), "allow", "{command}");
    }
}

#[test]
fn allow_works_with_only_a_user_policy() {
    let project = project_without_policy();
    project.user_rule("no-danger", NO_DANGER);
    assert_eq!(project.decision("danger"), "deny");
    assert_eq!(project.run(&["allow", "1", "--yes"]).code, Some(0));
    assert_eq!(project.decision("danger"), "allow");
    assert_eq!(project.decision("danger"), "deny");
}

#[test]
fn the_log_shows_why_an_allow_rule_approved_nothing() {
    let project = project();
    project.user_rule("ok", "---\ncommand_pattern: '^(cargo|ls)( |$)'\naction: allow\n---\nFine.\n");
    project.user_rule("branches", "---\nrewrites: [topic]\naction: allow\n---\nFine.\n");
    project.user_rule("careful", "---\ncommand_pattern: '^ls -x'\naction: warn\n---\nMind.\n");
    for command in [
        "cargo test",
        "cargo test > x",
        "A=1 cargo test",
        "./cargo test; ls",
        "sudo cargo test",
        "cargo test \"$X\"",
        "cargo test && make",
        "X=1; cargo test",
        "for x in a; do cargo test; done",
        "cargo test 'x",
        "git push --force origin topic",
        "ls -x",
    ] {
        project.hook("claude", &project.bash_payload(command));
    }
    let log = project.run(&["log"]).stdout;
    let timeless =
        |line: &str| line.split_once("  20").map_or(line.to_owned(), |(id, rest)| format!("{id} {}", &rest[18..]));
    insta::assert_snapshot!(log.lines().map(timeless).collect::<Vec<_>>().join("\n"), @r#"
    allow     1  claude before_tool Bash cargo test
          allow ok
    allow     2  claude before_tool Bash cargo test > x
          allow ok: matched, but approves nothing: it writes a file
    allow     3  claude before_tool Bash A=1 cargo test
          allow ok: matched, but approves nothing: it sets variables
    allow     4  claude before_tool Bash ./cargo test; ls
          allow ok: matched, but approves nothing: its program is not a plain name
    allow     5  claude before_tool Bash sudo cargo test
          allow ok: matched, but approves nothing: another program runs it
    allow     6  claude before_tool Bash cargo test "$X"
          allow ok: matched, but approves nothing: the command has words that are only known when it runs
    allow     7  claude before_tool Bash cargo test && make
          allow ok: matched, but approves nothing: `make` is not covered
    allow     8  claude before_tool Bash X=1; cargo test
          allow ok: matched, but approves nothing: part of the command sets variables or writes a file without a program
    allow     9  claude before_tool Bash for x in a; do cargo test; done
          allow ok: matched, but approves nothing: part of the command sets variables or writes a file without a program
    ask      10  claude before_tool Bash cargo test 'x
          ask protect-guardrails
    allow    11  claude before_tool Bash git push --force origin topic
          allow branches: matched, but approves nothing: conditions on branches or paths never cover a shell command
    warn     12  claude before_tool Bash ls -x
          warn careful
          allow ok: matched, but approves nothing: a stricter rule also matched
    "#);
    let explained = project.run(&["explain", "event", "2"]).stdout;
    insta::assert_snapshot!(explained.lines().nth(1).expect("a line"), @"  allow by ok: matched, but approves nothing: it writes a file; the rule has not changed");
}
