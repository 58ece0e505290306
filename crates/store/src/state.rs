//! The variables and counters of a session or workflow, stored between events.
//!
//! Variables are JSON values that observers and rules set. Counters are integers that the crate `guard` keeps, such as
//! `hold:<rule>`. This crate does not interpret their names.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension, params};
use serde_json::{Map, Value};

use crate::mask::{self, MaskedValue};
use crate::{CounterChange, Masked, Result, SessionKey, StateChanges, Store};

/// The stored state of a session, or of a workflow, whose state is stored under a key like a session's.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StoredState {
    /// Sorted by name, in byte order.
    pub variables: Map<String, Value>,
    pub counters: BTreeMap<String, i64>,
    /// The project root at the session's first event; none before that event.
    pub root: Option<String>,
    /// The time of the session's first event, in milliseconds since 1970.
    pub first_seen: Option<i64>,
    pub(crate) id: Option<i64>,
    /// Incremented with every change of variables or counters.
    pub(crate) revision: i64,
}

impl StoredState {
    /// Returns a counter; 0 if it was never set.
    pub fn counter(&self, name: &str) -> i64 {
        self.counters.get(name).copied().unwrap_or(0)
    }
}

/// A row to write, because its stored value differs from the new one. The variable's value is none if it is unset.
pub(crate) enum StateWrite {
    Variable(String, Option<Masked<'static>>),
    Counter(String, i64),
}

impl StoredState {
    /// Returns the rows that the changes write, without those that would not change. Values of variables are masked.
    pub(crate) fn writes(&self, changes: &StateChanges) -> Vec<StateWrite> {
        let variables = self.variable_writes(&changes.session_variables);
        let counters = changes.counters.iter().filter_map(|(name, change)| {
            let old = self.counter(name);
            let new = match change {
                CounterChange::Add(amount) => old.saturating_add(*amount),
                CounterChange::Set(value) => *value,
            };
            (old != new).then(|| StateWrite::Counter(name.clone(), new))
        });
        variables.chain(counters).collect()
    }

    /// Like [`Self::writes`], for the changes to the workflow's variables. This is the state of the workflow.
    pub(crate) fn workflow_writes(&self, changes: &StateChanges) -> Vec<StateWrite> {
        self.variable_writes(&changes.workflow_variables).collect()
    }

    fn variable_writes(&self, changes: &BTreeMap<String, Option<Value>>) -> impl Iterator<Item = StateWrite> {
        changes.iter().filter_map(|(name, value)| {
            let value = value.as_ref().map(mask::mask_json);
            let differs = self.variables.get(name) != value.as_ref().map(MaskedValue::as_value);
            differs.then(|| StateWrite::Variable(name.clone(), value.map(|value| value.to_text())))
        })
    }
}

impl Store {
    /// Reads a session's current state. To judge and record an event by it, use [`Store::begin`] instead.
    pub fn session_state(&self, key: SessionKey<'_>) -> Result<StoredState> {
        let row = self
            .connection
            .prepare_cached("SELECT id, root, first_seen FROM sessions WHERE agent = ?1 AND session = ?2")?
            .query_row([key.agent, key.session], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .optional()?;
        let Some((id, root, first_seen)) = row else { return Ok(StoredState::default()) };
        let mut state = StoredState { id: Some(id), root, first_seen, ..StoredState::default() };
        // Skips the kinds that sort before `counter`, such as attempts: they may have very many rows.
        let mut statement = self
            .connection
            .prepare_cached("SELECT kind, name, value FROM state WHERE session = ?1 AND kind >= 'counter'")?;
        let mut rows = statement.query([id])?;
        while let Some(row) = rows.next()? {
            let name: String = row.get(1)?;
            match row.get_ref(0)?.as_bytes().unwrap_or_default() {
                b"variable" => {
                    // This code writes only valid JSON; ignore a value that does not parse.
                    let value = row.get_ref(2)?.as_bytes().ok().and_then(|json| serde_json::from_slice(json).ok());
                    state.variables.extend(value.map(|value| (name, value)));
                }
                b"counter" => {
                    state.counters.insert(name, row.get(2)?);
                }
                b"revision" => state.revision = row.get(2)?,
                _ => {}
            }
        }
        Ok(state)
    }

    /// Returns the agent and the id of the session with the newest journal entry. If `id` is set, considers only
    /// sessions with that id.
    pub fn latest_session(&self, id: Option<&str>) -> Result<Option<(String, String)>> {
        let found = self
            .connection
            .prepare_cached(
                "SELECT s.agent, s.session FROM events e JOIN sessions s ON s.id = e.session \
                 WHERE s.session <> '' AND (?1 IS NULL OR s.session = ?1) ORDER BY e.id DESC LIMIT 1",
            )?
            .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        Ok(found)
    }

    /// Returns when a person last wrote a prompt in a session with this id. A prompt with which an agent continues
    /// after a held stop does not count.
    pub fn last_prompt_time(&self, session: &str) -> Result<Option<i64>> {
        let time = self
            .connection
            .prepare_cached(
                "SELECT max(e.time) FROM sessions s JOIN events e ON e.session = s.id AND e.command IS NULL \
                 WHERE s.session = ?1 AND e.kind = 'prompt' AND e.held_before = 0 AND e.subagent IS NULL",
            )?
            .query_row([session], |row| row.get(0))?;
        Ok(time)
    }

    /// Returns the agents and ids of up to `limit` sessions with journal entries since `time`.
    pub fn sessions_since(&self, time: i64, limit: usize) -> Result<Vec<(String, String)>> {
        // The newest entry of a session is found by the index, however many entries there are.
        let newest = |is_without_command: u8| {
            format!(
                "ifnull((SELECT e.time FROM events e WHERE e.session = s.id AND (e.command IS NULL) = {is_without_command} \
                 ORDER BY e.id DESC LIMIT 1), ?1 - 1)"
            )
        };
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT s.agent, s.session FROM sessions s WHERE s.session <> '' AND max({}, {}) >= ?1 \
             ORDER BY s.id DESC LIMIT ?2",
            newest(0),
            newest(1)
        ))?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = statement.query_map([time, limit], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Returns the agents and ids of the sessions that have a variable of this name.
    pub fn sessions_with_variable(&self, name: &str) -> Result<Vec<(String, String)>> {
        let mut statement = self.connection.prepare(
            "SELECT s.agent, s.session FROM state t JOIN sessions s ON s.id = t.session WHERE t.kind = 'variable' AND t.name = ?1",
        )?;
        let rows = statement.query_map([name], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    pub(crate) fn session_id(&self, key: SessionKey<'_>) -> Result<Option<i64>> {
        let id = self
            .connection
            .prepare_cached("SELECT id FROM sessions WHERE agent = ?1 AND session = ?2")?
            .query_row([key.agent, key.session], |row| row.get(0))
            .optional()?;
        Ok(id)
    }

    pub(crate) fn revision(&self, session: i64) -> Result<i64> {
        let revision = self
            .connection
            .prepare_cached("SELECT value FROM state WHERE session = ?1 AND kind = 'revision' AND name = ''")?
            .query_row([session], |row| row.get(0))
            .optional()?;
        Ok(revision.unwrap_or(0))
    }

    /// Writes the rows and increments the revision. The caller holds a write transaction, in which it has checked that
    /// the stored revision is `revision`.
    pub(crate) fn write_state(&self, session: i64, revision: i64, writes: &[StateWrite]) -> Result<()> {
        let mut upsert = self.connection.prepare_cached("INSERT OR REPLACE INTO state VALUES (?1, ?2, ?3, ?4)")?;
        for write in writes {
            match write {
                StateWrite::Variable(name, Some(value)) => {
                    upsert.execute(params![session, "variable", name, value])?;
                }
                StateWrite::Variable(name, None) => {
                    self.connection
                        .prepare_cached("DELETE FROM state WHERE session = ?1 AND kind = 'variable' AND name = ?2")?
                        .execute(params![session, name])?;
                }
                StateWrite::Counter(name, value) => {
                    upsert.execute(params![session, "counter", name, value])?;
                }
            }
        }
        upsert.execute(params![session, "revision", "", revision + 1])?;
        Ok(())
    }
}
