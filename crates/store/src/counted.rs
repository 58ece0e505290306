//! What pace rules counted, a row each, so that counting again costs no more after many events than after few.
//!
//! What counts together is a lot; its name means nothing here. Rows lie among a session's state, before its variables
//! and counters (by the name of their kind), where whoever reads those does not meet them.

use rusqlite::params;
use serde_json::Value;

use crate::{EventId, Masked, Result, SessionKey, Store, phase_key};

pub(crate) const KIND: &str = "counted";

/// Something that counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Counted {
    /// The phase of a workflow; none: the session.
    pub phase: Option<String>,
    pub lot: String,
    /// Milliseconds since 1970.
    pub time: i64,
    pub value: Value,
    /// Of the lot, what is older will not be asked for again.
    pub since: i64,
}

impl Store {
    /// Inside a transaction for writing, behind the event's row.
    pub(crate) fn insert_counted(&self, session: i64, event: EventId, counted: &[Counted], root: &str) -> Result<()> {
        for (place, Counted { phase, lot, time, value, since }) in counted.iter().enumerate() {
            let session = match phase {
                Some(phase) => self.intern_session(phase_key(phase), root, *time)?,
                None => session,
            };
            self.connection.prepare_cached("INSERT OR REPLACE INTO state VALUES (?1, ?2, ?3, ?4)")?.execute(
                params![session, KIND, format!("{}{}.{place}", name(lot, *time), event.0), Masked::json(value)],
            )?;
            self.connection
                .prepare_cached("DELETE FROM state WHERE session = ?1 AND kind = ?2 AND name >= ?3 AND name < ?4")?
                .execute(params![session, KIND, name(lot, 0), name(lot, *since)])?;
        }
        Ok(())
    }

    /// What of a lot was counted in a session since a time, oldest first, with when. Of very many, the latest.
    pub fn counted(&self, key: SessionKey<'_>, lot: &str, since: i64, limit: usize) -> Result<Vec<(i64, Value)>> {
        let Some(session) = self.session_id(key)? else { return Ok(Vec::new()) };
        let mut statement = self.connection.prepare_cached(
            "SELECT name, value FROM state WHERE session = ?1 AND kind = ?2 AND name >= ?3 AND name < ?4 ORDER BY name DESC LIMIT ?5",
        )?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut rows = statement.query(params![session, KIND, name(lot, since), name(lot, i64::MAX), limit])?;
        let mut counted = Vec::new();
        while let Some(row) = rows.next()? {
            let name: String = row.get(0)?;
            // What does not parse was not written by this code.
            let time = name.get(lot.len() + 1..).and_then(|rest| rest.get(..DIGITS)?.parse().ok());
            let value = row.get_ref(1)?.as_bytes().ok().and_then(|json| serde_json::from_slice(json).ok());
            counted.extend(time.zip(value));
        }
        counted.reverse();
        Ok(counted)
    }

    /// What was counted in a session since a time in all lots whose names begin so: the lot, when, and what. `limit`: how many
    /// rows are looked at, old ones included.
    pub fn counted_in_lots(
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
        let mut counted = Vec::new();
        while let Some(row) = rows.next()? {
            let name = row.get_ref(0)?.as_str().unwrap_or_default();
            let mut parts = name.rsplitn(3, '/').skip(1);
            // What does not parse was not written by this code.
            let time = parts.next().and_then(|time| time.parse().ok()).filter(|time| *time >= since);
            let (Some(time), Some(lot)) = (time, parts.next()) else { continue };
            let value = row.get_ref(1)?.as_bytes().ok().and_then(|json| serde_json::from_slice(json).ok());
            counted.extend(value.map(|value| (lot.to_owned(), time, value)));
        }
        Ok(counted)
    }
}

/// Enough for every time there is.
const DIGITS: usize = 19;

/// Names of a lot are in the order of their times.
fn name(lot: &str, time: i64) -> String {
    format!("{lot}/{:0DIGITS$}/", time.max(0))
}
