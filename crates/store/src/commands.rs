//! The shell commands that a session ran.
//!
//! One tool call leaves up to two rows, one before it runs and one after; here it is one command. Rows are matched by
//! the agent's id of the call, and by their text where the agent gives none. Calls that were blocked did not run,
//! unless the verdict was lifted.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rusqlite::Row;

use crate::{EventId, Result, SessionKey, Store};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedCommand {
    pub event: EventId,
    /// When it ended, or where that is not known, when it was about to start; milliseconds since 1970.
    pub time: i64,
    /// As the agent wrote it, masked.
    pub text: String,
    /// False where no end of it was seen: it still runs, its person said no, or the agent does not tell.
    pub is_over: bool,
    /// None where the agent does not say how it ended.
    pub succeeded: Option<bool>,
}

struct CommandRow {
    command: RecordedCommand,
    call: Option<String>,
}

impl CommandRow {
    fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        let kind: String = row.get(2)?;
        let outcome: Option<String> = row.get(5)?;
        let before = kind == "before_tool";
        let succeeded = match outcome.as_deref() {
            _ if before => None,
            _ if kind == "tool_failed" => Some(false),
            Some(outcome) => Some(outcome == "ok"),
            None => None,
        };
        let is_over = !before;
        let command =
            RecordedCommand { event: EventId(row.get(0)?), time: row.get(1)?, text: row.get(3)?, is_over, succeeded };
        Ok(Self { command, call: row.get(4)? })
    }
}

impl Store {
    /// The commands of a session since a time, at most `limit` of them, newest first.
    pub fn commands(&self, key: SessionKey<'_>, since: i64, limit: usize) -> Result<Vec<RecordedCommand>> {
        match self.session(key)?.id {
            Some(session) => self.commands_of(session, since, EventId(i64::MAX), limit),
            None => Ok(Vec::new()),
        }
    }

    /// Whether a session's turn, or the session itself, ended after an event: it waits for no command from before any more.
    pub fn is_idle_after(&self, key: SessionKey<'_>, event: EventId) -> Result<bool> {
        let Some(session) = self.session(key)?.id else { return Ok(false) };
        let mut statement = self.connection.prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM events WHERE session = ?1 AND (command IS NULL) = 1 AND id > ?2 \
             AND kind IN ('stop', 'prompt', 'session_end'))",
        )?;
        Ok(statement.query_row([session, event.0], |row| row.get(0))?)
    }

    /// The commands that a session had run when an event of it arrived, at most `limit` of them, newest first.
    pub fn commands_before(&self, key: SessionKey<'_>, event: EventId, limit: usize) -> Result<Vec<RecordedCommand>> {
        match self.session(key)?.id {
            Some(session) => self.commands_of(session, i64::MIN, event, limit),
            None => Ok(Vec::new()),
        }
    }

    /// The commands that all sessions ran since a time and before an event, at most `limit` of them, newest first.
    pub fn commands_of_all(&self, since: i64, before: EventId, limit: usize) -> Result<Vec<RecordedCommand>> {
        let Some(first) = self.first_event_since(since)? else { return Ok(Vec::new()) };
        let mut sessions = self.connection.prepare_cached("SELECT id FROM sessions")?;
        let mut commands = Vec::new();
        // Each is a run of the index, however many other events lie between.
        for session in sessions.query_map([], |row| row.get::<_, i64>(0))? {
            commands.extend(self.commands_between(session?, EventId(first), since, before, limit)?);
        }
        commands.sort_by_key(|command| Reverse(command.event));
        commands.truncate(limit);
        Ok(commands)
    }

    pub(crate) fn commands_of(
        &self,
        session: i64,
        since: i64,
        before: EventId,
        limit: usize,
    ) -> Result<Vec<RecordedCommand>> {
        self.commands_between(session, EventId(i64::MIN), since, before, limit)
    }

    fn commands_between(
        &self,
        session: i64,
        first: EventId,
        since: i64,
        before: EventId,
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
        // How many ends were seen of each call of which the start was not yet.
        let mut ended: BTreeMap<String, u32> = BTreeMap::new();
        while commands.len() < limit
            && let Some(row) = rows.next()?
        {
            let CommandRow { command, call } = CommandRow::from_row(row)?;
            let same_call = call.unwrap_or_else(|| command.text.clone());
            if command.is_over {
                *ended.entry(same_call).or_default() += 1;
            } else if let Some(ends) = ended.get_mut(&same_call).filter(|ends| **ends > 0) {
                *ends -= 1;
                continue;
            }
            commands.push(command);
        }
        Ok(commands)
    }
}
