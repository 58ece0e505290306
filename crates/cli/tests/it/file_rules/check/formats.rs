//! Output formats of `check`: text, JSON, GitHub and SARIF.

use super::{check_transcript, with_head_placeholder, with_unmet_rules};

#[test]
fn text_format_lists_unmet_rules() {
    let project = with_unmet_rules();
    insta::assert_snapshot!(check_transcript(&project, &["check"]), @r#"
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
    (changing README.md satisfies it)

    Source files changed. Verify README.md is accurate.
    (readme in .linchpin/rules/readme.md)

    ## Source and test together
    src/new, odd.py → tests/new, odd_test.py

    Test new, odd, 100% of it.
    (source-test in .linchpin/rules/source-test.md)

    3 of 4 file rules unmet; 3 files changed since [HEAD].
    If a rule does not apply, run `linchpin ack NAME --reason "…"`: the acknowledgement then counts for agents and for `check --staged`. For CI, add `--trailer`, and put the printed line into the commit message.
    --- stderr
    "#);
    assert_eq!(crate::file_rules::queue(&project).len(), 0);
}

#[test]
fn json_format_lists_all_rules() {
    let project = with_unmet_rules();
    let reply = project.run(&["check", "--json"]);
    assert_eq!(reply.code, Some(1));
    insta::assert_snapshot!(with_head_placeholder(&project, &serde_json::to_string_pretty(&reply.json()).expect("JSON")), @r###"
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
          "reason": "## README Accuracy\nsrc/a.py\nsrc/new, odd.py\n(changing README.md satisfies it)\n\nSource files changed. Verify README.md is accurate."
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
fn github_format_has_an_annotation_per_file() {
    let project = with_unmet_rules();
    insta::assert_snapshot!(check_transcript(&project, &["check", "--format", "github"]), @r#"
    exit 1
    --- stdout
    ::warning file=src/new%2C odd.py,title=license::New files need a licence.
    ::warning file=tests/a_test.py,title=license::New files need a licence.
    ::error file=src/a.py,title=README Accuracy::changing README.md satisfies it%0ASource files changed. Verify README.md is accurate.
    ::error file=src/new%2C odd.py,title=README Accuracy::changing README.md satisfies it%0ASource files changed. Verify README.md is accurate.
    ::error file=src/new%2C odd.py,title=Source and test together::src/new, odd.py → tests/new, odd_test.py%0ATest new, odd, 100%25 of it.
    ::notice::If a rule does not apply, run `linchpin ack NAME --reason "…"`: the acknowledgement then counts for agents and for `check --staged`. For CI, add `--trailer`, and put the printed line into the commit message.
    --- stderr
    "#);
}

#[test]
fn sarif_format_lists_results() {
    let project = with_unmet_rules();
    let reply = project.run(&["check", "--format", "sarif"]);
    assert_eq!(reply.code, Some(1));
    let version = format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION"));
    let text =
        serde_json::to_string_pretty(&reply.json()).expect("JSON").replace(&version, "\"version\": \"[VERSION]\"");
    insta::assert_snapshot!(text);
}
