//! Commands of rules that fail, and what is reported.

use serde_json::json;

use super::{read_file, rule_with_action, run_count, with_script};
use crate::file_rules::{README_RULE, notice, only_entry, stop, stop_with_message, summary};

#[test]
fn a_failed_command_is_reported_first() {
    let project =
        with_script("command: 'sh tools/run.sh {file}'", "echo checking; echo \"$1: line 3: no\" >&2; exit 3\n");
    project.rule("aaa", README_RULE);
    project.file("src/a.py", "changed\n");
    let reply = stop(&project);
    insta::assert_snapshot!(reply.reason(), @r#"
    The following rules require attention:

    ## Run it
    `sh tools/run.sh src/a.py`: it failed with exit code 3
    checking
    src/a.py: line 3: no

    Mend what it says.

    ## README Accuracy
    src/a.py
    (changing README.md satisfies it)

    Source files changed. Verify README.md is accurate.

    If you have done what a rule asks, or it does not apply, write `<promise>aaa</promise>` in your last message (outside code), or run `linchpin ack aaa --reason "…"`. Do it for each rule: run, aaa.
    "#);
    assert_eq!(notice(&reply), "");
    let entry =
        crate::file_rules::queue(&project).into_values().find(|entry| entry["rule_name"] == "run").expect("an entry");
    insta::assert_snapshot!(serde_json::to_string_pretty(&entry["action_result"]).expect("JSON"), @r#"
    {
      "type": "command",
      "command": "sh tools/run.sh src/a.py",
      "exit_code": 3,
      "output": "it failed with exit code 3",
      "stdout": "checking\n",
      "stderr": "src/a.py: line 3: no\n",
      "tree": "a10b84971084c7f0cb6bbfb8"
    }
    "#);
    assert_eq!(entry["status"], "failed");
    // A promise closes the demand of `aaa`, but not the demand of a failed command.
    let reason = stop_with_message(&project, "<promise>run</promise><promise>aaa</promise>").reason();
    assert!(reason.contains("exit code 3") && !reason.contains("README"), "{reason}");
}

#[test]
fn a_failing_command_holds_up_to_max_holds_and_runs_again_for_new_content() {
    let project = with_script("command: 'sh tools/run.sh {file}'", "echo run >> runs.log; grep -q good \"$1\"\n");
    project.file("src/a.py", "bad\n");
    let blocks = (0..10).take_while(|_| stop(&project).stdout.contains("\"block\"")).count();
    assert_eq!(blocks, 3);
    assert_eq!(run_count(&project), 1);
    assert_eq!(stop(&project).stdout, "");
    insta::assert_snapshot!(summary(&project), @"failed 4x run: src/a.py");
    project.file("src/a.py", "still bad\n");
    assert_eq!(stop(&project).json()["decision"], "block");
    assert_eq!(run_count(&project), 2);
    project.file("src/a.py", "good\n");
    assert_eq!(stop(&project).stdout, "");
    assert_eq!(run_count(&project), 3);
    // The command has already passed for these contents, so it does not run again.
    assert_eq!(stop(&project).stdout, "");
    assert_eq!(run_count(&project), 3);
    project.file("src/a.py", "good as well\n");
    assert_eq!(stop(&project).stdout, "");
    assert_eq!(run_count(&project), 4);
    // The command runs only for the file that has changed since its last run.
    project.file("src/b.py", "good\n");
    assert_eq!(stop(&project).stdout, "");
    assert_eq!(run_count(&project), 5);
}

#[test]
fn a_command_that_keeps_changing_files_is_reported() {
    let project = with_script(
        "command: 'sh tools/run.sh {file}'",
        "echo run >> runs.log; echo more >> \"$1\"; echo x > same.txt\n",
    );
    project.file("src/a.py", "changed\n");
    let reply = stop(&project);
    insta::assert_snapshot!(reply.reason(), @r#"
    The following rules require attention:

    ## Run it
    `sh tools/run.sh src/a.py`: the command changed `src/a.py` again when it ran a second time; it must leave files unchanged once they are right

    Mend what it says.

    If a rule does not apply, run `linchpin ack run --reason "…"`.
    "#);
    insta::assert_snapshot!(notice(&reply), @"Linchpin: rule `run`: the command changed `src/a.py` again when it ran a second time; it must leave files unchanged once they are right");
    assert_eq!(run_count(&project), 2);
    let (_, entry) = only_entry(&project);
    assert_eq!(entry["status"], "failed");
    let mut result = entry["action_result"].clone();
    assert!(result.as_object_mut().expect("a result").remove("tree").is_some());
    insta::assert_snapshot!(result.to_string(), @r#"{"type":"command","command":"sh tools/run.sh src/a.py","exit_code":0,"output":"the command changed `src/a.py` again when it ran a second time; it must leave files unchanged once they are right","stdout":"","stderr":""}"#);
    // While no file changes, the command does not run again.
    assert_eq!(stop(&project).json()["decision"], "block");
    assert_eq!(run_count(&project), 2);
}

#[test]
fn a_command_over_its_timeout_is_killed() {
    let project = with_script("command: 'sh tools/run.sh {file}', timeout: 1s", "echo begun; sleep 60 & wait\n");
    project.file("src/a.py", "changed\n");
    insta::assert_snapshot!(stop(&project).reason(), @r#"
    The following rules require attention:

    ## Run it
    `sh tools/run.sh src/a.py`: it was killed after 1s
    begun

    Mend what it says.

    If a rule does not apply, run `linchpin ack run --reason "…"`.
    "#);
    let (_, entry) = only_entry(&project);
    assert_eq!(entry["action_result"]["exit_code"], json!(null));
}

#[test]
fn a_missing_program_is_reported() {
    let project = with_script("command: 'no-such-program {file}'", "");
    project.file("src/a.py", "changed\n");
    insta::assert_snapshot!(stop(&project).reason(), @r#"
    The following rules require attention:

    ## Run it
    `no-such-program src/a.py`: `no-such-program` cannot be started: it is not on the PATH

    Mend what it says.

    If a rule does not apply, run `linchpin ack run --reason "…"`.
    "#);
}

#[test]
fn a_secret_in_the_output_is_masked_in_the_queue() {
    let script = "echo \"key AKIAIOSFODNN7EXAMPLE and ghp_abcdefghijklmnopqrstuvwxyz0123456789\" >&2; exit 1\n";
    let project = with_script("command: 'sh tools/run.sh {file}'", script);
    project.file("src/a.py", "changed\n");
    stop(&project);
    let (path, _) = only_entry(&project);
    assert!(!read_file(&project, &path.to_string_lossy()).contains("ghp_abcdefghijklmnopqrstuvwxyz"), "{path:?}");
}

#[test]
fn only_the_end_of_a_long_output_is_stored() {
    let project = with_script("command: 'sh tools/run.sh'", "seq 1 20000; echo the end; exit 1\n");
    project.file("src/a.py", "changed\n");
    assert!(stop(&project).reason().contains("the end"));
    let (_, entry) = only_entry(&project);
    let stored_output = entry["action_result"]["stdout"].as_str().expect("text");
    assert!(
        stored_output.len() <= 4096 && stored_output.len() > 2000 && stored_output.ends_with("20000\nthe end\n"),
        "{}",
        stored_output.len()
    );
}

#[test]
fn a_failed_command_can_be_acknowledged() {
    let project = with_script("command: 'sh tools/run.sh {file}'", "exit 1\n");
    project.file("src/a.py", "changed\n");
    assert_eq!(stop(&project).json()["decision"], "block");
    assert_eq!(project.run(&["ack", "run", "--reason", "the linter is wrong"]).code, Some(0));
    assert_eq!(stop(&project).stdout, "");
    assert_eq!(summary(&project), "passed 1x run: src/a.py");
    // Changed contents need a new acknowledgement.
    project.file("src/a.py", "changed again\n");
    assert_eq!(stop(&project).json()["decision"], "block");
}

#[test]
fn a_failed_command_runs_again_after_any_change_in_the_tree() {
    let project = with_script("command: 'sh tools/run.sh {file}'", "echo run >> runs.log; test -e mended\n");
    project.file("src/a.py", "changed\n");
    assert_eq!(stop(&project).json()["decision"], "block");
    assert_eq!(stop(&project).json()["decision"], "block");
    assert_eq!(run_count(&project), 1);
    // `mended` is not one of the rule's files.
    project.file("mended", "");
    assert_eq!(stop(&project).stdout, "");
    assert_eq!(run_count(&project), 2);
}

#[test]
fn every_failed_file_is_reported_and_placeholders_are_replaced() {
    let project = with_script("command: 'sh tools/run.sh {file}'", "echo \"bad: $1\" >&2; exit 3\n");
    project.rule(
        "run",
        &rule_with_action("command: 'sh tools/run.sh {file}'").replace("Mend what", "Mend {trigger_files} as"),
    );
    project.run(&["trust", "--yes"]);
    project.file("src/a.py", "changed\n").file("src/b.py", "changed\n");
    insta::assert_snapshot!(stop(&project).reason(), @r#"
    The following rules require attention:

    ## Run it
    `sh tools/run.sh src/a.py`: it failed with exit code 3 (first of 2 failed calls)
    bad: src/a.py

    `sh tools/run.sh src/b.py`: it failed with exit code 3
    bad: src/b.py

    Mend src/a.py, src/b.py as it says.

    If a rule does not apply, run `linchpin ack run --reason "…"`.
    "#);
}

#[test]
fn each_failed_run_is_reported_with_its_cause() {
    let project = with_script(
        "command: 'sh tools/run.sh {file}', timeout: 1s",
        "case $1 in *a.py) exit 2;; *) sleep 60;; esac\n",
    );
    project.file("src/a.py", "changed\n").file("src/b.py", "changed\n");
    insta::assert_snapshot!(stop(&project).reason(), @r#"
    The following rules require attention:

    ## Run it
    `sh tools/run.sh src/a.py`: it failed with exit code 2 (first of 2 failed calls)
    `sh tools/run.sh src/b.py`: it was killed after 1s

    Mend what it says.

    If a rule does not apply, run `linchpin ack run --reason "…"`.
    "#);
}

#[test]
fn a_failing_commands_changes_to_the_policy_are_reported() {
    let project = with_script(
        "command: 'sh tools/run.sh {file}'",
        "echo 'mode: observe' > .linchpin/config.yml; mkdir -p .linchpin/rules; echo > .linchpin/rules/state.dbx.md; exit 1\n",
    );
    project.file("src/a.py", "changed\n");
    insta::assert_snapshot!(notice(&stop(&project)), @"Linchpin: rule `run`: the command changed policy files, which a rule's command must not do: `.linchpin/config.yml`, `.linchpin/rules/state.dbx.md`; ask a person to undo the change");
}

#[test]
fn a_queue_that_cannot_be_written_after_the_command_is_reported() {
    let script = "rm -rf .linchpin/tmp/rules/queue && touch .linchpin/tmp/rules/queue\n";
    let project = with_script("command: 'sh tools/run.sh {file}'", script);
    project.file("src/a.py", "changed\n");
    let message = project.redacted(&notice(&stop(&project)));
    assert!(message.starts_with("Linchpin: `[BASE]/project/.linchpin/tmp/rules/queue/"), "{message}");
    assert!(message.ends_with(".passed.json` cannot be written: entity already exists"), "{message}");
}

#[test]
fn a_command_that_finally_succeeds_closes_the_demand() {
    let project = with_script("command: 'sh tools/run.sh {file}'", "test -e mended\n");
    project.file("src/a.py", "changed\n");
    for _ in 0..3 {
        assert_eq!(stop(&project).json()["decision"], "block");
    }
    project.file("mended", "");
    assert_eq!(stop(&project).stdout, "");
    assert_eq!(summary(&project), "passed 3x run: src/a.py");
}

#[test]
fn a_subagent_is_not_held_if_the_command_succeeds() {
    let project = with_script("command: 'sh tools/run.sh {file}'", "echo run >> runs.log\n");
    project.file("src/a.py", "changed\n");
    let fields = json!({ "stop_hook_active": false, "agent_id": "agent-1", "last_assistant_message": "Done." });
    assert_eq!(project.hook("claude", &project.event_payload("SubagentStop", &fields)).stdout, "");
    assert_eq!(run_count(&project), 1);
    assert_eq!(project.run(&["status", "--json"]).json()["session"]["holds"], json!({}));
}

#[test]
fn the_file_that_keeps_changing_is_named() {
    let project = with_script("command: 'sh tools/run.sh {file}'", "case $1 in *b.py) echo more >> \"$1\";; esac\n");
    project.file("src/a.py", "changed\n").file("src/b.py", "changed\n");
    let reason = stop(&project).reason();
    assert!(reason.contains("`sh tools/run.sh src/b.py`: the command changed `src/b.py` again"), "{reason}");
}

#[test]
fn a_failed_script_is_shown_as_it_is_written() {
    let project = with_script(r#"shell: 'echo checking "$@"; exit 7'"#, "");
    project.file("src/a.py", "changed\n");
    insta::assert_snapshot!(stop(&project).reason(), @r#"
    The following rules require attention:

    ## Run it
    `echo checking "$@"; exit 7`: it failed with exit code 7, for src/a.py
    checking src/a.py

    Mend what it says.

    If a rule does not apply, run `linchpin ack run --reason "…"`.
    "#);
}
