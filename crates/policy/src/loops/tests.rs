//! Tests of the problems that are reported for loops.

use insta::assert_snapshot;

use super::{PRESETS, file};
use crate::load::LoadedPolicy;
use crate::text::source::Source;
use crate::workflow::with_workflow_context;

/// One line per problem, with its position.
fn problems(text: &str) -> String {
    let source = Source::new("loop.yml", text);
    let (the_loop, problems) = with_workflow_context(&LoadedPolicy::default(), |context| file::read(&source, context));
    let mut lines: Vec<String> = problems
        .iter()
        .map(|problem| {
            let help = problem.help.as_ref().map(|help| format!("\n    {help}")).unwrap_or_default();
            format!("{}{help}", problem.line())
        })
        .collect();
    lines.push(if the_loop.is_some() { "valid".to_owned() } else { "invalid".to_owned() });
    lines.join("\n")
}

const SMALL: &str = "
agent: claude
hats:
  builder: {triggers: [task.start], publishes: [loop.complete]}
";

#[test]
fn a_small_loop_is_valid() {
    assert_eq!(problems(SMALL), "valid");
}

#[test]
fn presets_are_valid() {
    for preset in PRESETS {
        assert_eq!(problems(preset.text), "valid", "{}", preset.name);
    }
}

#[test]
fn missing_and_unknown_keys_are_reported() {
    assert_snapshot!(problems("{}"));
    assert_snapshot!(problems("agent: clade\nhat: {}\nhats: {}\n"));
    assert_snapshot!(problems(
        "agent: {comand: x, prompt: mail}\nlimits: {iterations: 0, runtime: 5, tokens: lots, cost_usd: -1}\nhats:\n  1a: {}\n"
    ));
}

#[test]
fn topic_names_are_checked() {
    assert_snapshot!(problems(
        "
agent: claude
start: a..b
completion: {topic: system.done, after: ['x*']}
topics:
  build.*: {}
  build.done: {on_tigger: x}
hats:
  builder: {triggers: [system.resume, task.start], publishes: [build.*, loop.complete], default_publishes: loop.compete}
"
    ));
}

#[test]
fn gates_are_checked() {
    assert_snapshot!(problems(
        "
agent: claude
gates:
  tests: {command: [make, test]}
topics:
  build.done: {requires: [test]}
completion: {requires: [tests, humans]}
tasks: {close_requires: [tests]}
hats:
  builder: {triggers: [task.start], publishes: [loop.complete]}
"
    ));
}

#[test]
fn shapes_that_cannot_run_are_refused() {
    let hats = |hats: &str| problems(&format!("agent: claude\nhats:\n{hats}"));
    assert_snapshot!(hats("  a: {triggers: [build.task], publishes: [loop.complete]}\n"));
    assert_snapshot!(hats(
        "  a: {triggers: [task.start, 'build.*'], publishes: [loop.complete]}\n  b: {triggers: ['**.done']}\n"
    ));
    assert_snapshot!(hats("  a: {triggers: [task.start], publishes: [task.start]}\n"));
    assert_snapshot!(problems(
        "
agent: claude
limits: {iterations: none, runtime: none}
completion: {after: [review.approved]}
hats:
  a: {triggers: [task.start, review.no], publishes: [build.done]}
  b: {triggers: [build.done], publishes: [review.no, loop.complete]}
"
    ));
}

#[test]
fn probable_mistakes_are_warnings() {
    assert_snapshot!(problems(
        "
agent: claude
hats:
  a: {triggers: [task.start], publishes: [loop.complete, build.done]}
  b: {triggers: [review.request], publishes: [loop.complete]}
"
    ));
}

#[test]
fn rules_and_paths_of_hats_are_checked() {
    assert_snapshot!(problems(
        "
agent: claude
scratchpad: ../elsewhere.md
hats:
  a:
    triggers: [task.start]
    publishes: [loop.complete]
    max_activations: 0
    rules: [no-such-rule, {tools: [Bash], acton: block}]
    writes: ['src/[']
"
    ));
}

#[test]
fn topics_that_nothing_publishes_are_errors() {
    assert_snapshot!(problems(
        "
agent: claude
completion: {after: [review.aproved]}
gates: {tests: {command: [make, test]}}
topics:
  build.dnoe: {requires: [tests]}
hats:
  builder: {triggers: [task.start, review.changes], publishes: [build.done]}
  reviewer: {triggers: [build.done], publishes: [review.approved]}
  end: {triggers: [review.approved], publishes: [loop.complete]}
"
    ), @r"
    loop.yml:3:22: nothing publishes `review.aproved`: it is not in the `publishes` of any hat, and it is not the first topic of a run
        did you mean `review.approved`?
    loop.yml:6:3: nothing publishes `build.dnoe`: it is not in the `publishes` of any hat, and it is not the first topic of a run
        did you mean `build.done`?
    loop.yml:8:3: hat `builder` is triggered by `review.changes`, which nothing publishes
        add the topic to the `publishes` of a hat, or remove it
    invalid
    ");
    assert_snapshot!(problems(
        "
agent: claude
completion: {topic: loop.complet}
hats:
  builder: {triggers: [task.start], publishes: [loop.complete]}
"
    ), @r"
    loop.yml:3:1: the loop cannot complete: no path from `task.start` publishes `loop.complet`
        did you mean `loop.complete`?
    loop.yml:5:3: hat `builder` publishes `loop.complete`, which triggers no hat, so the run would end there
        add the topic to the `triggers` of a hat, or remove it
    invalid
    ");
}

#[test]
fn limits_that_nothing_measures_do_not_bound_a_run() {
    assert_snapshot!(problems(
        "
agent: {command: [sh, agent.sh]}
limits: {iterations: none, runtime: none, tokens: 1M, cost_usd: 5}
hats:
  worker: {triggers: [task.start, again], publishes: [again, loop.complete]}
"
    ), @"
    loop.yml:3:43: the limit `tokens` counts nothing for `worker`: the agent is not known to report it
        limit these hats by `iterations`, `runtime` or `max_activations`
    loop.yml:3:55: the limit `cost_usd` counts nothing for `worker`: the agent is not known to report it
        limit these hats by `iterations`, `runtime` or `max_activations`
    loop.yml:5:3: `worker` hands over to itself without end: the loop has no limit of iterations or time, and no `max_activations`, and the agents do not report what `tokens` and `cost_usd` would count
        set `limits: {iterations: 100}`, or `max_activations` on one of these hats
    invalid
    ");
}

#[test]
fn a_limit_that_an_agent_does_not_report_is_a_warning() {
    assert_snapshot!(problems(
        "
agent: codex
limits: {tokens: 1M, cost_usd: 5}
hats:
  builder: {triggers: [task.start], publishes: [built]}
  reviewer: {agent: {command: [sh, review.sh]}, triggers: [built], publishes: [loop.complete]}
"
    ), @"
    loop.yml:3:10: the limit `tokens` counts nothing for `reviewer`: the agent is not known to report it
        limit these hats by `iterations`, `runtime` or `max_activations`
    loop.yml:3:22: the limit `cost_usd` counts nothing for `builder`, `reviewer`: the agent is not known to report it
        limit these hats by `iterations`, `runtime` or `max_activations`
    valid
    ");
}

#[test]
fn a_hat_that_publishes_nothing_is_a_warning() {
    assert_snapshot!(problems(
        "
agent: claude
hats:
  worker: {triggers: [task.start], publishes: [loop.complete, note.worthy]}
  observer: {triggers: [note.worthy]}
"
    ), @r"
    loop.yml:5:3: hat `observer` publishes nothing, so a run that reaches it ends unfinished
        add `publishes` with a topic that triggers another hat
    valid
    ");
}

#[test]
fn keys_of_other_tools_get_suggestions() {
    assert_snapshot!(problems(
        "
agent: claude
core: {scratchpad: notes.md, specs_dir: specs/, guardrails: [Be kind], workspace_root: .}
workspace_root: .
events: {build.done: {on_trigger: x}}
hats:
  worker: {subscriptions: [task.start], publishes: [loop.complete]}
"
    ), @r"
    loop.yml:3:1: unknown key `core`
        move `scratchpad`, `specs_dir` and `guardrails` out of `core`; remove `workspace_root`, because the root is the folder with `.linchpin`
    loop.yml:4:1: unknown key `workspace_root`
        remove it: the root is the folder with `.linchpin`
    loop.yml:5:1: unknown key `events`
        use `topics`
    loop.yml:7:12: unknown key `subscriptions`
        use `triggers`
    invalid
    ");
}
