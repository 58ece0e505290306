//! Names of rules: which tier's rule a name refers to, what may override it, and what libraries and imports provide.

use std::fs;
use std::thread;
use std::time::Duration;

use testkit::TestProject;

use super::project;

fn blocking_rule(pattern: &str, reason: &str) -> String {
    format!("---\ncommand_pattern: '{pattern}'\n---\n{reason}\n")
}

fn write_user_config(project: &TestProject, text: &str) {
    fs::create_dir_all(project.user_policy()).expect("a directory");
    fs::write(project.user_policy().join("config.yml"), text).expect("a file");
}

fn write_user_library(project: &TestProject, name: &str, text: &str) {
    fs::create_dir_all(project.user_policy().join("rules")).expect("a directory");
    fs::write(project.user_policy().join(format!("rules/{name}.yml")), text).expect("a file");
}

fn which(project: &TestProject, name: &str) -> String {
    project.run(&["rules", "which", name]).transcript()
}

#[test]
fn a_later_tier_overrides_a_name_after_it_is_trusted() {
    let project = project();
    write_user_config(&project, "rules: [hard-reset]\n");
    project.user_rule("hard-reset", &blocking_rule("^user", "Of the user."));
    project.rule("hard-reset", &blocking_rule("^project", "Of the project."));
    // Before a person accepts the project's rule, it does not override the user's rule.
    insta::assert_snapshot!(which(&project, "hard-reset"), @"
    exit 0
    --- stdout
    hard-reset [BASE]/config/linchpin/rules/hard-reset.md (user)
      in force: a rule file
      not used: .linchpin/rules/hard-reset.md (project): not trusted; run `linchpin trust`
      replaces bundled rule hard-reset (bundled)
    --- stderr
    ");
    assert_eq!(project.decision("user x"), "deny");
    assert_eq!(project.decision("project x"), "allow");
    assert_eq!(project.run(&["trust", "--yes"]).code, Some(0));
    insta::assert_snapshot!(which(&project, "hard-reset"), @"
    exit 0
    --- stdout
    hard-reset .linchpin/rules/hard-reset.md (project)
      in force: a rule file
      replaces [BASE]/config/linchpin/rules/hard-reset.md (user)
      replaces bundled rule hard-reset (bundled)
    --- stderr
    ");
    assert_eq!(project.decision("user x"), "allow");
    assert_eq!(project.decision("project x"), "deny");
    insta::assert_snapshot!(project.run(&["rules", "which", "hard-reset", "--json"]).stdout, @r#"{"name":"hard-reset","tier":"project","source":".linchpin/rules/hard-reset.md","in_force":true,"why":"a rule file","shadows":[{"tier":"user","source":"[BASE]/config/linchpin/rules/hard-reset.md"},{"tier":"bundled","source":"bundled rule hard-reset"}]}"#);
}

#[test]
fn a_project_replaces_a_bundled_rule() {
    let project = project();
    project.config("rules: [hard-reset]\n").rule("hard-reset", &blocking_rule("^git stash", "Of the project."));
    assert_eq!(project.decision("git reset --hard"), "allow");
    assert_eq!(project.decision("git stash"), "deny");
    insta::assert_snapshot!(which(&project, "hard-reset"), @"
    exit 0
    --- stdout
    hard-reset .linchpin/rules/hard-reset.md (project)
      in force: a rule file
      replaces bundled rule hard-reset (bundled)
    --- stderr
    ");
}

#[test]
fn a_project_switches_a_bundled_rule_off() {
    let project = project();
    project.config("rules: [hard-reset]\n");
    project.rule("hard-reset", "---\nenabled: false\ncommand_pattern: x\n---\nOff.\n");
    assert_eq!(project.decision("git reset --hard"), "allow");
    insta::assert_snapshot!(project.run(&["validate"]).transcript(), @"
    exit 0
    --- stdout
    warning: `hard-reset` is named here, but switched off in .linchpin/rules/hard-reset.md
     --> .linchpin/config.yml:1:9
      |
    1 | rules: [hard-reset]
      |         ^^^^^^^^^^
      |
      = help: to switch it on, run `linchpin rules enable`

    2 rules in force; 1 warning.
    --- stderr
    ");
    insta::assert_snapshot!(which(&project, "hard-reset"), @"
    exit 0
    --- stdout
    hard-reset .linchpin/rules/hard-reset.md (project)
      not in force: switched off: `enabled: false`
      not used: bundled rule hard-reset (bundled): not named in config
    --- stderr
    ");
}

#[test]
fn a_locked_rule_cannot_be_overridden() {
    let project = project();
    project.user_rule("mine", "---\ncommand_pattern: '^make'\nlocked: true\n---\nOf the user.\n");
    project.rule("mine", "---\nenabled: false\ncommand_pattern: '^make'\n---\nOff.\n");
    project.rule("protect-guardrails", &blocking_rule("^x", "Nothing protected."));
    project.config("rule_definitions:\n  mine:\n    command_pattern: '^x'\n    reason: Another.\nrules: [mine]\n");
    assert_eq!(project.decision("make"), "deny");
    insta::assert_snapshot!(project.run(&["validate"]).transcript(), @"
    exit 2
    --- stdout
    error: `mine` is locked in the user tier and cannot be replaced
    --> .linchpin/rules/mine.md
     = help: rename this rule

    error: `protect-guardrails` is locked in the bundled tier and cannot be replaced
    --> .linchpin/rules/protect-guardrails.md
     = help: rename this rule

    error: `mine` is locked in the user tier and cannot be replaced
     --> .linchpin/config.yml:2:3
      |
    2 |   mine:
      |   ^
      |
      = help: rename this rule

    3 rules in force; 3 errors.
    --- stderr
    ");
}

#[test]
fn rules_of_libraries_apply_only_if_they_are_named() {
    let project = project();
    project.file(
        ".linchpin/rules/git.yml",
        "# Rules for git.\nno-stash:\n  command_pattern: '^git stash'\n  reason: Commit instead.\n\n# Another.\nno-tags:\n  command_pattern: '^git tag'\n  reason: The release makes tags.\n",
    );
    assert_eq!(project.decision("git stash"), "allow");
    project.config("rules: [no-stash]\n");
    assert_eq!(project.decision("git stash"), "deny");
    assert_eq!(project.decision("git tag v1"), "allow");
    insta::assert_snapshot!(project.run(&["rules", "list"]).transcript(), @"
    exit 0
    --- stdout
    In force
      no-stash              block  project  named in config
      people-only-commands  block  bundled  locked: always in force
      protect-guardrails    block  bundled  locked: always in force

    Not in force
      delete-outside-project  block  bundled  not named in config
      force-push-protected    block  bundled  not named in config
      hard-reset              block  bundled  not named in config
      no-tags                 block  project  not named in config
      opaque-shell            block  bundled  not named in config
      pipe-to-shell           block  bundled  not named in config
      read-secrets            block  bundled  not named in config
      repeated-failure        warn   bundled  not named in config
      unguarded-agent         block  bundled  not named in config
    --- stderr
    ");
    insta::assert_snapshot!(project.run(&["rules", "show", "no-stash"]).transcript(), @"
    exit 0
    --- stdout
    no-stash:
      command_pattern: '^git stash'
      reason: Commit instead.
    --- stderr
    ");
    insta::assert_snapshot!(project.run(&["rules", "list", "--json"]).json()["rules"][0], @r#"{"name":"no-stash","title":null,"tier":"project","source":".linchpin/rules/git.yml:2","action":"block","locked":false,"digest":"66f53a636d484db2e2afa0a6","in_force":true,"why":"named in config"}"#);
}

#[test]
fn one_broken_entry_of_a_library_breaks_only_itself() {
    let project = project();
    project.file(
        ".linchpin/rules/git.yml",
        "no-stash:\n  command_pattern: '^git stash'\n  reason: Commit.\nno-tags:\n  command_pattern: '(tag'\n  reason: No.\nlinchpin: {}\nno stars: {}\n",
    );
    project.config("rules: [no-stash, no-tags]\n");
    assert_eq!(project.decision("git stash"), "deny");
    insta::assert_snapshot!(project.run(&["validate"]).transcript(), @"
    exit 2
    --- stdout
    error: invalid regex: unclosed group
     --> .linchpin/rules/git.yml:5:21
      |
    5 |   command_pattern: '(tag'
      |                     ^

    error: reserved rule id `linchpin`: Linchpin uses it for its own messages
     --> .linchpin/rules/git.yml:7:1
      |
    7 | linchpin: {}
      | ^^^^^^^^
      |
      = help: choose another name

    error: invalid rule id `no stars`
     --> .linchpin/rules/git.yml:8:1
      |
    8 | no stars: {}
      | ^^^^^^^^
      |
      = help: use letters, digits, `-`, `_` and `.`, and start with a letter or digit

    3 rules in force; 3 errors.
    --- stderr
    ");
}

#[test]
fn the_last_valid_version_of_a_broken_entry_stays_in_force() {
    let project = project();
    let library = |pattern: &str| format!("no-stash:\n  command_pattern: '{pattern}'\n  reason: Commit.\n");
    project.config("rules: [no-stash, {name: No tags, command_pattern: '^git tag', reason: No.}]\n");
    project.file(".linchpin/rules/git.yml", library("^git stash"));
    assert_eq!(project.decision("git stash"), "deny");
    assert_eq!(project.decision("git tag v1"), "deny");
    project.file(".linchpin/rules/git.yml", library("^git stash("));
    assert_eq!(project.decision("git stash"), "deny");
    project.file(".linchpin/rules/git.yml", "no-stash: [\n");
    assert_eq!(project.decision("git stash"), "deny");
    project.config("rules: [no-stash, {name: No tags, command_pattern: '^git tag(', reason: No.}]\n");
    assert_eq!(project.decision("git tag v1"), "deny");
    // An unknown name makes the whole list `rules` invalid, so the last valid version of the list stays in force.
    project.config("rules: [no-stosh]\n");
    assert_eq!(project.decision("git tag v1"), "deny");
    insta::assert_snapshot!(project.run(&["validate"]).transcript(), @"
    exit 2
    --- stdout
    error: invalid YAML: unclosed bracket '['
     --> .linchpin/rules/git.yml:1:11
      |
    1 | no-stash: [
      |           ^

    error: there is no rule `no-stosh`
     --> .linchpin/config.yml:1:9
      |
    1 | rules: [no-stosh]
      |         ^^^^^^^^
      |
      = help: did you mean `no-stash`?

    note: .linchpin/config.yml has errors, so its last valid version stays in force

    4 rules in force; 2 errors.
    --- stderr
    ");
}

#[test]
fn rules_can_be_defined_in_the_list() {
    let project = project();
    project.config(
        "rules:\n  - hard-reset\n  - name: No tags\n    command_pattern: '^git tag'\n    reason: The release makes tags.\n  # Without a name.\n  - {tools: [WebFetch], action: ask, reason: Ask first.}\n",
    );
    assert_eq!(project.decision("git tag v1"), "deny");
    assert_eq!(project.decision("git reset --hard"), "deny");
    insta::assert_snapshot!(project.run(&["rules", "list"]).transcript(), @"
    exit 0
    --- stdout
    In force
      hard-reset            block  bundled  named in config
      inline-3              ask    local    defined in config
      no-tags               block  local    defined in config
      people-only-commands  block  bundled  locked: always in force
      protect-guardrails    block  bundled  locked: always in force

    Not in force
      delete-outside-project  block  bundled  not named in config
      force-push-protected    block  bundled  not named in config
      opaque-shell            block  bundled  not named in config
      pipe-to-shell           block  bundled  not named in config
      read-secrets            block  bundled  not named in config
      repeated-failure        warn   bundled  not named in config
      unguarded-agent         block  bundled  not named in config
    --- stderr
    ");
    insta::assert_snapshot!(project.run(&["rules", "show", "no-tags"]).transcript(), @"
    exit 0
    --- stdout
    name: No tags
        command_pattern: '^git tag'
        reason: The release makes tags.
    --- stderr
    ");
    insta::assert_snapshot!(project.run(&["rules", "show", "no-tagz"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: there is no rule `no-tagz`
    help: did you mean `no-tags`?
    ");
}

#[test]
fn a_duplicate_name_in_one_tier_is_reported() {
    let project = project();
    project.rule("no-tags", &blocking_rule("^git tag", "No."));
    project.file(".linchpin/rules/a.yml", "no-tags:\n  command_pattern: '^a'\n  reason: A.\n");
    project.file(
        ".linchpin/rules/b.yml",
        "other:\n  command_pattern: '^b'\n  reason: B.\nno-tags:\n  command_pattern: '^b'\n  reason: B.\n",
    );
    assert_eq!(project.decision("git tag v1"), "deny");
    insta::assert_snapshot!(project.run(&["validate"]).transcript(), @"
    exit 2
    --- stdout
    error: duplicate rule `no-tags` in the project tier: this one and .linchpin/rules/no-tags.md
     --> .linchpin/rules/a.yml:1:1
      |
    1 | no-tags:
      | ^
      |
      = help: rename one of them; until then the first is used

    error: duplicate rule `no-tags` in the project tier: this one and .linchpin/rules/no-tags.md
     --> .linchpin/rules/b.yml:4:1
      |
    4 | no-tags:
      | ^
      |
      = help: rename one of them; until then the first is used

    3 rules in force; 2 errors.
    --- stderr
    ");
}

#[test]
fn the_later_of_two_imports_wins() {
    let project = project();
    project.file(".linchpin/rules/near.yml", "same:\n  command_pattern: '^near'\n  reason: Near.\n");
    write_user_library(&project, "far", "same:\n  command_pattern: '^far'\n  reason: Far.\n");
    project.config("imports: [near, far]\nrules: [same]\n");
    assert_eq!(project.decision("far x"), "deny");
    assert_eq!(project.decision("near x"), "allow");
    insta::assert_snapshot!(which(&project, "same"), @"
    exit 0
    --- stdout
    same [BASE]/config/linchpin/rules/far.yml:1 (user)
      in force: named in config
      replaces .linchpin/rules/near.yml:1 (project)
    --- stderr
    ");
    project.config("imports: [far, near, near]\nrules: [same]\n");
    assert_eq!(project.decision("near x"), "deny");
    // Rules that `config.yml` defines itself override imported rules.
    project.config(
        "imports: [far]\nrule_definitions:\n  same:\n    command_pattern: '^own'\n    reason: Own.\nrules: [same]\n",
    );
    assert_eq!(project.decision("own x"), "deny");
    insta::assert_snapshot!(which(&project, "same"), @"
    exit 0
    --- stdout
    same .linchpin/config.yml:3 (local)
      in force: named in config
      replaces .linchpin/rules/near.yml:1 (project)
      replaces [BASE]/config/linchpin/rules/far.yml:1 (user)
    --- stderr
    ");
}

#[test]
fn imports_are_transitive() {
    let project = project();
    project
        .file(".linchpin/rules/outer.yml", "imports: [inner]\nouter:\n  command_pattern: '^outer'\n  reason: Outer.\n");
    project.file(".linchpin/rules/inner.yml", "inner:\n  command_pattern: '^inner'\n  reason: Inner.\n");
    project.config("imports: [outer]\nrules: [inner, outer]\n");
    assert_eq!(project.decision("inner x"), "deny");
    assert_eq!(project.decision("outer x"), "deny");
}

#[test]
fn circular_and_missing_imports_are_reported() {
    let project = project();
    project.file(".linchpin/rules/a.yml", "imports: [b]\nin-a:\n  command_pattern: '^a'\n  reason: A.\n");
    project.file(".linchpin/rules/b.yml", "imports: [c]\nin-b:\n  command_pattern: '^b'\n  reason: B.\n");
    project.file(".linchpin/rules/c.yml", "imports: [a, missing]\nin-c:\n  command_pattern: '^c'\n  reason: C.\n");
    project.config("imports: [a, bb, zzzzzz]\nrules: [in-a]\n");
    // The valid rules are in force in spite of the invalid imports.
    assert_eq!(project.decision("a x"), "deny");
    insta::assert_snapshot!(project.run(&["validate"]).transcript(), @"
    exit 2
    --- stdout
    error: imports form a cycle: a → b → c → a
     --> .linchpin/rules/c.yml:1:11
      |
    1 | imports: [a, missing]
      |           ^

    error: unknown rule library `missing`, imported by a → b → c
     --> .linchpin/rules/c.yml:1:14
      |
    1 | imports: [a, missing]
      |              ^^^^^^^
      |
      = help: known libraries: a, b, c

    error: unknown rule library `bb`
     --> .linchpin/config.yml:1:14
      |
    1 | imports: [a, bb, zzzzzz]
      |              ^^
      |
      = help: did you mean `b`?

    error: unknown rule library `zzzzzz`
     --> .linchpin/config.yml:1:18
      |
    1 | imports: [a, bb, zzzzzz]
      |                  ^^^^^^
      |
      = help: known libraries: a, b, c

    3 rules in force; 4 errors.
    --- stderr
    ");
}

#[test]
fn exponential_imports_are_limited() {
    let project = project();
    for number in 0..40 {
        let next = number + 1;
        let text = format!("imports: [l{next}, l{next}, l{next}]\nr{number}:\n  command_pattern: '^x'\n  reason: X.\n");
        project.file(&format!(".linchpin/rules/l{number}.yml"), text);
    }
    project.file(".linchpin/rules/l40.yml", "r40:\n  command_pattern: '^x'\n  reason: X.\n");
    let reply = project.run(&["validate"]);
    assert_eq!(reply.code, Some(2));
    assert!(reply.stdout.contains("these imports exceed the maximum number of libraries"), "{}", reply.stdout);
}

#[test]
fn protected_branches_are_configurable() {
    let with = |config: &str| {
        let project = project();
        project.config(&format!("rules: [force-push-protected]\n{config}"));
        project
    };
    let is_refused =
        |project: &TestProject, branch: &str| project.decision(&format!("git push --force origin {branch}")) == "deny";
    let project = with("");
    assert!(is_refused(&project, "main") && is_refused(&project, "master") && !is_refused(&project, "release"));
    let project = with("protected_branches: [release, 'v*']\n");
    assert!(!is_refused(&project, "main") && is_refused(&project, "release"));
    assert!(is_refused(&project, "v1") && !is_refused(&project, "w1"));
    let project = with("default_branch: trunk\n");
    assert!(!is_refused(&project, "main") && is_refused(&project, "trunk"));
    // The project adds `trunk` to the user's protected branches. It cannot remove `main`.
    write_user_config(&project, "rules: [force-push-protected]\n");
    assert!(is_refused(&project, "main") && is_refused(&project, "trunk"));
}

#[test]
fn the_rule_text_of_a_verdict_can_be_shown() {
    let project = project();
    project.rule("no-danger", &blocking_rule("^danger", "The first text."));
    assert_eq!(project.decision("danger"), "deny");
    project.rule("no-danger", &blocking_rule("^danger", "The second text."));
    assert_eq!(project.decision("danger"), "deny");
    let log = project.run(&["log", "--json"]).stdout;
    let digests: Vec<String> = log
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"))
        .map(|entry| entry["verdict"]["findings"][0]["digest"].as_str().expect("a digest").to_owned())
        .collect();
    let version = |digest: &str| project.run(&["rules", "show", "no-danger", "--version", digest]).stdout;
    assert!(version(&digests[0]).contains("The first text."));
    assert!(version(&digests[1][..8]).contains("The second text."));
    let reply = project.run(&["rules", "show", "no-danger", "--version", "0000"]);
    assert_eq!(reply.code, Some(2));
    assert!(reply.stderr.contains(&digests[0]) && reply.stderr.contains(&digests[1]), "{}", reply.stderr);
    // Rule files are authoritative: without the journal there is no history, but every rule is still in force.
    fs::remove_file(project.root().join(".linchpin/state.db")).expect("a journal");
    assert_eq!(project.decision("danger"), "deny");
}

/// Returns the digest of the rule that refused the last event.
fn last_digest(project: &TestProject) -> String {
    let log = project.run(&["log", "--json"]).stdout;
    let last = log.lines().last().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
    let digest = last.and_then(|entry| entry["verdict"]["findings"][0]["digest"].as_str().map(str::to_owned));
    digest.expect("a digest")
}

fn version(project: &TestProject, digest: &str) -> String {
    project.run(&["rules", "show", "no-danger", "--version", digest]).transcript()
}

#[test]
fn rule_texts_first_read_by_other_commands_are_recorded() {
    let project = project();
    assert_eq!(project.decision("ls"), "allow");
    for (command, text) in [("check", "The first text."), ("doctor", "The second text."), ("status", "The third text.")]
    {
        project.rule("no-danger", &blocking_rule("^danger", text));
        // Linchpin caches a file only if some time has passed since the file was modified.
        thread::sleep(Duration::from_millis(200));
        project.run(&[command]);
        assert_eq!(project.decision("danger"), "deny");
        let stored_rule = version(&project, &last_digest(&project));
        assert!(stored_rule.contains(text), "after `{command}`: {stored_rule}");
    }
}
