//! Reads `on`: the events on which a rule is judged.

use std::ops::Range;

use engine::Level;
use engine::event::{EventKind, EventKinds};

use super::kind::RuleKind;
use super::pace_rule;
use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::text::fields::Fields;
use crate::values::event_name::{has_tool_call, refuse_event};

pub fn read_events(fields: &mut Fields, kind: RuleKind, action: Level, rule_span: &Range<usize>) -> EventKinds {
    if kind == RuleKind::Pace {
        if let Some(span) = fields.key_span("on") {
            fields.take("on");
            let message =
                "a pace rule cannot have `on`: it is checked at every tool call and at every move of the workflow";
            fields.refuse(DiagnosticKind::InvalidValue, message, span);
        }
        return pace_rule::events(fields);
    }
    let Some(names) = fields.texts("on") else {
        if kind == RuleKind::Files {
            return EventKinds::default().with(EventKind::Stop).with(EventKind::SubagentStop);
        }
        if kind == RuleKind::Event && !fields.has("on") && fields.problems.is_empty() {
            fields.problems.push(
                Diagnostic::error(
                    DiagnosticKind::MissingKey,
                    "the rule has no conditions",
                    fields.source(),
                    Some(rule_span.clone()),
                )
                .help(
                    "add conditions on tool calls (`tools`, `command`, `command_pattern`, `paths`, `reads`, \
                     `writes`, `deletes`) or on changed files (`trigger`, `set`, `pair`, `created`), or list \
                     under `on` the events on which the rule is checked",
                ),
            );
        }
        let default = EventKinds::default().with(EventKind::BeforeTool);
        // Some agents let hooks approve a call only at their permission request.
        return if action == Level::Allow { default.with(EventKind::Permission) } else { default };
    };
    let mut kinds = EventKinds::default();
    for name in names {
        match EventKind::from_name(&name.value) {
            Some(event) if kind == RuleKind::Tool && !has_tool_call(event) => fields.problems.push(
                Diagnostic::error(
                    DiagnosticKind::InvalidValue,
                    format!("this rule applies to tool calls, but `{}` has none", name.value),
                    fields.source(),
                    Some(name.span),
                )
                .help("use `before_tool`, `after_tool`, `tool_failed` or `permission`"),
            ),
            Some(event) if kind == RuleKind::Files && !event.is_stop() => fields.problems.push(
                Diagnostic::error(
                    DiagnosticKind::InvalidValue,
                    format!("a file rule cannot be checked on `{}`", name.value),
                    fields.source(),
                    Some(name.span),
                )
                .help("use `stop` or `subagent_stop`; `linchpin check` also checks the rule"),
            ),
            Some(event) => kinds = kinds.with(event),
            None => refuse_event(name, fields),
        }
    }
    kinds
}

/// Refuses `ask` and `allow` on events at which the agent does not wait for permission.
pub fn check_action(action: Level, on: EventKinds, span: Range<usize>, fields: &mut Fields) {
    let event_without_permission = on.iter().find(|kind| !kind.awaits_permission());
    if let (Level::Ask | Level::Allow, Some(kind)) = (action, event_without_permission) {
        fields.problems.push(
            Diagnostic::error(
                DiagnosticKind::InvalidValue,
                format!(
                    "`action: {}` has no effect on `{}`: the agent does not wait for permission there",
                    action.name(),
                    kind.name()
                ),
                fields.source(),
                Some(span),
            )
            .help("use `block` or `warn`, or write `on: before_tool` or `on: permission`"),
        );
    }
}
