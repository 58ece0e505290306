//! Tool calls of every session, with when they ran.

use std::collections::BTreeMap;

use engine::event::FileAccess;
use rusqlite::params;

use crate::{Result, SessionKey, Store, mask};

/// A call of which no end was seen is not thought to last longer than this; in milliseconds.
const LONGEST: i64 = 10 * 60 * 1000;

/// For this long after its end a call may still change the files it names, through the agent's other hooks (formatters); in
/// milliseconds.
const AFTERMATH: i64 = 10 * 1000;

/// A tool call that was not refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedCall {
    pub agent: String,
    pub session: String,
    /// Milliseconds since 1970.
    pub started: i64,
    /// Where no end of it was seen: when the session was next started, given a prompt, stopped or ended; before that, now. Not
    /// much later than it started.
    pub ended: i64,
    /// When the agent's other hooks that its end set off are done, too. Never before `ended`.
    pub settled: i64,
    /// Whether its end is known. A call that runs has none, nor has one that was broken off or that a person did not let the
    /// agent make.
    pub has_ended: bool,
    pub tool: String,
    pub command: Option<String>,
    pub paths: Vec<FileAccess>,
    pub cwd: String,
}

impl RecordedCall {
    /// Whether files may change by it that it does not name.
    pub fn may_write(&self) -> bool {
        self.command.is_some() || self.tool.starts_with("mcp__")
    }

    /// Whether it may still run. `now`: when the journal was opened.
    pub fn is_open(&self, now: i64) -> bool {
        !self.has_ended && self.ended >= now
    }

    /// Of a call that was seen to end, and of one that was not. `idle`: when the session was next known to run no call.
    fn until(self, end: Option<i64>, idle: Option<i64>, now: i64) -> Self {
        let idle = idle.unwrap_or(now);
        let ended = end.unwrap_or_else(|| idle.min(self.started.saturating_add(LONGEST)));
        let settled = idle.min(ended.saturating_add(AFTERMATH)).max(ended);
        Self { ended, settled, has_ended: end.is_some(), ..self }
    }
}

impl Store {
    /// Whether any other session has called a tool.
    pub fn has_other_sessions(&self, key: SessionKey<'_>) -> Result<bool> {
        let own = self.session(key)?.id.unwrap_or(0);
        let mut statement = self.connection.prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM sessions s WHERE s.id <> ?1 AND EXISTS \
             (SELECT 1 FROM events e WHERE e.session = s.id AND e.tool IS NOT NULL LIMIT 1))",
        )?;
        Ok(statement.query_row([own], |row| row.get(0))?)
    }

    /// Whether a call of this id, or where it has none with this command, was let through in a session. Only the latest
    /// calls are looked at.
    pub fn has_begun(&self, key: SessionKey<'_>, call: Option<&str>, command: Option<&str>) -> Result<bool> {
        const LATEST: i64 = 64;
        let Some(session) = self.session_id(key)? else { return Ok(false) };
        let mut statement = self.connection.prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM (SELECT kind, call, command, level, lifted FROM events \
             WHERE session = ?1 AND (command IS NULL) = ?2 ORDER BY id DESC LIMIT ?3) WHERE kind = 'before_tool' \
             AND (level IN ('allow', 'warn') OR lifted IS NOT NULL) AND CASE WHEN ?4 IS NULL THEN command = ?5 ELSE call = ?4 END)",
        )?;
        let command = command.map(mask);
        Ok(statement.query_row(params![session, command.is_none(), LATEST, call, command], |row| row.get(0))?)
    }

    /// Whether a session was last held at a stop, and has been given no prompt since.
    pub fn is_held(&self, key: SessionKey<'_>) -> Result<bool> {
        let Some(session) = self.session_id(key)? else { return Ok(false) };
        let mut statement = self.connection.prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM (SELECT kind, level, lifted FROM events WHERE session = ?1 \
             AND kind IN ('stop', 'prompt') ORDER BY id DESC LIMIT 1) WHERE kind = 'stop' AND level = 'block' AND lifted IS NULL)",
        )?;
        Ok(statement.query_row([session], |row| row.get(0))?)
    }

    /// The last calls of all sessions, newest first.
    pub fn calls(&self, limit: usize) -> Result<Vec<RecordedCall>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT s.agent, s.session, e.time, e.kind, e.tool, e.command, e.paths, e.cwd, e.call FROM events e \
             JOIN sessions s ON s.id = e.session \
             WHERE e.kind IN ('before_tool', 'after_tool', 'tool_failed', 'stop', 'prompt', 'session_start', 'session_end') \
             AND (e.level <> 'block' OR e.lifted IS NOT NULL OR e.kind <> 'before_tool') ORDER BY e.id DESC LIMIT ?1",
        )?;
        let mut rows = statement.query([i64::try_from(limit).unwrap_or(i64::MAX)])?;
        let mut calls: Vec<RecordedCall> = Vec::new();
        // When the calls ended whose beginning was not seen yet.
        let mut ends: BTreeMap<(String, String, String), i64> = BTreeMap::new();
        // When each session next ran no call: a prompt, a stop, its start (when it is resumed) or its end.
        let mut idle: BTreeMap<(String, String), i64> = BTreeMap::new();
        while let Some(row) = rows.next()? {
            let (agent, session): (String, String) = (row.get(0)?, row.get(1)?);
            let (time, kind): (i64, String) = (row.get(2)?, row.get(3)?);
            let id: Option<String> = row.get(8)?;
            match kind.as_str() {
                "before_tool" => {
                    let end = ends.remove(&(agent.clone(), session.clone(), id.unwrap_or_default()));
                    let idle = idle.get(&(agent.clone(), session.clone())).copied();
                    let paths: Option<String> = row.get(6)?;
                    let call = RecordedCall {
                        agent,
                        session,
                        started: time,
                        ended: time,
                        settled: time,
                        has_ended: false,
                        tool: row.get::<_, Option<String>>(4)?.unwrap_or_default(),
                        command: row.get(5)?,
                        // What does not parse was not written by this code.
                        paths: paths.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default(),
                        cwd: row.get(7)?,
                    };
                    calls.push(call.until(end, idle, self.options.now));
                }
                "after_tool" | "tool_failed" => {
                    ends.insert((agent, session, id.unwrap_or_default()), time);
                }
                _ => {
                    idle.insert((agent, session), time);
                }
            }
        }
        Ok(calls)
    }
}
