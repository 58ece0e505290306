//! Tool calls of every session, with when they ran.

use std::collections::{BTreeMap, BTreeSet};

use engine::event::FileAccess;
use rusqlite::params;

use crate::{Result, SessionKey, Store, mask};

/// A call of which no end was seen is not thought to last longer than this; in milliseconds.
const LONGEST: i64 = 10 * 60 * 1000;

/// A tool call that was not refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    pub agent: String,
    pub session: String,
    /// Milliseconds since 1970.
    pub started: i64,
    /// Where no end of it was seen: when the session was next given a prompt, stopped or ended; before that, now. Not much
    /// later than it started.
    pub ended: i64,
    /// Whether its end is known. A call that runs has none, nor has one that was broken off or that a person did not let the
    /// agent make.
    pub has_ended: bool,
    pub tool: String,
    pub command: Option<String>,
    pub paths: Vec<FileAccess>,
    pub cwd: String,
}

impl Call {
    /// Whether files may change by it that it does not name.
    pub fn may_write(&self) -> bool {
        self.command.is_some() || self.tool.starts_with("mcp__")
    }

    /// A call of which no end was seen. `tells_ends`: of other calls of the session it was.
    fn without_end(self, later: Later, tells_ends: bool, now: i64) -> Self {
        let latest = self.started.saturating_add(LONGEST);
        match later.next.filter(|_| !tells_ends) {
            // Some agents tell of no call that it ended: then it did when the session went on.
            Some(next) => Self { ended: next.min(latest), has_ended: true, ..self },
            None => Self { ended: later.idle.unwrap_or(now).min(latest), has_ended: false, ..self },
        }
    }
}

/// What was heard of a session after one of its events.
#[derive(Clone, Copy, Default)]
struct Later {
    /// When it next did something.
    next: Option<i64>,
    /// When none of its calls ran any more: a prompt, a stop, the end of the session.
    idle: Option<i64>,
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

    /// The last calls of all sessions, newest first.
    pub fn calls(&self, limit: usize) -> Result<Vec<Call>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT s.agent, s.session, e.time, e.kind, e.tool, e.command, e.paths, e.cwd, e.call FROM events e \
             JOIN sessions s ON s.id = e.session WHERE e.kind IN ('before_tool', 'after_tool', 'tool_failed', 'stop', 'prompt', 'session_end') \
             AND (e.level <> 'block' OR e.lifted IS NOT NULL OR e.kind <> 'before_tool') ORDER BY e.id DESC LIMIT ?1",
        )?;
        let mut rows = statement.query([i64::try_from(limit).unwrap_or(i64::MAX)])?;
        // Calls, with what was heard of the session after those that have no end.
        let mut calls: Vec<(Call, Option<Later>)> = Vec::new();
        // When the calls ended whose beginning was not seen yet, and what was heard of each session after this event.
        let mut ends: BTreeMap<(String, String, String), i64> = BTreeMap::new();
        let mut heard: BTreeMap<(String, String), Later> = BTreeMap::new();
        let mut tells_ends: BTreeSet<(String, String)> = BTreeSet::new();
        while let Some(row) = rows.next()? {
            let (agent, session): (String, String) = (row.get(0)?, row.get(1)?);
            let (time, kind): (i64, String) = (row.get(2)?, row.get(3)?);
            let id: Option<String> = row.get(8)?;
            let whose = (agent.clone(), session.clone());
            let later = heard.entry(whose.clone()).or_default();
            match kind.as_str() {
                "before_tool" => {
                    let end = ends.remove(&(agent.clone(), session.clone(), id.unwrap_or_default()));
                    let paths: Option<String> = row.get(6)?;
                    let call = Call {
                        agent,
                        session,
                        started: time,
                        ended: end.unwrap_or(time),
                        has_ended: end.is_some(),
                        tool: row.get::<_, Option<String>>(4)?.unwrap_or_default(),
                        command: row.get(5)?,
                        // What does not parse was not written by this code.
                        paths: paths.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default(),
                        cwd: row.get(7)?,
                    };
                    calls.push((call, end.is_none().then_some(*later)));
                }
                "after_tool" | "tool_failed" => {
                    ends.insert((agent, session, id.unwrap_or_default()), time);
                    tells_ends.insert(whose);
                }
                _ => later.idle = Some(time),
            }
            // A session that is over does nothing more.
            if kind != "session_end" {
                later.next = Some(time);
            }
        }
        let finished = calls.into_iter().map(|(call, later)| match later {
            Some(later) => {
                let tells_ends = tells_ends.contains(&(call.agent.clone(), call.session.clone()));
                call.without_end(later, tells_ends, self.options.now)
            }
            None => call,
        });
        Ok(finished.collect())
    }
}
