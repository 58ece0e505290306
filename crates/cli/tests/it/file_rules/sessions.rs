//! Several sessions in one working tree: file rules ask a session only about its own changes, and about changes of
//! unknown origin.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use testkit::TestProject;

use super::{README_RULE, commit, session_event, stop_in_session, stop_with_message, with_rule};

/// Calls the hooks before and after a tool call, and runs `run` between them.
fn call(project: &TestProject, session: &str, tool: &str, input: &Value, id: &str, run: impl FnOnce()) {
    let fields = json!({ "tool_name": tool, "tool_input": input, "tool_use_id": id });
    assert_eq!(project.hook("claude", &session_event(project, session, "PreToolUse", &fields)).decision(), "allow");
    run();
    let mut fields = fields;
    fields["tool_response"] = json!({ "stdout": "", "stderr": "" });
    project.hook("claude", &session_event(project, session, "PostToolUse", &fields));
}

/// Writes a file that triggers no rule. A session that writes any file is also asked about changes of unknown origin.
fn write_notes(project: &TestProject, session: &str) {
    let input = json!({ "file_path": project.root().join("notes.txt"), "content": "x" });
    call(project, session, "Write", &input, "notes", || {});
}

/// Writes a file whose modification time is earlier than all calls.
fn write_before_any_call(project: &TestProject, path: &str) {
    project.file(path, "changed\n");
    let file = File::options().write(true).open(project.root().join(path)).expect("a file");
    file.set_modified(SystemTime::now() - Duration::from_hours(1)).expect("a time");
}

/// Writes files as a person would, after all events so far.
///
/// File times advance in steps of several milliseconds (the kernel's tick), so a file written right after an event may
/// have an earlier time.
fn write_after_all_events(project: &TestProject, paths: &[&str]) {
    std::thread::sleep(Duration::from_millis(20));
    for path in paths {
        project.file(path, "by hand\n");
    }
}

/// Returns the trigger files that a held stop of this session lists.
fn trigger_files(project: &TestProject, session: &str) -> Vec<String> {
    let reply = stop_in_session(project, session, "Done.");
    let text = if reply.stdout.is_empty() { String::new() } else { reply.reason() };
    text.lines().filter(|line| line.strip_suffix(".py").is_some()).map(str::to_owned).collect()
}

fn with_two_sessions(rule: &str) -> TestProject {
    let project = with_rule("readme", rule);
    let path = |path: &str| project.root().join(path);
    // The sessions write files in three ways: by a call that names the file, by a shell command that names the file,
    // and by a program that a shell command runs.
    call(&project, "one", "Write", &json!({ "file_path": path("src/a.py"), "content": "x" }), "1", || {});
    call(&project, "two", "Bash", &json!({ "command": "cd src && sed -i s/b/c/ b.py" }), "2", || {});
    call(
        &project,
        "one",
        "Edit",
        &json!({ "file_path": path("src/both.py"), "old_string": "x", "new_string": "y" }),
        "3",
        || {},
    );
    call(&project, "two", "Bash", &json!({ "command": "echo y >> src/both.py" }), "4", || {});
    call(&project, "two", "Read", &json!({ "file_path": path("src/a.py") }), "5", || {});
    call(&project, "two", "Bash", &json!({ "command": "make generated" }), "6", || {
        project.file("src/generated.py", "new\n");
    });
    for path in ["src/a.py", "src/b.py", "src/both.py", "src/unknown.py"] {
        write_before_any_call(&project, path);
    }
    project
}

#[test]
fn a_session_that_writes_is_asked_about_its_own_changes_and_those_of_unknown_origin() {
    let project = with_two_sessions(README_RULE);
    assert_eq!(trigger_files(&project, "one"), ["src/a.py", "src/both.py", "src/unknown.py"]);
    assert_eq!(trigger_files(&project, "two"), ["src/b.py", "src/both.py", "src/generated.py", "src/unknown.py"]);
    // A session that has changed nothing is asked about nothing.
    assert_eq!(trigger_files(&project, "three"), [""; 0]);
}

#[test]
fn with_attribute_tree_every_session_is_asked_about_all_changes() {
    let project = with_two_sessions(&README_RULE.replace("safety", "attribute: tree\nsafety"));
    for session in ["one", "two", "three"] {
        let all = ["src/a.py", "src/b.py", "src/both.py", "src/generated.py", "src/unknown.py"];
        assert_eq!(trigger_files(&project, session), all, "{session}");
    }
}

#[test]
fn demands_go_to_the_session_that_made_the_change() {
    let project = with_rule("tests", "---\nset: ['src/{path}.py', 'tests/{path}_test.py']\n---\nTest it.\n");
    let path = |path: &str| project.root().join(path);
    call(&project, "one", "Write", &json!({ "file_path": path("src/a.py"), "content": "x" }), "1", || {});
    call(&project, "two", "Write", &json!({ "file_path": path("src/b.py"), "content": "x" }), "2", || {});
    write_before_any_call(&project, "src/a.py");
    write_before_any_call(&project, "src/b.py");
    insta::assert_snapshot!(stop_in_session(&project, "one", "Done.").reason(), @r#"
    The following rules require attention:

    ## tests
    src/a.py → tests/a_test.py

    Test it.

    If you have done what a rule asks, or it does not apply, write `<promise>tests</promise>` in your last message (outside code), or run `linchpin ack tests --reason "…"`.
    "#);
    insta::assert_snapshot!(stop_in_session(&project, "two", "Done.").reason(), @r#"
    The following rules require attention:

    ## tests
    src/b.py → tests/b_test.py

    Test it.

    If you have done what a rule asks, or it does not apply, write `<promise>tests</promise>` in your last message (outside code), or run `linchpin ack tests --reason "…"`.
    "#);
}

#[test]
fn explain_shows_that_a_session_changed_no_trigger_file() {
    let project = with_rule("readme", README_RULE);
    let path = project.root().join("src/a.py");
    call(&project, "one", "Write", &json!({ "file_path": path, "content": "x" }), "1", || {});
    call(&project, "two", "Bash", &json!({ "command": "ls" }), "2", || {});
    write_before_any_call(&project, "src/a.py");
    assert_eq!(trigger_files(&project, "two"), [""; 0]);
    let explained = project.run(&["explain", "event", "5"]).stdout;
    assert!(
        explained.contains("files                false    this session changed no file that triggers the rule\n"),
        "{explained}"
    );
}

#[test]
fn a_refused_call_does_not_count_as_a_write() {
    let project = with_rule("readme", README_RULE);
    project.rule("not-b", "---\nwrites: src/b.py\n---\nNo.\n");
    let path = project.root().join("src/b.py");
    let fields =
        json!({ "tool_name": "Write", "tool_input": { "file_path": path, "content": "x" }, "tool_use_id": "1" });
    assert_eq!(project.hook("claude", &session_event(&project, "two", "PreToolUse", &fields)).decision(), "deny");
    write_before_any_call(&project, "src/b.py");
    assert_eq!(trigger_files(&project, "one"), ["src/b.py"]);
}

#[test]
fn a_single_session_is_asked_about_all_changes() {
    let project = with_rule("readme", README_RULE);
    call(&project, "session-1", "Bash", &json!({ "command": "./generate.sh" }), "1", || {});
    write_before_any_call(&project, "src/a.py");
    assert_eq!(trigger_files(&project, "session-1"), ["src/a.py"]);
    assert_eq!(stop_with_message(&project, "<promise>readme</promise>").stdout, "");
}

#[test]
fn another_session_may_close_a_demand() {
    let project = with_rule("tests", "---\nset: ['src/{path}.py', 'tests/{path}_test.py']\n---\nTest it.\n");
    let path = |path: &str| project.root().join(path);
    call(&project, "one", "Write", &json!({ "file_path": path("src/a.py"), "content": "x" }), "1", || {});
    call(&project, "two", "Write", &json!({ "file_path": path("tests/a_test.py"), "content": "x" }), "2", || {});
    write_before_any_call(&project, "src/a.py");
    write_before_any_call(&project, "tests/a_test.py");
    // The demand of session `one` is closed, although session `two` changed the test file.
    assert_eq!(stop_in_session(&project, "one", "Done.").stdout, "");
    assert_eq!(stop_in_session(&project, "two", "Done.").stdout, "");
}

/// Calls only the hook before a tool call, so the call stays unfinished.
fn begin_call(project: &TestProject, session: &str, tool: &str, input: &Value, id: &str) {
    let fields = json!({ "tool_name": tool, "tool_input": input, "tool_use_id": id });
    assert_eq!(project.hook("claude", &session_event(project, session, "PreToolUse", &fields)).decision(), "allow");
}

#[test]
fn later_changes_are_not_attributed_to_an_unfinished_call_of_an_ended_session() {
    let project = with_rule("readme", README_RULE);
    write_notes(&project, "other");
    // One call was interrupted, and one was denied by the person.
    begin_call(&project, "gone", "Bash", &json!({ "command": "make" }), "1");
    begin_call(
        &project,
        "gone",
        "Write",
        &json!({ "file_path": project.root().join("src/b.py"), "content": "x" }),
        "2",
    );
    project.hook("claude", &session_event(&project, "gone", "SessionEnd", &json!({ "reason": "other" })));
    write_after_all_events(&project, &["src/a.py", "src/b.py"]);
    assert_eq!(trigger_files(&project, "other"), ["src/a.py", "src/b.py"]);
    assert_eq!(trigger_files(&project, "gone"), ["src/a.py", "src/b.py"]);
}

#[test]
fn later_changes_are_not_attributed_to_an_unfinished_call_before_a_prompt() {
    let project = with_rule("readme", README_RULE);
    write_notes(&project, "other");
    begin_call(&project, "refused", "Bash", &json!({ "command": "make" }), "2");
    begin_call(
        &project,
        "refused",
        "Write",
        &json!({ "file_path": project.root().join("src/b.py"), "content": "x" }),
        "3",
    );
    project.hook("claude", &session_event(&project, "refused", "UserPromptSubmit", &json!({ "prompt": "Wait." })));
    write_after_all_events(&project, &["src/a.py", "src/b.py"]);
    assert_eq!(trigger_files(&project, "other"), ["src/a.py", "src/b.py"]);
}

#[test]
fn an_event_of_an_idle_session_ends_all_its_open_calls() {
    for (name, fields) in [
        ("UserPromptSubmit", json!({ "prompt": "Wait." })),
        ("Stop", json!({ "stop_hook_active": false })),
        ("SessionStart", json!({ "source": "resume" })),
        ("SessionEnd", json!({ "reason": "other" })),
    ] {
        let project = with_rule("readme", README_RULE);
        write_notes(&project, "other");
        begin_call(&project, "broken", "Bash", &json!({ "command": "make" }), "1");
        begin_call(&project, "broken", "Bash", &json!({ "command": "touch src/b.py" }), "2");
        project.hook("claude", &session_event(&project, "broken", name, &fields));
        write_after_all_events(&project, &["src/a.py", "src/b.py"]);
        assert_eq!(trigger_files(&project, "other"), ["src/a.py", "src/b.py"], "{name}");
    }
}

/// A project in which session `one` has written `src/a.py`, promised that the README is accurate, and ended. Its work
/// is merged, and a new branch exists.
fn merged_work_of_an_ended_session() -> TestProject {
    let project = with_rule("readme", README_RULE);
    project.git(&["checkout", "-q", "-b", "first"]);
    let input = json!({ "file_path": project.root().join("src/a.py"), "content": "x" });
    call(&project, "one", "Write", &input, "1", || {
        project.file("src/a.py", "first\n");
    });
    stop_in_session(&project, "one", "<promise>readme</promise>");
    project.hook("claude", &session_event(&project, "one", "SessionEnd", &json!({ "reason": "other" })));
    commit(&project, "First");
    project.git(&["checkout", "-q", "main"]);
    project.git(&["merge", "-q", "first"]);
    project.git(&["checkout", "-q", "-b", "second"]);
    project
}

#[test]
fn a_session_is_asked_about_its_changes_to_a_file_of_an_ended_session() {
    for command in ["./gen.sh", "cargo fmt"] {
        let project = merged_work_of_an_ended_session();
        call(&project, "two", "Bash", &json!({ "command": command }), "2", || {
            project.file("src/a.py", "second\n");
        });
        assert_eq!(trigger_files(&project, "two"), ["src/a.py"], "{command}");
    }
}

#[test]
fn a_change_after_the_last_call_has_an_unknown_origin() {
    let project = merged_work_of_an_ended_session();
    let input = json!({ "file_path": project.root().join("notes.txt"), "content": "x" });
    call(&project, "two", "Write", &input, "2", || {});
    write_after_all_events(&project, &["src/a.py"]);
    assert_eq!(trigger_files(&project, "two"), ["src/a.py"]);
}

#[test]
fn both_sessions_that_wrote_a_file_are_asked_about_it() {
    let project = with_rule("readme", README_RULE);
    let input = json!({ "file_path": project.root().join("src/a.py"), "content": "x" });
    call(&project, "one", "Write", &input, "1", || {
        project.file("src/a.py", "by one\n");
    });
    call(&project, "two", "Bash", &json!({ "command": "./gen.sh" }), "2", || {
        project.file("src/a.py", "by two\n");
    });
    call(&project, "three", "Bash", &json!({ "command": "ls" }), "3", || {});
    assert_eq!(trigger_files(&project, "one"), ["src/a.py"]);
    assert_eq!(trigger_files(&project, "two"), ["src/a.py"]);
    assert_eq!(trigger_files(&project, "three"), [""; 0]);
}

#[test]
fn changes_by_a_formatter_are_attributed_to_the_call_before_them() {
    let project = with_rule("readme", README_RULE);
    let input = json!({ "file_path": project.root().join("src/a.py"), "content": "x" });
    call(&project, "one", "Write", &input, "1", || {});
    project.file("src/a.py", "formatted\n");
    call(&project, "two", "Bash", &json!({ "command": "./gen.sh" }), "2", || {});
    assert_eq!(trigger_files(&project, "two"), [""; 0]);
    assert_eq!(trigger_files(&project, "one"), ["src/a.py"]);
}

#[test]
fn a_deletion_is_attributed_to_the_session_that_deleted_the_file() {
    let project = with_rule("readme", README_RULE);
    let input = json!({ "file_path": project.root().join("src/a.py"), "content": "x" });
    call(&project, "one", "Write", &input, "1", || {});
    call(&project, "two", "Bash", &json!({ "command": "rm src/b.py" }), "2", || {
        fs::remove_file(project.root().join("src/b.py")).expect("a file");
    });
    fs::remove_file(project.root().join("src/a.py")).expect("a file");
    assert_eq!(trigger_files(&project, "one"), ["src/a.py"]);
    assert_eq!(trigger_files(&project, "two"), ["src/a.py", "src/b.py"]);
}

#[test]
fn writes_of_a_running_call_are_attributed_to_its_session() {
    let project = with_rule("readme", README_RULE);
    call(&project, "building", "Bash", &json!({ "command": "ls" }), "1", || {});
    begin_call(&project, "building", "Bash", &json!({ "command": "make" }), "2");
    begin_call(
        &project,
        "building",
        "Write",
        &json!({ "file_path": project.root().join("src/b.py"), "content": "x" }),
        "3",
    );
    // Another call that ends meanwhile does not end these two calls.
    call(&project, "building", "Bash", &json!({ "command": "ls" }), "4", || {});
    project.file("src/a.py", "made\n").file("src/b.py", "written\n");
    assert_eq!(trigger_files(&project, "other"), [""; 0]);
    assert_eq!(trigger_files(&project, "building"), ["src/a.py", "src/b.py"]);
}

#[test]
fn other_sessions_are_not_asked_about_writes_of_a_running_first_call() {
    let project = with_rule("readme", README_RULE);
    begin_call(&project, "building", "Bash", &json!({ "command": "make" }), "1");
    project.file("src/a.py", "made\n");
    assert_eq!(trigger_files(&project, "other"), [""; 0]);
    assert_eq!(trigger_files(&project, "building"), ["src/a.py"]);
}

#[test]
fn a_session_that_only_reads_is_asked_about_nothing() {
    let project = with_rule("readme", README_RULE);
    for path in ["src/a.py", "src/new.py"] {
        write_before_any_call(&project, path);
    }
    let ask = |session: &str| {
        project.hook(
            "claude",
            &session_event(&project, session, "UserPromptSubmit", &json!({ "prompt": "What is this?" })),
        );
    };
    ask("session-1");
    call(&project, "session-1", "Read", &json!({ "file_path": project.root().join("src/a.py") }), "1", || {});
    call(&project, "session-1", "Bash", &json!({ "command": "ls src | grep py && git status" }), "2", || {});
    assert_eq!(trigger_files(&project, "session-1"), [""; 0]);
    // A person edits a file while the session reads.
    project.file("src/b.py", "changed\n");
    assert_eq!(trigger_files(&project, "session-1"), [""; 0]);
    // Even if there are two sessions, file rules ask nothing of a session that only reads. Once a session has written
    // any file, they also ask it about changes of unknown origin.
    ask("two");
    assert_eq!(trigger_files(&project, "two"), [""; 0]);
    call(
        &project,
        "two",
        "Write",
        &json!({ "file_path": project.root().join("notes.txt"), "content": "x" }),
        "3",
        || {},
    );
    assert_eq!(trigger_files(&project, "two"), ["src/a.py", "src/b.py", "src/new.py"]);
}

/// Reports that a session began and that a person asked it something.
fn begin_session(project: &TestProject, session: &str) {
    for (name, fields) in [
        ("SessionStart", json!({ "source": "startup" })),
        ("UserPromptSubmit", json!({ "prompt": "What is a monad?" })),
    ] {
        project.hook("claude", &session_event(project, session, name, &fields));
    }
}

#[test]
fn a_session_without_any_call_is_asked_about_nothing() {
    let project = with_rule("readme", README_RULE);
    begin_session(&project, "one");
    project.file("src/a.py", "by hand\n");
    assert_eq!(trigger_files(&project, "one"), [""; 0]);
    for (id, command) in ["linchpin status", "python3 --version"].into_iter().enumerate() {
        call(&project, "one", "Bash", &json!({ "command": command }), &id.to_string(), || {});
    }
    assert_eq!(trigger_files(&project, "one"), [""; 0]);
    call(&project, "one", "Bash", &json!({ "command": "./gen.sh" }), "gen", || {});
    assert_eq!(trigger_files(&project, "one"), ["src/a.py"]);
}

#[test]
fn a_session_whose_agent_reports_only_stops_is_asked_about_all_changes() {
    let project = with_rule("readme", README_RULE);
    project.file("src/a.py", "changed\n");
    assert_eq!(trigger_files(&project, "one"), ["src/a.py"]);
}
