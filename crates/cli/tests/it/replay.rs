//! `linchpin replay`: judges recorded events by changed rules. Also the data that the journal keeps for that.

use serde_json::{Value, json};
use testkit::TestProject;

use super::{NO_DANGER, project};

/// Replaces the time that follows the event's id in each headline.
fn without_times(text: &str) -> String {
    let line = |line: &str| match (line.get(..7), line.get(7..26), line.get(26..)) {
        (Some(number), Some(time), Some(rest)) if is_time(time) => format!("{number}[TIME]{rest}\n"),
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

fn is_time(text: &str) -> bool {
    let pattern = "dddd-dd-dd dd:dd:dd";
    text.chars()
        .zip(pattern.chars())
        .all(|(actual, expected)| if expected == 'd' { actual.is_ascii_digit() } else { actual == expected })
}

fn json_lines(reply: &testkit::ProcessOutput) -> Vec<Value> {
    reply.stdout.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

fn run_command(project: &TestProject, command: &str, call: &str) {
    let input = json!({ "command": command });
    let before = json!({ "tool_name": "Bash", "tool_input": input, "tool_use_id": call });
    project.hook("claude", &project.event_payload("PreToolUse", &before));
    let after =
        json!({ "tool_name": "Bash", "tool_input": input, "tool_use_id": call, "tool_response": { "stdout": "" } });
    project.hook("claude", &project.event_payload("PostToolUse", &after));
}

fn write(project: &TestProject, path: &str, content: &str) {
    let path = project.root().join(path);
    project.hook("claude", &project.tool_payload("Write", &json!({ "file_path": path, "content": content })));
}

/// A project with ten recorded events. Event 3 is the command `danger`, and event 7 is the command `hazard`.
fn with_recorded_events() -> TestProject {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    project.rule("no-hazard", "---\ncommand_pattern: ^hazard\naction: warn\n---\nMind the hazard.\n");
    project.hook("claude", &project.event_payload("SessionStart", &json!({ "source": "startup" })));
    project.hook("claude", &project.event_payload("UserPromptSubmit", &json!({ "prompt": "Please tidy up" })));
    project.decision("danger now");
    run_command(&project, "cargo test", "toolu_2");
    write(&project, "src/a.rs", "fn main() {}");
    project.decision("hazard --all");
    write(&project, "secrets/key.pem", "the content");
    project.decision("ls -l");
    project.hook("claude", &project.event_payload("Stop", &json!({ "stop_hook_active": false })));
    project
}

#[test]
fn the_same_rules_give_the_same_verdicts() {
    let project = with_recorded_events();
    insta::assert_snapshot!(project.run(&["replay"]).transcript(), @"
    exit 0
    --- stdout
    10 events: 10 the same, 0 changed (0 stricter, 0 milder), 0 undecidable
    --- stderr
    ");
}

#[test]
fn replay_lists_exactly_the_changed_verdicts() {
    let project = with_recorded_events();
    project.rule("no-danger", "---\ncommand_pattern: '^danger later'\n---\nNot later.\n");
    project.rule("no-hazard", "---\ncommand_pattern: ^hazard\n---\nNo hazard.\n");
    project.rule("no-keys", "---\nwrites: ['secrets/**']\naction: ask\n---\nKeys are for people.\n");
    let first = project.run(&["replay"]);
    insta::assert_snapshot!(without_times(&first.transcript()), @"
    exit 1
    --- stdout
        3  [TIME]  claude before_tool Bash danger now
           block → allow
           - no-danger: block; changed since (was ede2a3d482e7f9c02fa5cfa6)
               then command_pattern: danger now
               now  command_pattern is false: danger now
        7  [TIME]  claude before_tool Bash hazard --all
           warn → block
           - no-hazard: warn; changed since (was bb3e01abe4bc93350d7a8e8f)
               then command_pattern: hazard --all
           + no-hazard: block
               now  command_pattern: hazard --all
        8  [TIME]  claude before_tool Write [BASE]/project/secrets/key.pem
           allow → ask
           + no-keys: ask
               now  writes: secrets/key.pem
    10 events: 7 the same, 3 changed (2 stricter, 1 milder), 0 undecidable
    --- stderr
    ");
    let again = project.run(&["replay"]);
    assert_eq!((again.stdout, again.stderr, again.code), (first.stdout, first.stderr, Some(1)));
}

#[test]
fn a_deleted_rule_is_reported() {
    let project = with_recorded_events();
    std::fs::remove_file(project.root().join(".linchpin/rules/no-danger.md")).expect("the rule's file");
    insta::assert_snapshot!(without_times(&project.run(&["replay"]).stdout), @"
        3  [TIME]  claude before_tool Bash danger now
           block → allow
           - no-danger: block; the rule is no longer in force
               then command_pattern: danger now
    10 events: 9 the same, 1 changed (0 stricter, 1 milder), 0 undecidable
    ");
}

#[test]
fn replay_as_json() {
    let project = with_recorded_events();
    project.rule("no-danger", "---\ncommand_pattern: '^danger later'\n---\nNot later.\n");
    project.rule("main-only", "---\ntools: [Write]\nwhen: git.branch == 'main'\n---\nOnly there.\n");
    let reply = project.run(&["replay", "--json"]);
    let mut values = json_lines(&reply);
    assert!(values[0]["changed"]["time"].is_i64());
    values[0]["changed"]["time"] = json!(0);
    insta::assert_json_snapshot!(values);
    assert_eq!(reply.code, Some(1));
}

#[test]
fn replay_can_use_rules_of_another_directory() {
    let project = with_recorded_events();
    project.file("draft/rules/no-ls.md", "---\ncommand_pattern: ^ls\naction: allow\n---\nFine.\n");
    project.file("other/.linchpin/rules/no-danger.md", NO_DANGER);
    project.file("empty/README", "");
    insta::assert_snapshot!(without_times(&project.run(&["replay", "--rules", "draft"]).transcript()), @"
    exit 1
    --- stdout
        3  [TIME]  claude before_tool Bash danger now
           block → allow
           - no-danger: block; the rule is no longer in force
               then command_pattern: danger now
        7  [TIME]  claude before_tool Bash hazard --all
           warn → allow
           - no-hazard: warn; the rule is no longer in force
               then command_pattern: hazard --all
        9  [TIME]  claude before_tool Bash ls -l
           allow → allow without asking
           + no-ls: allow
               now  command_pattern: ls -l
    10 events: 7 the same, 3 changed (0 stricter, 3 milder), 0 undecidable
    --- stderr
    ");
    insta::assert_snapshot!(without_times(&project.run(&["replay", "--rules", "other"]).transcript()), @"
    exit 1
    --- stdout
        7  [TIME]  claude before_tool Bash hazard --all
           warn → allow
           - no-hazard: warn; the rule is no longer in force
               then command_pattern: hazard --all
    10 events: 9 the same, 1 changed (0 stricter, 1 milder), 0 undecidable
    --- stderr
    ");
    insta::assert_snapshot!(project.run(&["replay", "--rules", "empty"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: there is no policy in `[BASE]/project/empty`
    help: name a folder that contains `config.yml` or `rules/`, or a project that contains `.linchpin`
    ");
    project.file("draft/rules/broken.md", "---\ncommand_pattern: '('\n---\nNo.\n");
    insta::assert_snapshot!(project.run(&["replay", "--rules", "draft"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: broken policy file: rules/broken.md:2:19: invalid regex: unclosed group
    help: `linchpin validate` shows what is wrong with it
    ");
}

#[test]
fn replay_can_be_limited_to_part_of_the_history() {
    let project = with_recorded_events();
    let mut other = project.bash_payload("danger again");
    other["session_id"] = json!("session-2");
    project.hook("claude", &other);
    project.rule("no-danger", "---\ncommand_pattern: '^nothing'\n---\nNo.\n");
    let summary = |arguments: &[&str]| {
        let reply = project.run(&[&["replay", "--json"], arguments].concat());
        let values = json_lines(&reply);
        let events: Vec<Value> = values.iter().map(|value| value["changed"]["event"].clone()).collect();
        (events[..events.len() - 1].to_vec(), values[values.len() - 1]["summary"]["events"].clone())
    };
    assert_eq!(summary(&[]), (vec![json!(3), json!(11)], json!(11)));
    assert_eq!(summary(&["--session", "session-2"]), (vec![json!(11)], json!(1)));
    assert_eq!(summary(&["--since", "1h"]), (vec![json!(3), json!(11)], json!(11)));
    assert_eq!(summary(&["--since", "2999-01-01T00:00"]), (vec![], json!(0)));
    insta::assert_snapshot!(project.run(&["replay", "--since", "soon"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: invalid time `soon`
    help: write a duration before now, such as `30m`, `2h` or `7d`, or a time such as `2026-03-01T12:00`
    ");
}

#[test]
fn unrecorded_facts_are_undecidable() {
    let project = with_recorded_events();
    project.rule("main-only", "---\ntools: [Write]\nwhen: git.branch == 'main'\n---\nOnly there.\n");
    project.rule("polite", "---\non: prompt\nwhen: \"'Please' not in event.prompt\"\n---\nSay please.\n");
    project.rule("no-todo", "---\ntools: [Write]\nwhen: \"'TODO' in tool_input.content\"\naction: warn\n---\nNone.\n");
    project.rule(
        "known",
        "---\ntools: [Bash]\nwhen: \"event.command == 'ls -l' and command_ran('^cargo test')\"\n---\nNo.\n",
    );
    insta::assert_snapshot!(without_times(&project.run(&["replay"]).transcript()), @"
    exit 1
    --- stdout
        9  [TIME]  claude before_tool Bash ls -l
           allow → block
           + known: block
               now  tools: Bash
               now  when: event.command == 'ls -l' and command_ran('^cargo test')
    undecidable: git.branch for main-only (events 6, 8)
    undecidable: event.input.content for no-todo (events 6, 8)
    undecidable: event.prompt for polite (event 2)
    10 events: 6 the same, 1 changed (1 stricter, 0 milder), 3 undecidable
    --- stderr
    ");
}

#[test]
fn recorded_facts_are_used() {
    let project = project();
    project.config("variables: {release: false}\n");
    project.rule("watch", "---\ntools: [Write]\nwhen: \"(tool_input or {}).get('file_path', '').endswith('.md') and tool_input.mode == 'x' and release\"\naction: warn\n---\nHm.\n");
    project.rule("branch", "---\ntools: [Bash]\nwhen: git.branch == 'release'\n---\nNot here.\n");
    std::fs::create_dir_all(project.root().join(".git")).expect("a directory");
    project.file(".git/HEAD", "ref: refs/heads/main\n");
    project.decision("make");
    write(&project, "notes.md", "some content");
    write(&project, "a.rs", "some content");
    // The repository changes, but the journal entries do not.
    project.file(".git/HEAD", "ref: refs/heads/release\n");
    project.rule("watch", "---\ntools: [Write]\nwhen: \"tool_input.file_path.endswith('.md') and 'mode' not in tool_input and not release\"\naction: warn\n---\nHm.\n");
    project.rule("branch", "---\ntools: [Bash]\nwhen: git.branch == 'main'\n---\nNot here.\n");
    insta::assert_snapshot!(without_times(&project.run(&["replay"]).transcript()), @"
    exit 1
    --- stdout
        1  [TIME]  claude before_tool Bash make
           allow → block
           + branch: block
               now  tools: Bash
               now  when: git.branch == 'main'
        2  [TIME]  claude before_tool Write [BASE]/project/notes.md
           allow → warn
           + watch: warn
               now  tools: Write
               now  when: tool_input.file_path.endswith('.md') and 'mode' not in tool_input and not release
    3 events: 1 the same, 2 changed (2 stricter, 0 milder), 0 undecidable
    --- stderr
    ");
}

#[test]
fn a_masked_secret_makes_a_rule_undecidable() {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    project.decision("deploy --token ghp_abcdefghijklmnopqrstuvwxyz0123456789 --to staging");
    project.rule("staging", "---\ncommand_pattern: '^deploy .*--to staging'\naction: warn\n---\nMind it.\n");
    insta::assert_snapshot!(without_times(&project.run(&["replay"]).stdout), @"
        1  [TIME]  claude before_tool Bash deploy --token *** --to staging
           allow → warn
           + staging: warn
               now  command_pattern: deploy --token *** --to staging
    1 event: 0 the same, 1 changed (1 stricter, 0 milder), 0 undecidable
    ");
    project.rule("staging", "---\ncommand_pattern: '(?i)token [a-z]+_[a-z0-9]{30,}'\naction: warn\n---\nMind it.\n");
    insta::assert_snapshot!(without_times(&project.run(&["replay"]).stdout), @"
    undecidable: event.command (masked) for staging (event 1)
    1 event: 0 the same, 0 changed (0 stricter, 0 milder), 1 undecidable
    ");
    project.rule("staging", "---\ntools: [Bash]\nwhen: \"'ghp_' in event.command\"\naction: warn\n---\nMind it.\n");
    insta::assert_snapshot!(without_times(&project.run(&["replay"]).stdout), @"
    undecidable: event.command (masked) for staging (event 1)
    1 event: 0 the same, 0 changed (0 stricter, 0 milder), 1 undecidable
    ");
}

#[cfg(unix)]
#[test]
fn a_symlink_is_judged_by_its_recorded_target() {
    let project = project();
    project.file("secrets/key", "");
    let symlink = project.root().join("innocent");
    std::os::unix::fs::symlink(project.root().join("secrets"), &symlink).expect("a symlink");
    write(&project, "innocent/key", "x");
    std::fs::remove_file(&symlink).expect("the link");
    project.rule("no-keys", "---\nwrites: ['secrets/**']\n---\nKeys are for people.\n");
    insta::assert_snapshot!(without_times(&project.run(&["replay"]).stdout), @"
        1  [TIME]  claude before_tool Write [BASE]/project/innocent/key
           allow → block
           + no-keys: block
               now  writes: secrets/key
    1 event: 0 the same, 1 changed (1 stricter, 0 milder), 0 undecidable
    ");
}

#[test]
fn holds_are_counted_again() {
    let project = project();
    project.rule(
        "hold",
        "---\non: stop\nwhen: \"not command_ran('^cargo test')\"\naction: block\nmax_holds: 3\n---\nRun the tests.\n",
    );
    for again in [false, true, true] {
        project.hook("claude", &project.event_payload("Stop", &json!({ "stop_hook_active": again })));
    }
    project.rule(
        "hold",
        "---\non: stop\nwhen: \"not command_ran('^cargo test')\"\naction: block\nmax_holds: 1\n---\nRun the tests.\n",
    );
    insta::assert_snapshot!(without_times(&project.run(&["replay"]).stdout), @"
        2  [TIME]  claude stop
           block → warn
           - hold: block; changed since (was a48899b09ae130f0aec8003c)
               then when: not command_ran('^cargo test')
           + hold: warn
               now  when: not command_ran('^cargo test')
        3  [TIME]  claude stop
           block → warn
           - hold: block; changed since (was a48899b09ae130f0aec8003c)
               then when: not command_ran('^cargo test')
           + hold: warn
               now  when: not command_ran('^cargo test')
    3 events: 1 the same, 2 changed (0 stricter, 2 milder), 0 undecidable
    ");
}

#[test]
fn a_verdict_without_a_rule_is_unchanged() {
    let project = project();
    project.hook("claude", &project.tool_payload("Bash", &json!({})));
    assert_eq!(project.run(&["replay"]).code, Some(0));
}

#[test]
fn replay_without_a_journal_is_an_error() {
    insta::assert_snapshot!(project().run(&["replay"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: there is no journal yet for `[BASE]/project`
    help: the first event of an agent's hook creates it; `linchpin doctor` shows whether a hook is installed
    ");
}

/// Contents of files, prompts, messages and outputs of commands are not stored in the journal, even if rules use them.
#[test]
fn texts_of_people_and_files_are_not_in_the_journal() {
    let project = project();
    project.rule("curious", "---\non: [before_tool, after_tool, prompt, stop]\nwhen: \"'x' in [str(tool_input), str(event.prompt), str(event.message), str(event.output), str(event), tool_input.content]\"\n---\nNo.\n");
    project.hook("claude", &project.event_payload("UserPromptSubmit", &json!({ "prompt": "confidential-prompt" })));
    write(&project, "a.txt", "confidential-content");
    let edit = json!({ "file_path": project.root().join("a.txt"), "old_string": "confidential-old", "new_string": "confidential-new", "edits": [{ "new_string": "confidential-edit" }] });
    project.hook("claude", &project.tool_payload("Edit", &edit));
    project.hook(
        "claude",
        &project.tool_payload("Task", &json!({ "prompt": "confidential-task", "description": "kept-description" })),
    );
    project.hook(
        "claude",
        &project.tool_payload(
            "mcp__x__y",
            &json!({ "data": "confidential-long ".repeat(100), "patch": "confidential-patch" }),
        ),
    );
    let after = json!({ "tool_name": "Bash", "tool_input": { "command": "ls" }, "tool_response": { "stdout": "confidential-output" } });
    project.hook("claude", &project.event_payload("PostToolUse", &after));
    let mut bytes = String::new();
    for file in ["state.db", "state.db-wal"] {
        let read = std::fs::read(project.root().join(".linchpin").join(file)).unwrap_or_default();
        bytes.push_str(&String::from_utf8_lossy(&read));
    }
    assert!(bytes.contains("kept-description"));
    assert!(!bytes.contains("confidential"), "confidential text is in the journal");
}

/// `replay` assumes that an unchanged rule has the same result for the same event, even if the facts that the rule used
/// were not stored.
#[test]
fn a_rule_that_fired_is_assumed_to_fire_again() {
    let project = project();
    project.rule("no-todo", "---\ntools: [Write]\nwhen: \"'TODO' in tool_input.content\"\n---\nNone.\n");
    project.rule("no-tokens", "---\ncommand_pattern: 'ghp_[A-Za-z0-9]+'\n---\nNo tokens.\n");
    write(&project, "a.rs", "// TODO");
    project.decision("deploy --token ghp_abcdefghijklmnopqrstuvwxyz0123456789");
    let reply = project.run(&["replay"]);
    assert_eq!(reply.stdout, "2 events: 2 the same, 0 changed (0 stricter, 0 milder), 0 undecidable\n");
}

#[test]
fn with_a_full_journal_everything_is_decidable() {
    let project = project();
    project.config("journal: full\n");
    write(&project, "a.rs", "// TODO");
    project.rule("no-todo", "---\ntools: [Write]\nwhen: \"'TODO' in tool_input.content\"\n---\nNone.\n");
    let values = json_lines(&project.run(&["replay", "--json"]));
    assert_eq!(
        values[1]["summary"],
        json!({ "events": 1, "same": 0, "changed": 1, "stricter": 1, "milder": 0, "undecidable": 0 })
    );
}

#[test]
fn a_nested_policy_is_judged_with_its_own_facts() {
    let project = project();
    project.config("variables: {strict: false}\n");
    project.file("sub/.linchpin/config.yml", "variables: {strict: true}\n");
    project.file("sub/.linchpin/rules/strict.md", "---\ntools: [Write]\nwhen: strict\n---\nStrict.\n");
    project.rule("strict", "---\ntools: [Write]\nwhen: strict\naction: warn\n---\nStrict.\n");
    write(&project, "sub/a.rs", "");
    write(&project, "a.rs", "");
    let reply = project.run(&["replay"]);
    assert_eq!(reply.stdout, "2 events: 2 the same, 0 changed (0 stricter, 0 milder), 0 undecidable\n");
}

#[test]
fn a_broken_policy_is_an_error() {
    let project = with_recorded_events();
    project.rule("no-danger", "---\ncommand_pattern: '('\n---\nNo.\n");
    insta::assert_snapshot!(project.run(&["replay"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: broken policy file: .linchpin/rules/no-danger.md:2:19: invalid regex: unclosed group
    help: `linchpin validate` shows what is wrong with it
    ");
}

/// A project with a recorded session of a workflow whose first node has these rules.
fn with_recorded_workflow(rules: &str) -> TestProject {
    let project = project();
    write_workflow(&project, rules);
    let mut agent = project.agent();
    agent.before("danger early");
    project.run(&["start", "work"]);
    agent.before("danger now");
    agent.run("make check");
    agent.before("git commit -m done");
    agent.run("make");
    agent.run("make");
    assert_eq!(agent.linchpin(&["next"]).code, Some(3));
    assert_eq!(agent.linchpin(&["continue"]).code, Some(0));
    agent.run("ls");
    assert_eq!(agent.linchpin(&["next"]).code, Some(0));
    agent.before("danger later");
    assert_eq!(project.run(&["next"]).code, Some(0));
    agent.before("danger at last");
    project
}

fn write_workflow(project: &TestProject, rules: &str) {
    project.file(
        ".linchpin/workflows/work.yml",
        format!(
            "start_node: code\nvariables: {{checked: false}}\ntriggers: {{after_tool: [{{when: \"event.command == 'make check'\", \
             set: {{checked: true}}}}]}}\nnodes:\n  code:\n    prompt: Code.\n    rules:\n{rules}\n    transitions: [{{when: \
             code_complete, to: review}}]\n  review: {{prompt: Review., transitions: [{{when: review_complete, to: done}}]}}\n"
        ),
    );
}

const NODE_RULES: &str = "      - {name: danger, command_pattern: ^danger, reason: No.}\n      - {name: unchecked, command_pattern: \
                       '^git commit', when: not checked, reason: Check.}\n      - {name: twice, repeated_command: {pattern: \
                       '^make$', threshold: 2, window: 600}}\n      - {name: tokens, token_budget: {max_tokens: 10}}\n      \
                       - {name: many, command_pattern: ^ls, when: phase.commands > 100, reason: Enough.}";

#[test]
fn rules_of_a_workflow_are_judged_in_their_recorded_phase() {
    let project = with_recorded_workflow(NODE_RULES);
    insta::assert_snapshot!(without_times(&project.run(&["replay"]).transcript()), @"
    exit 0
    --- stdout
    13 events: 13 the same, 0 changed (0 stricter, 0 milder), 0 undecidable
    --- stderr
    ");
    // With `--session`, `replay` also takes the moves into account that a person made outside of the session.
    let of_session = project.run(&["replay", "--session", "session-1"]);
    assert_eq!(of_session.code, Some(0), "{}", of_session.stdout);
    let explained = project.run(&["explain", "event", "4"]);
    assert!(explained.stdout.contains("work/code/danger"), "{}", explained.transcript());
}

#[test]
fn an_edited_workflow_is_judged_by_recorded_facts() {
    let project = with_recorded_workflow(NODE_RULES);
    write_workflow(
        &project,
        "      - {name: danger, command_pattern: ^danger, when: phase.visit > 1, reason: No.}\n      - {name: checked, \
         command_pattern: '^git commit', when: checked and phase.name == 'code' and workflow.active and \
         command_succeeded('^make check'), reason: Checked.}\n      - {name: twice, repeated_command: {pattern: '^make$', \
         threshold: 2, window: 500}}\n      - {name: much, command_pattern: '^ls', when: phase.tokens > 10, reason: Too much.}",
    );
    insta::assert_snapshot!(without_times(&project.run(&["replay"]).transcript()), @"
    exit 1
    --- stdout
        3  [TIME]  claude before_tool Bash danger now
           block → allow
           - work/code/danger: block; changed since (was ee2d8626cd7644d17d4f6544)
               then command_pattern: danger now
               now  when is false: phase.visit > 1
        6  [TIME]  claude before_tool Bash git commit -m done
           allow → block
           + work/code/checked: block
               now  command_pattern: git commit -m …
               now  when: checked and phase.name == 'code' and workflow.active and command_succeeded('^make check')
    undecidable: phase.tokens for work/code/much (event 13)
    undecidable: the counts of rule `work/code/twice` for work/code/twice (events 7, 8, 9, 10)
    13 events: 6 the same, 2 changed (1 stricter, 1 milder), 5 undecidable
    --- stderr
    ");
}

#[test]
fn rules_of_a_broken_or_deleted_workflow_are_reported() {
    let project = with_recorded_workflow(NODE_RULES);
    project.file(".linchpin/workflows/work.yml", "start_node: [");
    insta::assert_snapshot!(without_times(&project.run(&["replay"]).transcript()), @"
    exit 0
    --- stdout
    undecidable: the workflow's file (broken) for work (events 3, 4, 5, 6, 7, …)
    13 events: 2 the same, 0 changed (0 stricter, 0 milder), 11 undecidable
    --- stderr
    ");
    std::fs::remove_file(project.root().join(".linchpin/workflows/work.yml")).expect("the workflow's file");
    insta::assert_snapshot!(without_times(&project.run(&["replay"]).transcript()), @"
    exit 1
    --- stdout
        3  [TIME]  claude before_tool Bash danger now
           block → allow
           - work/code/danger: block; the rule is no longer in force
               then command_pattern: danger now
       10  [TIME]  claude after_tool Bash make
           warn → allow
           - work/code/twice: warn; the rule is no longer in force
               then repeated_command: make executed 2 times in 10m
    13 events: 11 the same, 2 changed (0 stricter, 2 milder), 0 undecidable
    --- stderr
    ");
}

#[test]
fn replay_can_use_workflows_of_another_directory() {
    let project = with_recorded_workflow(NODE_RULES);
    project.file("draft/rules/none.md", "---\ncommand_pattern: ^nothing\n---\nNothing.\n");
    // The directory `draft` contains no workflows, so the project's workflows are used.
    assert_eq!(project.run(&["replay", "--rules", "draft"]).code, Some(0));
    project.file(
        "draft/workflows/work.yml",
        "start_node: code\nnodes: {code: {prompt: Code., transitions: [{when: code_complete, to: done}]}}\n",
    );
    let other = project.run(&["replay", "--rules", "draft"]);
    assert_eq!(other.code, Some(1), "{}", other.transcript());
    assert!(other.stdout.contains("- work/code/danger: block; the rule is no longer in force"), "{}", other.stdout);
}

#[test]
fn an_unknown_session_is_an_error() {
    let project = project();
    project.decision("ls");
    for command in ["replay", "log"] {
        let reply = project.run(&[command, "--session", "nope"]);
        assert_eq!((reply.code, reply.stdout.as_str()), (Some(2), ""), "{}", reply.transcript());
        insta::allow_duplicates! {
            insta::assert_snapshot!(reply.stderr, @"
            error: the journal has no session `nope`
            help: `linchpin log --json` shows the session of each event
            ");
        }
        assert_eq!(project.run(&[command, "--session", "session-1"]).code, Some(0));
    }
}
