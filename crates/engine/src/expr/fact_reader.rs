//! Reads facts for one evaluation and collects missing ones.
//!
//! Lookups of minijinja objects cannot fail, they return a value or nothing. A missing fact is therefore stored here,
//! and the lookup returns an invalid value, at which minijinja stops. After the evaluation the caller checks for
//! missing facts.

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

/// The effect of a missing fact on an evaluation.
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

type Field = Result<Option<Value>, Missing>;

impl FactReader {
    pub(super) fn new(situation: &Arc<Situation>, on_missing: OnMissing) -> Self {
        Self { situation: Arc::clone(situation), on_missing, missing: Mutex::default() }
    }

    /// The first missing fact.
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
                Missing::Unreadable(_) | Missing::Failed(_) => return Err(EvaluationError::Missing(one.clone())),
            }
        }
        if names.is_empty() { Ok(()) } else { Err(EvaluationError::NotRecorded(names)) }
    }

    /// Returns the fact. A missing fact is stored, and results in an error or the default.
    pub(super) fn resolve<T: Default>(&self, fact: Result<T, Missing>) -> Result<T, Error> {
        fact.or_else(|missing| {
            let continues = self.on_missing == OnMissing::UseDefault || matches!(missing, Missing::NotRecorded(_));
            let error = failure(missing.to_string());
            self.missing.lock().unwrap_or_else(PoisonError::into_inner).push(missing);
            if continues { Ok(T::default()) } else { Err(error) }
        })
    }

    /// Like [`Self::resolve`], but returns the result of a minijinja lookup.
    pub(super) fn value(&self, field: Field) -> Option<Value> {
        self.resolve(field).unwrap_or_else(|error| Some(Value::from(error)))
    }

    fn tool<'s, T: 's>(&'s self, part: impl FnOnce(&'s ToolCall) -> Option<T>) -> Option<T> {
        self.situation.event.tool.as_ref().and_then(part)
    }

    pub(super) fn event_field(&self, field: &str) -> Field {
        let event = &self.situation.event;
        Ok(match field {
            "kind" => Some(Value::from(event.kind.name())),
            "agent" => Some(Value::from(event.agent.as_str())),
            "session" => Some(Value::from(event.session.as_str())),
            "tool" => self.tool(|tool| Some(Value::from(tool.name.as_str()))),
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
            "output" => self.tool(|tool| tool.output.as_ref().map(from_json)),
            "command" => self.tool(|tool| match tool.shell.as_ref()? {
                ShellText::Command(text) => Some(Value::from(text.as_str())),
                ShellText::Missing => None,
            }),
            "commands" => Some(self.situation.command_texts().iter().map(String::as_str).collect()),
            "paths" => self.tool(|tool| Some(tool.files.iter().map(|file| file.path.as_str()).collect())),
            "prompt" => self.situation.event.prompt.as_deref().map(Value::from),
            "message" => self.situation.event.message.as_deref().map(Value::from),
            _ => None,
        }
    }

    /// The entire input of the tool call. The caller must request the used parts with
    /// [`Facts::require`](crate::facts::Facts::require).
    pub(super) fn input(&self) -> Option<Value> {
        self.situation.values.get_or_insert_with("input", || self.tool(|tool| Some(from_json(&tool.input))))
    }

    pub(super) fn git_field(&self, field: &str) -> Field {
        let field = match field {
            "branch" => GitField::Branch,
            "default_branch" => GitField::DefaultBranch,
            "head" => GitField::Head,
            "dirty" => GitField::Dirty,
            _ => return Ok(None),
        };
        self.situation.facts.git(field).map(|value| Some(from_json(&value)))
    }

    pub(super) fn workflow_field(&self, field: &str) -> Field {
        let field = WorkflowField::ALL.into_iter().find(|known| known.name() == field);
        let value = field.map(|field| self.situation.facts.workflow(field)).transpose()?;
        Ok(value.as_ref().map(from_json))
    }

    pub(super) fn phase_field(&self, field: &str) -> Field {
        let field = PhaseField::ALL.into_iter().find(|known| known.name() == field);
        let value = field.map(|field| self.situation.facts.phase(field)).transpose()?;
        Ok(value.as_ref().map(from_json))
    }

    pub(super) fn loop_field(&self, field: &str) -> Field {
        let field = LoopField::ALL.into_iter().find(|known| known.name() == field);
        let value = field.map(|field| self.situation.facts.in_loop(field)).transpose()?;
        Ok(value.as_ref().map(from_json))
    }

    pub(super) fn tasks_field(&self, field: &str) -> Field {
        let field = TaskField::ALL.into_iter().find(|known| known.name() == field);
        let value = field.map(|field| self.situation.facts.tasks(field)).transpose()?;
        Ok(value.as_ref().map(from_json))
    }

    /// A claim or variable by its bare name.
    pub(super) fn claim_or_variable(&self, name: &str) -> Field {
        match self.situation.facts.claims()?.get(name) {
            Some(claim) => Ok(Some(from_json(claim))),
            None => self.variable(name),
        }
    }

    /// A claim by its name under `claims`.
    pub(super) fn claim(&self, name: &str) -> Field {
        Ok(self.situation.facts.require_claims()?.get(name).map(from_json))
    }

    pub(super) fn files_field(&self, field: &str, change_scope: ChangeScope) -> Field {
        let Some(changes) = self.situation.facts.changes(change_scope)? else { return Ok(None) };
        let of = |status: Status| changes.own().filter(move |(_, found)| *found == status).map(|(path, _)| path);
        Ok(match field {
            "changed" => Some(changes.own().map(|(path, _)| path).collect()),
            "created" => Some(of(Status::Added).collect()),
            "deleted" => Some(of(Status::Deleted).collect()),
            _ => None,
        })
    }

    pub(super) fn variable(&self, name: &str) -> Field {
        // Not cached, because observers change variables while an event is judged.
        Ok(self.situation.facts.variable(name)?.as_ref().map(from_json))
    }
}
