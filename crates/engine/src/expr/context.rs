//! Resolves the names in an expression during its evaluation. The value of a name is computed and converted only when
//! the expression uses the name.

use std::{fmt, sync::Arc};

use minijinja::{
    Error, State, Value,
    value::{Enumerator, Object, ValueKind},
};
use serde_json::{Map, Value as Json};

use super::{
    context_names::{
        self, EVENT_FIELDS, FILES_FIELDS, GIT_FIELDS, LOOP_FIELDS, PHASE_FIELDS, TASKS_FIELDS, WORKFLOW_FIELDS,
    },
    error::failure,
    fact_reader::FactReader,
    json::from_json,
};
use crate::{facts::EventPart, file_rules::ChangeScope};

/// The source from which one evaluation takes the values of names.
pub(super) enum NameSource {
    /// The situation that is judged, and the scope of the file changes that `files` refers to.
    Situation(Arc<FactReader>, ChangeScope),
    /// A dictionary of names and their values, and the facts for `files`, `git` and functions.
    Dictionary(Value, Option<Arc<FactReader>>),
}

/// The name under which functions look up the [`NameSource`] itself. The source text of an expression cannot contain
/// this name.
const ROOT: &str = "@";

/// The facts of the situation; `None` if the expression is evaluated without a situation.
pub(super) fn facts(state: &State) -> Option<Arc<FactReader>> {
    match state.lookup(ROOT)?.downcast_object_ref::<NameSource>()? {
        NameSource::Situation(facts, _) => Some(Arc::clone(facts)),
        NameSource::Dictionary(_, facts) => facts.clone(),
    }
}

/// Returns the value of a variable that the implementation of `function` reads, although the expression does not name
/// the variable; `None` if the variable has no value. Fails if the expression is evaluated without a situation, and with a
/// dictionary of names that does not contain the variable.
pub(super) fn variable(state: &State, name: &str, function: &str) -> Result<Option<Value>, Error> {
    let root = state.lookup(ROOT);
    match root.as_ref().and_then(|root| root.downcast_object_ref::<NameSource>()) {
        Some(root @ NameSource::Dictionary(..)) if root.resolve(name).is_some() => Ok(root.resolve(name)),
        Some(NameSource::Situation(facts, _) | NameSource::Dictionary(_, Some(facts))) => {
            facts.resolve(facts.variable(name))
        }
        _ => Err(failure(format!("`{function}` needs the variable `{name}`"))),
    }
}

impl NameSource {
    pub(super) fn dictionary(names: &Map<String, Json>, facts: Option<&Arc<FactReader>>) -> Self {
        let names = names.iter().map(|(name, value)| (name.as_str(), from_json(value)));
        Self::Dictionary(Value::from_pairs(names), facts.cloned())
    }

    pub(super) fn resolve(&self, name: &str) -> Option<Value> {
        match self {
            Self::Situation(facts, change_scope) => {
                let part = |part| Some(Value::from_object(ContextObject { facts: Arc::clone(facts), part }));
                match name {
                    "event" => part(ContextPart::Event),
                    "files" => part(ContextPart::Files(*change_scope)),
                    "git" => part(ContextPart::Git),
                    "variables" => part(ContextPart::Variables),
                    "workflow" => part(ContextPart::Workflow),
                    "phase" => part(ContextPart::Phase),
                    "loop" => part(ContextPart::Loop),
                    "claims" => part(ContextPart::Claims),
                    "tasks" => part(ContextPart::Tasks),
                    "tool_name" => facts.value(facts.event_field("tool")),
                    "tool_input" => input(facts),
                    "source" => facts.value(facts.event_field("agent")),
                    _ if context_names::is_context(name) => None,
                    _ => facts.value(facts.claim_or_variable(name)),
                }
            }
            Self::Dictionary(names, facts) => field(names, name).or_else(|| match name {
                "files" | "git" => Self::Situation(Arc::clone(facts.as_ref()?), ChangeScope::default()).resolve(name),
                "tool_name" => field(&field(names, "event")?, "tool"),
                "tool_input" => field(&field(names, "event")?, "input"),
                "source" => field(&field(names, "event")?, "agent"),
                _ if context_names::is_context(name) => None,
                _ => field(names, "claims")
                    .and_then(|claims| field(&claims, name))
                    .or_else(|| field(&field(names, "variables")?, name)),
            }),
        }
    }
}

/// Returns the input of the tool call; `None` if there is no tool call. If the input is a dictionary, its fields are
/// requested as facts one by one, when the expression uses them. Any other input is requested as a whole.
fn input(facts: &Arc<FactReader>) -> Option<Value> {
    let whole = facts.input()?;
    if whole.kind() == ValueKind::Map {
        return Some(Value::from_object(Input { facts: Arc::clone(facts), whole }));
    }
    facts.value(facts.situation.facts.require(EventPart::Input).map(|()| Some(whole)))
}

fn field(value: &Value, name: &str) -> Option<Value> {
    value.as_object()?.get_value_by_str(name)
}

impl fmt::Debug for NameSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("names")
    }
}

impl Object for NameSource {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, name: &str) -> Option<Value> {
        // The name of a builtin function or operator must not be looked up in the facts, because the request would be
        // recorded. These names begin with a symbol, except `in` and names that contain a space, such as `is None`.
        match name.as_bytes().first() {
            _ if name == "in" || name.contains(' ') => None,
            Some(first) if first.is_ascii_alphabetic() || *first == b'_' => self.resolve(name),
            _ if name == ROOT => Some(Value::from_dyn_object(Arc::clone(self))),
            _ => None,
        }
    }
}

#[derive(Clone, Copy)]
enum ContextPart {
    Event,
    Files(ChangeScope),
    Git,
    Variables,
    Workflow,
    Phase,
    Loop,
    Claims,
    Tasks,
}

/// A dictionary whose fields are read when the expression uses them.
struct ContextObject {
    facts: Arc<FactReader>,
    part: ContextPart,
}

impl fmt::Debug for ContextObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("part")
    }
}

impl Object for ContextObject {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, name: &str) -> Option<Value> {
        let facts = &self.facts;
        facts.value(match self.part {
            ContextPart::Event if name == "input" => return input(facts),
            ContextPart::Event => facts.event_field(name),
            ContextPart::Files(change_scope) => facts.files_field(name, change_scope),
            ContextPart::Git => facts.git_field(name),
            ContextPart::Variables => facts.variable(name),
            ContextPart::Workflow => facts.workflow_field(name),
            ContextPart::Phase => facts.phase_field(name),
            ContextPart::Loop => facts.loop_field(name),
            ContextPart::Claims => facts.claim(name),
            ContextPart::Tasks => facts.tasks_field(name),
        })
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        let facts = &self.facts.situation.facts;
        match self.part {
            ContextPart::Event => Enumerator::Str(EVENT_FIELDS),
            ContextPart::Files(_) => Enumerator::Str(FILES_FIELDS),
            ContextPart::Git => Enumerator::Str(GIT_FIELDS),
            ContextPart::Workflow => Enumerator::Str(WORKFLOW_FIELDS),
            ContextPart::Phase => Enumerator::Str(PHASE_FIELDS),
            ContextPart::Loop => Enumerator::Str(LOOP_FIELDS),
            ContextPart::Tasks => Enumerator::Str(TASKS_FIELDS),
            ContextPart::Claims => {
                let claims = self.facts.resolve(facts.require_claims()).unwrap_or_default();
                Enumerator::Values(claims.keys().map(|name| Value::from(name.as_str())).collect())
            }
            ContextPart::Variables => {
                let names = self.facts.resolve(facts.variable_names()).unwrap_or_default();
                Enumerator::Values(names.into_iter().map(Value::from).collect())
            }
        }
    }
}

/// The input of a tool call: a dictionary whose fields are requested as facts when the expression uses them.
struct Input {
    facts: Arc<FactReader>,
    whole: Value,
}

impl Input {
    /// Requests a part of the input.
    fn require(&self, part: EventPart<'_>) -> Result<(), Error> {
        self.facts.resolve(self.facts.situation.facts.require(part))
    }
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("input")
    }
}

impl Object for Input {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, name: &str) -> Option<Value> {
        match self.require(EventPart::InputField(name)) {
            Ok(()) => field(&self.whole, name),
            Err(error) => Some(Value::from(error)),
        }
    }

    /// Requests only whether the input has fields, so that `(tool_input or {}).get('path')` uses a single field and not
    /// the entire input.
    fn is_true(self: &Arc<Self>) -> bool {
        self.require(EventPart::HasInput).is_ok() && self.whole.is_true()
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        match self.require(EventPart::Input) {
            Ok(()) => Enumerator::Values(self.whole.try_iter().into_iter().flatten().collect()),
            Err(_) => Enumerator::Empty,
        }
    }
}
