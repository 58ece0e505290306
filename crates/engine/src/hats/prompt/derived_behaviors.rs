//! Derives the instructions of a hat from its topics, if the hat has no instructions.

use std::collections::BTreeSet;
use std::fmt;

use super::backticked;
use crate::hats::{Hat, Loop, Topic};

/// Common topics, each with the default instructions for the hat that the topic triggers, and for the hats that publish
/// the topic.
const WELL_KNOWN: [(&str, &str, &str); 8] = [
    ("task.start", "Understand the task and write a plan: tasks, in an order in which each can be finished.", ""),
    (
        "task.resume",
        "Find out how far the work is, and plan the rest: tasks, in an order in which each can be finished.",
        "",
    ),
    (
        "build.task",
        "Implement the one task that the event names, in the style of the surrounding code. Run the tests, the linter and \
         the type checker; commit once they pass.",
        "When a task is ready: one task at a time.",
    ),
    ("build.done", "Look at what was built and decide what comes next.", "When it is implemented and the tests pass."),
    (
        "build.blocked",
        "Find out what blocks the task. Make it smaller, find what is missing, or leave it to a person.",
        "When you are stuck. Say what you tried and why it did not work.",
    ),
    (
        "review.request",
        "Review the latest changes: are they correct, tested, consistent with the surrounding code, and safe?",
        "When the work is built, before it counts as done.",
    ),
    (
        "review.approved",
        "Close the task and go on to the next.",
        "When the changes do what was asked and you would stand behind them.",
    ),
    (
        "review.changes_requested",
        "Make a task for each requested change, and have them done.",
        "When something must change. Say what, where and why.",
    ),
];

pub(super) fn write(the_loop: &Loop, hat: &Hat, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    let triggers = trigger_topics(the_loop, hat).into_iter().filter_map(|topic| {
        let text = instructions_for(the_loop, &topic, |topic| &topic.on_trigger, |known| known.1)?;
        Some(format!("**On `{topic}`:** {text}"))
    });
    let published = hat.publishes.iter().filter_map(|topic| {
        let text = instructions_for(the_loop, topic, |topic| &topic.on_publish, |known| known.2)?;
        Some(format!("**Publish `{topic}`:** {text}"))
    });
    let mut lines: Vec<String> = triggers.chain(published).collect();
    if !hat.publishes.is_empty() {
        lines.push(format!("You MUST publish one of {} in every iteration.", backticked(&hat.publishes)));
    }
    if lines.is_empty() {
        return out.write_str("Do what the incoming event asks for.\n");
    }
    write!(out, "### Derived Behaviors\n\n{}\n", lines.join("\n\n"))
}

/// The topics that trigger the hat. A pattern stands for all topics of the loop that match the pattern, except the
/// completion topic.
fn trigger_topics(the_loop: &Loop, hat: &Hat) -> Vec<String> {
    let known_topics: BTreeSet<&str> =
        the_loop.published().into_iter().chain(the_loop.topics.keys().map(String::as_str)).collect();
    let mut topics: Vec<String> = Vec::new();
    for trigger in &hat.triggers {
        let matching: Vec<String> = match trigger.as_exact() {
            Some(topic) => vec![topic],
            None => known_topics
                .iter()
                .filter(|topic| trigger.matches(topic) && **topic != the_loop.completion.topic)
                .map(|&topic| topic.to_owned())
                .collect(),
        };
        for topic in matching {
            if !topics.contains(&topic) {
                topics.push(topic);
            }
        }
    }
    topics
}

/// Returns the instructions that `loop.yml` has for a topic, or the default instructions for the topic; `None` if
/// neither exists.
fn instructions_for<'a>(
    the_loop: &'a Loop,
    topic: &str,
    own: fn(&Topic) -> &String,
    known: fn(&(&'static str, &'static str, &'static str)) -> &'static str,
) -> Option<&'a str> {
    let own = the_loop.topics.get(topic).map(|topic| own(topic).trim()).filter(|text| !text.is_empty());
    let known = || WELL_KNOWN.iter().find(|(name, ..)| *name == topic).map(known).filter(|text| !text.is_empty());
    own.or_else(known)
}
