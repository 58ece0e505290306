//! Tokens that were used, a row a message, and what they come to in each session and phase.
//!
//! A message is known by its id, however many transcripts tell of it and however often, and its largest figure is kept. It
//! counts in the session whose transcript tells of it, if it was written while that session lasted (the transcript of a
//! fork begins with what was said before), and in the phase in which it was written. What counts in neither is not kept.
//!
//! INVARIANT: a sum is what the messages that count in it come to. Whoever changes a message takes the old figure out of
//! its sums and adds the new one to its own, in the same transaction. So nothing is counted twice, whoever reads what, in
//! which order and how often, and nobody has to add up messages.
//!
//! Messages, and how far each transcript was read, lie under a key of their own, sums under those of sessions and phases;
//! all of them among the kinds that are not read with a session's state (see `counted.rs`). How a transcript is read, and
//! what the place means where reading stopped, is not known here.

use std::collections::BTreeMap;

use engine::pace::{TokenKind, Tokens};
use rusqlite::{OptionalExtension, ToSql, Transaction, TransactionBehavior, params};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Result, SessionKey, Store, mask, phase_key};

/// Under which messages and places in transcripts are kept.
pub(crate) const TOKENS: SessionKey<'static> = SessionKey { agent: "tokens", session: "" };

/// The kind of messages, by their ids, and of sums, which have no name.
const CONSUMED: &str = "consumed";
/// The kind of places in transcripts, by their paths.
const READ_TO: &str = "consumed_read";
/// The kind of the one row that says from when on messages are kept: older ones were forgotten.
const KEPT_SINCE: &str = "consumed_since";

/// What one request to a model used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Of the agent whose session it is, no other has it.
    pub id: String,
    /// When that was written, in milliseconds since 1970.
    pub time: i64,
    pub tokens: Tokens,
}

/// A piece of a transcript that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Stretch<'a> {
    pub path: &'a str,
    /// Whose transcript it is.
    pub session: SessionKey<'a>,
    pub messages: Vec<Message>,
    /// How to go on from its end.
    pub end: Value,
}

/// When a phase began. It lasts until the next one does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhaseStart {
    /// Milliseconds since 1970.
    pub time: i64,
    pub phase: String,
}

/// A message as it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Kept {
    time: i64,
    tokens: Tokens,
    /// In which it counts.
    session: Option<i64>,
    phase: Option<i64>,
}

impl Kept {
    /// What is kept of a message that is told of again. Of two figures that are as large, the one that was known stays.
    fn joined(self, told: Self) -> Self {
        let figure = if total(told.tokens) > total(self.tokens) { told } else { self };
        Self { session: self.session.or(told.session), phase: figure.phase.or(self.phase), ..figure }
    }

    fn sums(self) -> impl Iterator<Item = i64> {
        self.session.into_iter().chain(self.phase)
    }
}

/// How far a transcript was read.
#[derive(Serialize, Deserialize)]
struct Place {
    /// When.
    time: i64,
    end: Value,
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn total(tokens: Tokens) -> u64 {
    tokens.sum(&TokenKind::ALL)
}

/// What is to be added to sums, and what to be taken out.
#[derive(Default)]
struct Differences(BTreeMap<i64, (Tokens, Tokens)>);

impl Differences {
    fn replace(&mut self, old: Option<Kept>, new: Kept) {
        for sum in new.sums() {
            self.0.entry(sum).or_default().0 += new.tokens;
        }
        for (old, sum) in old.into_iter().flat_map(|old| old.sums().map(move |sum| (old, sum))) {
            self.0.entry(sum).or_default().1 += old.tokens;
        }
    }
}

impl Store {
    /// How to go on reading a transcript, where some of it was read.
    pub fn read_to(&self, path: &str) -> Result<Option<Value>> {
        let Some(own) = self.session_id(TOKENS)? else { return Ok(None) };
        Ok(self.row(own, READ_TO, &mask(path))?.map(|place: Place| place.end))
    }

    /// What the messages of a session, or of a phase, come to.
    pub fn tokens(&self, key: SessionKey<'_>) -> Result<Tokens> {
        let Some(id) = self.session_id(key)? else { return Ok(Tokens::default()) };
        Ok(self.row(id, CONSUMED, "")?.unwrap_or_default())
    }

    /// Counts what was read, in one transaction. `phases`: those of the workflow that is active, in order.
    ///
    /// Two processes may have read the same at the same time; then the second changes nothing.
    pub fn count_tokens(&mut self, read: &[Stretch<'_>], phases: &[PhaseStart]) -> Result<()> {
        let transaction = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
        let own = self.intern_session(TOKENS, "", self.options.now)?;
        let since = self.row(own, KEPT_SINCE, "")?.unwrap_or(i64::MIN);
        let mut differences = Differences::default();
        let mut phase_ids = BTreeMap::new();
        for Stretch { path, session, messages, end } in read {
            let of_session = self.beginning(*session)?;
            for message in messages.iter().filter(|message| message.time >= since) {
                let Message { id, time, tokens } = message;
                let phase = match phases.iter().rfind(|phase| phase.time <= *time) {
                    Some(start) => Some(self.phase_id(start, &mut phase_ids)?),
                    None => None,
                };
                let session_id = of_session.filter(|(_, begun)| begun <= time).map(|(id, _)| id);
                let told = Kept { time: *time, tokens: *tokens, session: session_id, phase };
                let name = format!("{}/{id}", session.agent);
                let old: Option<Kept> = self.row(own, CONSUMED, &name)?;
                let new = old.map_or(told, |old| old.joined(told));
                if old != Some(new) && new.sums().next().is_some() {
                    self.put_row(own, CONSUMED, &name, &json(&new))?;
                    differences.replace(old, new);
                }
            }
            let place = Place { time: self.options.now, end: end.clone() };
            self.put_row(own, READ_TO, &mask(path), &json(&place))?;
        }
        for (id, (more, less)) in differences.0 {
            let mut sum: Tokens = self.row(id, CONSUMED, "")?.unwrap_or_default();
            sum += more;
            sum -= less;
            self.put_row(id, CONSUMED, "", &json(&sum))?;
        }
        transaction.commit()?;
        self.checkpoint_if_long();
        Ok(())
    }

    /// Forgets the messages from before a time, and the transcripts that were not read since. Should somebody tell of such a
    /// message again, it does not count again.
    pub(crate) fn prune_tokens(&self, before: i64) -> Result<()> {
        let Some(own) = self.session_id(TOKENS)? else { return Ok(()) };
        let before = before.min(self.options.now);
        let transaction = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
        self.put_row(own, KEPT_SINCE, "", &before)?;
        self.connection.execute(
            "DELETE FROM state WHERE session = ?1 AND kind IN (?2, ?3) AND json_extract(value, '$.time') < ?4",
            params![own, CONSUMED, READ_TO, before],
        )?;
        transaction.commit()?;
        Ok(())
    }

    /// The number of a session and the time of its first event.
    fn beginning(&self, key: SessionKey<'_>) -> Result<Option<(i64, i64)>> {
        let found = self
            .connection
            .prepare_cached("SELECT id, first_seen FROM sessions WHERE agent = ?1 AND session = ?2")?
            .query_row([key.agent, key.session], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        Ok(found)
    }

    fn phase_id<'p>(&self, start: &'p PhaseStart, known: &mut BTreeMap<&'p str, i64>) -> Result<i64> {
        if let Some(id) = known.get(start.phase.as_str()) {
            return Ok(*id);
        }
        let id = self.intern_session(phase_key(&start.phase), "", start.time)?;
        known.insert(&start.phase, id);
        Ok(id)
    }

    /// What does not parse was not written by this code, and counts as nothing.
    fn row<T: for<'de> Deserialize<'de>>(&self, session: i64, kind: &str, name: &str) -> Result<Option<T>> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT CAST(value AS TEXT) FROM state WHERE session = ?1 AND kind = ?2 AND name = ?3")?;
        let json: Option<String> = statement.query_row(params![session, kind, name], |row| row.get(0)).optional()?;
        Ok(json.and_then(|json| serde_json::from_str(&json).ok()))
    }

    fn put_row(&self, session: i64, kind: &str, name: &str, value: &dyn ToSql) -> Result<()> {
        self.connection
            .prepare_cached("INSERT OR REPLACE INTO state VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![session, kind, name, value])?;
        Ok(())
    }
}
