//! Facts about files in the expressions of tool rules and file rules.

use testkit::TestProject;

use super::{README_RULE, commit, repository, stop, stop_with_message, with_rule};

/// A rule that holds a stop if an expression is true.
fn stop_rule(when: &str) -> String {
    format!("---\non: stop\naction: block\nwhen: \"{when}\"\n---\nNot yet.\n")
}

/// True if a rule with this condition holds a stop after one file was changed, one was created and one was deleted.
fn is_held(when: &str) -> bool {
    let project = with_rule("late", &stop_rule(when));
    change_files(&project);
    let reply = stop(&project);
    let text = reply.stdout.clone();
    assert!(text.is_empty() || reply.reason().contains("Not yet."), "{when}: {text}");
    assert!(!text.contains("could not evaluate"), "{when}: {text}");
    text.contains("\"block\"")
}

fn change_files(project: &TestProject) {
    project.file("src/a.py", "changed\n").file("src/new.py", "new\n");
    std::fs::remove_file(project.root().join("src/b.py")).expect("a file");
}

#[test]
fn a_stop_rule_sees_changed_files() {
    for when in [
        "files.changed == ['src/a.py', 'src/b.py', 'src/new.py']",
        "files.created == ['src/new.py']",
        "files.deleted == ['src/b.py']",
        "'src/a.py' in files.changed",
        "len(files.changed) > 2 and 'README.md' not in files.changed",
    ] {
        assert!(is_held(when), "{when}");
    }
    for when in ["'README.md' in files.changed", "len(files.created) > 1", "files.deleted == []"] {
        assert!(!is_held(when), "{when}");
    }
}

#[test]
fn a_stop_rule_can_use_file_rule_met() {
    let project = with_rule("readme", &README_RULE.replace("---\nname", "---\non: subagent_stop\nname"));
    project.rule("late", &stop_rule("not file_rule_met('readme')"));
    assert_eq!(stop(&project).stdout, "");
    project.file("src/a.py", "changed\n");
    insta::assert_snapshot!(stop(&project).reason(), @"Held by Linchpin rule `late`: Not yet.");
    project.file("README.md", "changed\n");
    assert_eq!(stop(&project).stdout, "");
}

#[test]
fn a_promise_does_not_change_file_rule_met() {
    let project = with_rule("readme", README_RULE);
    project.rule(
        "late",
        &stop_rule("not file_rule_met('readme')").replace("action: block", "action: block\nmax_holds: 9"),
    );
    project.file("src/a.py", "changed\n");
    // The promise closes the demand of `readme`, but `file_rule_met` depends only on the files, so `late` still holds.
    let reason = stop_with_message(&project, "<promise>readme</promise>").reason();
    assert!(reason.contains("`late`") && !reason.contains("README"), "{reason}");
}

#[test]
fn a_file_rule_applies_only_if_its_condition_holds() {
    let rule = README_RULE.replace("safety", "when: len(files.changed) > 1 or len(files.deleted) > 0\nsafety");
    let project = with_rule("readme", &rule);
    project.file("src/a.py", "changed\n");
    assert_eq!(stop(&project).stdout, "");
    project.file("other.txt", "new\n");
    assert!(stop(&project).reason().contains("## README Accuracy\nsrc/a.py\n"));
    let project = with_rule("readme", &rule);
    std::fs::remove_file(project.root().join("src/a.py")).expect("a file");
    assert!(stop(&project).reason().contains("src/a.py"));
}

#[test]
fn a_file_rule_can_use_file_rule_met() {
    let project = with_rule("tests", "---\nset: ['src/{path}.py', 'tests/{path}_test.py']\n---\nTest it.\n");
    project.rule("readme", &README_RULE.replace("safety", "when: file_rule_met('tests')\nsafety"));
    project.file("src/a.py", "changed\n");
    let reason = stop(&project).reason();
    assert!(reason.contains("Test it.") && !reason.contains("README"), "{reason}");
    project.file("tests/a_test.py", "new\n");
    let reason = stop(&project).reason();
    assert!(!reason.contains("Test it.") && reason.contains("README"), "{reason}");
}

#[test]
fn a_condition_sees_the_changes_since_its_rules_baseline() {
    let rule = README_RULE.replace("safety", "compare_to: prompt\nwhen: files.changed == ['src/b.py']\nsafety");
    let project = with_rule("readme", &rule);
    project.file("src/a.py", "dirty\n");
    super::prompt(&project, "Go on.");
    project.file("src/b.py", "changed\n");
    assert!(stop(&project).reason().contains("src/b.py"));
}

#[test]
fn an_unknown_rule_in_file_rule_met_is_warned_about_and_counts_as_matched() {
    let project = repository();
    project.rule("late", &stop_rule("not file_rule_met('readmes')")).rule("readme", README_RULE);
    commit(&project, "Begin");
    insta::assert_snapshot!(project.run(&["validate"]).transcript(), @r#"
    exit 0
    --- stdout
    warning: no file rule `readmes` is in force, so this `when` cannot be evaluated, and the rule counts as matched
     --> .linchpin/rules/late.md:4:27
      |
    4 | when: "not file_rule_met('readmes')"
      |                           ^^^^^^^
      |
      = help: did you mean `readme`?

    4 rules in force; 1 warning.
    --- stderr
    "#);
    insta::assert_snapshot!(stop(&project).transcript(), @r#"
    exit 0
    --- stdout
    {"decision":"block","reason":"Held by Linchpin rule `late`: Not yet.\n\nLinchpin could not evaluate this rule, so the rule counts as matched: `when` cannot be evaluated: no file rule `readmes` is in force (.linchpin/rules/late.md)."}
    --- stderr
    "#);
}

#[test]
fn a_tool_rule_sees_changed_files() {
    let project = with_rule(
        "publish",
        "---\ncommand_pattern: '^publish'\nwhen: \"'src/a.py' in files.changed\"\n---\nCommit first.\n",
    );
    assert_eq!(project.decision("publish"), "allow");
    project.file("src/a.py", "changed\n");
    assert_eq!(project.decision("publish"), "deny");
    assert_eq!(project.decision("ls"), "allow");
}

#[test]
fn replay_judges_a_stop_by_recorded_facts() {
    let project = with_rule("readme", README_RULE);
    project.file("src/a.py", "changed\n");
    stop(&project);
    let explained = project.run(&["explain", "event", "1"]).stdout;
    let explained: Vec<String> = explained.lines().map(crate::commands::without_time).collect();
    insta::assert_snapshot!(explained.join("\n"), @"
        1   claude stop
      block by readme; the rule has not changed

    Today's rules, with the facts recorded at that time:

    readme: block
      .linchpin/rules/readme.md (project)
      files                true     src/a.py
                                    (changing README.md satisfies it)
    ");
    // The working tree changes after the stop, but the journal entry of the stop does not.
    project.git(&["checkout", "-q", "."]);
    let replayed = project.run(&["replay", "--json"]).json();
    assert_eq!(replayed["changed"].as_array().map(Vec::len).unwrap_or_default(), 0, "{replayed}");
    assert_eq!(project.run(&["replay"]).code, Some(0));
}
