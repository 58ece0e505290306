//! What the configuration and the rules add to the commands that only people run.

use engine::Level;
use engine::rules::{AckBy, CommandMatcher, Detector, Rule, ToolRule, Wildcard};

use crate::config::{Config, MOVES};
use crate::enforce::InForce;
use crate::text::digest::digest;

const RULE: &str = "people-only-commands";

/// Moves that agents may not make, and answers to rules that wait for a person.
pub fn complete(rules: &mut [InForce], config: &Config) {
    let moves = MOVES.iter().filter(|name| !config.agent_permissions.allows(name));
    let moves: Vec<String> = moves.map(|&name| name.to_owned()).collect();
    let of_people = rules.iter().map(|rule| &rule.definition.rule).filter(|rule| rule.ack == AckBy::Human);
    let names: Vec<Wildcard> =
        of_people.flat_map(|rule| [rule.id.as_str(), rule.display_title()]).map(Wildcard::case_insensitive).collect();
    let Some(rule) = rules.iter_mut().map(|rule| &mut rule.definition.rule).find(|rule| rule.id == RULE) else {
        return;
    };
    let Rule { detect: Detector::Tool(tool), .. } = rule else { return };
    if !moves.is_empty() {
        tool.matchers.push(CommandMatcher { subcommand: moves, ..of_linchpin() });
    }
    if !names.is_empty() {
        tool.matchers.push(CommandMatcher { subcommand: vec!["ack".to_owned()], operands_any: names, ..of_linchpin() });
    }
}

/// `linchpin continue` is a person's, because of this rule of a workflow.
pub fn going_on(id: String, because: &Rule) -> Rule {
    let command = CommandMatcher { subcommand: vec!["continue".to_owned()], ..of_linchpin() };
    let tool = ToolRule { matchers: vec![command], incomplete: Some(Level::Allow), ..ToolRule::default() };
    let reason = format!(
        "Only a person goes on past rule `{}` (`ack: human`). Say what you tried and why you are stuck, and wait.",
        because.id
    );
    let digest = digest(&id);
    Rule { digest, ack: AckBy::Human, ..Rule::synthetic(id, &because.source, Detector::Tool(Box::new(tool)), reason) }
}

fn of_linchpin() -> CommandMatcher {
    let program = ["linchpin", "linchpin.exe"].map(Wildcard::literal).to_vec();
    CommandMatcher { program, ..CommandMatcher::default() }
}
