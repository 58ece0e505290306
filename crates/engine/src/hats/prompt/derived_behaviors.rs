//! What a hat without instructions does: derived from the topics that it takes and publishes.

use std::collections::BTreeSet;
use std::fmt;

use super::ticked;
use crate::hats::{Hat, Loop, Topic};

/// A topic that is well known, what to do when it comes, and when to publish it.
const WELL_KNOWN: [(&str, &str, &str); 8] = [
    ("task.start", "Understand the task, and write down a plan: tasks, in an order in which each can be finished.", ""),
    (
        "task.resume",
        "See how far the work has come, and plan the rest: tasks, in an order in which each can be finished.",
        "",
    ),
    (
        "build.task",
        "Implement the one task that it names, as the code around it does such things. Run the tests, the linter and the \
         type checker; commit once they pass.",
        "For one task that is ready, one at a time.",
    ),
    ("build.done", "Look at what was built and decide what comes next.", "When it is implemented and the tests pass."),
    (
        "build.blocked",
        "Find out what blocks it: make the task smaller, find what is missing, or leave it to a person.",
        "When you are stuck: what you tried, and why it did not work.",
    ),
    (
        "review.request",
        "Review the latest changes: are they right, tested, like the code around them, and safe?",
        "When the work is built and before it counts as done.",
    ),
    (
        "review.approved",
        "Close the task and go on to the next.",
        "When the changes do what was asked and you would answer for them.",
    ),
    (
        "review.changes_requested",
        "Make a task of each thing that was asked for, and have them done.",
        "When something has to change: what, where and why.",
    ),
];

pub(super) fn write(the_loop: &Loop, hat: &Hat, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    let taken = taken_topics(the_loop, hat).into_iter().filter_map(|topic| {
        let text = said(the_loop, &topic, |topic| &topic.on_trigger, |known| known.1)?;
        Some(format!("**On `{topic}`:** {text}"))
    });
    let published = hat.publishes.iter().filter_map(|topic| {
        let text = said(the_loop, topic, |topic| &topic.on_publish, |known| known.2)?;
        Some(format!("**Publish `{topic}`:** {text}"))
    });
    let mut lines: Vec<String> = taken.chain(published).collect();
    if !hat.publishes.is_empty() {
        lines.push(format!("You MUST publish one of {} in every iteration.", ticked(&hat.publishes)));
    }
    if lines.is_empty() {
        return out.write_str("Do what the incoming event asks for.\n");
    }
    write!(out, "### Derived Behaviors\n\n{}\n", lines.join("\n\n"))
}

/// The topics that put the hat on. A glob stands for every topic that the file speaks of and that it matches.
fn taken_topics(the_loop: &Loop, hat: &Hat) -> Vec<String> {
    let spoken_of: BTreeSet<&str> =
        the_loop.published().into_iter().chain(the_loop.topics.keys().map(String::as_str)).collect();
    let mut topics: Vec<String> = Vec::new();
    for trigger in &hat.triggers {
        let matching: Vec<String> = match trigger.only() {
            Some(topic) => vec![topic],
            None => spoken_of
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

/// What the file says of a topic, else what is well known of it.
fn said<'a>(
    the_loop: &'a Loop,
    topic: &str,
    own: fn(&Topic) -> &String,
    known: fn(&(&'static str, &'static str, &'static str)) -> &'static str,
) -> Option<&'a str> {
    let own = the_loop.topics.get(topic).map(|topic| own(topic).trim()).filter(|text| !text.is_empty());
    let known = || WELL_KNOWN.iter().find(|(name, ..)| *name == topic).map(known).filter(|text| !text.is_empty());
    own.or_else(known)
}
