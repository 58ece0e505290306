//! What names stand for while an expression runs. Nothing is looked up, converted or computed until it is named.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use minijinja::{
    Error, State, Value,
    value::{Enumerator, Object, ValueKind},
};
use serde_json::{Map, Value as Json};

use super::{
    error::failure,
    json::from_json,
    names::{self, EVENT_FIELDS, FILES_FIELDS, GIT_FIELDS, LOOP_FIELDS, PHASE_FIELDS, TASKS_FIELDS, WORKFLOW_FIELDS},
};
use crate::{
    event::{ShellText, ToolCall},
    facts::{EventPart, GitField, LoopField, PhaseField, TaskField, WorkflowField},
    file_rules::{Reach, Status},
    situation::Situation,
};

/// What was converted before, by name: rules read the same few fields, and one of them may be a large file.
#[derive(Default)]
pub(crate) struct Converted(Mutex<BTreeMap<String, Value>>);

impl Situation {
    fn tool<'s, T: 's>(&'s self, part: impl FnOnce(&'s ToolCall) -> Option<T>) -> Option<T> {
        self.event.tool.as_ref().and_then(part)
    }

    fn converted(&self, name: &str, convert: impl FnOnce() -> Option<Value>) -> Option<Value> {
        if let Some(value) = self.converted.0.lock().unwrap_or_else(PoisonError::into_inner).get(name) {
            return Some(value.clone());
        }
        // The lock is not held here: facts may take their time.
        let value = convert()?;
        self.converted.0.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), value.clone());
        Some(value)
    }

    fn event_field(&self, field: &str) -> Option<Value> {
        let event = &self.event;
        match field {
            "kind" => Some(Value::from(event.kind.name())),
            "agent" => Some(Value::from(event.agent.as_str())),
            "session" => Some(Value::from(event.session.as_str())),
            "tool" => self.tool(|tool| Some(Value::from(tool.name.as_str()))),
            "outcome" => event.outcome.map(|outcome| Value::from(outcome.name())),
            "cwd" => Some(Value::from(event.cwd.as_str())),
            "time" => Some(Value::from(event.time)),
            _ => {
                self.facts.asked(match field {
                    "command" | "commands" => EventPart::Command,
                    "paths" => EventPart::Paths,
                    "output" => EventPart::Output,
                    "prompt" => EventPart::Prompt,
                    "message" => EventPart::Message,
                    _ => return None,
                });
                self.converted(field, || self.large_event_field(field))
            }
        }
    }

    /// The fields of an input are asked for one by one; an input that has none is one thing.
    fn input(self: &Arc<Self>) -> Option<Value> {
        let whole = self.converted("input", || self.tool(|tool| Some(from_json(&tool.input))))?;
        if whole.kind() == ValueKind::Map {
            return Some(Value::from_object(Input { situation: Arc::clone(self), whole }));
        }
        self.facts.asked(EventPart::Input);
        Some(whole)
    }

    fn large_event_field(&self, field: &str) -> Option<Value> {
        match field {
            "output" => self.tool(|tool| tool.output.as_ref().map(from_json)),
            "command" => self.tool(|tool| match tool.shell.as_ref()? {
                ShellText::Command(text) => Some(Value::from(text.as_str())),
                ShellText::Missing => None,
            }),
            "commands" => Some(self.texts().iter().map(String::as_str).collect()),
            "paths" => self.tool(|tool| Some(tool.files.iter().map(|file| file.path.as_str()).collect())),
            "prompt" => self.event.prompt.as_deref().map(Value::from),
            "message" => self.event.message.as_deref().map(Value::from),
            _ => None,
        }
    }

    fn git_field(&self, field: &str) -> Option<Value> {
        let field = match field {
            "branch" => GitField::Branch,
            "default_branch" => GitField::DefaultBranch,
            "head" => GitField::Head,
            "dirty" => GitField::Dirty,
            _ => return None,
        };
        Some(from_json(&self.facts.git(field)))
    }

    fn workflow_field(&self, field: &str) -> Option<Value> {
        let field = WorkflowField::ALL.into_iter().find(|known| known.name() == field)?;
        Some(from_json(&self.facts.workflow(field)))
    }

    fn phase_field(&self, field: &str) -> Option<Value> {
        let field = PhaseField::ALL.into_iter().find(|known| known.name() == field)?;
        Some(from_json(&self.facts.phase(field)))
    }

    fn loop_field(&self, field: &str) -> Option<Value> {
        let field = LoopField::ALL.into_iter().find(|known| known.name() == field)?;
        Some(from_json(&self.facts.in_loop(field)))
    }

    fn tasks_field(&self, field: &str) -> Option<Value> {
        let field = TaskField::ALL.into_iter().find(|known| known.name() == field)?;
        Some(from_json(&self.facts.tasks(field)))
    }

    fn claim(&self, name: &str) -> Option<Value> {
        self.facts.claims().get(name).map(from_json)
    }

    fn files_field(&self, field: &str, reach: Reach) -> Option<Value> {
        let changes = self.facts.changes(reach)?;
        let of = |status: Status| changes.own().filter(move |(_, found)| *found == status).map(|(path, _)| path);
        match field {
            "changed" => Some(changes.own().map(|(path, _)| path).collect()),
            "created" => Some(of(Status::Added).collect()),
            "deleted" => Some(of(Status::Deleted).collect()),
            _ => None,
        }
    }

    fn variable(&self, name: &str) -> Option<Value> {
        // Not kept: whoever supplies the facts counts who asked.
        self.facts.variable(name).as_ref().map(from_json)
    }
}

/// Where the names of one evaluation come from.
pub(super) enum Root {
    /// With which changes are meant by `files`.
    Situation(Arc<Situation>, Reach),
    /// A dictionary that somebody wrote down, and what is known besides.
    Given(Value, Option<Arc<Situation>>),
}

/// No text can contain this name.
const ROOT: &str = "@";

/// The situation that is being judged, or what is known beside names that somebody made up.
pub(super) fn situation(state: &State) -> Option<Arc<Situation>> {
    match state.lookup(ROOT)?.downcast_object_ref::<Root>()? {
        Root::Situation(situation, _) => Some(Arc::clone(situation)),
        Root::Given(_, known) => known.clone(),
    }
}

/// A variable that a function reads by itself. An error where somebody made the names up and left this one out: then
/// nobody knows what it would be.
pub(super) fn variable(state: &State, name: &str, function: &str) -> Result<Option<Value>, Error> {
    let root = state.lookup(ROOT);
    match root.as_ref().and_then(|root| root.downcast_object_ref::<Root>()) {
        Some(Root::Situation(situation, _)) => Ok(situation.variable(name)),
        Some(root @ Root::Given(..)) if root.resolve(name).is_some() => Ok(root.resolve(name)),
        _ => Err(failure(format!("`{function}` needs the variable `{name}`"))),
    }
}

impl Root {
    pub(super) fn given(names: &Map<String, Json>, known: Option<&Arc<Situation>>) -> Self {
        let names = names.iter().map(|(name, value)| (name.as_str(), from_json(value)));
        Self::Given(Value::from_pairs(names), known.cloned())
    }

    pub(super) fn resolve(&self, name: &str) -> Option<Value> {
        match self {
            Self::Situation(situation, reach) => {
                let part = |part| Some(Value::from_object(Part { situation: Arc::clone(situation), part }));
                match name {
                    "event" => part(PartName::Event),
                    "files" => part(PartName::Files(*reach)),
                    "git" => part(PartName::Git),
                    "variables" => part(PartName::Variables),
                    "workflow" => part(PartName::Workflow),
                    "phase" => part(PartName::Phase),
                    "loop" => part(PartName::Loop),
                    "claims" => part(PartName::Claims),
                    "tasks" => part(PartName::Tasks),
                    "tool_name" => situation.event_field("tool"),
                    "tool_input" => situation.input(),
                    "source" => situation.event_field("agent"),
                    _ if names::is_context(name) => None,
                    _ => situation.claim(name).or_else(|| situation.variable(name)),
                }
            }
            Self::Given(given, known) => field(given, name).or_else(|| match name {
                "files" | "git" => Self::Situation(Arc::clone(known.as_ref()?), Reach::default()).resolve(name),
                "tool_name" => field(&field(given, "event")?, "tool"),
                "tool_input" => field(&field(given, "event")?, "input"),
                "source" => field(&field(given, "event")?, "agent"),
                _ if names::is_context(name) => None,
                _ => field(given, "claims")
                    .and_then(|claims| field(&claims, name))
                    .or_else(|| field(&field(given, "variables")?, name)),
            }),
        }
    }
}

fn field(value: &Value, name: &str) -> Option<Value> {
    value.as_object()?.get_value_by_str(name)
}

impl fmt::Debug for Root {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("names")
    }
}

impl Object for Root {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, name: &str) -> Option<Value> {
        // Asking the facts for a builtin would be waste, and noted. Their names begin with a sign, but for operators
        // that are words.
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
    Files(Reach),
    Git,
    Variables,
    Workflow,
    Phase,
    Loop,
    Claims,
    Tasks,
}

/// One of the names above: a dictionary whose fields are read when they are named.
struct Part {
    situation: Arc<Situation>,
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
        match self.part {
            PartName::Event if name == "input" => self.situation.input(),
            PartName::Event => self.situation.event_field(name),
            PartName::Files(reach) => self.situation.files_field(name, reach),
            PartName::Git => self.situation.git_field(name),
            PartName::Variables => self.situation.variable(name),
            PartName::Workflow => self.situation.workflow_field(name),
            PartName::Phase => self.situation.phase_field(name),
            PartName::Loop => self.situation.loop_field(name),
            PartName::Claims => self.situation.facts.asked_claims().get(name).map(from_json),
            PartName::Tasks => self.situation.tasks_field(name),
        }
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        match self.part {
            PartName::Event => Enumerator::Str(EVENT_FIELDS),
            PartName::Files(_) => Enumerator::Str(FILES_FIELDS),
            PartName::Git => Enumerator::Str(GIT_FIELDS),
            PartName::Workflow => Enumerator::Str(WORKFLOW_FIELDS),
            PartName::Phase => Enumerator::Str(PHASE_FIELDS),
            PartName::Loop => Enumerator::Str(LOOP_FIELDS),
            PartName::Tasks => Enumerator::Str(TASKS_FIELDS),
            PartName::Claims => Enumerator::Values(
                self.situation.facts.asked_claims().keys().map(|name| Value::from(name.as_str())).collect(),
            ),
            PartName::Variables => {
                Enumerator::Values(self.situation.facts.variable_names().into_iter().map(Value::from).collect())
            }
        }
    }
}

/// The input of a tool call: a dictionary that tells which of its fields are used.
struct Input {
    situation: Arc<Situation>,
    whole: Value,
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
        self.situation.facts.asked(EventPart::InputField(name));
        field(&self.whole, name)
    }

    /// In `(tool_input or {}).get('path')`, nothing but the one field matters.
    fn is_true(self: &Arc<Self>) -> bool {
        self.situation.facts.asked(EventPart::HasInput);
        self.whole.is_true()
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        self.situation.facts.asked(EventPart::Input);
        Enumerator::Values(self.whole.try_iter().into_iter().flatten().collect())
    }
}
