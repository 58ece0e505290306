//! The commands `demo`, `log`, `status` and `doctor`, and the help texts.

use serde_json::json;

use super::{NO_DANGER, project, project_without_policy};

#[test]
fn help_lists_all_commands() {
    insta::assert_snapshot!(project_without_policy().run(&["--help"]).transcript(), @"
    exit 0
    --- stdout
    Keeps the wheels on your coding agents

    Usage: linchpin [OPTIONS] <COMMAND>

    Set up:
      init         Write a policy into this project and install the hooks of your agents
      install      Add Linchpin's hooks to an agent's settings
      uninstall    Remove Linchpin's hooks from an agent's settings
      doctor       Check that the hooks work, and show what would make them ineffective
      trust        Accept the parts of a repository's policy that run programs, approve calls or switch
                   rules off
      demo         Replay a recorded session in a scratch repository and explain every verdict
      completions  Print a completion script for your shell

    Guard:
      hook         Judge one event from stdin; agents run this
      check        Judge the changed files by the file rules: for people, pre-commit and CI
      ack          Acknowledge a rule that warns or holds the stop, for one session
      allow        Allow one refused call
      pause        Pause Linchpin for a while
      resume       End a pause, or let a stopped session continue

    Understand:
      validate     Check every policy file
      test         Run the test cases of the rules
      explain      Explain a verdict, a pattern, an expression or a command
      try          Show the verdict that an agent would get now, without recording anything
      replay       Judge recorded events again, by the current rules
      rules        List, show and change rules
      workflows    List, draw and copy workflows
      hats         Write, check, show and draw the loop of this project
      log          Show the journal

    Work:
      start        Start a workflow
      next         Claim what is done, and move to the next node
      continue     Continue past an interrupt: print the prompt, and let the rules that fired count
                   again from here
      approve      Approve a gate or a task that waits for a person
      status       Show the rules in force, the workflow's phase and the session's state
      set          Set a variable of the workflow or of a session
      repeat       Print the prompt of the current phase again
      prev         Go back to the previous phase
      restart      Start the workflow again from its first node
      abort        Leave the workflow
      run          Run the loop of this project with its agents, or resume a run
      runs         List, show and stop runs
      stop         Ask a run to end after its iteration, or a session to stop
      emit         Publish a topic and hand over the work; agents in a run use this
      progress     Report progress; agents in a run use this
      task         Manage the tasks of this project
      memory       Save and search memories

    Options:
          --json          Print the result as JSON
          --color <WHEN>  When to color the output [possible values: auto, always, never]
      -h, --help          Print help
      -V, --version       Print version
    --- stderr
    ");
    let version = project_without_policy().run(&["--version"]).stdout;
    assert_eq!(version.trim(), format!("linchpin {}", env!("CARGO_PKG_VERSION")));
}

#[test]
fn an_unknown_command_is_an_error() {
    insta::assert_snapshot!(project_without_policy().run(&["gaurd"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: unrecognized subcommand 'gaurd'

    Usage: linchpin [OPTIONS] <COMMAND>

    For more information, try '--help'.
    ");
    assert_eq!(project_without_policy().run(&[]).code, Some(2));
    // Only similar words are suggested.
    for (words, tip) in [
        (&["foo"][..], None),
        (&["chekc"], Some("'check'")),
        (&["completions", "tcsh"], None),
        (&["completions", "fihs"], Some("'fish'")),
    ] {
        let stderr = project_without_policy().run(words).stderr;
        let found = stderr.lines().find(|line| line.contains("tip:"));
        assert_eq!(found.is_some(), tip.is_some(), "{stderr}");
        assert!(tip.is_none_or(|tip| stderr.contains(tip)), "{stderr}");
    }
}

#[test]
fn the_command_help_prints_help() {
    let project = project_without_policy();
    assert_eq!(project.run(&["help"]).transcript(), project.run(&["--help"]).transcript());
    assert_eq!(
        project.run(&["help", "rules", "new"]).transcript(),
        project.run(&["rules", "new", "--help"]).transcript()
    );
}

/// An argument that is a text can begin with a dash, like a flag: `- a list`, `-x < 0`.
#[test]
fn texts_may_begin_with_a_dash() {
    let project = project();
    let rule = ["rules", "new", "dashed", "--command-pattern", "^x", "--when", "-1 < 0", "--reason", "- not so"];
    for arguments in [
        &rule[..],
        &["explain", "command", "-x y"],
        &["explain", "pattern", "-x", "-x"],
        &["try", "--", "-x y"],
        &["task", "add", "- a list", "--description", "- more"],
        &["memory", "add", "- a list"],
    ] {
        let reply = project.run(arguments);
        assert!(!reply.stderr.contains("unexpected argument"), "{}", reply.transcript());
        assert_eq!(reply.code, Some(0), "{}", reply.transcript());
    }
}

#[test]
fn demo_explains_a_recorded_session() {
    let reply = project_without_policy().run(&["demo"]);
    assert_eq!(reply.code, Some(0), "{}", reply.transcript());
    insta::assert_snapshot!(reply.stdout);
    let steps = project_without_policy().run(&["demo", "--json"]).json();
    assert_eq!(steps["steps"].as_array().map(Vec::len), Some(11));
}

#[test]
fn log_shows_events_and_masks_secrets() {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    project.decision("ls -la");
    project.decision("danger --password hunter2");
    project.hook("claude", &project.event_payload("UserPromptSubmit", &json!({ "prompt": "my secret plan" })));
    let log = project.run(&["log"]).stdout;
    let shown: Vec<String> = log.lines().map(without_time).collect();
    insta::assert_snapshot!(shown.join("\n"), @"
    allow     1   claude before_tool Bash ls -la
    block     2   claude before_tool Bash danger --password ***
          block no-danger
    allow     3   claude prompt
    ");
    let blocked = project.run(&["log", "--level", "block", "--json"]);
    assert_eq!(blocked.stdout.lines().count(), 1);
    assert_eq!(blocked.json()["verdict"]["findings"][0]["rule"], "no-danger");
    let everything = project.run(&["log", "--json", "--limit", "0"]).stdout;
    assert!(!everything.contains("hunter2") && !everything.contains("secret plan"), "{everything}");
    assert_eq!(project.run(&["log", "--rule", "no-danger", "--since", "1h", "--json"]).stdout.lines().count(), 1);
    assert_eq!(project.run(&["log", "--rule", "hard-reset"]).stdout, "No event in the journal matches.\n");
}

pub fn without_time(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let is_not_a_time = |word: &&str| {
        !(word.len() >= 8 && word.starts_with(|first: char| first.is_ascii_digit()) && word.contains(['-', ':']))
    };
    words.into_iter().filter(is_not_a_time).collect::<Vec<_>>().join(" ")
}

#[test]
fn log_rejects_invalid_filters() {
    let project = project();
    project.decision("ls");
    insta::assert_snapshot!(project.run(&["log", "--level", "blok"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: unknown level `blok`
    help: did you mean `block`?
    ");
    insta::assert_snapshot!(project.run(&["log", "--kind", "PreToolUse"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: unknown event kind `PreToolUse`
    help: it is one of session_start, session_end, prompt, before_tool, after_tool, tool_failed, permission, stop, subagent_start, subagent_stop, before_compact, after_compact, notification, file_changed, task_completed, other, ack, allow, abort, approve, continue, emit, held, iteration, move, pause, progress, resume, run, set, start, stop_asked, task
    ");
    insta::assert_snapshot!(project.run(&["log", "--since", "yesterday"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: invalid time `yesterday`
    help: write a duration before now, such as `30m`, `2h` or `7d`, or a time such as `2026-03-01T12:00`
    ");
}

#[test]
fn log_without_a_journal_is_an_error() {
    insta::assert_snapshot!(project().run(&["log"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: there is no journal yet for `[BASE]/project`
    help: the first event of an agent's hook creates it; `linchpin doctor` shows whether a hook is installed
    ");
    insta::assert_snapshot!(project().run(&["log", "--json"]).transcript(), @r#"
    exit 2
    --- stdout
    {"error":{"kind":"NoJournal","message":"there is no journal yet for `[BASE]/project`","help":"the first event of an agent's hook creates it; `linchpin doctor` shows whether a hook is installed"}}
    --- stderr
    "#);
}

#[test]
fn log_prune_deletes_only_events_older_than_retention() {
    let project = project();
    project.decision("ls");
    project.decision("ls");
    insta::assert_snapshot!(project.run(&["log", "prune"]).transcript(), @"
    exit 0
    --- stdout
    0 events deleted.
    --- stderr
    ");
    project.config("retention: 0s\n");
    std::thread::sleep(std::time::Duration::from_millis(5));
    insta::assert_snapshot!(project.run(&["log", "prune"]).transcript(), @"
    exit 0
    --- stdout
    1 event deleted.
    --- stderr
    ");
}

#[test]
fn control_characters_of_an_agent_do_not_reach_the_terminal() {
    let project = project();
    project.decision("echo \u{1b}[31mred\u{7}");
    let log = project.run(&["log"]).stdout;
    assert!(!log.contains('\u{1b}') && !log.contains('\u{7}'), "{log:?}");
}

#[test]
fn status_shows_rules_and_holds() {
    let project = project();
    project.rule("wait", "---\non: stop\naction: block\n---\nNot yet.\n");
    insta::assert_snapshot!(project.run(&["status"]).transcript(), @"
    exit 0
    --- stdout
    Project [BASE]/project
    Session none yet
    Rules   3 rules in force
      people-only-commands         block  bundled
      protect-guardrails           block  bundled
      wait                         block  project
    --- stderr
    ");
    project.hook("claude", &project.event_payload("Stop", &json!({ "stop_hook_active": false })));
    insta::assert_snapshot!(project.run(&["status"]).transcript(), @"
    exit 0
    --- stdout
    Project [BASE]/project
    Session claude session-1
    Rules   3 rules in force
      people-only-commands         block  bundled
      protect-guardrails           block  bundled
      wait                         block  project
    Holds   wait held this session's stop 1 time
    --- stderr
    ");
    insta::assert_snapshot!(project.run(&["status", "--json"]).stdout, @r#"{"workflow":null,"root":"[BASE]/project","nested":[],"mode":"enforce","enabled":true,"paused":null,"session":{"agent":"claude","id":"session-1","rules":[{"rule":"people-only-commands","tier":"bundled","action":"block","source":"bundled rule people-only-commands"},{"rule":"protect-guardrails","tier":"bundled","action":"block","source":"bundled rule protect-guardrails"},{"rule":"wait","tier":"project","action":"block","source":".linchpin/rules/wait.md"}],"queue":{},"acknowledgements":[],"holds":{"wait":1},"kept":[],"variables":{},"broken":[]}}"#);
}

#[test]
fn doctor_reports_a_missing_policy_and_missing_hooks() {
    insta::assert_snapshot!(project_without_policy().run(&["doctor"]).transcript(), @"
    exit 1
    --- stdout
    Linchpin 0.1.0, project [BASE]/project

    bad   no policy: every event is allowed
          `linchpin init` writes one
    note  no journal yet: the first event creates it
    bad   no agent has Linchpin's hooks for this project
          run `linchpin install AGENT`, or `linchpin init` for all agents that it finds
    --- stderr
    ");
}

#[test]
fn doctor_finds_no_problems_after_init() {
    let project = project_without_policy();
    project.run(&["init", "--agent", "claude", "--agent", "cursor"]);
    insta::assert_snapshot!(project.run(&["doctor"]).transcript(), @"
    exit 0
    --- stdout
    Linchpin 0.1.0, project [BASE]/project

    ok    11 rules in force
    note  no journal yet: the first event creates it
    ok    Claude Code: hooks in [BASE]/project/.claude/settings.json
    ok    Claude Code: self-test passed: the program answers; it would refuse `linchpin trust`
    ok    Cursor: hooks in [BASE]/project/.cursor/hooks.json
    ok    Cursor: self-test passed: the program answers; it would refuse `linchpin trust`
    note  Cursor: it reads Claude Code's settings too, so it might call Linchpin twice for each event
    --- stderr
    ");
    assert_eq!(project.run(&["doctor", "--json"]).json()["effective"], true);
}

#[test]
fn doctor_leaves_no_trace_in_the_journal() {
    let project = project_without_policy();
    project.run(&["init", "--agent", "claude"]);
    project.run(&["doctor"]);
    assert_eq!(project.run(&["log"]).code, Some(2));
}

#[test]
fn the_readable_part_of_a_truncated_payload_is_recorded() {
    let project = project();
    let payload_text = project.bash_payload("danger").to_string();
    project.hook_with_bytes("claude", &payload_text.as_bytes()[..payload_text.len() - 20]);
    let entry = project.run(&["log", "--json"]).json();
    assert_eq!((entry["kind"].as_str(), entry["verdict"]["level"].as_str()), (Some("before_tool"), Some("ask")));
}

#[test]
fn doctor_reports_settings_and_rules_that_disable_the_guard() {
    let project = project_without_policy();
    project.run(&["init", "--agent", "claude"]);
    let settings = std::fs::read_to_string(project.root().join(".claude/settings.json")).expect("settings");
    project.file(".claude/settings.json", settings.replacen('{', "{ \"disableAllHooks\": true,", 1));
    project.rule("broken", "---\ntoolz: x\n---\nNo.\n");
    insta::assert_snapshot!(project.run(&["doctor"]).transcript(), @"
    exit 1
    --- stdout
    Linchpin 0.1.0, project [BASE]/project

    ok    11 rules in force
    bad   broken, the file is ignored: .linchpin/rules/broken.md:2:1: unknown key `toolz`
          `linchpin validate` shows every error
    note  no journal yet: the first event creates it
    ok    Claude Code: hooks in [BASE]/project/.claude/settings.json
    bad   Claude Code: `disableAllHooks` is on, so Claude Code calls no hooks
          change it in [BASE]/project/.claude/settings.json
    --- stderr
    ");
}

#[test]
fn one_invalid_entry_does_not_invalidate_the_file() {
    let project = project();
    project.config("rules: [no-such-rule, hard-reset]\n");
    let report = project.run(&["doctor"]).stdout;
    insta::assert_snapshot!(report.lines().filter(|line| line.contains("broken") || line.contains("in force")).collect::<Vec<_>>().join("\n"), @"
    ok    3 rules in force
    bad   broken, this part of the file is ignored; the rest is in force: .linchpin/config.yml:1:9: there is no rule `no-such-rule`
    ");
}

#[test]
fn doctor_shows_the_rules_in_force_of_a_broken_configuration() {
    let project = project();
    let report = || {
        let report = project.run(&["doctor"]).stdout;
        report.lines().filter(|line| line.contains("in force")).collect::<Vec<_>>().join("\n")
    };
    // If the configuration has never been valid, its valid parts are in force.
    project.config("rules: [hard-reset]\nbogus: 1\n");
    insta::assert_snapshot!(report(), @"
    ok    3 rules in force
    bad   broken, this part of the file is ignored; the rest is in force: .linchpin/config.yml:2:1: unknown key `bogus`
    ");
    assert_eq!(project.run(&["try", "git reset --hard"]).code, Some(1));
    project.config("rules: [hard-reset\n");
    insta::assert_snapshot!(report(), @"ok    2 rules in force");
    project.config("rules: [hard-reset]\n");
    project.decision("ls");
    project.config("rules: []\nbogus: 1\n");
    insta::assert_snapshot!(report(), @"
    ok    3 rules in force
    bad   broken, its last valid version stays in force: .linchpin/config.yml:2:1: unknown key `bogus`
    ");
}

#[test]
fn a_missing_root_is_an_error() {
    let project = project_without_policy();
    let mut command = project.command(&["status"]);
    command.env("LINCHPIN_ROOT", "/no/such/folder");
    insta::assert_snapshot!(project.run_with_stdin(command, b"").transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: `LINCHPIN_ROOT` is `/no/such/folder`, which does not exist
    help: unset it, or set it to the folder that contains `.linchpin`
    ");
}

#[test]
fn a_path_may_begin_with_a_dot_and_a_slash() {
    let output = project_without_policy().run(&["explain", "pattern", "src/**", "./src/a"]).stdout;
    assert_eq!(output.trim(), "matches");
}

#[test]
fn help_is_wrapped_to_the_width_of_the_terminal() {
    for arguments in [&["--help"][..], &["hook", "--help"], &["check", "--help"], &["try", "--help"]] {
        let mut command = project_without_policy().command(arguments);
        command.env("COLUMNS", "40").current_dir("/");
        let help = project_without_policy().run_with_stdin(command, b"").stdout;
        // Lines that contain a command to type are not wrapped.
        let is_too_long = |line: &&str| line.chars().count() > 40 && !line.contains("linchpin ");
        assert_eq!(help.lines().find(is_too_long), None, "{arguments:?}\n{help}");
    }
    let mut command = project_without_policy().command(&["--help"]);
    command.env("COLUMNS", "40").current_dir("/");
    let help = project_without_policy().run_with_stdin(command, b"").stdout;
    assert!(help.contains("  trust        Accept the parts of a\n               repository's policy that\n               run programs, approve\n               calls or switch rules off\n"), "{help}");
}

#[test]
fn the_help_of_hook_explains_its_purpose() {
    for arguments in [&["hook", "--help"][..], &["hook", "-h"], &["hook", "claude", "--help"]] {
        let reply = project_without_policy().run(arguments);
        assert_eq!((reply.code, reply.stderr.as_str()), (Some(0), ""), "{arguments:?}");
        assert!(reply.stdout.contains("`linchpin install AGENT` writes it into their settings"), "{}", reply.stdout);
    }
}

#[test]
fn output_is_coloured_only_on_terminals_unless_configured() {
    let project = project();
    let is_coloured = |arguments: &[&str], no_color: bool, on_terminal: bool| {
        let mut command = project.command(arguments);
        if no_color {
            command.env("NO_COLOR", "1");
        }
        let reply =
            if on_terminal { project.run_on_terminal(command, "") } else { project.run_with_stdin(command, b"") };
        reply.stdout.contains('\u{1b}')
    };
    let (auto, always, never) =
        (&["rules", "list"], &["rules", "list", "--color=always"], &["--color", "never", "rules", "list"]);
    assert!(!is_coloured(auto, false, false));
    assert!(is_coloured(auto, false, true));
    assert!(!is_coloured(auto, true, true));
    assert!(is_coloured(always, true, false));
    assert!(!is_coloured(never, false, true));
    // `--color` applies to help texts, too.
    assert!(is_coloured(&["--color", "always", "--help"], false, false));
    assert!(!is_coloured(&["--color=never", "--help"], false, true));
    assert!(!is_coloured(&["rules", "list", "--json", "--color", "always"], false, false));
}
