//! A hook as an agent wants it written. What agents differ in is a field here; the rest is the same for all.

use serde_json::{Map, Value, json};

use super::Scope;
use crate::Agent;
use crate::protocol::tools::shell_quoted;

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
    pub name: Option<&'static str>,
    pub call: Call,
    pub timeout: Timeout,
    /// What only this agent knows.
    pub more: fn(&Hook, Scope) -> Vec<(&'static str, Value)>,
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
pub(crate) fn may_fail_closed(scope: Scope) -> bool {
    scope != Scope::Project
}

impl Handler {
    pub(super) fn written(&self, agent: Agent, hook: &Hook, scope: Scope, program: &str) -> Map<String, Value> {
        let name = agent.name();
        let mut fields = Map::new();
        if self.is_typed {
            fields.insert("type".to_owned(), json!("command"));
        }
        if let Some(name) = self.name {
            fields.insert("name".to_owned(), json!(name));
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
        fields.extend((self.more)(hook, scope).into_iter().map(|(key, value)| (key.to_owned(), value)));
        fields
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
