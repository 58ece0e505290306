//! Attempts that pace rules count, one row each, so that counting does not get slower as the journal grows.
//!
//! Attempts that are counted together form a group, whose name this crate does not interpret. The rows are part of a
//! session's state. Their kind sorts before the kinds of variables and counters, so that a query for those does not
//! read them.

use rusqlite::params;
use serde_json::Value;

use crate::{EntryId, Masked, Result, SessionKey, Store, phase_key};

pub(crate) const KIND: &str = "counted";

/// Something that counts for a pace rule.
#[derive(Debug, Clone, PartialEq)]
pub struct CountedAttempt {
    /// The phase that the attempt counts in; none: the session.
    pub phase: Option<String>,
    pub group: String,
    /// Milliseconds since 1970.
    pub time: i64,
    pub value: Value,
    /// The start of the rule's time window. Older attempts of the group are deleted.
    pub since: i64,
}

impl Store {
    /// Called inside a write transaction, after the event's row was inserted.
    pub(crate) fn insert_attempts(
        &self,
        session: i64,
        event: EntryId,
        attempts: &[CountedAttempt],
        root: &str,
    ) -> Result<()> {
        for (index, CountedAttempt { phase, group, time, value, since }) in attempts.iter().enumerate() {
            let session = match phase {
                Some(phase) => self.intern_session(phase_key(phase), root, *time)?,
                None => session,
            };
            self.connection.prepare_cached("INSERT OR REPLACE INTO state VALUES (?1, ?2, ?3, ?4)")?.execute(
                params![
                    session,
                    KIND,
                    format!("{}{}.{index}", row_name_prefix(group, *time), event.0),
                    Masked::json(value)
                ],
            )?;
            self.connection
                .prepare_cached("DELETE FROM state WHERE session = ?1 AND kind = ?2 AND name >= ?3 AND name < ?4")?
                .execute(params![session, KIND, row_name_prefix(group, 0), row_name_prefix(group, *since)])?;
        }
        Ok(())
    }

    /// Returns the times and values of a group's last `limit` attempts since a time, oldest first.
    pub fn attempts(&self, key: SessionKey<'_>, group: &str, since: i64, limit: usize) -> Result<Vec<(i64, Value)>> {
        let Some(session) = self.session_id(key)? else { return Ok(Vec::new()) };
        let mut statement = self.connection.prepare_cached(
            "SELECT name, value FROM state WHERE session = ?1 AND kind = ?2 AND name >= ?3 AND name < ?4 ORDER BY name DESC LIMIT ?5",
        )?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut rows = statement.query(params![
            session,
            KIND,
            row_name_prefix(group, since),
            row_name_prefix(group, i64::MAX),
            limit
        ])?;
        let mut attempts = Vec::new();
        while let Some(row) = rows.next()? {
            let name: String = row.get(0)?;
            // Skips rows that do not parse: this code did not write them.
            let time = name.get(group.len() + 1..).and_then(|rest| rest.get(..TIME_DIGITS)?.parse().ok());
            let value = row.get_ref(1)?.as_bytes().ok().and_then(|json| serde_json::from_slice(json).ok());
            attempts.extend(time.zip(value));
        }
        attempts.reverse();
        Ok(attempts)
    }

    /// Returns the groups, times and values of attempts since a time, in all groups whose names start with `prefix`.
    /// Reads at most `limit` rows; older attempts count toward that limit, too.
    pub fn attempts_by_prefix(
        &self,
        key: SessionKey<'_>,
        prefix: &str,
        since: i64,
        limit: usize,
    ) -> Result<Vec<(String, i64, Value)>> {
        let Some(session) = self.session_id(key)? else { return Ok(Vec::new()) };
        let mut statement = self.connection.prepare_cached(
            "SELECT name, value FROM state WHERE session = ?1 AND kind = ?2 AND name >= ?3 AND name < ?4 ORDER BY name LIMIT ?5",
        )?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut rows = statement.query(params![session, KIND, prefix, format!("{prefix}\u{10ffff}"), limit])?;
        let mut attempts = Vec::new();
        while let Some(row) = rows.next()? {
            let name = row.get_ref(0)?.as_str().unwrap_or_default();
            let mut parts = name.rsplitn(3, '/').skip(1);
            // Skips rows that do not parse: this code did not write them.
            let time = parts.next().and_then(|time| time.parse().ok()).filter(|time| *time >= since);
            let (Some(time), Some(group)) = (time, parts.next()) else { continue };
            let value = row.get_ref(1)?.as_bytes().ok().and_then(|json| serde_json::from_slice(json).ok());
            attempts.extend(value.map(|value| (group.to_owned(), time, value)));
        }
        Ok(attempts)
    }
}

/// The number of digits of a time in a row's name: enough for every `i64`.
const TIME_DIGITS: usize = 19;

/// Returns the start of a row's name. Zero padding makes the names of a group sort by time.
fn row_name_prefix(group: &str, time: i64) -> String {
    format!("{group}/{:0TIME_DIGITS$}/", time.max(0))
}
