//! What is wrong with loops, and that those in the box are not.

use insta::assert_snapshot;

use super::{PRESETS, file};
use crate::load::Loaded;
use crate::source::Source;
use crate::workflow::with_surroundings;

/// Every problem with its place, a line each.
fn problems(text: &str) -> String {
    let source = Source::new("loop.yml", text);
    let (the_loop, problems) = with_surroundings(&Loaded::default(), |around| file::read(&source, around));
    let mut lines: Vec<String> = problems
        .iter()
        .map(|problem| {
            let help = problem.help.as_ref().map(|help| format!("\n    {help}")).unwrap_or_default();
            format!("{}{help}", problem.line())
        })
        .collect();
    lines.push(if the_loop.is_some() { "sound".to_owned() } else { "not sound".to_owned() });
    lines.join("\n")
}

const SMALL: &str = "
agent: claude
hats:
  builder: {triggers: [task.start], publishes: [loop.complete]}
";

#[test]
fn a_small_loop_is_sound() {
    assert_eq!(problems(SMALL), "sound");
}

#[test]
fn presets_are_sound() {
    for preset in PRESETS {
        assert_eq!(problems(preset.text), "sound", "{}", preset.name);
    }
}

#[test]
fn what_is_missing_or_unknown_is_said() {
    assert_snapshot!(problems("{}"));
    assert_snapshot!(problems("agent: clade\nhat: {}\nhats: {}\n"));
    assert_snapshot!(problems(
        "agent: {comand: x, prompt: mail}\nlimits: {iterations: 0, runtime: 5, tokens: lots, cost_usd: -1}\nhats:\n  1a: {}\n"
    ));
}

#[test]
fn topics_are_topics() {
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
fn gates_are_known() {
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
fn what_is_hardly_meant_is_a_warning() {
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
fn rules_and_places_of_hats_are_checked() {
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
