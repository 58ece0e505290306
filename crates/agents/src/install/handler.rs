//! The format of hooks in agents' settings. The fields of the types in this module describe the differences between
//! agents.

use serde_json::{Map, Value, json};

use super::scope::SettingsScope;
use crate::Agent;
use crate::protocol::shell_text::shell_quoted;

/// An event for which `install` adds a hook.
#[derive(Debug)]
pub(crate) struct Hook {
    pub event: &'static str,
    pub nesting: Nesting,
    /// The timeout in seconds. It is longer than Linchpin's default deadline, so Linchpin answers before the agent
    /// gives up.
    pub timeout: u32,
}

impl Hook {
    pub const fn new(event: &'static str, nesting: Nesting) -> Self {
        Self { event, nesting, timeout: 60 }
    }

    /// A hook with a long timeout, because rules may run commands at a stop.
    pub const fn stop(event: &'static str, nesting: Nesting) -> Self {
        Self { event, nesting, timeout: 600 }
    }

    /// A hook with a short timeout, for the end of a session.
    pub const fn end(event: &'static str, nesting: Nesting) -> Self {
        Self { event, nesting, timeout: 10 }
    }
}

/// How a handler is nested under its event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nesting {
    /// The handler is in a group with this matcher, which matches every tool.
    Matched(&'static str),
    /// The handler is in a group without a matcher.
    Grouped,
    /// The handler is directly in the event's list.
    Flat,
}

pub(crate) struct Handler {
    /// True if the handler needs `"type": "command"`.
    pub is_typed: bool,
    pub call: Call,
    pub timeout: Timeout,
    /// Returns the fields that only this agent's handlers have.
    pub agent_fields: fn(&Hook) -> Vec<Field>,
}

/// A field that the handlers of only one agent have.
pub(crate) struct Field {
    pub key: &'static str,
    pub value: Value,
    /// The end of a message: the consequence if the field is missing or has another value.
    pub without: &'static str,
    /// True if this field makes the agent refuse calls when Linchpin cannot be run.
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
    /// The settings contain a program and a list of arguments, so no shell parses the program's path.
    Exec,
    /// The settings contain a command line for a shell.
    Shell,
    /// Like `Shell`, but the command line also names the event.
    ShellWithEvent,
}

/// The name of the field for the timeout, and the unit of the timeout.
pub(crate) struct Timeout {
    pub key: &'static str,
    /// The number of these units in one second.
    pub per_second: u32,
}

impl Timeout {
    pub const SECONDS: Self = Self { key: "timeout", per_second: 1 };
}

/// True if `install` is allowed to write settings of this scope that make the agent refuse calls when Linchpin cannot
/// be run. False for settings that are committed, because such settings would lock out everyone who does not have
/// Linchpin.
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

    /// Returns the fields that no other agent has, as far as they are allowed in settings of this scope.
    pub(super) fn agent_fields(&self, hook: &Hook, scope: SettingsScope) -> impl Iterator<Item = Field> {
        (self.agent_fields)(hook).into_iter().filter(move |field| !field.fails_closed || may_fail_closed(scope))
    }
}

/// Returns what is added to the event's list: the handler, or a group with only this handler.
pub(super) fn nest(hook: &Hook, handler: Map<String, Value>) -> Value {
    match hook.nesting {
        Nesting::Matched(matcher) => json!({ "matcher": matcher, "hooks": [handler] }),
        Nesting::Grouped => json!({ "hooks": [handler] }),
        Nesting::Flat => Value::Object(handler),
    }
}
