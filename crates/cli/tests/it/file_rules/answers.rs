//! Promises, acknowledgements and trailers.

use serde_json::json;
use testkit::{Reply, Scratch};

use super::{README, commit, only_entry, stop, stop_of, stop_saying, summary, with_rule};

fn ack_as_agent(project: &Scratch, arguments: &[&str]) -> Reply {
    let mut command = project.command(arguments);
    command.env("CLAUDE_CODE_SESSION_ID", "session-1");
    project.feed(command, b"")
}

#[test]
fn a_promise_counts_for_its_own_files_and_the_next_one_is_asked_for_alone() {
    let project = with_rule("readme", README);
    project.file("src/a.py", "changed\n");
    stop(&project);
    assert_eq!(stop_saying(&project, "<promise>readme</promise>").stdout, "");
    project.file("src/b.py", "changed\n");
    insta::assert_snapshot!(stop(&project).reason(), @r#"
    The following rules require attention:

    ## README Accuracy
    src/b.py
    (a change of README.md answers it)

    Source files changed. Verify README.md is accurate.

    Where a rule is seen to or does not apply, say so with `<promise>readme</promise>` in your last message, outside of code, or run `linchpin ack readme --reason "…"`.
    "#);
    insta::assert_snapshot!(summary(&project), @"
    passed 1x readme: src/a.py
    queued 1x readme: src/b.py
    ");
    // The same files with other content are the same files.
    assert_eq!(stop_saying(&project, "<promise>readme</promise>").stdout, "");
    project.file("src/a.py", "changed once more\n");
    assert_eq!(stop(&project).stdout, "");
}

#[test]
fn a_promise_before_anything_was_asked_for_counts() {
    let project = with_rule("readme", README);
    project.file("src/a.py", "changed\n");
    assert_eq!(stop_saying(&project, "The README still holds. <promise>readme</promise>").stdout, "");
    assert_eq!(summary(&project), "passed 0x readme: src/a.py");
}

#[test]
fn what_is_no_promise() {
    let project = with_rule("readme", &README.replace("safety", "max_holds: 99\nsafety"));
    project.file("src/a.py", "changed\n");
    for message in [
        "promise: readme",
        "```\n<promise>readme</promise>\n```",
        "Say `<promise>readme</promise>`.",
        "<promise>readme",
        "<promise>readmes</promise>",
        "<promise></promise>",
    ] {
        assert_eq!(stop_saying(&project, message).json()["decision"], "block", "{message}");
    }
}

#[test]
fn a_promise_that_nothing_waits_for_is_told_what_is_waited_for() {
    let project = with_rule("readme", &README.replace("safety", "max_holds: 99\nsafety"));
    project.rule("notes", "---\ntrigger: src/**/*.py\nsafety: NOTES.md\nmax_holds: 99\n---\nTake notes.\n");
    assert!(!stop_saying(&project, "<promise>readmes</promise>").stdout.contains("waits"), "nothing is waited for");
    project.file("src/a.py", "changed\n");
    let told = |message: &str| {
        let reason = stop_saying(&project, message).reason();
        reason.find("Nothing waits").map(|start| reason[start..].to_owned()).unwrap_or_default()
    };
    insta::assert_snapshot!(told("<promise>readmes</promise> <promise>all of\n it</promise>"), @"Nothing waits for `<promise>readmes</promise>` or `<promise>all of it</promise>`. What is waited for: `<promise>notes</promise>`, `<promise>readme</promise>`.");
    assert_eq!(told("Say `<promise>readmes</promise>`."), "");
    // Of two, one is meant: the other is still waited for, and nothing was said wrong.
    assert_eq!(told("<promise>README accuracy</promise>"), "");
    // Where nothing is held, nobody is told.
    project.run(&["pause", "10m", "--reason", "a test"]);
    let paused = stop_saying(&project, "<promise>note</promise>").stdout;
    assert!(!paused.contains("Nothing waits"), "{paused}");
    project.run(&["resume"]);
    insta::assert_snapshot!(told("<promise>readme</promise><promise>note</promise>"), @"Nothing waits for `<promise>note</promise>`. What is waited for: `<promise>notes</promise>`.");
}

#[test]
fn a_promise_is_read_from_the_transcript_where_the_hook_does_not_say_it() {
    let project = with_rule("readme", README);
    project.file("src/a.py", "changed\n");
    let line = |kind: &str, text: &str| {
        let message = json!({ "role": kind, "content": [{ "type": "text", "text": text }] });
        json!({ "type": kind, "uuid": "1", "sessionId": "session-1", "message": message }).to_string()
    };
    let transcript = [line("user", "<promise>readme</promise>"), line("assistant", "Not yet.")].join("\n");
    std::fs::write(project.home().join("transcript.jsonl"), transcript + "\n").expect("a file");
    let event = project.event("Stop", &json!({ "stop_hook_active": false }));
    assert_eq!(project.hook("claude", &event).json()["decision"], "block");
    std::fs::write(project.home().join("transcript.jsonl"), line("assistant", "<promise>readme</promise>") + "\n")
        .expect("a file");
    assert_eq!(project.hook("claude", &event).stdout, "");
}

#[test]
fn other_content_asks_again_where_the_rule_says_so() {
    let project = with_rule("readme", &README.replace("safety", "refire: content\nsafety"));
    project.file("src/a.py", "changed\n");
    stop(&project);
    assert_eq!(stop_saying(&project, "<promise>readme</promise>").stdout, "");
    assert_eq!(stop(&project).stdout, "");
    project.file("src/a.py", "changed once more\n");
    assert_eq!(stop(&project).json()["decision"], "block");
    assert_eq!(summary(&project), "queued 1x readme: src/a.py");
    // Back to what the promise was about.
    project.file("src/a.py", "changed\n");
    assert_eq!(stop(&project).stdout, "");
}

#[test]
fn an_agent_acknowledges_what_it_is_asked_for() {
    let project = with_rule("readme", README);
    project.file("src/a.py", "changed\n").file("src/b.py", "changed\n");
    stop(&project);
    stop_of(&project, "session-2", "Done.");
    insta::assert_snapshot!(ack_as_agent(&project, &["ack", "readme", "--reason", "typo only"]).transcript(), @"
    exit 0
    --- stdout
    Acknowledged `readme` in session session-1 of claude for 2 files.
    --- stderr
    ");
    assert_eq!(stop(&project).stdout, "");
    // It is about the rule and these files, whoever asks for them.
    assert_eq!(stop_of(&project, "session-2", "Done.").stdout, "");
    let (_, entry) = only_entry(&project);
    insta::assert_snapshot!(entry["action_result"].to_string(), @r#"{"type":"prompt","command":null,"exit_code":null,"output":"acknowledged by agent: typo only","stdout":null,"stderr":null}"#);
    insta::assert_snapshot!(ack_as_agent(&project, &["ack", "readme", "--reason", "x", "--json"]).stdout, @r#"{"acknowledged":"readme","agent":"claude","session":"session-1","reason":"x","by":"agent","files":0}"#);
    let log = project.run(&["log", "--kind", "ack", "--limit", "1"]).stdout;
    // What answered nothing is not remembered.
    assert!(log.contains("ack readme, by the agent: typo only"), "{log}");
}

#[test]
fn a_person_acknowledges_what_an_agent_may_not() {
    let project = with_rule("readme", &README.replace("safety", "ack: human\nsafety"));
    project.file("src/a.py", "changed\n");
    stop(&project);
    // Nor by a promise.
    assert_eq!(stop_saying(&project, "<promise>readme</promise>").json()["decision"], "block");
    insta::assert_snapshot!(ack_as_agent(&project, &["ack", "readme", "--reason", "typo only"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: rule `readme` is acknowledged by people (`ack: human`), and an agent runs this
    help: say why it should be, and let a person decide
    ");
    insta::assert_snapshot!(project.run(&["ack", "readme", "--reason", "typo only"]).transcript(), @"
    exit 0
    --- stdout
    Acknowledged `readme` in session session-1 of claude for 1 file.
    --- stderr
    ");
    assert_eq!(stop(&project).stdout, "");
}

#[test]
fn a_trailer_of_a_commit_answers_a_check_of_its_range() {
    let project = with_rule("readme", README);
    project.git(&["switch", "-q", "-c", "work"]);
    project.file("src/a.py", "changed\n");
    commit(&project, "Change");
    assert_eq!(project.run(&["check", "main..work"]).code, Some(1));
    let trailer = project.run(&["ack", "readme", "--reason", "nothing that\nthe README says", "--trailer"]);
    insta::assert_snapshot!(trailer.transcript(), @"
    exit 0
    --- stdout
    Linchpin-Ack: readme (nothing that the README says)
    --- stderr
    ");
    project.file("src/b.py", "changed\n");
    project.git(&["commit", "-q", "-a", "-m", "More", "-m", trailer.stdout.trim()]);
    insta::assert_snapshot!(project.run(&["check", "main..work"]).transcript().replace(&project.git(&["rev-parse", "--short=12", "main"]), "[MAIN]"), @"
    exit 0
    --- stdout
    Note: `readme` is acknowledged by a commit: nothing that the README says.
    The file rule is met; 2 files changed since [MAIN].
    --- stderr
    ");
    let checked = project.run(&["check", "main..HEAD", "--json"]).json();
    assert_eq!(checked["rules"][0]["outcome"], "acknowledged");
    // In the range that it is in.
    assert_eq!(project.run(&["check", "main..work~1"]).code, Some(1));
    assert_eq!(project.run(&["check", "work~1..work"]).code, Some(0));
    // Also by its title, and the whole working tree is answered for with it.
    assert_eq!(project.run(&["check"]).code, Some(0));
    project.file("src/c.py", "new\n");
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", "Third\n\nlinchpin-ack: README accuracy"]);
    assert_eq!(project.run(&["check", "HEAD~1..HEAD"]).code, Some(0));
    // A reason may have parentheses of its own.
    let trailer = project.run(&["ack", "readme", "--reason", "typo (in a comment)", "--trailer"]).stdout;
    project.file("src/d.py", "new\n");
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", "Fourth", "-m", trailer.trim()]);
    assert_eq!(project.run(&["check", "HEAD~1..HEAD"]).code, Some(0));
    insta::assert_snapshot!(project.run(&["ack", "protect-guardrails", "--reason", "x", "--trailer"]).stderr, @"
    error: rule `protect-guardrails` refuses or approves calls, so there is nothing to acknowledge
    help: a person can let a single call through: `linchpin allow ID`, with the number that the refusal names
    ");
}

#[test]
fn what_was_acknowledged_is_not_asked_for_in_the_status() {
    let project = with_rule("readme", README);
    project.file("src/a.py", "changed\n");
    assert_eq!(stop(&project).json()["decision"], "block");
    let status = || project.run(&["status"]).stdout;
    assert!(status().contains("readme was not met at the last stop, asked 1 time: src/a.py"), "{}", status());
    assert_eq!(project.run(&["ack", "readme", "--reason", "a typo"]).code, Some(0));
    assert!(!status().contains("asked"), "{}", status());
    assert_eq!(project.run(&["status", "--json"]).json()["session"]["queue"], serde_json::json!({}));
}
