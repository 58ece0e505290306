//! Determines the kind of a rule from its keys.

use engine::Level;

use super::keys::LEVELS;
use super::{file_rule, pace_rule, tool_rule};
use crate::text::diagnostic::DiagnosticKind;
use crate::text::fields::Fields;
use crate::text::yaml::YamlNode;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum RuleKind {
    Tool,
    Files,
    Pace,
    /// Has only `on` and perhaps `when`.
    Event,
}

impl RuleKind {
    pub fn read(fields: &mut Fields) -> Self {
        if pace_rule::has_clause(fields) {
            let others = || tool_rule::CLAUSES.iter().chain(file_rule::CLAUSES);
            if let Some((key, span)) = others().find_map(|key| Some((key.name, fields.key_span(key.name)?))) {
                let message = format!("a pace rule cannot have other conditions, such as `{key}`");
                fields.refuse(DiagnosticKind::InvalidValue, message, span);
            }
            return Self::Pace;
        }
        match (tool_rule::has_clause(fields), file_rule::has_clause(fields)) {
            (true, true) => {
                let key = file_rule::CLAUSES.iter().find_map(|key| Some((key.name, fields.key_span(key.name)?)));
                if let Some((key, span)) = key {
                    let message =
                        format!("a rule must be a tool rule or a file rule, not both; `{key}` belongs to file rules");
                    fields.refuse(DiagnosticKind::InvalidValue, message, span);
                }
                Self::Tool
            }
            (true, false) => Self::Tool,
            (false, true) => Self::Files,
            (false, false) => Self::Event,
        }
    }
}

/// Reads `action`: a level, or for a file rule a command.
pub fn read_action(kind: RuleKind, fields: &mut Fields) -> (Option<Level>, Option<YamlNode>) {
    if let (RuleKind::Pace, Some(span)) = (kind, fields.key_span("action")) {
        fields.take("action");
        let message =
            "a pace rule cannot have `action`: it always refuses the move, and `live` says what it does before";
        fields.refuse(DiagnosticKind::InvalidValue, message, span);
        return (None, None);
    }
    if !fields.is_mapping("action") {
        return (fields.choice("action", &LEVELS), None);
    }
    let node = fields.take("action");
    if let (true, Some(node)) = (kind != RuleKind::Files, &node) {
        let message = "only file rules can have a command as `action`";
        fields.refuse(DiagnosticKind::InvalidValue, message, node.span.clone());
    }
    (None, node)
}
