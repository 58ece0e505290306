//! Rules that change while a session runs: stricter rules apply at once, weaker ones when a person accepts them.

use std::fs;

use serde_json::json;
use testkit::TestProject;

use crate::{NO_DANGER, project};

/// Returns the decision about a command in another session.
fn decision_in_another_session(project: &TestProject, command: &str) -> String {
    let mut payload = project.bash_payload(command);
    payload["session_id"] = json!("session-2");
    project.hook("claude", &payload).decision()
}

fn delete_rule(project: &TestProject, rule: &str) {
    fs::remove_file(project.root().join(format!(".linchpin/rules/{rule}.md"))).expect("the rule is there");
}

#[test]
fn a_removed_rule_stays_in_force_for_the_session() {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    assert_eq!(project.decision("danger"), "deny");
    delete_rule(&project, "no-danger");
    insta::assert_snapshot!(project.hook("claude", &project.bash_payload("danger")).stdout, @r#"{"systemMessage":"Linchpin: rule `no-danger` was removed or switched off during this session; the stricter version stays in force until a person runs `linchpin trust`","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"Blocked by Linchpin rule `no-danger`: Danger is not for agents. Use `safety`. Matched: `danger`\n\nA person can allow this call once: `linchpin allow 2`"}}"#);
    assert_eq!(project.decision("danger"), "deny");
    assert_eq!(decision_in_another_session(&project, "danger"), "allow");
    insta::assert_snapshot!(project.run(&["status", "--session", "session-1"]).stdout, @"
    Project [BASE]/project
    Session claude session-1
    Rules   2 rules in force
      people-only-commands         block  bundled
      protect-guardrails           block  bundled
    Kept    rule `no-danger` was removed or switched off; this session keeps it until you run `linchpin trust`
    ");
    insta::assert_snapshot!(project.run(&["trust", "--yes"]).transcript(), @"
    exit 0
    --- stdout
    rule `no-danger` was removed or switched off; running sessions keep the stricter version until you accept
    Accepted: the changes to `no-danger` now apply to running sessions too.
    --- stderr
    ");
    assert_eq!(project.decision("danger"), "allow");
    insta::assert_snapshot!(project.run(&["trust", "--yes"]).transcript(), @"
    exit 0
    --- stdout
    nothing in this policy needs trust
    --- stderr
    ");
}

#[test]
fn a_removed_rule_can_be_accepted_before_the_next_event() {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    project.hook("claude", &project.event_payload("SessionStart", &json!({"source": "startup"})));
    delete_rule(&project, "no-danger");
    assert_eq!(project.run(&["try", "danger"]).code, Some(1));
    let status = project.run(&["status"]).stdout;
    assert!(status.contains("Kept    rule `no-danger` was removed or switched off"), "{status}");
    insta::assert_snapshot!(project.run(&["trust", "--yes"]).transcript(), @"
    exit 0
    --- stdout
    rule `no-danger` was removed or switched off; running sessions keep the stricter version until you accept
    Accepted: the changes to `no-danger` now apply to running sessions too.
    --- stderr
    ");
    assert_eq!(project.run(&["try", "danger"]).code, Some(0));
    let status = project.run(&["status"]).stdout;
    assert!(!status.contains("Kept"), "{status}");
    insta::assert_snapshot!(project.run(&["trust", "--yes"]).stdout, @"nothing in this policy needs trust");
    assert_eq!(project.decision("danger"), "allow");
}

#[test]
fn a_restored_rule_needs_no_acceptance() {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    assert_eq!(project.decision("danger"), "deny");
    delete_rule(&project, "no-danger");
    assert_eq!(project.decision("danger"), "deny");
    project.rule("no-danger", NO_DANGER);
    insta::assert_snapshot!(project.run(&["trust", "--yes"]).stdout, @"nothing in this policy needs trust");
    let status = project.run(&["status"]).stdout;
    assert!(!status.contains("Kept"), "{status}");
}

#[test]
fn a_disabled_or_milder_rule_stays_unchanged_for_the_session() {
    let project = project();
    project.rule("no-danger", NO_DANGER).config("rules: [hard-reset]\n");
    assert_eq!(project.decision("danger"), "deny");
    project.rule("no-danger", &NO_DANGER.replacen("---\n", "---\nenabled: false\n", 1));
    assert_eq!(project.decision("danger"), "deny");
    project.rule("no-danger", &NO_DANGER.replacen("---\n", "---\naction: warn\n", 1));
    assert_eq!(project.decision("danger"), "deny");
    project.config("rules: []\n");
    assert_eq!(project.decision("git reset --hard"), "deny");
    assert_eq!(decision_in_another_session(&project, "danger; git reset --hard"), "allow");
    // After the original rules are restored, the session no longer keeps older versions of them.
    project.rule("no-danger", NO_DANGER).config("rules: [hard-reset]\n");
    assert_eq!(project.decision("danger"), "deny");
    insta::assert_snapshot!(project.run(&["trust", "--yes"]).transcript(), @"
    exit 0
    --- stdout
    nothing in this policy needs trust
    --- stderr
    ");
}

#[test]
fn other_edits_apply_at_the_next_event() {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    assert_eq!(project.decision("danger"), "deny");
    project.rule("no-danger", &NO_DANGER.replace("danger( ", "peril( "));
    assert_eq!(project.decision("danger"), "allow");
    assert_eq!(project.decision("peril"), "deny");
    project.rule("no-harm", &NO_DANGER.replace("danger( ", "harm( "));
    assert_eq!(project.decision("harm"), "deny");
    project.rule("ask-first", "---\ncommand_pattern: '^make'\naction: ask\n---\nAsk.\n");
    assert_eq!(project.decision("make"), "ask");
    project.rule("ask-first", "---\ncommand_pattern: '^make'\naction: block\n---\nNo.\n");
    assert_eq!(project.decision("make"), "deny");
}

#[test]
fn accepting_one_change_does_not_accept_another() {
    let project = project();
    project.rule("no-danger", NO_DANGER).rule("no-harm", &NO_DANGER.replace("danger( ", "harm( "));
    assert_eq!(project.decision("danger"), "deny");
    delete_rule(&project, "no-danger");
    assert_eq!(project.decision("danger"), "deny");
    assert_eq!(project.run(&["trust", "--yes"]).code, Some(0));
    delete_rule(&project, "no-harm");
    assert_eq!(project.decision("danger"), "allow");
    assert_eq!(project.decision("harm"), "deny");
}

#[test]
fn an_acceptance_counts_for_one_change() {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    assert_eq!(project.decision("danger"), "deny");
    assert_eq!(project.run(&["rules", "disable", "no-danger"]).code, Some(0));
    assert_eq!(project.decision("danger"), "allow");
    assert_eq!(project.run(&["rules", "enable", "no-danger"]).code, Some(0));
    assert_eq!(project.decision("danger"), "deny");
    delete_rule(&project, "no-danger");
    assert_eq!(project.decision("danger"), "deny");
    // Session `session-2` begins after `rules disable`. The acceptance of that change does not count for the deletion
    // there, either.
    project.rule("no-danger", NO_DANGER);
    assert_eq!(decision_in_another_session(&project, "danger"), "deny");
    delete_rule(&project, "no-danger");
    assert_eq!(decision_in_another_session(&project, "danger"), "deny");
}

#[test]
fn a_person_may_change_a_rule_and_then_switch_it_off() {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    assert_eq!(project.decision("danger"), "deny");
    let edited = NO_DANGER.replace("safety", "caution");
    let edit = project.command(&["rules", "edit", "no-danger", "--file", "-"]);
    assert_eq!(project.run_with_stdin(edit, edited.as_bytes()).code, Some(0));
    assert_eq!(project.run(&["rules", "disable", "no-danger"]).code, Some(0));
    assert_eq!(project.decision("danger"), "allow");
}

#[test]
fn a_persons_change_of_their_own_policy_counts_in_every_project() {
    let project = project();
    project.user_rule("no-danger", NO_DANGER);
    assert_eq!(project.decision("danger"), "deny");
    let elsewhere = project.root().join("../elsewhere");
    fs::create_dir_all(elsewhere.join(".linchpin/rules")).expect("another project");
    let mut disable = project.command(&["rules", "disable", "no-danger", "--user"]);
    disable.current_dir(&elsewhere);
    assert_eq!(project.run_with_stdin(disable, b"").code, Some(0));
    assert_eq!(project.decision("danger"), "allow");
}

#[test]
fn a_session_stays_in_enforce_mode() {
    let project = project();
    project.rule("no-danger", NO_DANGER).config("mode: observe\n");
    assert_eq!(project.run(&["trust", "--yes"]).code, Some(0));
    project.config("mode: enforce\n");
    assert_eq!(project.decision("danger"), "deny");
    // A person has accepted this configuration before, but the session has been in `mode: enforce` since then.
    project.config("mode: observe\n");
    insta::assert_snapshot!(project.hook("claude", &project.bash_payload("danger")).json()["systemMessage"], @r#""Linchpin: `mode` changed to `observe` during this session; the stricter version stays in force until a person runs `linchpin trust`""#);
    assert_eq!(project.decision("danger"), "deny");
    assert_eq!(decision_in_another_session(&project, "danger"), "allow");
    assert_eq!(project.run(&["trust", "--yes"]).code, Some(0));
    assert_eq!(project.decision("danger"), "allow");
}

#[test]
fn disabling_everything_is_a_weakening_change() {
    let project = project();
    project.rule("no-danger", NO_DANGER).config("enabled: false\n");
    assert_eq!(project.run(&["trust", "--yes"]).code, Some(0));
    project.config("enabled: true\n");
    assert_eq!(project.decision("danger"), "deny");
    project.config("enabled: false\n");
    assert_eq!(project.decision("danger"), "deny");
    assert_eq!(project.run(&["trust", "--yes"]).code, Some(0));
    assert_eq!(project.decision("danger"), "allow");
}

#[test]
fn a_deleted_nested_policy_stays_in_force_for_the_session() {
    let project = project();
    project.file("sub/.linchpin/rules/no-danger.md", NO_DANGER);
    let decision_in_sub = |session: &str| {
        let mut payload = project.bash_payload("danger");
        payload["session_id"] = json!(session);
        payload["cwd"] = json!(project.root().join("sub"));
        project.hook("claude", &payload).decision()
    };
    assert_eq!(decision_in_sub("session-1"), "deny");
    fs::remove_dir_all(project.root().join("sub/.linchpin")).expect("a policy");
    assert_eq!(decision_in_sub("session-1"), "deny");
    assert_eq!(decision_in_sub("session-2"), "allow");
}

#[test]
fn a_session_keeps_its_rules_after_many_edits() {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    assert_eq!(project.decision("danger"), "deny");
    for number in 0..70 {
        project.rule("other", &NO_DANGER.replace("danger( ", &format!("other{number}( ")));
        decision_in_another_session(&project, "ls");
    }
    delete_rule(&project, "no-danger");
    assert_eq!(project.decision("danger"), "deny");
}

/// True if a stop is held after a rule was changed from `before` to `after` during the session.
fn is_held_after(before: &str, after: &str) -> bool {
    let project = project();
    project.git(&["init", "-q", "-b", "main"]);
    project.rule("together", &format!("---\n{before}\n---\nMind.\n"));
    project.hook("claude", &project.bash_payload("make"));
    project.rule("together", &format!("---\n{after}\n---\nMind.\n"));
    project.file("src/a.py", "new\n").file("README.md", "new\n");
    !project.hook("claude", &project.event_payload("Stop", &json!({ "stop_hook_active": false }))).reason().is_empty()
}

#[test]
fn a_narrower_file_rule_stays_unchanged_for_the_session() {
    for after in [
        "trigger: src/b.py",
        "trigger: src/**\nexclude: src/a.py",
        "trigger: src/**\nsafety: README.md",
        "trigger: src/**\ncompare_to: prompt",
        "created: other/**",
        "command_pattern: ^x",
    ] {
        assert!(is_held_after("trigger: src/**", after), "{after}");
    }
    assert!(is_held_after("set: ['src/{path}.py', 'tests/{path}.py']", "set: ['src/{path}.py', 'src/{path}.py']"));
    assert!(is_held_after(
        "pair: {trigger: 'src/**', expects: [b, c]}",
        "pair: {trigger: 'src/**', expects: README.md}"
    ));
    assert!(is_held_after("created: src/**", "created: src/b.py"));
}

#[test]
fn a_stricter_file_rule_applies_at_the_next_event() {
    for (before, after) in [
        ("trigger: lib/**", "trigger: [lib/**, src/**]"),
        ("trigger: src/**\nsafety: README.md", "trigger: src/**"),
        ("trigger: src/**\nexclude: src/a.py", "trigger: src/**"),
        ("pair: {trigger: 'src/**', expects: README.md}", "pair: {trigger: 'src/**', expects: [README.md, b]}"),
    ] {
        assert!(is_held_after(before, after), "{after}");
    }
}

#[test]
fn a_milder_file_rule_is_reported_and_can_be_accepted() {
    let project = project();
    project.git(&["init", "-q", "-b", "main"]);
    project.rule("together", "---\ntrigger: src/**\n---\nMind.\n").file("src/a.py", "new\n");
    project.hook("claude", &project.bash_payload("true"));
    project.rule("together", "---\ntrigger: src/**\nsafety: src/a.py\n---\nMind.\n");
    insta::assert_snapshot!(project.hook("claude", &project.bash_payload("true")).stdout, @r#"{"systemMessage":"Linchpin: rule `together` became milder during this session; the stricter version stays in force until a person runs `linchpin trust`"}"#);
    assert_eq!(project.run(&["trust", "--yes"]).code, Some(0));
    assert_eq!(
        project.hook("claude", &project.event_payload("Stop", &json!({ "stop_hook_active": false }))).stdout,
        ""
    );
}

/// Returns the decision about a command after a rule was changed from `before` to `after` during the session.
fn decision_after(before: &str, after: &str, command: &str) -> String {
    let project = project();
    project.rule("rule", &format!("---\n{before}\n---\nNo.\n"));
    assert_eq!(project.decision(command), "deny", "{before}");
    project.rule("rule", &format!("---\n{after}\n---\nNo.\n"));
    project.decision(command)
}

#[test]
fn a_tool_rule_with_another_condition_or_clause_stays_unchanged_for_the_session() {
    for after in [
        "command_pattern: ^git push\nwhen: git.dirty",
        "command_pattern: ^git push\ncommand_not_pattern: origin",
        "command_pattern: ^git push --force",
        "command_pattern: ^git push\ntools: [Edit]",
        "command_pattern: ^git push\nwrites: secret/**",
        "command_pattern: ^git push\non: after_tool\naction: warn",
        "trigger: src/**",
    ] {
        assert_eq!(decision_after("command_pattern: ^git push", after, "git push origin main"), "deny", "{after}");
    }
    let excepted = "command_pattern: ^git push\ncommand_not_pattern: ";
    assert_eq!(decision_after(&format!("{excepted}x"), &format!("{excepted}'x|o'"), "git push main"), "deny");
    let conditional = "command_pattern: ^git push\nwhen: ";
    assert_eq!(
        decision_after(&format!("{conditional}not git.dirty"), &format!("{conditional}git.dirty"), "git push"),
        "deny"
    );
}

#[test]
fn a_longer_literal_text_in_a_pattern_is_milder() {
    for end in ["( |$)", r"(\s|$)", r"\b"] {
        let [before, after] = ["^git push", "^git push --force"].map(|text| format!("command_pattern: '{text}{end}'"));
        assert_eq!(decision_after(&before, &after, "git push"), "deny", "{end}");
        assert_eq!(decision_after("command_pattern: ^git push", &before, "git pushx"), "deny", "{end}");
    }
    let anchored = "command_pattern: ^git push$";
    assert_eq!(decision_after(anchored, "command_pattern: ^git push --force$", "git push"), "deny");
    // Linchpin cannot tell which of two arbitrary patterns is milder, so the new pattern applies at once.
    assert_eq!(
        decision_after("command_pattern: '^git push( |$)'", "command_pattern: '^git pull( |$)'", "git push"),
        "allow"
    );
}

#[test]
fn a_tool_rule_with_shorter_lists_stays_unchanged_for_the_session() {
    for (before, after) in [
        ("command: {program: make}", "command: {program: make, subcommand: all}"),
        ("command: {program: [make, just]}", "command: {program: just}"),
        ("command: [{program: make}, {program: just}]", "command: {program: just}"),
        ("command: {program: make, flags_any: [-k, -j]}", "command: {program: make, flags_any: [-j]}"),
        ("command: {program: make}\ntools: [Bash, Write]", "command: {program: make}\ntools: [Write]"),
        ("writes: ['src/**', 'docs/**']", "writes: ['docs/**']"),
        ("command: {program: make}", "command: {program: make}\nincomplete: allow\ntools: [Write]"),
        ("writes: 'src/**'", "writes: {any: 'src/**', except: 'src/a'}"),
    ] {
        assert_eq!(decision_after(before, after, "make -k > src/a"), "deny", "{after}");
    }
    let more = "command: {program: make, flags_any: [-k]}";
    assert_eq!(decision_after(more, "command: [{program: make}, {program: just}]", "make -k"), "deny");
}

#[test]
fn a_rule_with_fewer_holds_stays_unchanged_for_the_session() {
    assert!(is_held_after("trigger: src/**", "trigger: src/**\nmax_holds: 0"));
    let project = project();
    project.git(&["init", "-q", "-b", "main"]);
    project.rule("together", "---\ntrigger: src/**\nack: human\n---\nMind.\n");
    project.hook("claude", &project.bash_payload("make"));
    project.rule("together", "---\ntrigger: src/**\n---\nMind.\n").file("src/a.py", "new\n");
    let reason = project.hook("claude", &project.event_payload("Stop", &json!({ "stop_hook_active": false }))).reason();
    assert!(reason.contains("Mind.") && !reason.contains("<promise>"), "{reason}");
    // A lower `max_holds` in the configuration makes every rule without its own `max_holds` milder. Such a rule stays
    // unchanged for the session, too.
    let project = crate::project();
    project.git(&["init", "-q", "-b", "main"]);
    project.rule("together", "---\ntrigger: src/**\n---\nMind.\n");
    project.hook("claude", &project.bash_payload("make"));
    project.config("max_holds: 0\n").file("src/a.py", "new\n");
    assert!(
        !project
            .hook("claude", &project.event_payload("Stop", &json!({ "stop_hook_active": false })))
            .reason()
            .is_empty()
    );
}

#[test]
fn a_pace_rule_that_fires_later_stays_unchanged_for_the_session() {
    let rule = |threshold: u32, live: &str| {
        format!("---\nrepeated_command: {{threshold: {threshold}, window: 10m}}\nlive: {live}\n---\nStop.\n")
    };
    for after in [rule(2000, "block"), rule(2, "warn")] {
        let project = project();
        project.rule("circles", &rule(2, "block"));
        let mut agent = project.agent();
        agent.run("true");
        project.rule("circles", &after);
        for _ in 0..2 {
            agent.run("make");
        }
        assert_eq!(project.decision("make"), "deny", "{after}");
    }
}

#[test]
fn a_stricter_tool_rule_applies_at_the_next_event() {
    let before = "command_pattern: ^git push\ncommand_not_pattern: safe\nwhen: git.branch is None\ntools: [Bash]";
    for (after, command) in [
        ("command_pattern: ^git push\nwhen: git.branch is None\ntools: [Bash]", "git push safe"),
        ("command_pattern: ^git push", "git push safe"),
        ("command_pattern: ^git (push|pull)\ncommand_not_pattern: safe\nwhen: git.branch is None", "git pull"),
    ] {
        let project = project();
        project.rule("rule", &format!("---\n{before}\n---\nNo.\n"));
        assert_eq!(project.decision(command), "allow", "{after}");
        project.rule("rule", &format!("---\n{after}\n---\nNo.\n"));
        assert_eq!(project.decision(command), "deny", "{after}");
    }
}
