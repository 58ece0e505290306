//! Each case of the failure policy.

use std::fs;

use serde_json::json;

use super::{NO_DANGER, project, project_without_policy};

#[test]
fn a_broken_file_disables_only_itself_and_is_reported_at_the_first_event() {
    let project = project();
    project.rule("broken", "---\ncommand_patern: x\n---\nNo.\n").rule("no-danger", NO_DANGER);
    let first = project.hook("claude", &project.event_payload("SessionStart", &json!({ "source": "startup" })));
    insta::assert_snapshot!(first.transcript(), @r#"
    exit 0
    --- stdout
    {"systemMessage":"Linchpin: broken policy file, the file is ignored: .linchpin/rules/broken.md:2:1: unknown key `command_patern`"}
    --- stderr
    "#);
    assert_eq!(project.hook("claude", &project.event_payload("Notification", &json!({ "message": "hi" }))).stdout, "");
    assert_eq!(project.decision("danger"), "deny");
}

#[test]
fn the_last_good_version_of_a_broken_rule_stays_in_force() {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    assert_eq!(project.decision("danger"), "deny");
    project.rule("no-danger", "---\ncommand_pattern: '(('\n---\nNo.\n");
    assert_eq!(project.decision("danger"), "deny");
    // The last good version also stays in force when another rule changes.
    project.rule("other", "---\ncommand_pattern: ^other\n---\nNo.\n");
    assert_eq!(project.decision("danger"), "deny");
    let doctor = project.run(&["doctor", "--json"]).json();
    assert!(doctor["checks"].to_string().contains("its last valid version stays in force"), "{doctor}");
}

#[test]
fn the_last_good_version_of_a_broken_configuration_stays_in_force() {
    let project = project();
    project.config("rules: [hard-reset]\n");
    assert_eq!(project.decision("git reset --hard"), "deny");
    project.config("rules: [hard-reset\nmax_holds: [\n");
    assert_eq!(project.decision("git reset --hard"), "deny");
}

#[test]
fn the_last_good_version_of_an_unreadable_file_stays_in_force() {
    let project = project();
    project.config("rules: [hard-reset]\n").rule("no-danger", NO_DANGER);
    assert_eq!(project.decision("git reset --hard"), "deny");
    project.file(".linchpin/config.yml", b"rules: [] # \xff\n");
    assert_eq!(project.decision("git reset --hard"), "deny");
    fs::remove_dir_all(project.root().join(".linchpin/rules")).expect("removed");
    project.file(".linchpin/rules", "a file where the directory should be");
    assert_eq!(project.decision("danger"), "deny");
}

#[test]
fn a_question_reports_broken_policy_files() {
    let project = project();
    project.rule("broken", "---\non: nowhere\n---\nNo.\n");
    project.rule("ask", "---\ncommand_pattern: ^deploy\naction: ask\n---\nSure?\n");
    project.decision("ls");
    insta::assert_snapshot!(project.hook("claude", &project.bash_payload("deploy")).json()["systemMessage"].as_str().unwrap_or_default(), @"Linchpin: broken policy file, the file is ignored: .linchpin/rules/broken.md:2:5: unknown event `nowhere`");
}

#[test]
fn a_failing_rule_counts_as_matched_unless_on_error_is_set() {
    let project = project();
    let rule =
        |on_error: &str| format!("---\ncommand_pattern: ^danger\nwhen: \"int('x') == 1\"\n{on_error}---\nNo danger.\n");
    project.rule("faulty", &rule(""));
    let reply = project.hook("claude", &project.bash_payload("danger"));
    assert_eq!(reply.decision(), "deny");
    insta::assert_snapshot!(reply.reason(), @"
    Blocked by Linchpin rule `faulty`: No danger.

    Linchpin could not evaluate this rule, so the rule counts as matched: `when` cannot be evaluated: `int` cannot convert this to an integer (.linchpin/rules/faulty.md).

    A person can allow this call once: `linchpin allow 1`
    ");
    for (on_error, expected) in [("allow", "allow"), ("warn", "allow"), ("ask", "ask"), ("block", "deny")] {
        let project = super::project();
        project.rule("faulty", &rule(&format!("on_error: {on_error}\n")));
        assert_eq!(project.decision("danger"), expected, "{on_error}");
    }
}

#[test]
fn a_regex_over_its_limit_counts_as_matched() {
    let project = project();
    project.rule("bomb", "---\ncommand_pattern: '(?=x)(x+x+)+(?!x)y'\n---\nNo.\n");
    let reply = project.hook("claude", &project.bash_payload(&format!("echo-{}", "x".repeat(200))));
    assert_eq!(reply.decision(), "deny");
    assert!(
        reply.reason().contains("Linchpin could not evaluate this rule, so the rule counts as matched: "),
        "{}",
        reply.reason()
    );
}

#[test]
fn a_failing_allow_rule_approves_nothing() {
    let project = project();
    project.user_rule("faulty", "---\ncommand_pattern: ^ls\nwhen: \"int('x') == 1\"\naction: allow\n---\nFine.\n");
    assert_eq!(project.hook("claude", &project.bash_payload("ls")).stdout, "");
}

/// A project with two rules, of which only one depends on stored state.
fn with_stateless_and_stateful_rules() -> testkit::TestProject {
    let project = project();
    project.config("variables: {ready: false}\n");
    project.rule("no-danger", NO_DANGER);
    project.rule("when-ready", "---\ncommand_pattern: ^launch\nwhen: not ready\n---\nNot ready.\n");
    project
}

fn assert_judged_without_state(project: &testkit::TestProject, cause: &str) {
    assert_eq!(project.decision("danger"), "deny", "{cause}");
    let reply = project.hook("claude", &project.bash_payload("launch"));
    assert_eq!(reply.decision(), "allow", "{cause}");
    let notice = reply.json()["systemMessage"].as_str().unwrap_or_default().to_owned();
    assert!(
        notice.contains("rule `when-ready` needs the journal and was skipped; run `linchpin doctor` to see why"),
        "{cause}: {notice}"
    );
    assert!(notice.contains(cause), "{cause}: {notice}");
}

#[test]
fn with_a_journal_all_rules_are_judged() {
    let project = with_stateless_and_stateful_rules();
    assert_eq!(project.decision("danger"), "deny");
    assert_eq!(project.decision("launch"), "deny");
}

/// Puts a directory at each path where Linchpin could create the journal (in the project and in the user's state), so
/// that it cannot be created.
fn prevent_journal(project: &testkit::TestProject) {
    project.decision("true");
    for file in ["state.db", "state.db-wal", "state.db-shm"] {
        let _ = fs::remove_file(project.root().join(".linchpin").join(file));
    }
    fs::create_dir(project.root().join(".linchpin/state.db")).expect("a directory where the journal should be");
    let state_directories = fs::read_dir(project.state().join("projects")).expect("the state directory").flatten();
    for directory in state_directories {
        fs::create_dir(directory.path().join("state.db")).expect("a directory where the journal should be");
    }
}

#[test]
fn without_a_journal_only_rules_that_need_it_are_skipped() {
    let project = with_stateless_and_stateful_rules();
    prevent_journal(&project);
    assert_judged_without_state(&project, "cannot be used");
}

#[test]
fn with_a_locked_journal_only_rules_that_need_it_are_skipped() {
    let project = with_stateless_and_stateful_rules();
    // Linchpin waits for the lock for half of the deadline. The deadline is long, so that the other half suffices on
    // slow machines.
    project.config("variables: {ready: false}\ndeadline: 4s\n");
    project.decision("ls");
    let other_connection = rusqlite::Connection::open(project.root().join(".linchpin/state.db")).expect("the journal");
    other_connection.execute_batch("BEGIN IMMEDIATE").expect("a lock");
    let reply = project.hook("claude", &project.bash_payload("danger"));
    assert_eq!(reply.decision(), "deny");
    let notice = reply.json()["systemMessage"].as_str().unwrap_or_default().to_owned();
    assert!(notice.contains("locked by another process"), "{notice}");
}

#[test]
fn rules_of_a_phase_block_while_the_journal_is_locked() {
    let project = project();
    project.config("deadline: 4s\n");
    project.file(
        ".linchpin/workflows/work.yml",
        "start_node: code\nnodes:\n  code:\n    prompt: Code.\n    rules: [{command_pattern: '^git push', reason: Not yet.}]\n    \
         transitions: [{when: code_complete, to: done}]\n",
    );
    project.run(&["start", "work"]);
    assert_eq!(project.decision("git push"), "deny");
    let other_connection = rusqlite::Connection::open(project.root().join(".linchpin/state.db")).expect("the journal");
    other_connection.execute_batch("BEGIN IMMEDIATE").expect("a lock");
    assert_eq!(project.decision("git push"), "deny");
}

/// Only the event that compiles a policy reads the texts of its rules. If the journal is locked at that event, a later
/// event must record the texts.
#[test]
fn a_rule_text_that_could_not_be_recorded_is_recorded_later() {
    let project = project();
    project.config("deadline: 500ms\n").rule("no-danger", NO_DANGER);
    project.decision("ls");
    let other_connection = rusqlite::Connection::open(project.root().join(".linchpin/state.db")).expect("the journal");
    other_connection.execute_batch("BEGIN IMMEDIATE").expect("a lock");
    project.rule("no-danger", &NO_DANGER.replace("Danger", "Serious danger"));
    assert_eq!(project.decision("danger"), "deny");
    other_connection.execute_batch("ROLLBACK").expect("no lock");
    // The rule file is now invalid, so the last good version of the rule stays in force.
    project.rule("no-danger", "---\naction: nonsense\n---\n");
    let reply = project.hook("claude", &project.bash_payload("danger"));
    assert!(reply.reason().contains("Serious danger"), "{}", reply.reason());
    let log = project.run(&["log", "--json"]).stdout;
    let last: serde_json::Value = serde_json::from_str(log.lines().last().expect("an event")).expect("JSON");
    let digest = last["verdict"]["findings"][0]["digest"].as_str().expect("a digest");
    let stored_rule = project.run(&["rules", "show", "no-danger", "--version", digest]).stdout;
    assert!(stored_rule.contains("Serious danger"), "{stored_rule}");
}

#[test]
fn a_journal_of_a_newer_version_is_left_alone() {
    let project = with_stateless_and_stateful_rules();
    project.decision("ls");
    let path = project.root().join(".linchpin/state.db");
    let mut bytes = fs::read(&path).expect("the journal");
    // These bytes are the `user_version` in the header of an SQLite file.
    bytes[60..64].copy_from_slice(&9999_u32.to_be_bytes());
    fs::write(&path, &bytes).expect("the journal");
    for side in ["-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{side}", path.display()));
    }
    assert_judged_without_state(&project, "9999");
    assert_eq!(fs::read(&path).expect("the journal"), bytes);
}

#[test]
fn a_corrupt_journal_is_renamed_and_reported() {
    let project = with_stateless_and_stateful_rules();
    project.decision("ls");
    let directory = project.root().join(".linchpin");
    fs::write(directory.join("state.db"), "not a database at all\n".repeat(100)).expect("written");
    fs::remove_file(directory.join("state.db-wal")).expect("removed");
    let reply = project.hook("claude", &project.bash_payload("launch"));
    assert_eq!(reply.decision(), "deny");
    let notice = reply.json()["systemMessage"].as_str().unwrap_or_default().to_owned();
    assert!(notice.contains("was corrupt: it was renamed to"), "{notice}");
    let mut files = fs::read_dir(directory).expect("a directory").filter_map(Result::ok);
    assert!(files.any(|entry| entry.file_name().to_string_lossy().starts_with("state.db.corrupt-")));
}

#[test]
fn a_deleted_journal_is_created_again_and_reported() {
    let project = with_stateless_and_stateful_rules();
    project.decision("ls");
    for file in ["state.db", "state.db-wal", "state.db-shm"] {
        let _ = fs::remove_file(project.root().join(".linchpin").join(file));
    }
    let reply = project.hook("claude", &project.bash_payload("ls"));
    let notice = reply.json()["systemMessage"].as_str().unwrap_or_default().to_owned();
    assert!(notice.contains("the earlier one is gone"), "{notice}");
}

#[test]
fn a_stop_is_allowed_if_holds_cannot_be_counted() {
    let project = project();
    project.rule("wait", "---\non: stop\naction: block\n---\nNot yet.\n");
    prevent_journal(&project);
    let reply = project.hook("claude", &project.event_payload("Stop", &json!({ "stop_hook_active": false })));
    assert_eq!(reply.json()["decision"], serde_json::Value::Null);
    let notice = reply.json()["systemMessage"].as_str().unwrap_or_default().to_owned();
    assert!(
        notice.contains("rule `wait` needs the journal and was skipped; run `linchpin doctor` to see why"),
        "{notice}"
    );
}

#[test]
fn rules_are_judged_without_a_writable_state_directory() {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    fs::create_dir_all(project.state().parent().expect("a parent")).expect("a directory");
    fs::write(project.state(), "a file where the directory should be").expect("a file");
    assert_eq!(project.decision("danger"), "deny");
    assert_eq!(project.decision("ls"), "allow");
}

#[test]
fn a_damaged_policy_cache_asks_at_most_once_and_is_rebuilt() {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    project.decision("ls");
    std::thread::sleep(std::time::Duration::from_millis(100));
    project.decision("ls");
    let projects = fs::read_dir(project.state().join("projects")).expect("a directory").filter_map(Result::ok);
    let cache =
        projects.map(|entry| entry.path().join("policy")).find(|path| path.exists()).expect("a compiled policy");
    let whole = fs::read(&cache).expect("the compiled policy");
    for length in 0..whole.len() {
        if length % 97 != 0 {
            continue;
        }
        fs::write(&cache, &whole[..length]).expect("written");
        assert!(["deny", "ask"].contains(&project.decision("danger").as_str()), "{length} bytes");
        assert_eq!(project.decision("danger"), "deny", "{length} bytes");
    }
}

#[test]
fn a_symlink_in_place_of_the_journal_is_not_followed() {
    let project = project();
    project.file("precious.txt", "mine");
    std::os::unix::fs::symlink(project.root().join("precious.txt"), project.root().join(".linchpin/state.db"))
        .expect("a symlink");
    assert_eq!(project.decision("ls"), "allow");
    assert_eq!(fs::read_to_string(project.root().join("precious.txt")).expect("the file"), "mine");
    assert_eq!(project.run(&["log", "--json"]).stdout.lines().count(), 1);
}

/// Runs a hook in a shell with a `ulimit`.
fn run_with_ulimit(project: &testkit::TestProject, limit: &str, command: &str) -> testkit::ProcessOutput {
    let hook = project.command(&[]);
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &format!("ulimit {limit}; exec \"$0\" hook claude")]).arg(hook.get_program());
    shell.current_dir(project.root()).env_clear();
    shell.envs(hook.get_envs().filter_map(|(name, value)| Some((name, value?))));
    project.run_with_stdin(shell, project.bash_payload(command).to_string().as_bytes())
}

/// The system kills a process that exceeds the file size limit, and an agent runs the call if its hook was killed. So
/// Linchpin asks a person instead of writing.
#[test]
fn a_person_is_asked_if_no_file_can_be_written() {
    let project = project();
    insta::assert_snapshot!(run_with_ulimit(&project, "-f 10", "ls").reason(), @"Approval required by Linchpin: The file size limit (`ulimit -f`) does not let Linchpin write a file. Linchpin can't tell whether this is allowed, so a person must decide.");
    assert_eq!(run_with_ulimit(&project, "-S -f 10", "ls").decision(), "allow");
    assert_eq!(run_with_ulimit(&project_without_policy(), "-f 10", "ls").decision(), "allow");
}

#[test]
fn observe_mode_stops_nothing_even_if_no_file_can_be_written() {
    let project = project();
    project.config("mode: observe\n");
    assert_eq!(run_with_ulimit(&project, "-f 0", "ls").decision(), "ask", "no person has accepted it");
    assert_eq!(project.run(&["trust", "--yes"]).code, Some(0));
    for limit in ["-f 0", "-f 10"] {
        let reply = run_with_ulimit(&project, limit, "ls");
        assert_eq!((reply.decision().as_str(), reply.code), ("allow", Some(0)), "{limit}");
    }
    // In observe mode, Linchpin still asks if an earlier event of the session was judged in `mode: enforce` and no
    // person has accepted the change of the mode.
    project.config("mode: enforce\n");
    project.decision("ls");
    project.config("mode: observe\n");
    assert_eq!(run_with_ulimit(&project, "-f 0", "ls").decision(), "ask");
    project.decision("ls");
    assert_eq!(project.run(&["trust", "--yes"]).code, Some(0));
    assert_eq!(run_with_ulimit(&project, "-f 0", "ls").decision(), "allow");
}

#[test]
fn the_first_of_duplicate_keys_applies_even_if_the_file_was_never_valid() {
    let project = project();
    project.config("rules:\n  - hard-reset\nvariables: {a: 1}\nrules:\n  - read-secrets\n");
    assert_eq!(project.decision("git reset --hard"), "deny");
    insta::assert_snapshot!(project.run(&["validate"]).transcript(), @"
    exit 2
    --- stdout
    error: duplicate key `rules`
     --> .linchpin/config.yml:4:1
      |
    4 | rules:
      | ^^^^^
      |
      = help: the first `rules` is in line 1: add these entries to it

    3 rules in force; 1 error.
    --- stderr
    ");
    let doctor = project.run(&["doctor"]).stdout;
    assert!(doctor.contains("this part of the file is ignored; the rest is in force"), "{doctor}");
}

#[test]
fn the_policy_of_init_stays_in_force_if_it_is_broken_before_the_first_event() {
    let project = project_without_policy();
    assert_eq!(project.run(&["init", "--no-hooks"]).code, Some(0));
    let config = fs::read_to_string(project.root().join(".linchpin/config.yml")).expect("the configuration");
    project.config(&format!("{config}rules: [\n"));
    assert_eq!(project.run(&["try", "git push --force origin main"]).code, Some(1));
    insta::assert_snapshot!(project.run(&["validate"]).stdout, @"
    error: invalid YAML: unclosed bracket '['
      --> .linchpin/config.yml:24:8
       |
    24 | rules: [
       |        ^

    note: .linchpin/config.yml has errors, so its last valid version stays in force

    11 rules in force; 1 error.
    ");
    assert_eq!(project.decision("git push --force origin main"), "deny");
}

#[test]
fn validate_says_that_an_invalid_configuration_is_ignored() {
    let project = project();
    project.config("rules: [hard-reset\n");
    insta::assert_snapshot!(project.run(&["validate"]).stdout, @"
    error: invalid YAML: unclosed bracket '['
     --> .linchpin/config.yml:1:8
      |
    1 | rules: [hard-reset
      |        ^

    note: .linchpin/config.yml is ignored: the rules that it names, its observers, triggers and settings are not in force

    2 rules in force; 1 error.
    ");
    assert!(project.run(&["validate", "--json"]).json()["notes"][0].to_string().contains("is ignored"));
}
