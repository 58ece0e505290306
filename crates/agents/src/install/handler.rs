//! How hooks are written in an agent's settings. The differences between agents are fields of these types.

use serde_json::{Map, Value, json};

use super::scope::SettingsScope;
use crate::Agent;
use crate::protocol::shell_text::shell_quoted;

/// An event for which `install` adds a hook.
#[derive(Debug)]
pub(crate) struct Hook {
    pub event: &'static str,
    pub nesting: Nesting,
    /// The timeout in seconds, far above Linchpin's own deadline.
    pub timeout: u32,
}

impl Hook {
    pub const fn new(event: &'static str, nesting: Nesting) -> Self {
        Self { event, nesting, timeout: 60 }
    }

    /// With a long timeout, because rules may run commands at a stop.
    pub const fn stop(event: &'static str, nesting: Nesting) -> Self {
        Self { event, nesting, timeout: 600 }
    }

    /// With a short timeout, for the end of a session.
    pub const fn end(event: &'static str, nesting: Nesting) -> Self {
        Self { event, nesting, timeout: 10 }
    }
}

/// How a handler is nested under its event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nesting {
    /// In a group with a matcher; this matcher matches everything.
    Matched(&'static str),
    /// In a group without a matcher.
    Grouped,
    /// Directly in the event's list.
    Flat,
}

pub(crate) struct Handler {
    /// The handler needs `"type": "command"`.
    pub is_typed: bool,
    pub call: Call,
    pub timeout: Timeout,
    /// Fields that only this agent has.
    pub agent_fields: fn(&Hook) -> Vec<Field>,
}

/// A field of a handler that only one agent has.
pub(crate) struct Field {
    pub key: &'static str,
    pub value: Value,
    /// The consequence if the field is missing or has another value.
    pub without: &'static str,
    /// With this field, the agent refuses calls if Linchpin cannot be run.
    pub fails_closed: bool,
}

impl Field {
    pub fn new(key: &'static str, value: Value, without: &'static str) -> Self {
        Self { key, value, without, fails_closed: false }
    }

    pub fn fail_closed(key: &'static str, value: Value) -> Self {
        Self { key, value, without: ", so calls run unchecked if Linchpin cannot be run", fails_closed: true }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    /// A program and a list of arguments, so that no shell parses the path.
    Exec,
    /// A command line for a shell.
    Shell,
    /// A command line for a shell that also names the event.
    ShellWithEvent,
}

/// The field for the timeout, and its unit.
pub(crate) struct Timeout {
    pub key: &'static str,
    /// The number of units per second.
    pub per_second: u32,
}

impl Timeout {
    pub const SECONDS: Self = Self { key: "timeout", per_second: 1 };
}

/// True if settings of this scope may make the agent refuse calls when Linchpin cannot be run. Not in settings that are
/// committed: they would lock out everyone without Linchpin.
pub(crate) fn may_fail_closed(scope: SettingsScope) -> bool {
    scope != SettingsScope::Project
}

impl Handler {
    pub(super) fn to_json(&self, agent: Agent, hook: &Hook, scope: SettingsScope, program: &str) -> Map<String, Value> {
        let name = agent.name();
        let mut fields = Map::new();
        if self.is_typed {
            fields.insert("type".to_owned(), json!("command"));
        }
        let line = || format!("{} hook {name}", shell_quoted(program));
        let command = match self.call {
            Call::Exec => program.to_owned(),
            Call::Shell => line(),
            Call::ShellWithEvent => format!("{} {}", line(), hook.event),
        };
        fields.insert("command".to_owned(), json!(command));
        if self.call == Call::Exec {
            fields.insert("args".to_owned(), json!(["hook", name]));
        }
        fields.insert(self.timeout.key.to_owned(), json!(hook.timeout * self.timeout.per_second));
        fields.extend(self.agent_fields(hook, scope).map(|field| (field.key.to_owned(), field.value)));
        fields
    }

    /// The fields that only this agent has, and that are allowed in this scope.
    pub(super) fn agent_fields(&self, hook: &Hook, scope: SettingsScope) -> impl Iterator<Item = Field> {
        (self.agent_fields)(hook).into_iter().filter(move |field| !field.fails_closed || may_fail_closed(scope))
    }
}

/// Returns the element of the event's list: the handler, or a group with only this handler.
pub(super) fn nested(hook: &Hook, handler: Map<String, Value>) -> Value {
    match hook.nesting {
        Nesting::Matched(matcher) => json!({ "matcher": matcher, "hooks": [handler] }),
        Nesting::Grouped => json!({ "hooks": [handler] }),
        Nesting::Flat => Value::Object(handler),
    }
}
