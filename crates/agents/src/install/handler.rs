//! A hook as an agent wants it written. What agents differ in is a field here; the rest is the same for all.

use serde_json::{Map, Value, json};

use super::scope::SettingsScope;
use crate::Agent;
use crate::protocol::shell_text::shell_quoted;

/// One event that Linchpin asks to be called for.
#[derive(Debug)]
pub(crate) struct Hook {
    pub event: &'static str,
    pub nesting: Nesting,
    /// Seconds after which the agent gives up waiting, far above Linchpin's own deadline.
    pub timeout: u32,
}

impl Hook {
    pub const fn new(event: &'static str, nesting: Nesting) -> Self {
        Self { event, nesting, timeout: 60 }
    }

    /// Where rules may run commands before the agent is let go.
    pub const fn stop(event: &'static str, nesting: Nesting) -> Self {
        Self { event, nesting, timeout: 600 }
    }

    /// Where nobody wants to wait.
    pub const fn end(event: &'static str, nesting: Nesting) -> Self {
        Self { event, nesting, timeout: 10 }
    }
}

/// How a handler lies under its event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nesting {
    /// In a group that the agent narrows by a matcher; ours, this one, lets everything through.
    Matched(&'static str),
    /// In a group.
    Grouped,
    /// By itself.
    Flat,
}

pub(crate) struct Handler {
    /// The agent wants to be told that it is a command.
    pub is_typed: bool,
    pub call: Call,
    pub timeout: Timeout,
    /// What only this agent knows.
    pub more: fn(&Hook) -> Vec<Field>,
}

/// A field of a hook that only one agent knows.
pub(crate) struct Field {
    pub key: &'static str,
    pub value: Value,
    /// What comes of it where it is not there, or not so.
    pub without: &'static str,
    /// It refuses calls where Linchpin cannot be run.
    pub fails_closed: bool,
}

impl Field {
    pub fn new(key: &'static str, value: Value, without: &'static str) -> Self {
        Self { key, value, without, fails_closed: false }
    }

    pub fn fail_closed(key: &'static str, value: Value) -> Self {
        Self { key, value, without: ", so calls run where Linchpin cannot be run", fails_closed: true }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    /// A program and its arguments, so that no shell reads the path.
    Exec,
    /// A command line for a shell.
    Shell,
    /// The same, and it says which event it is.
    ShellWithEvent,
}

/// How the agent wants to be told how long to wait.
pub(crate) struct Timeout {
    pub key: &'static str,
    /// How many of its units a second has.
    pub per_second: u32,
}

impl Timeout {
    pub const SECONDS: Self = Self { key: "timeout", per_second: 1 };
}

/// Whether a switch that refuses calls when Linchpin cannot be run belongs into these settings. Committed, it would lock out
/// everyone who has no Linchpin.
pub(crate) fn may_fail_closed(scope: SettingsScope) -> bool {
    scope != SettingsScope::Project
}

impl Handler {
    pub(super) fn written(&self, agent: Agent, hook: &Hook, scope: SettingsScope, program: &str) -> Map<String, Value> {
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
        fields.extend(self.more(hook, scope).map(|field| (field.key.to_owned(), field.value)));
        fields
    }

    /// What only this agent knows, as far as it belongs into these settings.
    pub(super) fn more(&self, hook: &Hook, scope: SettingsScope) -> impl Iterator<Item = Field> {
        (self.more)(hook).into_iter().filter(move |field| !field.fails_closed || may_fail_closed(scope))
    }
}

/// What lies under the event: the handler, or a group with nothing but it.
pub(super) fn nested(hook: &Hook, handler: Map<String, Value>) -> Value {
    match hook.nesting {
        Nesting::Matched(matcher) => json!({ "matcher": matcher, "hooks": [handler] }),
        Nesting::Grouped => json!({ "hooks": [handler] }),
        Nesting::Flat => Value::Object(handler),
    }
}
