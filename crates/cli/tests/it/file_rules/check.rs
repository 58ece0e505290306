//! `check`: the same rules without an agent.

use serde_json::json;
use testkit::{Reply, Scratch};

use super::{README, bare, commit, project, repository, with_rule};

/// Two rules that are not met, one that only warns, and one that is.
fn unmet() -> Scratch {
    let project = with_rule("readme", README);
    project.rule("source-test", "---\nname: Source and test together\nset: ['src/{path}.py', 'tests/{path}_test.py']\n---\nTest {path}, 100% of it.\n");
    project.rule("license", "---\ncreated: '**/*.py'\naction: warn\n---\nNew files need a licence.\n");
    project.rule("other", "---\ntrigger: other/**\n---\nNo.\n");
    commit(&project, "Rules");
    project.file("src/a.py", "changed\n").file("src/new, odd.py", "new\n").file("tests/a_test.py", "new\n");
    project
}

fn since(project: &Scratch, text: &str) -> String {
    text.replace(&project.git(&["rev-parse", "--short=12", "HEAD"]), "[HEAD]")
}

fn checked(project: &Scratch, arguments: &[&str]) -> String {
    since(project, &project.run(arguments).transcript())
}

fn listed(project: &Scratch, lines: &str, more: &[&str]) -> Reply {
    let mut arguments = vec!["check", "--changed-from", "-"];
    arguments.extend(more);
    project.feed(project.command(&arguments), lines.as_bytes())
}

#[test]
fn for_people() {
    let project = unmet();
    insta::assert_snapshot!(checked(&project, &["check"]), @r#"
    exit 1
    --- stdout
    ## license
    src/new, odd.py
    tests/a_test.py

    New files need a licence.
    (license in .linchpin/rules/license.md)

    ## README Accuracy
    src/a.py
    src/new, odd.py
    (a change of README.md answers it)

    Source files changed. Verify README.md is accurate.
    (readme in .linchpin/rules/readme.md)

    ## Source and test together
    src/new, odd.py → tests/new, odd_test.py

    Test new, odd, 100% of it.
    (source-test in .linchpin/rules/source-test.md)

    3 of 4 file rules not met; 3 files changed since [HEAD].
    Where a rule does not apply, `linchpin ack NAME --reason "…"` says so to agents and to `check --staged`; with `--trailer` it prints the line that says so in a commit's message, for CI.
    --- stderr
    "#);
    assert_eq!(super::queue(&project).len(), 0);
}

#[test]
fn as_json() {
    let project = unmet();
    let reply = project.run(&["check", "--json"]);
    assert_eq!(reply.code, Some(1));
    insta::assert_snapshot!(since(&project, &serde_json::to_string_pretty(&reply.json()).expect("JSON")), @r###"
    {
      "unmet": true,
      "baseline": "[HEAD]3369d33b54a0e58657586c5b62f7",
      "changed": 3,
      "rules": [
        {
          "rule": "license",
          "title": "license",
          "source": ".linchpin/rules/license.md",
          "unmet": true,
          "outcome": "unmet",
          "level": "warn",
          "trigger_files": [
            "src/new, odd.py",
            "tests/a_test.py"
          ],
          "expected_files": [],
          "matched_files": [],
          "pairs": [],
          "command": null,
          "lacks": null,
          "reason": "## license\nsrc/new, odd.py\ntests/a_test.py\n\nNew files need a licence."
        },
        {
          "rule": "other",
          "title": "other",
          "source": ".linchpin/rules/other.md",
          "unmet": false,
          "outcome": "met",
          "level": null,
          "trigger_files": [],
          "expected_files": [],
          "matched_files": [],
          "pairs": [],
          "command": null,
          "lacks": null,
          "reason": null
        },
        {
          "rule": "readme",
          "title": "README Accuracy",
          "source": ".linchpin/rules/readme.md",
          "unmet": true,
          "outcome": "unmet",
          "level": "block",
          "trigger_files": [
            "src/a.py",
            "src/new, odd.py"
          ],
          "expected_files": [],
          "matched_files": [],
          "pairs": [],
          "command": null,
          "lacks": null,
          "reason": "## README Accuracy\nsrc/a.py\nsrc/new, odd.py\n(a change of README.md answers it)\n\nSource files changed. Verify README.md is accurate."
        },
        {
          "rule": "source-test",
          "title": "Source and test together",
          "source": ".linchpin/rules/source-test.md",
          "unmet": true,
          "outcome": "unmet",
          "level": "block",
          "trigger_files": [
            "src/new, odd.py"
          ],
          "expected_files": [
            "tests/new, odd_test.py"
          ],
          "matched_files": [
            "src/a.py",
            "tests/a_test.py"
          ],
          "pairs": [
            [
              "src/new, odd.py",
              "tests/new, odd_test.py"
            ]
          ],
          "command": null,
          "lacks": null,
          "reason": "## Source and test together\nsrc/new, odd.py → tests/new, odd_test.py\n\nTest new, odd, 100% of it."
        }
      ],
      "problems": [],
      "notes": []
    }
    "###);
    assert_eq!(project.run(&["check", "--format", "json"]).stdout, reply.stdout);
}

#[test]
fn for_github() {
    let project = unmet();
    insta::assert_snapshot!(checked(&project, &["check", "--format", "github"]), @r#"
    exit 1
    --- stdout
    ::warning file=src/new%2C odd.py,title=license::New files need a licence.
    ::warning file=tests/a_test.py,title=license::New files need a licence.
    ::error file=src/a.py,title=README Accuracy::a change of README.md answers it%0ASource files changed. Verify README.md is accurate.
    ::error file=src/new%2C odd.py,title=README Accuracy::a change of README.md answers it%0ASource files changed. Verify README.md is accurate.
    ::error file=src/new%2C odd.py,title=Source and test together::src/new, odd.py → tests/new, odd_test.py%0ATest new, odd, 100%25 of it.
    ::notice::Where a rule does not apply, `linchpin ack NAME --reason "…"` says so to agents and to `check --staged`; with `--trailer` it prints the line that says so in a commit's message, for CI.
    --- stderr
    "#);
}

#[test]
fn as_sarif() {
    let project = unmet();
    let reply = project.run(&["check", "--format", "sarif"]);
    assert_eq!(reply.code, Some(1));
    let version = format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION"));
    let text =
        serde_json::to_string_pretty(&reply.json()).expect("JSON").replace(&version, "\"version\": \"[VERSION]\"");
    insta::assert_snapshot!(text);
}

#[test]
fn met_or_without_rules() {
    let project = with_rule("readme", README);
    insta::assert_snapshot!(checked(&project, &["check"]), @"
    exit 0
    --- stdout
    The file rule is met; 0 files changed since [HEAD].
    --- stderr
    ");
    project.file("src/a.py", "changed\n").file("README.md", "changed\n");
    insta::assert_snapshot!(checked(&project, &["check"]), @"
    exit 0
    --- stdout
    The file rule is met; 2 files changed since [HEAD].
    --- stderr
    ");
    let project = repository();
    insta::assert_snapshot!(project.run(&["check", "--changed-from", "/dev/null"]).transcript(), @"
    exit 0
    --- stdout
    No file rules are in force.
    --- stderr
    ");
    insta::assert_snapshot!(bare().run(&["check"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: there is no policy in `[BASE]/project` or above it
    help: `linchpin init` writes one
    ");
}

#[test]
fn only_some_rules() {
    let project = unmet();
    assert_eq!(project.run(&["check", "--rule", "other"]).code, Some(0));
    let reply = project.run(&["check", "--rule", "readme", "--rule", "other", "--json"]);
    let ids: Vec<String> =
        reply.json()["rules"].as_array().expect("rules").iter().map(|rule| rule["rule"].to_string()).collect();
    assert_eq!(ids, ["\"other\"", "\"readme\""]);
    insta::assert_snapshot!(project.run(&["check", "--rule", "reedme"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: no file rule in force is named `reedme`
    help: did you mean `readme`?
    ");
    // A rule about calls is none of its.
    insta::assert_snapshot!(project.run(&["check", "--rule", "protect-guardrails"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: no file rule in force is named `protect-guardrails`
    help: `linchpin rules list` shows the rules
    ");
}

#[test]
fn a_warning_counts_as_unmet() {
    let project = unmet();
    assert_eq!(project.run(&["check", "--rule", "license"]).code, Some(1));
}

#[test]
fn ranges_and_bases() {
    let project = with_rule("readme", README);
    project.git(&["switch", "-q", "-c", "work"]);
    project.file("src/a.py", "changed\n");
    commit(&project, "Code");
    project.file("README.md", "changed\n");
    commit(&project, "Words");
    project.git(&["switch", "-q", "main"]);
    project.file("src/b.py", "changed\n");
    commit(&project, "Meanwhile");
    project.git(&["switch", "-q", "work"]);
    let code = |arguments: &[&str]| project.run(arguments).code;
    assert_eq!(code(&["check", "main..work"]), Some(0));
    assert_eq!(code(&["check", "main..work~1"]), Some(1));
    assert_eq!(code(&["check", "main...work~1"]), Some(1));
    assert_eq!(code(&["check", "main.."]), Some(0));
    // Of the other side nothing is asked.
    let found = project.run(&["check", "main..work~1", "--json"]).json();
    assert_eq!(found["rules"][0]["trigger_files"], json!(["src/a.py"]));
    // A range is about commits, a base about the working tree.
    project.file("src/a.py", "dirty\n").file("src/new.py", "new\n");
    assert_eq!(project.run(&["check", "work~1..work", "--json"]).json()["changed"], 1);
    let found = project.run(&["check", "--base", "work~1", "--json"]).json();
    assert_eq!(found["changed"], 3);
    assert_eq!(found["rules"][0]["outcome"], "met");
    assert_eq!(code(&["check", "--base", "HEAD"]), Some(1));
    insta::assert_snapshot!(project.run(&["check", "nothing..work"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: git knows no commit `nothing`
    help: in CI, fetch enough history: `with: {fetch-depth: 0}` for `actions/checkout`
    ");
    insta::assert_snapshot!(project.run(&["check", "work"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: `work` is no range of commits
    help: write `A..B`; to compare the working tree with a commit, `--base A`
    ");
    insta::assert_snapshot!(project.run(&["check", "--base", "--output=x"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: unexpected argument '--output' found

      tip: to pass '--output' as a value, use '-- --output'

    Usage: linchpin check [OPTIONS] [A..B]

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(project.run(&["check", "--base=--output=x"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: git knows no commit `--output=x`
    help: in CI, fetch enough history: `with: {fetch-depth: 0}` for `actions/checkout`
    ");
    assert!(!project.root().join("x").exists());
    assert_eq!(code(&["check", "main..work", "--base", "main"]), Some(2));
    assert_eq!(code(&["check", "main..work", "--fix"]), Some(2));
}

#[test]
fn a_list_needs_no_git() {
    let project = project();
    project.rule("readme", README);
    let reply = listed(&project, "M\tsrc/a.py\n\n  \nA\t./src/b.py\nD\tsrc/deep/c.py\nM\tother.txt\n", &["--json"]);
    assert_eq!(reply.code, Some(1));
    assert_eq!(reply.json()["rules"][0]["trigger_files"], json!(["src/a.py", "src/b.py", "src/deep/c.py"]));
    assert_eq!(reply.json()["changed"], 4);
    // Of two lines about one path the later counts.
    let reply = listed(&project, "A\tsrc/a.py\nM\tsrc/a.py\n", &["--json"]);
    assert_eq!(reply.json()["changed"], 1);
    // As Windows ends lines.
    assert_eq!(listed(&project, "M\tsrc/a.py\r\n", &[]).code, Some(1));
    project.file("changes.txt", "M\tsrc/a.py\n");
    insta::assert_snapshot!(project.run(&["check", "--changed-from", "changes.txt"]).transcript(), @"
    exit 1
    --- stdout
    ## README Accuracy
    src/a.py
    (a change of README.md answers it)

    Source files changed. Verify README.md is accurate.
    (readme in .linchpin/rules/readme.md)

    1 of 1 file rule not met; 1 file changed by what `changes.txt` lists.
    --- stderr
    ");
    insta::assert_snapshot!(project.run(&["check", "--changed-from", "nowhere.txt"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: `nowhere.txt` cannot be read: No such file or directory (os error 2)
    ");
    insta::assert_snapshot!(project.run(&["check"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: `[BASE]/project` is in no git repository
    help: list the changes with `--changed-from FILE`, a line each: `M`, `A` or `D`, a tab, and the path
    ");
}

#[test]
fn lines_that_are_no_changes() {
    let project = project();
    project.rule("readme", README);
    insta::assert_snapshot!(listed(&project, "M\tsrc/a.py\nsrc/b.py\n", &[]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: -:2: `src/b.py` is no change
    help: a line is `M`, `A` or `D`, a tab, and a path relative to the project's root
    ");
    for line in ["X\ta", "M a", "R100\ta", "M\t", "M\t/a", "M\t../a", "M\ta//b", "M\ta/../b", "MM\ta", "\ta"] {
        let reply = listed(&project, &format!("{line}\n"), &[]);
        assert_eq!(reply.code, Some(2), "{line:?}: {}", reply.stdout);
        assert!(reply.stderr.contains("is no change"), "{line:?}: {}", reply.stderr);
    }
}

#[test]
fn a_rule_that_is_broken_is_more_than_unmet() {
    let project = with_rule("readme", README);
    project.rule("broken", "---\nset: ['src/{path}.py']\n---\nNo.\n").file("src/a.py", "changed\n");
    insta::assert_snapshot!(checked(&project, &["check"]), @r#"
    exit 2
    --- stdout
    error: a `set` has at least two members
     --> .linchpin/rules/broken.md:2:1
      |
    2 | set: ['src/{path}.py']
      | ^^^

    ## README Accuracy
    src/a.py
    (a change of README.md answers it)

    Source files changed. Verify README.md is accurate.
    (readme in .linchpin/rules/readme.md)

    1 of 1 file rule not met; 2 files changed since [HEAD].
    1 error in the policy files: what they are about was not judged as it is written.
    Where a rule does not apply, `linchpin ack readme --reason "…"` says so to agents and to `check --staged`; with `--trailer` it prints the line that says so in a commit's message, for CI.
    --- stderr
    "#);
    let github = project.run(&["check", "--format", "github"]);
    assert!(github.stdout.starts_with("::error file=.linchpin/rules/broken.md::"), "{}", github.stdout);
    let sarif = project.run(&["check", "--format", "sarif"]).json();
    assert_eq!(sarif["runs"][0]["invocations"][0]["executionSuccessful"], false);
    assert_eq!(project.run(&["check", "--json"]).json()["problems"].as_array().map(Vec::len), Some(1));
    // One that fails when it is judged.
    let project = with_rule("faulty", &README.replace("safety", "when: 1 // (len(files.changed) - 1) > 0\nsafety"));
    project.file("src/a.py", "changed\n");
    insta::assert_snapshot!(checked(&project, &["check"]), @"
    exit 2
    --- stdout
    ## README Accuracy
    The rule itself is at fault: `when` cannot be evaluated: `//` by zero (.linchpin/rules/faulty.md)
    (faulty in .linchpin/rules/faulty.md)

    1 of 1 file rule not met; 1 file changed since [HEAD].
    --- stderr
    ");
    insta::assert_snapshot!(project.run(&["check", "--format", "github"]).stdout, @"::error title=README Accuracy::## README Accuracy%0AThe rule itself is at fault: `when` cannot be evaluated: `//` by zero (.linchpin/rules/faulty.md)");
    assert_eq!(project.run(&["check", "--json"]).json()["rules"][0]["outcome"], "broken");
}

#[test]
fn commands_wait_for_fix() {
    let project = repository();
    project.rule("format", "---\ntrigger: '**/*.py'\naction: {command: 'sh tools/run.sh {file}'}\n---\nMend it.\n");
    project.file("tools/run.sh", "grep -q bad \"$1\" && { echo \"$1 is bad\"; exit 1; }; printf done > \"$1\"\n");
    commit(&project, "Begin");
    project.run(&["trust", "--yes"]);
    project.file("src/a.py", "new\n");
    insta::assert_snapshot!(checked(&project, &["check"]), @"
    exit 0
    --- stdout
    Note: `format` was not judged: `linchpin check --fix` runs its command (1 file).
    Nothing else to judge; 1 file changed since [HEAD].
    --- stderr
    ");
    insta::assert_snapshot!(checked(&project, &["check", "--fix"]), @"
    exit 0
    --- stdout
    Note: `format` ran for 1 file and is at rest.
    The file rule is met; 1 file changed since [HEAD].
    --- stderr
    ");
    assert_eq!(std::fs::read_to_string(project.root().join("src/a.py")).expect("a file"), "done");
    project.file("src/b.py", "bad\n");
    insta::assert_snapshot!(checked(&project, &["check", "--fix"]), @r#"
    exit 1
    --- stdout
    ## format
    `sh tools/run.sh src/b.py`: it failed with exit code 1
    src/b.py is bad

    Mend it.
    (format in .linchpin/rules/format.md)

    1 of 1 file rule not met; 2 files changed since [HEAD].
    Where a rule does not apply, `linchpin ack format --reason "…"` says so to agents and to `check --staged`; with `--trailer` it prints the line that says so in a commit's message, for CI.
    --- stderr
    "#);
    let found = project.run(&["check", "--fix", "--json"]).json();
    insta::assert_snapshot!(found["rules"][0]["command"].to_string(), @r#"{"type":"command","command":"sh tools/run.sh src/b.py","exit_code":1,"output":"it failed with exit code 1","stdout":"src/b.py is bad\n","stderr":""}"#);
    // What is missing is known without running anything.
    project.rule("pair", "---\npair: {trigger: 'src/{path}.py', expects: 'gen/{path}.txt'}\naction: {command: 'sh tools/gen.sh {path} {file}'}\n---\nGenerate it.\n");
    project.file("tools/gen.sh", "mkdir -p gen && echo x > \"gen/$1.txt\"\n");
    project.run(&["trust", "--yes"]);
    assert_eq!(project.run(&["check", "--rule", "pair"]).code, Some(1));
    assert_eq!(project.run(&["check", "--rule", "pair", "--fix"]).code, Some(0));
    assert_eq!(project.run(&["check", "--rule", "pair"]).code, Some(0));
}

#[test]
fn filters_of_the_repository_are_not_run() {
    let project = with_rule("readme", README);
    project.file(".gitattributes", "*.py filter=evil\n");
    commit(&project, "Attributes");
    project.git(&["config", "filter.evil.clean", "touch ran; cat"]);
    project.git(&["config", "core.fsmonitor", "touch ran"]);
    project.file("src/a.py", "changed\n");
    let reply = project.run(&["check"]);
    assert_eq!(reply.code, Some(1));
    assert!(
        reply.stdout.contains("Note: the repository's own configuration has filters that are not run: evil."),
        "{}",
        reply.stdout
    );
    assert!(!project.root().join("ran").exists());
}

#[test]
fn there_is_no_prompt_to_compare_with() {
    let project = with_rule("readme", &README.replace("safety", "compare_to: prompt\nsafety"));
    project.file("src/a.py", "changed\n");
    let found = project.run(&["check", "--json"]);
    assert_eq!(found.code, Some(1));
    insta::assert_snapshot!(found.json()["notes"].to_string(), @r#"["rules that compare with the last prompt compare with the base of the branch here"]"#);
}

#[test]
fn before_the_first_commit() {
    let project = repository();
    project.rule("readme", README).file("src/a.py", "new\n");
    let found = project.run(&["check", "--json"]);
    assert_eq!((found.code, found.json()["rules"][0]["trigger_files"].clone()), (Some(1), json!(["src/a.py"])));
    assert_eq!(project.run(&["check", "--base", "HEAD"]).code, Some(2));
}

#[test]
fn conditions_know_the_branch() {
    let project = with_rule(
        "readme",
        &README.replace("safety", "when: git.branch == 'release' and git.default_branch == 'main'\nsafety"),
    );
    project.file("src/a.py", "changed\n");
    assert_eq!(project.run(&["check"]).code, Some(0));
    project.git(&["switch", "-q", "-c", "release"]);
    assert_eq!(project.run(&["check"]).code, Some(1));
}

#[test]
fn what_git_prints_can_be_piped() {
    let project = with_rule("readme", README);
    project.file("src/ä.py", "x\n").file("src/c.py", "moved\n").git(&["add", "-A"]);
    let renamed = "A\t\"src/\\303\\244.py\"\nR100\tsrc/b.py\tsrc/c.py\nT\tlink\n";
    let reply = listed(&project, renamed, &["--json"]).json();
    assert_eq!(reply["rules"][0]["trigger_files"], serde_json::json!(["src/b.py", "src/c.py", "src/ä.py"]));
}

#[test]
fn a_rule_may_ask_for_one_that_was_not_asked_about() {
    let project = with_rule("readme", README);
    project.rule("other", "---\ntrigger: 'src/**'\nwhen: \"not file_rule_met('readme')\"\n---\nBoth.\n");
    project.file("src/a.py", "changed\n");
    let reply = project.run(&["check", "--rule", "other", "--json"]).json();
    assert_eq!(reply["rules"].as_array().map(Vec::len), Some(1));
    assert_eq!(reply["unmet"], true);
}

#[test]
fn others_know_files_by_where_they_are_in_the_repository() {
    let project = with_rule("readme", README);
    project.file("sub/.linchpin/rules/readme.md", README).file("sub/src/a.py", "changed\n");
    let mut command = project.command(&["check", "--format", "github"]);
    command.current_dir(project.root().join("sub"));
    let reply = project.feed(command, b"");
    assert!(reply.stdout.starts_with("::error file=sub/src/a.py,"), "{}", reply.stdout);
}

#[test]
fn a_rule_that_waits_for_a_person_is_not_unknown() {
    let project = repository();
    project.rule("fmt", "---\ntrigger: '**/*.py'\naction: {command: 'true {file}'}\n---\nNo.\n");
    insta::assert_snapshot!(project.run(&["check", "--rule", "fmt"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: rule `fmt` is not in force until a person accepts it
    help: `linchpin trust` shows it, and asks
    ");
    insta::assert_snapshot!(project.run(&["check", "--fix", "--staged"]).stderr, @"
    error: the argument '--fix' cannot be used with '--staged'

    Usage: linchpin check [OPTIONS] [A..B]

    For more information, try '--help'.
    ");
}

#[test]
fn a_variable_that_trigger_and_safety_share_stands_for_one_text() {
    let project = project();
    project.rule(
        "docs",
        "---\ntrigger: 'src/{path}.py'\nsafety: ['docs/{path}.md', 'docs/api/{path}.md', CHANGELOG.md]\n---\nSee {expected_files}.\n",
    );
    insta::assert_snapshot!(listed(&project, "M\tsrc/a.py\nM\tsrc/b/c.py\nA\tdocs/a.md\n", &[]).transcript(), @"
    exit 1
    --- stdout
    ## docs
    src/b/c.py (a change of docs/b/c.md or docs/api/b/c.md answers it)
    (a change of CHANGELOG.md answers it)

    See CHANGELOG.md, docs/b/c.md, docs/api/b/c.md.
    (docs in .linchpin/rules/docs.md)

    1 of 1 file rule not met; 3 files changed by what `-` lists.
    --- stderr
    ");
    assert_eq!(listed(&project, "M\tsrc/a.py\nD\tdocs/api/a.md\n", &[]).code, Some(0));
    assert_eq!(listed(&project, "M\tsrc/a.py\nA\tdocs/ab.md\n", &[]).code, Some(1));
    assert_eq!(listed(&project, "M\tsrc/a.py\nM\tsrc/b.py\nM\tCHANGELOG.md\n", &[]).code, Some(0));
    // One that only `safety` has stands for any text.
    project.rule("docs", "---\ntrigger: 'src/**'\nsafety: 'docs/{path}.md'\n---\nNo.\n");
    assert_eq!(listed(&project, "M\tsrc/a.py\nA\tdocs/b.md\n", &[]).code, Some(0));
}

/// A branch that has changed a source file, of a default branch that nobody would guess.
fn on_a_branch_of_trunk() -> Scratch {
    let project = with_rule("readme", README);
    project.git(&["branch", "-m", "main", "trunk"]);
    project.git(&["checkout", "-q", "-b", "feat"]);
    project.file("src/a.py", "changed\n");
    commit(&project, "Changed");
    project
}

#[test]
fn where_the_default_branch_is_not_known_nothing_is_met() {
    let project = on_a_branch_of_trunk();
    insta::assert_snapshot!(checked(&project, &["check"]), @"
    exit 2
    --- stdout
    --- stderr
    error: the default branch is not known: there are several, and none is `main` or `master`
    help: set `default_branch: NAME` in `.linchpin/config.yml`; or say what to compare with: `linchpin check --base REF`
    ");
    assert_eq!(project.run(&["check", "--staged"]).code, Some(2));
    assert_eq!(project.run(&["check", "--base", "trunk"]).code, Some(1));
    project.config("default_branch: nosuch\n");
    insta::assert_snapshot!(checked(&project, &["check"]), @"
    exit 2
    --- stdout
    --- stderr
    error: there is no branch `nosuch`, which `default_branch` names
    help: name another one in `.linchpin/config.yml`; or say what to compare with: `linchpin check --base REF`
    ");
    project.config("default_branch: trunk\n");
    assert_eq!(project.run(&["check"]).code, Some(1));
    // Nothing is said of it where no rule asks.
    project.config("").rule("readme", "---\ncommand_pattern: ^x\n---\nNo.\n");
    assert_eq!(project.run(&["check"]).code, Some(0));
}

#[test]
fn that_the_default_branch_is_not_known_is_told_by_validate_and_doctor() {
    let project = on_a_branch_of_trunk();
    let told = |project: &Scratch| {
        let replies = [project.run(&["validate"]).stdout, project.run(&["doctor"]).stdout];
        let lines = replies.iter().flat_map(|reply| reply.lines());
        let of_branch =
            |line: &&str| ["default branch", "default_branch", "NAME"].iter().any(|word| line.contains(word));
        lines.filter(of_branch).collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(told(&project), @"
    note: file rules cannot tell where a branch began: the default branch is not known: there are several, and none is `main` or `master`; set `default_branch: NAME` in `.linchpin/config.yml`
    bad   file rules cannot tell where a branch began: the default branch is not known: there are several, and none is `main` or `master`
          set `default_branch: NAME` in `.linchpin/config.yml`
    ");
    project.git(&["remote", "add", "origin", "../nowhere"]);
    insta::assert_snapshot!(told(&project), @"
    note: file rules cannot tell where a branch began: the default branch is not known: `origin/HEAD` is not set, and there is no `main` or `master`; set `default_branch: NAME` in `.linchpin/config.yml`, or run `git remote set-head origin --auto`
    bad   file rules cannot tell where a branch began: the default branch is not known: `origin/HEAD` is not set, and there is no `main` or `master`
          set `default_branch: NAME` in `.linchpin/config.yml`, or run `git remote set-head origin --auto`
    ");
    project.config("default_branch: nosuch\n");
    insta::assert_snapshot!(told(&project), @"
    note: file rules cannot tell where a branch began: there is no branch `nosuch`, which `default_branch` names; name another one in `.linchpin/config.yml`, or run `git fetch origin nosuch`
    bad   file rules cannot tell where a branch began: there is no branch `nosuch`, which `default_branch` names
    ");
    project.config("default_branch: trunk\n");
    assert_eq!(told(&project), "");
    // Nor where no rule compares with it.
    project.config("").rule("readme", &README.replace("safety", "compare_to: prompt\nsafety"));
    assert_eq!(told(&project), "");
}

#[test]
fn a_rule_about_the_tip_of_a_default_branch_that_is_not_known() {
    let project = on_a_branch_of_trunk();
    project.rule("readme", &README.replace("safety", "compare_to: default_tip\nsafety"));
    assert_eq!(project.run(&["check"]).code, Some(2));
}

#[test]
fn a_clone_of_one_branch_does_not_know_what_to_compare_with() {
    let project = on_a_branch_of_trunk();
    project.git(&["checkout", "-q", "trunk"]);
    let from = format!("file://{}", project.root().display());
    let clone = project.home().join("clone");
    let clone_text = clone.to_string_lossy();
    project.git(&["clone", "-q", "--depth", "1", "--branch", "feat", &from, &clone_text]);
    let check = |variables: &[(&str, &str)]| {
        let mut command = project.command(&["check"]);
        command.current_dir(&clone).envs(variables.iter().copied());
        project.feed(command, b"")
    };
    assert_eq!(check(&[]).code, Some(2));
    insta::assert_snapshot!(check(&[("GITHUB_ACTIONS", "true")]).stderr, @"
    error: the default branch is not known: `origin/HEAD` is not set, and there is no `main` or `master`
    help: in CI, fetch enough history: `with: {fetch-depth: 0}` for `actions/checkout`
    ");
    let of_trunk = [("GITHUB_ACTIONS", "true"), ("GITHUB_BASE_REF", "trunk")];
    insta::assert_snapshot!(check(&of_trunk).stderr, @"
    error: `origin/trunk`, which this pull request is compared with, was not fetched
    help: in CI, fetch enough history: `with: {fetch-depth: 0}` for `actions/checkout`
    ");
    // With all of it, the base is what the pull request is for.
    std::fs::remove_dir_all(&clone).expect("a folder");
    project.git(&["clone", "-q", "--branch", "feat", &from, &clone_text]);
    assert_eq!(check(&of_trunk).code, Some(1));
    assert_eq!(check(&[("GITHUB_ACTIONS", "true"), ("GITHUB_BASE_REF", "feat")]).code, Some(0));
}

#[test]
fn a_repository_with_one_branch_or_without_a_commit_can_be_checked() {
    let project = with_rule("readme", README);
    project.git(&["branch", "-m", "main", "trunk"]);
    assert_eq!(project.run(&["check"]).code, Some(0));
    project.file("src/a.py", "changed\n");
    assert_eq!(project.run(&["check"]).code, Some(1));
    project.git(&["checkout", "-q", "--detach"]);
    assert_eq!(project.run(&["check"]).code, Some(1));
    let unborn = project_without_a_commit();
    assert_eq!(unborn.run(&["check"]).code, Some(1));
}

fn project_without_a_commit() -> Scratch {
    let project = project();
    project.git(&["init", "-q", "-b", "trunk"]);
    project.rule("readme", README).file("src/a.py", "new\n");
    project
}

#[test]
fn a_file_that_was_moved_and_edited_is_not_created() {
    let project = with_rule("new", "---\ncreated: src/**\n---\nNo.\n");
    project.file("src/long.py", "one\ntwo\nthree\nfour\nfive\n");
    commit(&project, "Long");
    project.git(&["mv", "src/long.py", "src/moved.py"]);
    project.file("src/moved.py", "one\ntwo\n3\nfour\nfive\n");
    assert_eq!(project.run(&["check"]).code, Some(0));
    project.file("src/moved.py", "nothing of it\n");
    assert_eq!(project.run(&["check"]).code, Some(1));
}
