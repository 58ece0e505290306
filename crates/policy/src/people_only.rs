//! Extends the bundled rule `people-only-commands` by the commands that the configuration and other rules reserve for
//! people.

use engine::Level;
use engine::rules::{AckBy, CommandMatcher, Detector, Rule, ToolRule, Wildcard};

use crate::config::{AGENT_COMMANDS, Config};
use crate::rules_in_force::RuleInForce;
use crate::text::digest::digest;

const RULE_ID: &str = "people-only-commands";

/// Adds the workflow commands that agents may not run, and `linchpin ack` of rules with `ack: human`.
pub fn add_configured_commands(rules: &mut [RuleInForce], config: &Config) {
    let forbidden_commands = AGENT_COMMANDS.iter().filter(|name| !config.agent_permissions.allows(name));
    let forbidden_commands: Vec<String> = forbidden_commands.map(|&name| name.to_owned()).collect();
    let with_human_ack = rules.iter().map(|rule| &rule.definition.rule).filter(|rule| rule.ack == AckBy::Human);
    let human_ack_rules: Vec<Wildcard> = with_human_ack
        .flat_map(|rule| [rule.id.as_str(), rule.display_title()])
        .map(Wildcard::case_insensitive)
        .collect();
    let Some(rule) = rules.iter_mut().map(|rule| &mut rule.definition.rule).find(|rule| rule.id == RULE_ID) else {
        return;
    };
    let Rule { detect: Detector::Tool(tool), .. } = rule else { return };
    if !forbidden_commands.is_empty() {
        tool.matchers.push(CommandMatcher { subcommand: forbidden_commands, ..linchpin_command() });
    }
    if !human_ack_rules.is_empty() {
        tool.matchers.push(CommandMatcher {
            subcommand: vec!["ack".to_owned()],
            operands_any: human_ack_rules,
            ..linchpin_command()
        });
    }
}

/// The rule that lets only people run `linchpin continue` past `pace_rule` in a workflow.
pub fn continue_command_rule(id: String, pace_rule: &Rule) -> Rule {
    let command = CommandMatcher { subcommand: vec!["continue".to_owned()], ..linchpin_command() };
    let tool = ToolRule { matchers: vec![command], incomplete: Some(Level::Allow), ..ToolRule::default() };
    let reason = format!(
        "Only a person can continue past rule `{}` (`ack: human`). Say what you tried and why you are stuck, then \
         wait for the person.",
        pace_rule.id
    );
    let digest = digest(&id);
    Rule { digest, ack: AckBy::Human, ..Rule::synthetic(id, &pace_rule.source, Detector::Tool(Box::new(tool)), reason) }
}

fn linchpin_command() -> CommandMatcher {
    let program = ["linchpin", "linchpin.exe"].map(Wildcard::literal).to_vec();
    CommandMatcher { program, ..CommandMatcher::default() }
}
