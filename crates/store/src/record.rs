//! Writes one event, with its verdict, as rows of the journal.

use engine::NotEnforced;
use engine::event::{CallOutcome, Event, FileAccess, ShellText};
use engine::verdict::Verdict;
use rusqlite::{named_params, params};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{EntryId, Masked, Result, SessionKey, StateChanges, Store, mask};

/// How much of an event the journal keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum JournalDetail {
    /// Commands, paths, and the input fields that rules used; everything else as digests.
    #[default]
    Lean,
    /// Also the whole event, with secrets masked.
    Full,
}

/// One event, its verdict, and the state that it changes.
#[derive(Debug, Clone, Copy)]
pub struct EventRecord<'a> {
    pub event: &'a Event,
    /// The project's root; stored with the session's first event only.
    pub root: &'a str,
    pub verdict: &'a Verdict,
    /// The facts that the judgement used, for replay.
    pub facts: &'a Map<String, Value>,
    /// The fields of the tool's input that rules used.
    pub fields: &'a Map<String, Value>,
    pub changes: &'a StateChanges,
    pub detail: JournalDetail,
}

impl EventRecord<'_> {
    pub(crate) fn session_key(&self) -> SessionKey<'_> {
        SessionKey { agent: &self.event.agent, session: &self.event.session }
    }
}

impl Store {
    /// Returns the id of the session's row, and inserts the row for a new session. Called inside a write transaction.
    pub(crate) fn intern_session(&self, key: SessionKey<'_>, root: &str, time: i64) -> Result<i64> {
        self.connection
            .prepare_cached(
                "INSERT OR IGNORE INTO sessions (agent, session, root, first_seen) VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute(params![key.agent, key.session, root, time])?;
        Ok(self
            .connection
            .prepare_cached("SELECT id FROM sessions WHERE agent = ?1 AND session = ?2")?
            .query_row([key.agent, key.session], |row| row.get(0))?)
    }

    /// Inserts the event's row and its findings. Called inside a write transaction.
    pub(crate) fn insert_event(&mut self, session: i64, record: &EventRecord<'_>) -> Result<EntryId> {
        let digests = self.digests(record.event)?;
        let EventRecord { event, verdict, .. } = record;
        let tool = event.tool.as_ref();
        let shell_text = tool.and_then(|tool| tool.shell.as_ref());
        let command = match shell_text {
            Some(ShellText::Command(command)) => Some(mask(command)),
            Some(ShellText::Missing) | None => None,
        };
        let full_event = match record.detail {
            JournalDetail::Lean => None,
            JournalDetail::Full => serde_json::to_value(event).ok().map(|full_event| Masked::json(&full_event)),
        };
        self.connection
            .prepare_cached(
                "INSERT INTO events (session, time, kind, level, approved, name, tool, command, command_missing, \
                 outcome, call, cwd, held_before, subagent, aliases, mcp, paths, fields, facts, digests, notices, event, \
                 lifted, changes, context) VALUES (:session, :time, :kind, :level, :approved, :name, :tool, :command, \
                 :command_missing, :outcome, :call, :cwd, :held_before, :subagent, :aliases, :mcp, :paths, :fields, \
                 :facts, :digests, :notices, :event, :lifted, :changes, :context)",
            )?
            .execute(named_params! {
                ":session": session,
                ":time": event.time,
                ":kind": event.kind.name(),
                ":level": verdict.level.name(),
                ":approved": verdict.approved,
                ":name": event.name,
                ":tool": tool.map(|tool| &tool.name),
                ":command": command,
                ":command_missing": shell_text == Some(&ShellText::Missing),
                ":outcome": event.outcome.map(CallOutcome::name),
                ":call": tool.and_then(|tool| tool.id.as_ref()),
                ":cwd": mask(&event.cwd),
                ":held_before": event.held_before,
                ":subagent": event.subagent,
                ":aliases": tool.and_then(|tool| json_list(&tool.aliases)),
                ":mcp": tool.and_then(|tool| json_list(&tool.mcp)),
                ":paths": tool.and_then(|tool| json_list(&masked_paths(&tool.files))),
                ":fields": Masked::json_of_fields(record.fields),
                ":facts": Masked::json_of_fields(record.facts),
                ":digests": Masked::json_of_fields(&digests),
                ":notices": Masked::json_of_list(&verdict.notices),
                ":event": full_event,
                ":lifted": verdict.not_enforced.map(NotEnforced::code),
                ":changes": Masked::json_of_fields(&record.changes.journal_variables()),
                ":context": Masked::json_of_list(&verdict.agent_texts),
            })?;
        let id = EntryId(self.connection.last_insert_rowid());
        self.insert_findings(id, verdict)?;
        Ok(id)
    }

    fn insert_findings(&self, id: EntryId, verdict: &Verdict) -> Result<()> {
        for (index, finding) in (0_i64..).zip(&verdict.findings) {
            self.connection
                .prepare_cached(
                    "INSERT INTO findings (event, place, rule, level, reason, because, digest) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                )?
                .execute(params![
                    id.0,
                    index,
                    finding.rule,
                    finding.level.name(),
                    mask(&finding.reason),
                    Masked::json_of_list(&finding.because),
                    finding.digest
                ])?;
        }
        Ok(())
    }
}

fn masked_paths(files: &[FileAccess]) -> Vec<FileAccess> {
    files.iter().map(|file| FileAccess { path: mask(&file.path).into_owned(), ..file.clone() }).collect()
}

fn json_list<T: Serialize>(list: &[T]) -> Option<String> {
    if list.is_empty() { None } else { serde_json::to_string(list).ok() }
}
