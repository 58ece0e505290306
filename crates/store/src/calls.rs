//! Tool calls of all sessions, with their start and end times.

use std::collections::{BTreeMap, BTreeSet};

use engine::event::FileAccess;
use rusqlite::params;

use crate::{Result, SessionKey, Store, mask};

/// The assumed maximum duration of a call without an end event.
const MAX_DURATION_MS: i64 = 10 * 60 * 1000;

/// How long after its end a call may still change the files it names, through other hooks of the agent (formatters).
const QUIET_PERIOD_MS: i64 = 10 * 1000;

/// A tool call that Linchpin did not refuse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedCall {
    pub agent: String,
    pub session: String,
    /// Milliseconds since 1970.
    pub started: i64,
    /// When the call ended. Without an end event: the session's next prompt, stop, start or end, or now if none of
    /// these followed, but at most ten minutes after the start of the call.
    pub ended: i64,
    /// When other hooks of the agent (formatters) are assumed to be done with the call's files. Never before `ended`.
    pub quiet_after: i64,
    /// True if an end event was recorded. There is none for a call that still runs, was interrupted, or was denied by
    /// the person.
    pub has_ended: bool,
    pub tool: String,
    pub command: Option<String>,
    pub paths: Vec<FileAccess>,
    pub cwd: String,
}

/// The newest calls, newest first.
#[derive(Debug, PartialEq, Eq)]
pub struct RecordedCalls {
    pub calls: Vec<RecordedCall>,
    /// False if there may be older calls.
    pub is_complete: bool,
    /// When the oldest event that was read happened; `None` if there is none.
    pub oldest: Option<i64>,
    /// The sessions whose start was reported, as pairs of agent and session id.
    pub started_sessions: BTreeSet<(String, String)>,
}

impl RecordedCalls {
    /// True if all calls of a session are there. `first_seen` is the time of the session's first event.
    pub fn has_all_since(&self, first_seen: Option<i64>) -> bool {
        self.is_complete || first_seen.zip(self.oldest).is_some_and(|(first_seen, oldest)| first_seen > oldest)
    }
}

impl RecordedCall {
    /// True if the call may change files that it does not name.
    pub fn may_write_unnamed_files(&self) -> bool {
        self.command.is_some() || self.tool.starts_with("mcp__")
    }

    /// True if the call may still run. `now`: when the journal was opened.
    pub fn may_still_run(&self, now: i64) -> bool {
        !self.has_ended && self.ended >= now
    }

    /// Sets the end times. `end`: the time of the end event, if any. `next_idle`: the next time at which the session is
    /// known to run no call.
    fn with_end(self, end: Option<i64>, next_idle: Option<i64>, now: i64) -> Self {
        let next_idle = next_idle.unwrap_or(now);
        let ended = end.unwrap_or_else(|| next_idle.min(self.started.saturating_add(MAX_DURATION_MS)));
        let quiet_after = next_idle.min(ended.saturating_add(QUIET_PERIOD_MS)).max(ended);
        Self { ended, quiet_after, has_ended: end.is_some(), ..self }
    }
}

impl Store {
    /// True if a session other than `key` has called a tool.
    pub fn has_other_sessions(&self, key: SessionKey<'_>) -> Result<bool> {
        let session = self.session_state(key)?.id.unwrap_or(0);
        let mut statement = self.connection.prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM sessions s WHERE s.id <> ?1 AND EXISTS \
             (SELECT 1 FROM events e WHERE e.session = s.id AND e.tool IS NOT NULL LIMIT 1))",
        )?;
        Ok(statement.query_row([session], |row| row.get(0))?)
    }

    /// True if one of the session's latest calls has this id and was allowed. If `call_id` is none, calls are compared
    /// by command.
    pub fn has_allowed_call(&self, key: SessionKey<'_>, call_id: Option<&str>, command: Option<&str>) -> Result<bool> {
        const RECENT_EVENTS: i64 = 64;
        let Some(session) = self.session_id(key)? else { return Ok(false) };
        let mut statement = self.connection.prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM (SELECT kind, call, command, level, lifted FROM events \
             WHERE session = ?1 AND (command IS NULL) = ?2 ORDER BY id DESC LIMIT ?3) WHERE kind = 'before_tool' \
             AND (level IN ('allow', 'warn') OR lifted IS NOT NULL) AND CASE WHEN ?4 IS NULL THEN command = ?5 ELSE call = ?4 END)",
        )?;
        let command = command.map(mask);
        Ok(statement
            .query_row(params![session, command.is_none(), RECENT_EVENTS, call_id, command], |row| row.get(0))?)
    }

    /// True if the session's last stop was refused and no prompt came since: the agent continues because of a hold.
    pub fn is_held(&self, key: SessionKey<'_>) -> Result<bool> {
        let Some(session) = self.session_id(key)? else { return Ok(false) };
        let mut statement = self.connection.prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM (SELECT kind, level, lifted FROM events WHERE session = ?1 \
             AND kind IN ('stop', 'prompt') ORDER BY id DESC LIMIT 1) WHERE kind = 'stop' AND level = 'block' AND lifted IS NULL)",
        )?;
        Ok(statement.query_row([session], |row| row.get(0))?)
    }

    /// Returns the calls among the last `limit` relevant events of all sessions.
    pub fn calls(&self, limit: usize) -> Result<RecordedCalls> {
        let mut statement = self.connection.prepare_cached(
            "SELECT s.agent, s.session, e.time, e.kind, e.tool, e.command, e.paths, e.cwd, e.call FROM events e \
             JOIN sessions s ON s.id = e.session \
             WHERE e.kind IN ('before_tool', 'after_tool', 'tool_failed', 'stop', 'prompt', 'session_start', 'session_end') \
             AND (e.level <> 'block' OR e.lifted IS NOT NULL OR e.kind <> 'before_tool') ORDER BY e.id DESC LIMIT ?1",
        )?;
        let mut rows = statement.query([i64::try_from(limit).unwrap_or(i64::MAX)])?;
        let mut calls: Vec<RecordedCall> = Vec::new();
        let (mut event_count, mut oldest) = (0, None);
        let mut started_sessions = BTreeSet::new();
        // The rows are newest first, so the end of a call is read before its start.
        let mut ends: BTreeMap<(String, String, String), i64> = BTreeMap::new();
        // By session, the next time at which it was idle: at a prompt, a stop, its start (if it was resumed) or its
        // end.
        let mut next_idle: BTreeMap<(String, String), i64> = BTreeMap::new();
        while let Some(row) = rows.next()? {
            event_count += 1;
            let (agent, session): (String, String) = (row.get(0)?, row.get(1)?);
            let (time, kind): (i64, String) = (row.get(2)?, row.get(3)?);
            let id: Option<String> = row.get(8)?;
            oldest = Some(time);
            if kind == "session_start" {
                started_sessions.insert((agent.clone(), session.clone()));
            }
            match kind.as_str() {
                "before_tool" => {
                    let end = ends.remove(&(agent.clone(), session.clone(), id.unwrap_or_default()));
                    let idle = next_idle.get(&(agent.clone(), session.clone())).copied();
                    let paths: Option<String> = row.get(6)?;
                    let call = RecordedCall {
                        agent,
                        session,
                        started: time,
                        ended: time,
                        quiet_after: time,
                        has_ended: false,
                        tool: row.get::<_, Option<String>>(4)?.unwrap_or_default(),
                        command: row.get(5)?,
                        // Ignores a value that does not parse: this code did not write it.
                        paths: paths.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default(),
                        cwd: row.get(7)?,
                    };
                    calls.push(call.with_end(end, idle, self.options.now));
                }
                "after_tool" | "tool_failed" => {
                    ends.insert((agent, session, id.unwrap_or_default()), time);
                }
                _ => {
                    next_idle.insert((agent, session), time);
                }
            }
        }
        Ok(RecordedCalls { calls, is_complete: event_count < limit, oldest, started_sessions })
    }
}
