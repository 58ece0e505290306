//! Reads `agent`: the agent that runs in a loop.

use engine::hats::AgentChoice;
use engine::suggest;

use super::keys::{AGENT, PROMPT_DELIVERIES};
use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::text::fields::Fields;
use crate::text::yaml::Yaml;
use crate::values::command_text::{self, CommandPlace};

/// `None` if the key is missing or its value is invalid.
pub fn read(outer: &mut Fields) -> Option<AgentChoice> {
    let node = outer.take("agent")?;
    if let Yaml::Text(name) = &node.value {
        if AgentChoice::NAMES.contains(&name.as_str()) {
            return Some(AgentChoice::Named(name.clone()));
        }
        let message = format!("unknown agent `{name}`");
        let help = suggest::closest(name, AgentChoice::NAMES).map_or_else(
            || {
                format!(
                    "known agents: {}; for any other agent, write its command: `{{command: [program, argument]}}`",
                    AgentChoice::NAMES.join(", ")
                )
            },
            suggest::did_you_mean,
        );
        outer
            .problems
            .push(Diagnostic::error(DiagnosticKind::InvalidValue, message, outer.source(), Some(node.span)).help(help));
        return None;
    }
    let span = node.span.clone();
    let mut fields = Fields::of(node, outer.source(), AGENT.keys);
    let is_mapping = fields.problems.is_empty();
    fields.refuse_unknown();
    if is_mapping && !fields.has("command") {
        fields.refuse(DiagnosticKind::MissingKey, "the agent has no `command`", span);
    }
    let prompt = fields.choice("prompt", PROMPT_DELIVERIES).unwrap_or_default();
    let command = command_text::read_command(CommandPlace::Agent, &mut fields);
    let words = command.map(|command| command.words).unwrap_or_default();
    let is_valid = fields.has_no_errors();
    outer.problems.append(&mut fields.problems);
    is_valid.then_some(AgentChoice::Command { words, prompt })
}
