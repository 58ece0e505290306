//! Each kind of file rule step by step, with the queue files after every step.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};

use super::{README_RULE, notice, only_entry, queue, queue_directory, stop, stop_with_message, summary, with_rule};

/// Returns a queue entry without the values that differ between test runs, and checks the format of these values.
fn normalized(entry: &Value) -> String {
    let mut entry = entry.clone();
    let is_hex =
        |text: &str, length: usize| text.len() == length && text.chars().all(|character| character.is_ascii_hexdigit());
    let is_time = |text: &str| text.len() >= 20 && text.contains('T') && text.ends_with('Z');
    let text = |entry: &Value, key: &str| entry[key].as_str().unwrap_or_default().to_owned();
    assert!(is_hex(&text(&entry, "trigger_hash"), 12), "{entry}");
    assert!(is_hex(&text(&entry, "baseline_ref"), 40), "{entry}");
    assert!(is_time(&text(&entry, "created_at")), "{entry}");
    assert!(entry["evaluated_at"].is_null() || is_time(&text(&entry, "evaluated_at")), "{entry}");
    for key in ["trigger_hash", "baseline_ref", "created_at", "evaluated_at", "content"] {
        if !entry[key].is_null() {
            entry[key] = json!("[…]");
        }
    }
    for session_entry in entry["asked"].as_object_mut().into_iter().flatten() {
        session_entry.1["state"] = json!("[…]");
    }
    serde_json::to_string_pretty(&entry).expect("JSON")
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).expect("a file").permissions().mode() & 0o777
}

#[test]
fn a_demand_stays_open_until_it_is_promised() {
    let project = with_rule("readme-accuracy", README_RULE);
    // Without changes, there are no demands.
    assert_eq!(stop(&project).stdout, "");
    assert!(queue(&project).is_empty());
    project.file("src/a.py", "changed\n");
    insta::assert_snapshot!(stop(&project).reason(), @r#"
    The following rules require attention:

    ## README Accuracy
    src/a.py
    (changing README.md satisfies it)

    Source files changed. Verify README.md is accurate.

    If you have done what a rule asks, or it does not apply, write `<promise>readme-accuracy</promise>` in your last message (outside code), or run `linchpin ack readme-accuracy --reason "…"`.
    "#);
    let (path, entry) = only_entry(&project);
    let hash = entry["trigger_hash"].as_str().expect("a hash").to_owned();
    assert_eq!(path, queue_directory(&project).join(format!("{hash}.queued.json")));
    assert_eq!(entry["baseline_ref"], project.git(&["rev-parse", "HEAD"]));
    insta::assert_snapshot!(normalized(&entry), @r#"
    {
      "rule_name": "readme-accuracy",
      "trigger_hash": "[…]",
      "status": "queued",
      "created_at": "[…]",
      "evaluated_at": null,
      "baseline_ref": "[…]",
      "trigger_files": [
        "src/a.py"
      ],
      "expected_files": [],
      "matched_files": [],
      "action_result": null,
      "session": "session-1",
      "shown": 1,
      "asked": {
        "session-1": {
          "times": 1,
          "state": "[…]"
        }
      },
      "content": "[…]"
    }
    "#);
    assert_eq!(mode(&queue_directory(&project)), 0o700);
    assert_eq!(mode(&path), 0o600);
    // A message without a promise leaves the demand open.
    assert_eq!(stop_with_message(&project, "I looked at the README.").json()["decision"], "block");
    assert_eq!(summary(&project), "queued 2x readme-accuracy: src/a.py");
    // A promise can name the rule by its title or by its id.
    assert_eq!(stop_with_message(&project, "Done. <promise>✓ readme accuracy</promise>").stdout, "");
    let (path, entry) = only_entry(&project);
    assert_eq!(path, queue_directory(&project).join(format!("{hash}.passed.json")));
    assert_eq!(mode(&path), 0o600);
    insta::assert_snapshot!(normalized(&entry), @r#"
    {
      "rule_name": "readme-accuracy",
      "trigger_hash": "[…]",
      "status": "passed",
      "created_at": "[…]",
      "evaluated_at": "[…]",
      "baseline_ref": "[…]",
      "trigger_files": [
        "src/a.py"
      ],
      "expected_files": [],
      "matched_files": [],
      "action_result": {
        "type": "prompt",
        "command": null,
        "exit_code": null,
        "output": "promised by the agent",
        "stdout": null,
        "stderr": null
      },
      "session": "session-1",
      "shown": 2,
      "asked": {
        "session-1": {
          "times": 2,
          "state": "[…]"
        }
      },
      "content": "[…]"
    }
    "#);
    // The demand stays closed, even if a later message contains no promise.
    assert_eq!(stop(&project).stdout, "");
    assert_eq!(summary(&project), "passed 2x readme-accuracy: src/a.py");
}

#[test]
fn changing_a_safety_file_later_closes_the_demand() {
    let project = with_rule("readme-accuracy", README_RULE);
    project.file("src/a.py", "changed\n");
    assert_eq!(stop(&project).json()["decision"], "block");
    project.file("README.md", "It works otherwise.\n");
    assert_eq!(stop(&project).stdout, "");
    let (path, entry) = only_entry(&project);
    assert!(path.to_string_lossy().ends_with(".skipped.json"), "{path:?}");
    insta::assert_snapshot!(normalized(&entry), @r#"
    {
      "rule_name": "readme-accuracy",
      "trigger_hash": "[…]",
      "status": "skipped",
      "created_at": "[…]",
      "evaluated_at": "[…]",
      "baseline_ref": "[…]",
      "trigger_files": [
        "src/a.py"
      ],
      "expected_files": [],
      "matched_files": [],
      "action_result": null,
      "session": "session-1",
      "shown": 1,
      "asked": {
        "session-1": {
          "times": 1,
          "state": "[…]"
        }
      },
      "content": "[…]"
    }
    "#);
    // After the change of `README.md` is undone, the demand is open again.
    project.git(&["checkout", "-q", "README.md"]);
    assert_eq!(stop(&project).json()["decision"], "block");
    assert_eq!(summary(&project), "queued 1x readme-accuracy: src/a.py");
    // After the change of the trigger file is undone, too, the demand is no longer open.
    project.git(&["checkout", "-q", "src/a.py"]);
    assert_eq!(stop(&project).stdout, "");
    assert_eq!(summary(&project), "skipped 1x readme-accuracy: src/a.py");
}

#[test]
fn a_set_demands_its_other_members() {
    let rule = "---\nname: Source and test together\nset: ['src/{path}.py', 'tests/{path}_test.py']\n---\nAsk for {expected_files}, not only {trigger_files}.\n";
    let project = with_rule("source-test", rule);
    project.file("src/foo/bar.py", "new\n").file("tests/b_test.py", "new\n").file("src/a.py", "x\n");
    project.file("tests/a_test.py", "x\n");
    insta::assert_snapshot!(stop(&project).reason(), @r#"
    The following rules require attention:

    ## Source and test together
    src/foo/bar.py → tests/foo/bar_test.py
    tests/b_test.py → src/b.py

    Ask for tests/foo/bar_test.py, src/b.py, not only src/foo/bar.py, tests/b_test.py.

    If you have done what a rule asks, or it does not apply, write `<promise>source-test</promise>` in your last message (outside code), or run `linchpin ack source-test --reason "…"`.
    "#);
    let (_, entry) = only_entry(&project);
    insta::assert_snapshot!(normalized(&entry), @r#"
    {
      "rule_name": "source-test",
      "trigger_hash": "[…]",
      "status": "queued",
      "created_at": "[…]",
      "evaluated_at": null,
      "baseline_ref": "[…]",
      "trigger_files": [
        "src/foo/bar.py",
        "tests/b_test.py"
      ],
      "expected_files": [
        "tests/foo/bar_test.py",
        "src/b.py"
      ],
      "matched_files": [
        "src/a.py",
        "tests/a_test.py"
      ],
      "action_result": null,
      "session": "session-1",
      "shown": 1,
      "asked": {
        "session-1": {
          "times": 1,
          "state": "[…]"
        }
      },
      "content": "[…]"
    }
    "#);
    project.file("tests/foo/bar_test.py", "new\n").file("src/b.py", "x\n");
    assert_eq!(stop(&project).stdout, "");
    assert_eq!(summary(&project), "skipped 1x source-test: src/foo/bar.py tests/b_test.py");
}

#[test]
fn a_pair_demands_files_only_in_one_direction() {
    let rule = "---\nname: API documentation\npair: {trigger: 'api/{path}.py', expects: ['docs/api/{path}.md', 'openapi/{path}.yaml']}\n---\nDocument {path}.\n";
    let project = with_rule("api-docs", rule);
    project.file("docs/api/users.md", "new\n");
    assert_eq!(stop(&project).stdout, "");
    project.file("api/users.py", "new\n");
    insta::assert_snapshot!(stop(&project).reason(), @r#"
    The following rules require attention:

    ## API documentation
    api/users.py → openapi/users.yaml

    Document users.

    If you have done what a rule asks, or it does not apply, write `<promise>api-docs</promise>` in your last message (outside code), or run `linchpin ack api-docs --reason "…"`.
    "#);
    let (_, entry) = only_entry(&project);
    assert_eq!(entry["expected_files"], json!(["openapi/users.yaml"]));
    assert_eq!(entry["matched_files"], json!(["docs/api/users.md"]));
    project.file("openapi/users.yaml", "new\n");
    assert_eq!(stop(&project).stdout, "");
    assert_eq!(summary(&project), "skipped 1x api-docs: api/users.py");
}

#[test]
fn a_command_runs_until_it_changes_nothing_more() {
    let rule = "---\nname: Formatting\ntrigger: '**/*.py'\naction: {command: 'sh tools/format.sh {file}'}\n---\nMend what the formatter says.\n";
    let project = with_rule("format", rule);
    project.file("tools/format.sh", "tr a-z A-Z < \"$1\" > .out && cat .out > \"$1\" && rm .out\n");
    super::commit(&project, "Format");
    assert_eq!(project.run(&["trust", "--yes"]).code, Some(0));
    project.file("src/a.py", "shout\n");
    let reply = stop(&project);
    assert_eq!(reply.stdout, "", "{}", reply.stdout);
    assert_eq!(fs::read_to_string(project.root().join("src/a.py")).expect("a file"), "SHOUT\n");
    let (path, entry) = only_entry(&project);
    assert!(path.to_string_lossy().ends_with(".passed.json"), "{path:?}");
    insta::assert_snapshot!(normalized(&entry), @r#"
    {
      "rule_name": "format",
      "trigger_hash": "[…]",
      "status": "passed",
      "created_at": "[…]",
      "evaluated_at": "[…]",
      "baseline_ref": "[…]",
      "trigger_files": [
        "src/a.py"
      ],
      "expected_files": [],
      "matched_files": [],
      "action_result": {
        "type": "command",
        "command": "sh tools/format.sh {file}",
        "exit_code": 0,
        "output": "ran for 1 file; running it again changes nothing",
        "stdout": null,
        "stderr": null,
        "tree": "665378b22187539d72448d64"
      },
      "session": "session-1",
      "shown": 0,
      "asked": {},
      "content": "[…]"
    }
    "#);
    assert_eq!(stop(&project).stdout, "");
    assert_eq!(notice(&stop(&project)), "");
}

#[test]
fn created_is_triggered_only_by_new_files() {
    let rule = "---\nname: New modules\ncreated: src/**/*.py\n---\nDocument {created_files}.\n";
    let project = with_rule("new-modules", rule);
    project.file("src/a.py", "changed\n");
    assert_eq!(stop(&project).stdout, "");
    project.file("src/new.py", "new\n").file("src/staged.py", "new\n");
    project.git(&["add", "src/staged.py"]);
    insta::assert_snapshot!(stop(&project).reason(), @r#"
    The following rules require attention:

    ## New modules
    src/new.py
    src/staged.py

    Document src/new.py, src/staged.py.

    If you have done what a rule asks, or it does not apply, write `<promise>new-modules</promise>` in your last message (outside code), or run `linchpin ack new-modules --reason "…"`.
    "#);
    assert_eq!(summary(&project), "queued 1x new-modules: src/new.py src/staged.py");
    assert_eq!(stop_with_message(&project, "<promise>new-modules</promise>").stdout, "");
    assert_eq!(summary(&project), "passed 1x new-modules: src/new.py src/staged.py");
    // A moved file does not count as new.
    project.git(&["mv", "src/b.py", "src/moved.py"]);
    assert_eq!(stop(&project).stdout, "");
}
