//! The position and variables of a workflow at a past event, reconstructed from the journal.
//!
//! The journal has a note for each move of the workflow, and each entry contains the variables that its event or move
//! set. So it is enough to apply the entries in order. If the beginning of the journal was pruned, the first remaining
//! note about a move still names the node at which the workflow was before, but the time at which that node was entered
//! is unknown.

use engine::facts::{PhaseField, WorkflowField};
use engine::workflow::Workflow;
use serde_json::{Map, Value, json};
use store::{EntryId, JournalEntry, JournalFilter, NoteKind, Store, StoreError, WORKFLOW_VARIABLE_PREFIX};

use crate::position::Position;

#[derive(Debug, Clone, Default)]
pub struct PastWorkflow {
    /// `None` if no workflow was active.
    pub position: Option<Position>,
    /// The variables that were set. All other variables have their initial value, unless `start_was_pruned`.
    variables: Map<String, Value>,
    /// True if the entry in which the workflow was started was pruned from the journal.
    start_was_pruned: bool,
    /// True if the entry in which the current phase began was pruned from the journal.
    phase_start_was_pruned: bool,
    /// The number of workflows that were started before the past event, as far as their start is still in the journal.
    started_workflows: u64,
}

impl PastWorkflow {
    /// The state of the workflow before the first entry that the journal still has.
    pub fn before_first_entry(journal: &Store) -> Result<Self, StoreError> {
        let first = |kind: Option<NoteKind>| -> Result<Option<JournalEntry>, StoreError> {
            let kind = kind.map(|kind| kind.name().to_owned());
            let filter = JournalFilter { kind, after: Some(EntryId(0)), limit: 1, ..JournalFilter::default() };
            Ok(journal.entries(&filter)?.into_iter().next())
        };
        // If the journal is empty or still has its very first entry, nothing was pruned.
        if first(None)?.is_none_or(|entry| entry.id == EntryId(1)) {
            return Ok(Self::default());
        }
        let mut notes = Vec::new();
        for kind in [NoteKind::Start, NoteKind::Move, NoteKind::Abort, NoteKind::MoveRefused] {
            notes.extend(first(Some(kind))?);
        }
        let Some(note) = notes.into_iter().min_by_key(|note| note.id) else {
            // No note names a node, so the workflow has not moved since before the first entry, and its present
            // position is also its position at that time.
            let position = Position::of(&journal.workflow_state()?.variables);
            return Ok(Self { start_was_pruned: true, position, ..Self::default() });
        };
        let text_field = |field: &str| note.fields.get(field).and_then(Value::as_str);
        let position = match (text_field("workflow"), text_field("from")) {
            (Some(workflow), Some(from)) => Some(Position::start(workflow, "", from, note.time, &Map::new())),
            _ => None,
        };
        Ok(Self {
            start_was_pruned: position.is_some(),
            phase_start_was_pruned: position.is_some(),
            position,
            ..Self::default()
        })
    }

    /// Applies the move and the variable changes that an entry records.
    pub fn apply_entry(&mut self, entry: &JournalEntry) {
        let text_field = |field: &str| entry.fields.get(field).and_then(Value::as_str);
        match NoteKind::from_name(&entry.kind) {
            Some(NoteKind::Start) => {
                self.started_workflows += 1;
                let position = text_field("workflow").zip(text_field("to"));
                self.position = position.map(|(name, node)| Position {
                    serial: self.started_workflows,
                    ..Position::start(name, "", node, entry.time, &Map::new())
                });
                (self.start_was_pruned, self.phase_start_was_pruned) = (false, false);
                self.variables.clear();
            }
            Some(NoteKind::Move) => {
                let target = self.position.take().zip(text_field("to")).filter(|(_, to)| !Workflow::is_end(to));
                let claims = entry.fields.get("claims").and_then(Value::as_array).into_iter().flatten();
                let claims = claims.filter_map(|name| Some((name.as_str()?.to_owned(), json!(true)))).collect();
                self.position =
                    target.map(|(position, to)| position.after_move(to, "", entry.time).with_claims(claims));
                self.phase_start_was_pruned = false;
            }
            Some(NoteKind::Abort) => self.position = None,
            Some(NoteKind::Continue) if text_field("workflow").is_some() => {
                // `linchpin continue` of earlier versions turned limits of time and tokens off until the next move, and
                // its note did not contain the node.
                let is_by_earlier_version = text_field("at").is_none();
                self.position = self.position.take().map(|position| Position {
                    total_limits_are_off: position.total_limits_are_off || is_by_earlier_version,
                    ..position.after_continue()
                });
            }
            _ => {}
        }
        for (name, value) in &entry.changes {
            let Some(name) = name.strip_prefix(WORKFLOW_VARIABLE_PREFIX) else { continue };
            if value.is_null() {
                self.variables.remove(name);
            } else {
                self.variables.insert(name.to_owned(), value.clone());
            }
        }
    }

    /// The value of a variable that the workflow declares; `None` if the variable has no value.
    pub fn variable(&self, name: &str, workflow: &Workflow) -> Result<Option<Value>, Unknown> {
        match self.variables.get(name) {
            Some(value) => Ok(Some(value.clone())),
            None if self.start_was_pruned => Err(Unknown),
            None => Ok(workflow.initial_value(name)),
        }
    }

    /// The value of a field of `workflow` in expressions.
    pub fn workflow_field(&self, field: WorkflowField) -> Result<Value, Unknown> {
        let Some(position) = &self.position else { return Ok(Value::Null) };
        match field {
            WorkflowField::Name => Ok(json!(position.workflow_name)),
            WorkflowField::Node => Ok(json!(position.node())),
            WorkflowField::Active => Ok(Value::Bool(true)),
            WorkflowField::History if self.start_was_pruned => Err(Unknown),
            WorkflowField::History => Ok(position.history.iter().map(|phase| json!(phase.node)).collect()),
        }
    }

    /// The claims of the move that led to the current phase.
    pub fn claims(&self) -> Result<Value, Unknown> {
        let Some(position) = &self.position else { return Ok(json!({})) };
        if self.phase_start_was_pruned { Err(Unknown) } else { Ok(Value::Object(position.claims.clone())) }
    }

    /// The value of a field of `phase` in expressions. The numbers of tokens, commands, edits and commits are unknown,
    /// because entries of the journal do not contain them.
    pub fn phase_field(&self, field: PhaseField, now: i64) -> Result<Value, Unknown> {
        let Some(position) = &self.position else { return Ok(Value::Null) };
        match field {
            PhaseField::Name => Ok(json!(position.node())),
            PhaseField::Visit if !self.start_was_pruned => Ok(json!(position.visit_count())),
            PhaseField::Elapsed => {
                let started = self.phase_started().ok_or(Unknown)?;
                Ok(json!(now.saturating_sub(started).max(0) / 1000))
            }
            PhaseField::Visit | PhaseField::Tokens | PhaseField::Commands | PhaseField::Edits | PhaseField::Commits => {
                Err(Unknown)
            }
        }
    }

    /// The start of the current phase in milliseconds since 1970; `None` if it is unknown.
    pub fn phase_started(&self) -> Option<i64> {
        self.position.as_ref().filter(|_| !self.phase_start_was_pruned).map(|position| position.phase().started)
    }

    /// True if limits of time and tokens are not judged until the next move. Only `linchpin continue` of earlier
    /// versions did this.
    pub fn total_limits_are_off(&self) -> bool {
        self.position.as_ref().is_some_and(|position| position.total_limits_are_off)
    }
}

/// The error if a value does not follow from the entries of the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unknown;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use store::{Note, PERSON_SESSION, StateChanges, StoreOptions};

    use super::*;

    /// A journal with one note every ten milliseconds.
    fn journal(directory: &std::path::Path) -> Store {
        let mut store = Store::open(
            &directory.join("journal"),
            StoreOptions { busy_timeout: Duration::from_secs(5), now: 0, run: None },
        )
        .unwrap();
        let notes = [
            (NoteKind::Start, json!({"workflow": "work", "to": "plan"})),
            (NoteKind::Move, json!({"workflow": "work", "from": "plan", "to": "code"})),
            (NoteKind::Continue, json!({"workflow": "work", "past": "work/code/1", "at": "code"})),
            (NoteKind::Continue, json!({"workflow": "work", "past": "code"})),
            (NoteKind::Move, json!({"workflow": "work", "from": "code", "to": "review"})),
            (NoteKind::Abort, json!({"workflow": "work", "from": "review"})),
        ];
        for (time, (kind, fields)) in (10..).step_by(10).zip(notes) {
            let changes = StateChanges {
                workflow_variables: [("seen".to_owned(), Some(json!(time)))].into(),
                ..StateChanges::default()
            };
            let fields = fields.as_object().cloned().unwrap_or_default();
            let note =
                Note { kind, session: PERSON_SESSION, time, root: "/p", cwd: "/p", fields: &fields, changes: &changes };
            store.write_note(&note).unwrap();
        }
        store
    }

    /// The state before the first entry and after each entry: node, history, start of the phase, whether limits of time
    /// and tokens are off, and the variable `seen`.
    fn states_after_entries(store: &Store) -> Vec<String> {
        let mut past_workflow = PastWorkflow::before_first_entry(store).unwrap();
        let describe = |past_workflow: &PastWorkflow| {
            let text = |value: Result<Value, Unknown>| value.map_or("?".to_owned(), |value| value.to_string());
            let fields = [
                text(past_workflow.phase_field(PhaseField::Name, 2_000)),
                text(past_workflow.workflow_field(WorkflowField::History)),
                past_workflow.phase_started().map_or("?".to_owned(), |started| started.to_string()),
                past_workflow.total_limits_are_off().to_string(),
                past_workflow.variables.get("seen").map_or("?".to_owned(), Value::to_string),
            ];
            fields.join(" ")
        };
        let mut all = vec![describe(&past_workflow)];
        for entry in store.entries(&JournalFilter::default()).unwrap() {
            past_workflow.apply_entry(&entry);
            all.push(describe(&past_workflow));
        }
        all
    }

    #[test]
    fn moves_are_replayed_from_the_journal() {
        let directory = tempfile::tempdir().unwrap();
        insta::assert_snapshot!(states_after_entries(&journal(directory.path())).join("\n"), @r#"
        null null ? false ?
        "plan" ["plan"] 10 false 10
        "code" ["plan","code"] 20 false 20
        "code" ["plan","code"] 20 false 30
        "code" ["plan","code"] 20 true 40
        "review" ["plan","code","review"] 50 false 50
        null null ? false 60
        "#);
    }

    #[test]
    fn a_pruned_journal_still_has_the_position() {
        let directory = tempfile::tempdir().unwrap();
        let mut store = journal(directory.path());
        store.prune(25).unwrap();
        insta::assert_snapshot!(states_after_entries(&store).join("\n"), @r#"
        "code" ? ? false ?
        "code" ? ? false 30
        "code" ? ? true 40
        "review" ? 50 false 50
        null null ? false 60
        "#);
    }
}
