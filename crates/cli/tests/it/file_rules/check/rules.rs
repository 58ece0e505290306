//! The rules that `check` judges, and when a rule is met.

use super::{check_changes, check_transcript, with_unmet_rules};
use crate::file_rules::{README_RULE, commit, project, project_without_policy, repository, with_rule};

#[test]
fn check_succeeds_if_rules_are_met_or_missing() {
    let project = with_rule("readme", README_RULE);
    insta::assert_snapshot!(check_transcript(&project, &["check"]), @"
    exit 0
    --- stdout
    1 file rule met; 0 files changed since [HEAD].
    --- stderr
    ");
    project.file("src/a.py", "changed\n").file("README.md", "changed\n");
    insta::assert_snapshot!(check_transcript(&project, &["check"]), @"
    exit 0
    --- stdout
    1 file rule met; 2 files changed since [HEAD].
    --- stderr
    ");
    let project = repository();
    insta::assert_snapshot!(project.run(&["check", "--changed-from", "/dev/null"]).transcript(), @"
    exit 0
    --- stdout
    No file rules are in force.
    --- stderr
    ");
    insta::assert_snapshot!(project_without_policy().run(&["check"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: there is no policy in `[BASE]/project` or above it
    help: `linchpin init` writes one
    ");
}

#[test]
fn rule_flags_select_rules() {
    let project = with_unmet_rules();
    assert_eq!(project.run(&["check", "--rule", "other"]).code, Some(0));
    let reply = project.run(&["check", "--rule", "readme", "--rule", "other", "--json"]);
    let ids: Vec<String> =
        reply.json()["rules"].as_array().expect("rules").iter().map(|rule| rule["rule"].to_string()).collect();
    assert_eq!(ids, ["\"other\"", "\"readme\""]);
    insta::assert_snapshot!(project.run(&["check", "--rule", "reedme"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: there is no rule `reedme`
    help: did you mean `readme`?
    ");
    // `check` does not judge rules about tool calls.
    insta::assert_snapshot!(project.run(&["check", "--rule", "protect-guardrails"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: rule `protect-guardrails` is not a file rule, so `check` does not judge it
    help: name a file rule, or leave out `--rule` to check all of them
    ");
}

#[test]
fn a_warning_counts_as_unmet() {
    let project = with_unmet_rules();
    assert_eq!(project.run(&["check", "--rule", "license"]).code, Some(1));
}

#[test]
fn a_broken_rule_fails_with_exit_code_2() {
    let project = with_rule("readme", README_RULE);
    project.rule("broken", "---\nset: ['src/{path}.py']\n---\nNo.\n").file("src/a.py", "changed\n");
    insta::assert_snapshot!(check_transcript(&project, &["check"]), @r#"
    exit 2
    --- stdout
    error: `set` must have at least two members
     --> .linchpin/rules/broken.md:2:1
      |
    2 | set: ['src/{path}.py']
      | ^^^

    ## README Accuracy
    src/a.py
    (changing README.md satisfies it)

    Source files changed. Verify README.md is accurate.
    (readme in .linchpin/rules/readme.md)

    1 of 1 file rule unmet; 2 files changed since [HEAD].
    1 error in the policy files: rules with errors were skipped, or judged in their last valid version.
    If a rule does not apply, run `linchpin ack readme --reason "…"`: the acknowledgement then counts for agents and for `check --staged`. For CI, add `--trailer`, and put the printed line into the commit message.
    --- stderr
    "#);
    let github = project.run(&["check", "--format", "github"]);
    assert!(github.stdout.starts_with("::error file=.linchpin/rules/broken.md::"), "{}", github.stdout);
    let sarif = project.run(&["check", "--format", "sarif"]).json();
    assert_eq!(sarif["runs"][0]["invocations"][0]["executionSuccessful"], false);
    assert_eq!(project.run(&["check", "--json"]).json()["problems"].as_array().map(Vec::len), Some(1));
    // The next project has a rule whose condition cannot be evaluated.
    let project =
        with_rule("faulty", &README_RULE.replace("safety", "when: 1 // (len(files.changed) - 1) > 0\nsafety"));
    project.file("src/a.py", "changed\n");
    insta::assert_snapshot!(check_transcript(&project, &["check"]), @"
    exit 2
    --- stdout
    ## README Accuracy
    This rule failed: `when` cannot be evaluated: division by zero with `//` (.linchpin/rules/faulty.md)
    (faulty in .linchpin/rules/faulty.md)

    1 of 1 file rule unmet; 1 file changed since [HEAD].
    --- stderr
    ");
    insta::assert_snapshot!(project.run(&["check", "--format", "github"]).stdout, @"::error title=README Accuracy::## README Accuracy%0AThis rule failed: `when` cannot be evaluated: division by zero with `//` (.linchpin/rules/faulty.md)");
    assert_eq!(project.run(&["check", "--json"]).json()["rules"][0]["outcome"], "broken");
}

#[test]
fn commands_run_only_with_fix() {
    let project = repository();
    project.rule("format", "---\ntrigger: '**/*.py'\naction: {command: 'sh tools/run.sh {file}'}\n---\nMend it.\n");
    project.file("tools/run.sh", "grep -q bad \"$1\" && { echo \"$1 is bad\"; exit 1; }; printf done > \"$1\"\n");
    commit(&project, "Begin");
    project.run(&["trust", "--yes"]);
    project.file("src/a.py", "new\n");
    insta::assert_snapshot!(check_transcript(&project, &["check"]), @"
    exit 0
    --- stdout
    Note: `format` was not judged: `linchpin check --fix` runs its command (1 file).
    No other file rule was judged; 1 file changed since [HEAD].
    --- stderr
    ");
    insta::assert_snapshot!(check_transcript(&project, &["check", "--fix"]), @"
    exit 0
    --- stdout
    Note: `format` ran for 1 file; running it again changes nothing.
    1 file rule met; 1 file changed since [HEAD].
    --- stderr
    ");
    assert_eq!(std::fs::read_to_string(project.root().join("src/a.py")).expect("a file"), "done");
    project.file("src/b.py", "bad\n");
    insta::assert_snapshot!(check_transcript(&project, &["check", "--fix"]), @r#"
    exit 1
    --- stdout
    ## format
    `sh tools/run.sh src/b.py`: it failed with exit code 1
    src/b.py is bad

    Mend it.
    (format in .linchpin/rules/format.md)

    1 of 1 file rule unmet; 2 files changed since [HEAD].
    If a rule does not apply, run `linchpin ack format --reason "…"`: the acknowledgement then counts for agents and for `check --staged`. For CI, add `--trailer`, and put the printed line into the commit message.
    --- stderr
    "#);
    let report = project.run(&["check", "--fix", "--json"]).json();
    insta::assert_snapshot!(report["rules"][0]["command"].to_string(), @r#"{"type":"command","command":"sh tools/run.sh src/b.py","exit_code":1,"output":"it failed with exit code 1","stdout":"src/b.py is bad\n","stderr":""}"#);
    // `check` finds a missing file without running the rule's command.
    project.rule("pair", "---\npair: {trigger: 'src/{path}.py', expects: 'gen/{path}.txt'}\naction: {command: 'sh tools/gen.sh {path} {file}'}\n---\nGenerate it.\n");
    project.file("tools/gen.sh", "mkdir -p gen && echo x > \"gen/$1.txt\"\n");
    project.run(&["trust", "--yes"]);
    assert_eq!(project.run(&["check", "--rule", "pair"]).code, Some(1));
    assert_eq!(project.run(&["check", "--rule", "pair", "--fix"]).code, Some(0));
    assert_eq!(project.run(&["check", "--rule", "pair"]).code, Some(0));
}

#[test]
fn conditions_see_the_branch() {
    let project = with_rule(
        "readme",
        &README_RULE.replace("safety", "when: git.branch == 'release' and git.default_branch == 'main'\nsafety"),
    );
    project.file("src/a.py", "changed\n");
    assert_eq!(project.run(&["check"]).code, Some(0));
    project.git(&["switch", "-q", "-c", "release"]);
    assert_eq!(project.run(&["check"]).code, Some(1));
}

#[test]
fn file_rule_met_works_for_rules_that_are_not_selected() {
    let project = with_rule("readme", README_RULE);
    project.rule("other", "---\ntrigger: 'src/**'\nwhen: \"not file_rule_met('readme')\"\n---\nBoth.\n");
    project.file("src/a.py", "changed\n");
    let reply = project.run(&["check", "--rule", "other", "--json"]).json();
    assert_eq!(reply["rules"].as_array().map(Vec::len), Some(1));
    assert_eq!(reply["unmet"], true);
}

#[test]
fn an_untrusted_rule_is_reported_as_untrusted() {
    let project = repository();
    project.rule("fmt", "---\ntrigger: '**/*.py'\naction: {command: 'true {file}'}\n---\nNo.\n");
    insta::assert_snapshot!(project.run(&["check", "--rule", "fmt"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: rule `fmt` is ignored until a person accepts it
    help: `linchpin trust` shows and accepts it
    ");
    insta::assert_snapshot!(project.run(&["check", "--fix", "--staged"]).stderr, @"
    error: the argument '--fix' cannot be used with '--staged'

    Usage: linchpin check [OPTIONS] [A..B]

    For more information, try '--help'.
    ");
}

#[test]
fn a_variable_shared_by_trigger_and_safety_has_one_value() {
    let project = project();
    project.rule(
        "docs",
        "---\ntrigger: 'src/{path}.py'\nsafety: ['docs/{path}.md', 'docs/api/{path}.md', CHANGELOG.md]\n---\nSee {expected_files}.\n",
    );
    insta::assert_snapshot!(check_changes(&project, "M\tsrc/a.py\nM\tsrc/b/c.py\nA\tdocs/a.md\n", &[]).transcript(), @"
    exit 1
    --- stdout
    ## docs
    src/b/c.py (changing docs/b/c.md or docs/api/b/c.md satisfies it)
    (changing CHANGELOG.md satisfies it)

    See CHANGELOG.md, docs/b/c.md, docs/api/b/c.md.
    (docs in .linchpin/rules/docs.md)

    1 of 1 file rule unmet; 3 files changed according to stdin.
    --- stderr
    ");
    assert_eq!(check_changes(&project, "M\tsrc/a.py\nD\tdocs/api/a.md\n", &[]).code, Some(0));
    assert_eq!(check_changes(&project, "M\tsrc/a.py\nA\tdocs/ab.md\n", &[]).code, Some(1));
    assert_eq!(check_changes(&project, "M\tsrc/a.py\nM\tsrc/b.py\nM\tCHANGELOG.md\n", &[]).code, Some(0));
    // A variable that occurs only in `safety` matches any text.
    project.rule("docs", "---\ntrigger: 'src/**'\nsafety: 'docs/{path}.md'\n---\nNo.\n");
    assert_eq!(check_changes(&project, "M\tsrc/a.py\nA\tdocs/b.md\n", &[]).code, Some(0));
}
