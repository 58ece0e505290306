//! Reads facts for one evaluation, and collects the missing facts.
//!
//! A lookup in a minijinja object cannot fail: the lookup returns a value or nothing. A missing fact is therefore
//! stored in the [`FactReader`], and the lookup returns an error value, at which minijinja stops, or a default. After
//! the evaluation, the caller checks for missing facts.

use std::sync::{Arc, Mutex, PoisonError};

use minijinja::{Error, Value};

use super::{
    error::{EvaluationError, failure},
    json::from_json,
};
use crate::{
    event::{ShellText, ToolCall},
    facts::{EventPart, GitField, LoopField, Missing, PhaseField, TaskField, WorkflowField},
    file_rules::{ChangeScope, Status},
    situation::Situation,
};

/// What happens if an evaluation requests a fact that is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnMissing {
    /// The evaluation fails. If the fact was not recorded, the evaluation first continues, to collect all facts that
    /// were not recorded.
    Abort,
    /// The evaluation continues with a default: false, empty or undefined.
    UseDefault,
}

pub(super) struct FactReader {
    pub(super) situation: Arc<Situation>,
    on_missing: OnMissing,
    missing: Mutex<Vec<Missing>>,
}

/// The value of a field; `None` if the field does not exist or has no value.
type FieldResult = Result<Option<Value>, Missing>;

impl FactReader {
    pub(super) fn new(situation: &Arc<Situation>, on_missing: OnMissing) -> Self {
        Self { situation: Arc::clone(situation), on_missing, missing: Mutex::default() }
    }

    /// The first fact that was found to be missing; `None` if no fact is missing.
    pub(super) fn missing(&self) -> Option<Missing> {
        self.missing.lock().unwrap_or_else(PoisonError::into_inner).first().cloned()
    }

    /// Fails if facts are missing. Must be called before errors of the expression are reported, because missing facts
    /// may have caused them.
    pub(super) fn check(&self) -> Result<(), EvaluationError> {
        let missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut names = Vec::new();
        for one in missing.iter().filter(|_| self.on_missing == OnMissing::Abort) {
            match one {
                Missing::NotRecorded(name) => names.push(name.clone()),
                Missing::Unavailable(_) | Missing::Failed(_) => return Err(EvaluationError::Missing(one.clone())),
            }
        }
        if names.is_empty() { Ok(()) } else { Err(EvaluationError::NotRecorded(names)) }
    }

    /// Returns the fact. If the fact is missing, stores the reason, and returns an error or the default, depending on
    /// [`OnMissing`].
    pub(super) fn resolve<T: Default>(&self, fact: Result<T, Missing>) -> Result<T, Error> {
        fact.or_else(|missing| {
            let continues = self.on_missing == OnMissing::UseDefault || matches!(missing, Missing::NotRecorded(_));
            let error = failure(missing.to_string());
            self.missing.lock().unwrap_or_else(PoisonError::into_inner).push(missing);
            if continues { Ok(T::default()) } else { Err(error) }
        })
    }

    /// Like [`Self::resolve`], for a lookup in a minijinja object.
    pub(super) fn value(&self, field: FieldResult) -> Option<Value> {
        self.resolve(field).unwrap_or_else(|error| Some(Value::from(error)))
    }

    fn read_call<'s, T: 's>(&'s self, read: impl FnOnce(&'s ToolCall) -> Option<T>) -> Option<T> {
        self.situation.event.tool.as_ref().and_then(read)
    }

    pub(super) fn event_field(&self, field: &str) -> FieldResult {
        let event = &self.situation.event;
        Ok(match field {
            "kind" => Some(Value::from(event.kind.name())),
            "agent" => Some(Value::from(event.agent.as_str())),
            "session" => Some(Value::from(event.session.as_str())),
            "tool" => self.read_call(|tool| Some(Value::from(tool.name.as_str()))),
            "outcome" => event.outcome.map(|outcome| Value::from(outcome.name())),
            "cwd" => Some(Value::from(event.cwd.as_str())),
            "time" => Some(Value::from(event.time)),
            _ => {
                self.situation.facts.require(match field {
                    "command" | "commands" => EventPart::Command,
                    "paths" => EventPart::Paths,
                    "output" => EventPart::Output,
                    "prompt" => EventPart::Prompt,
                    "message" => EventPart::Message,
                    _ => return Ok(None),
                })?;
                self.situation.values.get_or_insert_with(field, || self.large_event_field(field))
            }
        })
    }

    fn large_event_field(&self, field: &str) -> Option<Value> {
        match field {
            "output" => self.read_call(|tool| tool.output.as_ref().map(from_json)),
            "command" => self.read_call(|tool| match tool.shell.as_ref()? {
                ShellText::Command(text) => Some(Value::from(text.as_str())),
                ShellText::Missing => None,
            }),
            "commands" => Some(self.situation.command_texts().iter().map(String::as_str).collect()),
            "paths" => self.read_call(|tool| Some(tool.files.iter().map(|file| file.path.as_str()).collect())),
            "prompt" => self.situation.event.prompt.as_deref().map(Value::from),
            "message" => self.situation.event.message.as_deref().map(Value::from),
            _ => None,
        }
    }

    /// The entire input of the tool call. The caller must request the parts that it uses with
    /// [`Facts::require`](crate::facts::Facts::require).
    pub(super) fn input(&self) -> Option<Value> {
        self.situation.values.get_or_insert_with("input", || self.read_call(|tool| Some(from_json(&tool.input))))
    }

    pub(super) fn git_field(&self, field: &str) -> FieldResult {
        let field = match field {
            "branch" => GitField::Branch,
            "default_branch" => GitField::DefaultBranch,
            "head" => GitField::Head,
            "dirty" => GitField::Dirty,
            _ => return Ok(None),
        };
        self.situation.facts.git(field).map(|value| Some(from_json(&value)))
    }

    pub(super) fn workflow_field(&self, field: &str) -> FieldResult {
        let field = WorkflowField::ALL.into_iter().find(|known| known.name() == field);
        let value = field.map(|field| self.situation.facts.workflow(field)).transpose()?;
        Ok(value.as_ref().map(from_json))
    }

    pub(super) fn phase_field(&self, field: &str) -> FieldResult {
        let field = PhaseField::ALL.into_iter().find(|known| known.name() == field);
        let value = field.map(|field| self.situation.facts.phase(field)).transpose()?;
        Ok(value.as_ref().map(from_json))
    }

    pub(super) fn loop_field(&self, field: &str) -> FieldResult {
        let field = LoopField::ALL.into_iter().find(|known| known.name() == field);
        let value = field.map(|field| self.situation.facts.loop_field(field)).transpose()?;
        Ok(value.as_ref().map(from_json))
    }

    pub(super) fn tasks_field(&self, field: &str) -> FieldResult {
        let field = TaskField::ALL.into_iter().find(|known| known.name() == field);
        let value = field.map(|field| self.situation.facts.tasks(field)).transpose()?;
        Ok(value.as_ref().map(from_json))
    }

    /// A claim or variable that an expression uses by its name alone.
    pub(super) fn claim_or_variable(&self, name: &str) -> FieldResult {
        match self.situation.facts.claims()?.get(name) {
            Some(claim) => Ok(Some(from_json(claim))),
            None => self.variable(name),
        }
    }

    /// A claim that an expression uses as `claims.NAME`.
    pub(super) fn claim(&self, name: &str) -> FieldResult {
        Ok(self.situation.facts.require_claims()?.get(name).map(from_json))
    }

    pub(super) fn files_field(&self, field: &str, change_scope: ChangeScope) -> FieldResult {
        let Some(changes) = self.situation.facts.changes(change_scope)? else { return Ok(None) };
        let with_status =
            |wanted: Status| changes.own().filter(move |(_, status)| *status == wanted).map(|(path, _)| path);
        Ok(match field {
            "changed" => Some(changes.own().map(|(path, _)| path).collect()),
            "created" => Some(with_status(Status::Added).collect()),
            "deleted" => Some(with_status(Status::Deleted).collect()),
            _ => None,
        })
    }

    pub(super) fn variable(&self, name: &str) -> FieldResult {
        // The value of a variable is not cached, because observers change variables while an event is judged.
        Ok(self.situation.facts.variable(name)?.as_ref().map(from_json))
    }
}
