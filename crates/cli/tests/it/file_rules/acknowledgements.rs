//! Promises, acknowledgements and commit trailers.

use serde_json::json;
use testkit::{ProcessOutput, TestProject};

use super::{README_RULE, commit, only_entry, stop, stop_in_session, stop_with_message, summary, with_rule};

fn ack_as_agent(project: &TestProject, arguments: &[&str]) -> ProcessOutput {
    let mut command = project.command(arguments);
    command.env("CLAUDE_CODE_SESSION_ID", "session-1");
    project.run_with_stdin(command, b"")
}

#[test]
fn a_promise_counts_only_for_the_files_changed_so_far() {
    let project = with_rule("readme", README_RULE);
    project.file("src/a.py", "changed\n");
    stop(&project);
    assert_eq!(stop_with_message(&project, "<promise>readme</promise>").stdout, "");
    project.file("src/b.py", "changed\n");
    insta::assert_snapshot!(stop(&project).reason(), @r#"
    The following rules require attention:

    ## README Accuracy
    src/b.py
    (changing README.md satisfies it)

    Source files changed. Verify README.md is accurate.

    If you have done what a rule asks, or it does not apply, write `<promise>readme</promise>` in your last message (outside code), or run `linchpin ack readme --reason "…"`.
    "#);
    insta::assert_snapshot!(summary(&project), @"
    passed 1x readme: src/a.py
    queued 1x readme: src/b.py
    ");
    // The promise still counts after the contents of `src/a.py` change again.
    assert_eq!(stop_with_message(&project, "<promise>readme</promise>").stdout, "");
    project.file("src/a.py", "changed once more\n");
    assert_eq!(stop(&project).stdout, "");
}

#[test]
fn a_promise_before_the_demand_counts() {
    let project = with_rule("readme", README_RULE);
    project.file("src/a.py", "changed\n");
    assert_eq!(stop_with_message(&project, "The README still holds. <promise>readme</promise>").stdout, "");
    assert_eq!(summary(&project), "passed 0x readme: src/a.py");
}

#[test]
fn texts_that_only_resemble_a_promise_do_not_count() {
    let project = with_rule("readme", &README_RULE.replace("safety", "max_holds: 99\nsafety"));
    project.file("src/a.py", "changed\n");
    for message in [
        "promise: readme",
        "```\n<promise>readme</promise>\n```",
        "Say `<promise>readme</promise>`.",
        "<promise>readme",
        "<promise>readmes</promise>",
        "<promise></promise>",
    ] {
        assert_eq!(stop_with_message(&project, message).json()["decision"], "block", "{message}");
    }
}

#[test]
fn a_promise_that_matches_no_demand_gets_a_hint() {
    let project = with_rule("readme", &README_RULE.replace("safety", "max_holds: 99\nsafety"));
    project.rule("notes", "---\ntrigger: src/**/*.py\nsafety: NOTES.md\nmax_holds: 99\n---\nTake notes.\n");
    assert!(
        !stop_with_message(&project, "<promise>readmes</promise>").stdout.contains("No open demand"),
        "no demand is open"
    );
    project.file("src/a.py", "changed\n");
    let hint = |message: &str| {
        let reason = stop_with_message(&project, message).reason();
        reason.find("No open demand").map(|start| reason[start..].to_owned()).unwrap_or_default()
    };
    insta::assert_snapshot!(hint("<promise>readmes</promise> <promise>all of\n it</promise>"), @"No open demand matches `<promise>readmes</promise>` or `<promise>all of it</promise>`. Open demands: `<promise>notes</promise>`, `<promise>readme</promise>`.");
    assert_eq!(hint("Say `<promise>readmes</promise>`."), "");
    // A promise that names the rule by its title matches the rule's demand, so there is no hint.
    assert_eq!(hint("<promise>README accuracy</promise>"), "");
    // During `linchpin pause`, no stop is held, so there is no hint.
    project.run(&["pause", "10m", "--reason", "a test"]);
    let paused = stop_with_message(&project, "<promise>note</promise>").stdout;
    assert!(!paused.contains("No open demand"), "{paused}");
    project.run(&["resume"]);
    insta::assert_snapshot!(hint("<promise>readme</promise><promise>note</promise>"), @"No open demand matches `<promise>note</promise>`. Open demands: `<promise>notes</promise>`.");
}

#[test]
fn a_promise_is_read_from_the_transcript_if_the_payload_has_no_message() {
    let project = with_rule("readme", README_RULE);
    project.file("src/a.py", "changed\n");
    let line = |kind: &str, text: &str| {
        let message = json!({ "role": kind, "content": [{ "type": "text", "text": text }] });
        json!({ "type": kind, "uuid": "1", "sessionId": "session-1", "message": message }).to_string()
    };
    let transcript = [line("user", "<promise>readme</promise>"), line("assistant", "Not yet.")].join("\n");
    std::fs::write(project.home().join("transcript.jsonl"), transcript + "\n").expect("a file");
    let event = project.event_payload("Stop", &json!({ "stop_hook_active": false }));
    assert_eq!(project.hook("claude", &event).json()["decision"], "block");
    std::fs::write(project.home().join("transcript.jsonl"), line("assistant", "<promise>readme</promise>") + "\n")
        .expect("a file");
    assert_eq!(project.hook("claude", &event).stdout, "");
}

#[test]
fn changed_content_needs_a_new_promise_with_refire_content() {
    let project = with_rule("readme", &README_RULE.replace("safety", "refire: content\nsafety"));
    project.file("src/a.py", "changed\n");
    stop(&project);
    assert_eq!(stop_with_message(&project, "<promise>readme</promise>").stdout, "");
    assert_eq!(stop(&project).stdout, "");
    project.file("src/a.py", "changed once more\n");
    assert_eq!(stop(&project).json()["decision"], "block");
    assert_eq!(summary(&project), "queued 1x readme: src/a.py");
    // The promise counts again, because the file has the same contents as at the time of the promise.
    project.file("src/a.py", "changed\n");
    assert_eq!(stop(&project).stdout, "");
}

#[test]
fn an_agent_can_acknowledge_a_demand() {
    let project = with_rule("readme", README_RULE);
    project.file("src/a.py", "changed\n").file("src/b.py", "changed\n");
    stop(&project);
    stop_in_session(&project, "session-2", "Done.");
    insta::assert_snapshot!(ack_as_agent(&project, &["ack", "readme", "--reason", "typo only"]).transcript(), @"
    exit 0
    --- stdout
    Acknowledged `readme` in session session-1 of claude for 2 files.
    --- stderr
    ");
    assert_eq!(stop(&project).stdout, "");
    // The acknowledgement applies to the rule and these files, in every session.
    assert_eq!(stop_in_session(&project, "session-2", "Done.").stdout, "");
    let (_, entry) = only_entry(&project);
    insta::assert_snapshot!(entry["action_result"].to_string(), @r#"{"type":"prompt","command":null,"exit_code":null,"output":"acknowledged by agent: typo only","stdout":null,"stderr":null}"#);
    insta::assert_snapshot!(ack_as_agent(&project, &["ack", "readme", "--reason", "x", "--json"]).stdout, @r#"{"acknowledged":"readme","agent":"claude","session":"session-1","reason":"x","by":"agent","files":0}"#);
    let log = project.run(&["log", "--kind", "ack", "--limit", "1"]).stdout;
    // The second acknowledgement closed no demand, so the last one in the journal is the first.
    assert!(log.contains("ack: rule `readme`: typo only"), "{log}");
}

#[test]
fn only_a_person_can_acknowledge_a_rule_with_ack_human() {
    let project = with_rule("readme", &README_RULE.replace("safety", "ack: human\nsafety"));
    project.file("src/a.py", "changed\n");
    stop(&project);
    // A promise does not close the demand either.
    assert_eq!(stop_with_message(&project, "<promise>readme</promise>").json()["decision"], "block");
    insta::assert_snapshot!(ack_as_agent(&project, &["ack", "readme", "--reason", "typo only"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: only a person may acknowledge rule `readme` (`ack: human`), and this process was started by an agent
    help: tell the person why you need it, and let them decide
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
fn a_commit_trailer_acknowledges_rules_for_its_range() {
    let project = with_rule("readme", README_RULE);
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
    1 file rule met; 2 files changed since [MAIN].
    --- stderr
    ");
    let checked = project.run(&["check", "main..HEAD", "--json"]).json();
    assert_eq!(checked["rules"][0]["outcome"], "acknowledged");
    // The trailer counts only in a range that contains its commit.
    assert_eq!(project.run(&["check", "main..work~1"]).code, Some(1));
    assert_eq!(project.run(&["check", "work~1..work"]).code, Some(0));
    // Without a range, the trailers of all commits since the base of the branch count.
    assert_eq!(project.run(&["check"]).code, Some(0));
    // A trailer can name the rule by its title.
    project.file("src/c.py", "new\n");
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", "Third\n\nlinchpin-ack: README accuracy"]);
    assert_eq!(project.run(&["check", "HEAD~1..HEAD"]).code, Some(0));
    // A reason can contain parentheses.
    let trailer = project.run(&["ack", "readme", "--reason", "typo (in a comment)", "--trailer"]).stdout;
    project.file("src/d.py", "new\n");
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", "Fourth", "-m", trailer.trim()]);
    assert_eq!(project.run(&["check", "HEAD~1..HEAD"]).code, Some(0));
    insta::assert_snapshot!(project.run(&["ack", "protect-guardrails", "--reason", "x", "--trailer"]).stderr, @"
    error: rule `protect-guardrails` refuses or approves calls, so there is nothing to acknowledge
    help: a person can allow a single call: `linchpin allow ID`, with the number in the refusal
    ");
}

#[test]
fn status_omits_acknowledged_demands() {
    let project = with_rule("readme", README_RULE);
    project.file("src/a.py", "changed\n");
    assert_eq!(stop(&project).json()["decision"], "block");
    let status = || project.run(&["status"]).stdout;
    assert!(status().contains("readme was unmet at the last stop, asked 1 time: src/a.py"), "{}", status());
    assert_eq!(project.run(&["ack", "readme", "--reason", "a typo"]).code, Some(0));
    assert!(!status().contains("asked"), "{}", status());
    assert_eq!(project.run(&["status", "--json"]).json()["session"]["queue"], serde_json::json!({}));
}

#[test]
fn check_and_ack_say_that_a_demand_is_acknowledged_already() {
    let project = with_rule("readme", README_RULE);
    project.file("src/a.py", "changed\n");
    let last_line = || project.run(&["check"]).stdout.lines().last().unwrap_or_default().to_owned();
    insta::assert_snapshot!(last_line(), @r#"If a rule does not apply, run `linchpin ack readme --reason "…"`: the acknowledgement then counts for agents and for `check --staged`. For CI, add `--trailer`, and put the printed line into the commit message."#);
    let ack = || project.run(&["ack", "readme", "--reason", "a typo"]).transcript();
    insta::assert_snapshot!(ack(), @"
    exit 0
    --- stdout
    Acknowledged `readme` for 1 file.
    --- stderr
    ");
    insta::assert_snapshot!(last_line(), @r#"`readme` is acknowledged on this machine, which counts for agents and for `check --staged`. For `check` and CI, commit with `--trailer "$(linchpin ack readme --reason '…' --trailer)"`."#);
    insta::assert_snapshot!(ack(), @"
    exit 0
    --- stdout
    `readme` is already acknowledged for these changes; nothing was recorded.
    --- stderr
    ");
    // With several rules, each gets the advice that applies to it.
    project.rule("notes", "---\ntrigger: src/**/*.py\nsafety: NOTES.md\n---\nTake notes.\n");
    let both = project.run(&["check"]);
    assert_eq!(both.code, Some(1));
    let lines: Vec<&str> = both.stdout.lines().rev().take(2).collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    If a rule does not apply, run `linchpin ack notes --reason "…"`: the acknowledgement then counts for agents and for `check --staged`. For CI, add `--trailer`, and put the printed line into the commit message.
    `readme` is acknowledged on this machine, which counts for agents and for `check --staged`. For `check` and CI, commit with `--trailer "$(linchpin ack readme --reason '…' --trailer)"`.
    "#);
    project.file("README.md", "changed\n");
    project.file("NOTES.md", "new\n");
    assert_eq!(project.run(&["check"]).code, Some(0));
    insta::assert_snapshot!(ack(), @"
    exit 0
    --- stdout
    `readme` has no open demand.
    --- stderr
    ");
}
