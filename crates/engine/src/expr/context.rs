//! Resolves names during evaluation. Values are computed and converted only when a name is used.

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

/// The source of the names of one evaluation.
pub(super) enum NameSource {
    /// The situation that is judged, and the changes that `files` refers to.
    Situation(Arc<FactReader>, ChangeScope),
    /// A dictionary of names written by a person, and the situation that provides all other names.
    Given(Value, Option<Arc<FactReader>>),
}

/// A name that source text cannot contain.
const ROOT: &str = "@";

/// The facts of the situation, if there is one.
pub(super) fn facts(state: &State) -> Option<Arc<FactReader>> {
    match state.lookup(ROOT)?.downcast_object_ref::<NameSource>()? {
        NameSource::Situation(facts, _) => Some(Arc::clone(facts)),
        NameSource::Given(_, known) => known.clone(),
    }
}

/// A variable that a function reads implicitly. Fails if names are given by a dictionary that lacks it.
pub(super) fn variable(state: &State, name: &str, function: &str) -> Result<Option<Value>, Error> {
    let root = state.lookup(ROOT);
    match root.as_ref().and_then(|root| root.downcast_object_ref::<NameSource>()) {
        Some(NameSource::Situation(facts, _)) => facts.resolve(facts.variable(name)),
        Some(root @ NameSource::Given(..)) if root.resolve(name).is_some() => Ok(root.resolve(name)),
        _ => Err(failure(format!("`{function}` needs the variable `{name}`"))),
    }
}

impl NameSource {
    pub(super) fn given(names: &Map<String, Json>, known: Option<&Arc<FactReader>>) -> Self {
        let names = names.iter().map(|(name, value)| (name.as_str(), from_json(value)));
        Self::Given(Value::from_pairs(names), known.cloned())
    }

    pub(super) fn resolve(&self, name: &str) -> Option<Value> {
        match self {
            Self::Situation(facts, change_scope) => {
                let part = |part| Some(Value::from_object(Part { facts: Arc::clone(facts), part }));
                match name {
                    "event" => part(PartName::Event),
                    "files" => part(PartName::Files(*change_scope)),
                    "git" => part(PartName::Git),
                    "variables" => part(PartName::Variables),
                    "workflow" => part(PartName::Workflow),
                    "phase" => part(PartName::Phase),
                    "loop" => part(PartName::Loop),
                    "claims" => part(PartName::Claims),
                    "tasks" => part(PartName::Tasks),
                    "tool_name" => facts.value(facts.event_field("tool")),
                    "tool_input" => input(facts),
                    "source" => facts.value(facts.event_field("agent")),
                    _ if context_names::is_context(name) => None,
                    _ => facts.value(facts.claim_or_variable(name)),
                }
            }
            Self::Given(given, known) => field(given, name).or_else(|| match name {
                "files" | "git" => Self::Situation(Arc::clone(known.as_ref()?), ChangeScope::default()).resolve(name),
                "tool_name" => field(&field(given, "event")?, "tool"),
                "tool_input" => field(&field(given, "event")?, "input"),
                "source" => field(&field(given, "event")?, "agent"),
                _ if context_names::is_context(name) => None,
                _ => field(given, "claims")
                    .and_then(|claims| field(&claims, name))
                    .or_else(|| field(&field(given, "variables")?, name)),
            }),
        }
    }
}

/// Fields of an input object are requested one by one; any other input is requested as a whole.
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
        // Builtins must not be looked up in the facts, which would record the request. Their names begin with a symbol,
        // except for word operators.
        match name.as_bytes().first() {
            _ if name == "in" || name.contains(' ') => None,
            Some(first) if first.is_ascii_alphabetic() || *first == b'_' => self.resolve(name),
            _ if name == ROOT => Some(Value::from_dyn_object(Arc::clone(self))),
            _ => None,
        }
    }
}

#[derive(Clone, Copy)]
enum PartName {
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

/// A dictionary whose fields are read when they are used.
struct Part {
    facts: Arc<FactReader>,
    part: PartName,
}

impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("part")
    }
}

impl Object for Part {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, name: &str) -> Option<Value> {
        let facts = &self.facts;
        facts.value(match self.part {
            PartName::Event if name == "input" => return input(facts),
            PartName::Event => facts.event_field(name),
            PartName::Files(change_scope) => facts.files_field(name, change_scope),
            PartName::Git => facts.git_field(name),
            PartName::Variables => facts.variable(name),
            PartName::Workflow => facts.workflow_field(name),
            PartName::Phase => facts.phase_field(name),
            PartName::Loop => facts.loop_field(name),
            PartName::Claims => facts.claim(name),
            PartName::Tasks => facts.tasks_field(name),
        })
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        let facts = &self.facts.situation.facts;
        match self.part {
            PartName::Event => Enumerator::Str(EVENT_FIELDS),
            PartName::Files(_) => Enumerator::Str(FILES_FIELDS),
            PartName::Git => Enumerator::Str(GIT_FIELDS),
            PartName::Workflow => Enumerator::Str(WORKFLOW_FIELDS),
            PartName::Phase => Enumerator::Str(PHASE_FIELDS),
            PartName::Loop => Enumerator::Str(LOOP_FIELDS),
            PartName::Tasks => Enumerator::Str(TASKS_FIELDS),
            PartName::Claims => {
                let claims = self.facts.resolve(facts.require_claims()).unwrap_or_default();
                Enumerator::Values(claims.keys().map(|name| Value::from(name.as_str())).collect())
            }
            PartName::Variables => {
                let names = self.facts.resolve(facts.variable_names()).unwrap_or_default();
                Enumerator::Values(names.into_iter().map(Value::from).collect())
            }
        }
    }
}

/// The input of a tool call: a dictionary that reports which of its fields are used.
struct Input {
    facts: Arc<FactReader>,
    whole: Value,
}

impl Input {
    /// Requests a part of the input.
    fn ask(&self, part: EventPart<'_>) -> Result<(), Error> {
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
        match self.ask(EventPart::InputField(name)) {
            Ok(()) => field(&self.whole, name),
            Err(error) => Some(Value::from(error)),
        }
    }

    /// Requests only whether the input has fields, so that `(tool_input or {}).get('path')` uses a single field and not
    /// the entire input.
    fn is_true(self: &Arc<Self>) -> bool {
        self.ask(EventPart::HasInput).is_ok() && self.whole.is_true()
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        match self.ask(EventPart::Input) {
            Ok(()) => Enumerator::Values(self.whole.try_iter().into_iter().flatten().collect()),
            Err(_) => Enumerator::Empty,
        }
    }
}
