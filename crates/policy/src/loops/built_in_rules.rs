//! Built-in rules of every hat. They enforce what the prompt of the loop asks for.

use engine::event::{EventKind, EventKinds};
use engine::rules::{AckBy, Detector, Exemptions, PathClause, PathKey, PathPattern, Rule, ToolRule};
use path::pattern::Pattern;

use super::loop_reader::LOOP_NAME;
use crate::text::digest::digest;

/// The built-in rules of a hat that may publish these topics.
pub fn rules(hat: &str, publishes: &[String], source: &str) -> Vec<Rule> {
    let rule = |name: &str, detect: Detector, when: &str, reason: String| {
        let id = format!("{LOOP_NAME}/{hat}/{name}");
        let rule = Rule::synthetic(id, source, detect, reason);
        let digest = digest(format!("{} {when} {}", rule.id, rule.reason));
        // If the agent could acknowledge the rule itself, the rule would have no effect.
        Rule { digest, when: Some(when.to_owned()), ack: AckBy::Human, ..rule }
    };
    let at_stop = |rule: Rule| Rule { on: EventKinds::default().with(EventKind::Stop), ..rule };
    let mut rules = vec![
        rule(
            "after-hand-over",
            Detector::Tool(Box::new(writing_outside_of(Vec::new()))),
            "loop.handed_over",
            "You have handed over the work, so you cannot write anything more in this iteration. Stop now.".to_owned(),
        ),
        at_stop(rule(
            "unfinished-tasks",
            Detector::Event,
            "loop.unfinished",
            "You started a task and have not closed, failed or reopened it. Find it with `linchpin task list`, then run \
             `linchpin task close ID`, `linchpin task fail ID` or `linchpin task reopen ID`."
                .to_owned(),
        )),
    ];
    if let [first, ..] = publishes {
        let topics = publishes.iter().map(|topic| format!("`{topic}`")).collect::<Vec<_>>().join(", ");
        rules.push(at_stop(rule(
            "hand-over",
            Detector::Event,
            // An agent that waits for a person may stop without a hand-over.
            "loop.active and not loop.handed_over and not loop.waits_for",
            format!(
                "You have not handed over your work yet. Publish exactly one of these topics, then stop: {topics}\n\
                 Run `linchpin emit \"{first}\" \"<summary>\"`. Only what you emit is read; your other messages are not."
            ),
        )));
    }
    rules
}

/// The rule that protects files which gate commands name: an agent that changes them could make the gate pass.
pub fn gate_files_rule(hat: &str, paths: &[&str], source: &str) -> Rule {
    let to_pattern = |path: &&str| PathPattern::Glob { source: Pattern::escape(path), literal: String::new() };
    let patterns = paths.iter().map(to_pattern).collect();
    let tool = ToolRule {
        paths: vec![PathClause { key: PathKey::Writes, patterns, except: Vec::new() }],
        ..ToolRule::default()
    };
    let path_list = paths.iter().map(|path| format!("`{path}`")).collect::<Vec<_>>().join(", ");
    let reason = format!(
        "Gates of this loop run {path_list}, so agents of the run may not change it. Make the gate pass by doing the work. \
         If the file has to change, say so in your summary, and a person will change it."
    );
    let rule = Rule::synthetic(format!("{LOOP_NAME}/{hat}/gate-files"), source, Detector::Tool(Box::new(tool)), reason);
    Rule { digest: digest(format!("{} {path_list}", rule.id)), ack: AckBy::Human, ..rule }
}

/// Matches every write except to these paths, and except by Linchpin's own commands.
pub fn writing_outside_of(except: Vec<PathPattern>) -> ToolRule {
    let everything = PathPattern::Glob { source: "**".to_owned(), literal: String::new() };
    let patterns = vec![everything, PathPattern::OutsideProject];
    ToolRule {
        paths: vec![PathClause { key: PathKey::Writes, patterns, except }],
        exemptions: Some(Exemptions { linchpin: true, ..Exemptions::default() }),
        ..ToolRule::default()
    }
}
