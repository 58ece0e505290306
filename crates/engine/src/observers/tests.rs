//! Tests of observers with sequences of events, as in a session.

mod declared;
mod external;
mod mcp_calls;
mod plan_mode;
mod task_claims;

use std::sync::{Arc, Mutex};

use serde_json::{Map, Value, json};

use super::{Observer, ObserverKind, VariableChanges};
use crate::event::Event;
use crate::facts::{Facts, GitField, Missing, NoFacts};
use crate::situation::{BaseDirectories, Situation};

/// A session, with the variables that observers have set.
#[derive(Clone, Default)]
struct Session(Arc<Mutex<Map<String, Value>>>);

impl Session {
    /// Passes the event to the observer, and stores the changes that the observer makes.
    fn observe(&self, kind: &ObserverKind, event: &Value) -> Result<VariableChanges, String> {
        let event: Event = serde_json::from_value(event.clone()).expect("an event");
        let directories = BaseDirectories { root: "/project".to_owned(), ..BaseDirectories::default() };
        let situation = Arc::new(Situation::new(Arc::new(event), directories, Arc::new(self.clone())));
        let changes = match kind {
            ObserverKind::Declared(declared) => declared.observe(&situation)?,
            ObserverKind::Builtin(behavior) => behavior.observe(&situation).map_err(|missing| missing.to_string())?,
            ObserverKind::External(_) => VariableChanges::new(),
        };
        let mut variables = self.0.lock().expect("not poisoned");
        for (name, value) in &changes {
            match value {
                Some(value) => variables.insert(name.clone(), value.clone()),
                None => variables.shift_remove(name),
            };
        }
        Ok(changes)
    }

    fn get(&self, name: &str) -> Value {
        self.variable(name).expect("known").unwrap_or_default()
    }
}

impl Facts for Session {
    fn variable(&self, name: &str) -> Result<Option<Value>, Missing> {
        Ok(self.0.lock().expect("not poisoned").get(name).cloned())
    }

    fn variable_names(&self) -> Result<Vec<String>, Missing> {
        Ok(self.0.lock().expect("not poisoned").keys().cloned().collect())
    }

    fn git(&self, field: GitField) -> Result<Value, Missing> {
        NoFacts.git(field)
    }
}

/// An event with additional fields.
fn event(kind: &str, fields: &Value) -> Value {
    let mut event =
        json!({"kind": kind, "name": kind, "agent": "claude", "session": "s", "time": 1, "cwd": "/project"});
    if let (Some(event), Some(fields)) = (event.as_object_mut(), fields.as_object()) {
        event.extend(fields.clone());
    }
    event
}

/// The event after a call of an MCP tool.
fn after_mcp(server: &str, tool: &str, input: &Value, output: &Value) -> Value {
    let name = format!("mcp__{server}__{tool}");
    let call = json!({"name": name, "input": input, "output": output, "mcp": [{"server": server, "tool": tool}]});
    event("after_tool", &json!({"tool": call, "outcome": "ok"}))
}

/// The event after a call of an MCP tool through a proxy.
fn after_proxy(server: &str, tool: &str, arguments: &Value, output: &Value) -> Value {
    let mcp = json!([{"server": "hub", "tool": "call_tool"}, {"server": server, "tool": tool}]);
    let input = json!({"server_name": server, "tool_name": tool, "arguments": arguments});
    let call = json!({"name": "mcp__hub__call_tool", "input": input, "output": output, "mcp": mcp});
    event("after_tool", &json!({"tool": call, "outcome": "ok"}))
}

/// The value as the text content of an MCP server's answer.
fn text(value: &Value) -> Value {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    json!([{"type": "text", "text": text}])
}

proptest::proptest! {
    #[test]
    fn no_text_of_a_prompt_or_a_value_panics(text in "[<>/a-c{}'\"`# \n:é\\\\]{0,60}") {
        let lines = super::prompt_text::unquoted_lines(&text);
        proptest::prop_assert!(lines.iter().all(|line| text.contains(line.text)));
        if let Ok((_, spans)) = super::SetValue::parse(&text) {
            proptest::prop_assert!(spans.iter().all(|span| text.get(span.clone()).is_some()));
        }
    }
}

#[test]
fn observers_survive_serialization() {
    let observer = Observer { name: "claims".to_owned(), tier: crate::rules::Tier::User, kind: task_claims::claims() };
    let bytes = postcard::to_stdvec(&observer).expect("bytes");
    assert_eq!(postcard::from_bytes::<Observer>(&bytes).expect("an observer"), observer);
}
