//! The shell commands that a session ran.
//!
//! One tool call has up to two journal entries, one before and one after it ran. This module merges them into one
//! command. Entries are matched by the agent's id of the call, or by the command if the agent gives no id. Blocked
//! calls are left out, unless the verdict was not enforced.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rusqlite::Row;

use crate::{EntryId, Result, SessionKey, Store};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedCommand {
    pub event: EntryId,
    /// When the command ended, or started if the end is unknown; milliseconds since 1970.
    pub time: i64,
    /// The command as the agent wrote it, masked.
    pub text: String,
    /// False without an end event: the command still runs, the person denied it, or the agent does not report ends.
    pub has_ended: bool,
    /// None if the agent does not report how the command ended.
    pub succeeded: Option<bool>,
}

struct CommandRow {
    command: RecordedCommand,
    call_id: Option<String>,
}

impl CommandRow {
    fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        let kind: String = row.get(2)?;
        let outcome: Option<String> = row.get(5)?;
        let is_start = kind == "before_tool";
        let succeeded = match outcome.as_deref() {
            _ if is_start => None,
            _ if kind == "tool_failed" => Some(false),
            Some(outcome) => Some(outcome == "ok"),
            None => None,
        };
        let command = RecordedCommand {
            event: EntryId(row.get(0)?),
            time: row.get(1)?,
            text: row.get(3)?,
            has_ended: !is_start,
            succeeded,
        };
        Ok(Self { command, call_id: row.get(4)? })
    }
}

impl Store {
    /// Returns the session's last `limit` commands since a time, newest first.
    pub fn commands(&self, key: SessionKey<'_>, since: i64, limit: usize) -> Result<Vec<RecordedCommand>> {
        match self.session_state(key)?.id {
            Some(session) => self.commands_of(session, since, EntryId(i64::MAX), limit),
            None => Ok(Vec::new()),
        }
    }

    /// True if the session's turn, or the session itself, ended after `event`. Then no earlier command still runs.
    pub fn was_idle_after(&self, key: SessionKey<'_>, event: EntryId) -> Result<bool> {
        let Some(session) = self.session_state(key)?.id else { return Ok(false) };
        let mut statement = self.connection.prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM events WHERE session = ?1 AND (command IS NULL) = 1 AND id > ?2 \
             AND kind IN ('stop', 'prompt', 'session_end'))",
        )?;
        Ok(statement.query_row([session, event.0], |row| row.get(0))?)
    }

    /// Returns the session's last `limit` commands before an event, newest first.
    pub fn commands_before(&self, key: SessionKey<'_>, event: EntryId, limit: usize) -> Result<Vec<RecordedCommand>> {
        match self.session_state(key)?.id {
            Some(session) => self.commands_of(session, i64::MIN, event, limit),
            None => Ok(Vec::new()),
        }
    }

    /// Returns the last `limit` commands of all sessions since a time and before an event, newest first.
    pub fn commands_of_all_sessions(&self, since: i64, before: EntryId, limit: usize) -> Result<Vec<RecordedCommand>> {
        let Some(first) = self.first_event_since(since)? else { return Ok(Vec::new()) };
        let mut sessions = self.connection.prepare_cached("SELECT id FROM sessions")?;
        let mut commands = Vec::new();
        // Reads one index range per session, so that the number of other events does not matter.
        for session in sessions.query_map([], |row| row.get::<_, i64>(0))? {
            commands.extend(self.commands_between(session?, EntryId(first), since, before, limit)?);
        }
        commands.sort_by_key(|command| Reverse(command.event));
        commands.truncate(limit);
        Ok(commands)
    }

    pub(crate) fn commands_of(
        &self,
        session: i64,
        since: i64,
        before: EntryId,
        limit: usize,
    ) -> Result<Vec<RecordedCommand>> {
        self.commands_between(session, EntryId(i64::MIN), since, before, limit)
    }

    fn commands_between(
        &self,
        session: i64,
        first: EntryId,
        since: i64,
        before: EntryId,
        limit: usize,
    ) -> Result<Vec<RecordedCommand>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT id, time, kind, command, call, outcome FROM events \
             WHERE session = ?1 AND (command IS NULL) = 0 AND time >= ?2 AND id >= ?3 AND id < ?4 \
             AND (kind IN ('after_tool', 'tool_failed') OR kind = 'before_tool' AND (level <> 'block' OR lifted IS NOT NULL)) \
             ORDER BY id DESC",
        )?;
        let mut rows = statement.query([session, since, first.0, before.0])?;
        let mut commands = Vec::new();
        // By call, the number of ends that are not yet matched with a start. The rows are newest first, so the end of a
        // call is read before its start.
        let mut unmatched_ends: BTreeMap<String, u32> = BTreeMap::new();
        while commands.len() < limit
            && let Some(row) = rows.next()?
        {
            let CommandRow { command, call_id } = CommandRow::from_row(row)?;
            let call = call_id.unwrap_or_else(|| command.text.clone());
            if command.has_ended {
                *unmatched_ends.entry(call).or_default() += 1;
            } else if let Some(ends) = unmatched_ends.get_mut(&call).filter(|ends| **ends > 0) {
                *ends -= 1;
                continue;
            }
            commands.push(command);
        }
        Ok(commands)
    }
}
