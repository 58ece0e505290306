//! Token usage: one row per message, and a sum per session and per phase.
//!
//! A message is identified by its id. Several transcripts may report it, several times; the report with the largest
//! token count is stored. A message counts in the session whose transcript reports it, if it was written after that
//! session's first event (the transcript of a forked session begins with a copy of the original's messages), and in the
//! phase in which it was written. A message that counts in neither is not stored.
//!
//! INVARIANT: a sum equals the total of the messages that count in it. When a message changes, its old tokens are
//! subtracted from the old sums and its new tokens are added to the new sums, in the same transaction. So nothing is
//! counted twice, however often and in whatever order transcripts are read, and a sum is never computed from its
//! messages again.
//!
//! Messages and reading positions of transcripts are rows under a separate key; sums are rows under the keys of
//! sessions and phases. The kinds of all these rows sort before the kinds of variables and counters (see
//! `attempts.rs`). This crate does not read transcripts and does not interpret positions.

use std::collections::BTreeMap;

use engine::pace::{TokenKind, Tokens};
use rusqlite::{OptionalExtension, ToSql, Transaction, TransactionBehavior, params};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Result, SessionKey, Store, mask, phase_key};

/// The key of messages and reading positions.
pub(crate) const TOKENS_SESSION: SessionKey<'static> = SessionKey { agent: "tokens", session: "" };

/// The `kind` of state rows with token counts: one row per message, with its id as name, and one sum per session or
/// phase, without a name.
const TOKENS_KIND: &str = "consumed";
/// The `kind` of rows with reading positions, with the transcript's path as name.
const POSITION_KIND: &str = "consumed_read";
/// The `kind` of the single row with the time before which messages were pruned. A message from before that time is not
/// counted again.
const PRUNED_BEFORE_KIND: &str = "consumed_since";

/// The tokens of one request to a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscriptMessage {
    /// Unique per agent.
    pub id: String,
    /// When the message was written, in milliseconds since 1970.
    pub time: i64,
    pub tokens: Tokens,
}

/// A part of a transcript that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct TranscriptChunk<'a> {
    pub path: &'a str,
    /// The session that the transcript belongs to.
    pub session: SessionKey<'a>,
    pub messages: Vec<TranscriptMessage>,
    /// The position from which to continue reading.
    pub end: Value,
}

/// The start of a phase. The phase lasts until the next one starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhaseStart {
    /// Milliseconds since 1970.
    pub time: i64,
    pub phase: String,
}

/// The value of a message's row, as JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct StoredMessage {
    time: i64,
    tokens: Tokens,
    /// The session that the message counts in, if any.
    session: Option<i64>,
    phase: Option<i64>,
}

impl StoredMessage {
    /// Combines two reports of a message. Of equal token counts, the stored one wins.
    fn merge(self, reported: Self) -> Self {
        let larger = if total(reported.tokens) > total(self.tokens) { reported } else { self };
        Self { session: self.session.or(reported.session), phase: larger.phase.or(self.phase), ..larger }
    }

    /// The row ids of the session and the phase that the message counts in.
    fn counted_in(self) -> impl Iterator<Item = i64> {
        self.session.into_iter().chain(self.phase)
    }
}

/// The value of a reading position's row, as JSON.
#[derive(Serialize, Deserialize)]
struct StoredPosition {
    /// When the transcript was read.
    time: i64,
    end: Value,
}

fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn total(tokens: Tokens) -> u64 {
    tokens.sum(&TokenKind::ALL)
}

/// The changes of sums, by the row id of the session or phase.
#[derive(Default)]
struct SumChanges(BTreeMap<i64, SumChange>);

#[derive(Default)]
struct SumChange {
    added: Tokens,
    subtracted: Tokens,
}

impl SumChanges {
    fn replace(&mut self, old: Option<StoredMessage>, new: StoredMessage) {
        for id in new.counted_in() {
            self.0.entry(id).or_default().added += new.tokens;
        }
        for (old, id) in old.into_iter().flat_map(|old| old.counted_in().map(move |id| (old, id))) {
            self.0.entry(id).or_default().subtracted += old.tokens;
        }
    }
}

impl Store {
    /// Returns the position from which to continue reading a transcript; none if it was not read yet.
    pub fn transcript_position(&self, path: &str) -> Result<Option<Value>> {
        let Some(tokens_session) = self.session_id(TOKENS_SESSION)? else { return Ok(None) };
        Ok(self.read_row(tokens_session, POSITION_KIND, &mask(path))?.map(|position: StoredPosition| position.end))
    }

    /// Returns the tokens of a session or a phase.
    pub fn tokens(&self, key: SessionKey<'_>) -> Result<Tokens> {
        let Some(id) = self.session_id(key)? else { return Ok(Tokens::default()) };
        Ok(self.read_row(id, TOKENS_KIND, "")?.unwrap_or_default())
    }

    /// Adds the messages in one transaction. `phases`: the phases of the active workflow, in order.
    ///
    /// Idempotent: if two processes read the same messages, the second one changes nothing.
    pub fn add_token_usage(&mut self, chunks: &[TranscriptChunk<'_>], phases: &[PhaseStart]) -> Result<()> {
        let transaction = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
        let tokens_session = self.intern_session(TOKENS_SESSION, "", self.options.now)?;
        let pruned_before = self.read_row(tokens_session, PRUNED_BEFORE_KIND, "")?.unwrap_or(i64::MIN);
        let mut sum_changes = SumChanges::default();
        let mut phase_ids = BTreeMap::new();
        for TranscriptChunk { path, session, messages, end } in chunks {
            let session_start = self.session_start(*session)?;
            for message in messages.iter().filter(|message| message.time >= pruned_before) {
                let TranscriptMessage { id, time, tokens } = message;
                let phase = match phases.iter().rfind(|phase| phase.time <= *time) {
                    Some(start) => Some(self.phase_id(start, &mut phase_ids)?),
                    None => None,
                };
                let session_id = session_start.filter(|(_, start)| start <= time).map(|(id, _)| id);
                let reported = StoredMessage { time: *time, tokens: *tokens, session: session_id, phase };
                let name = format!("{}/{id}", session.agent);
                let old: Option<StoredMessage> = self.read_row(tokens_session, TOKENS_KIND, &name)?;
                let new = old.map_or(reported, |old| old.merge(reported));
                if old != Some(new) && new.counted_in().next().is_some() {
                    self.write_row(tokens_session, TOKENS_KIND, &name, &to_json(&new))?;
                    sum_changes.replace(old, new);
                }
            }
            let position = StoredPosition { time: self.options.now, end: end.clone() };
            self.write_row(tokens_session, POSITION_KIND, &mask(path), &to_json(&position))?;
        }
        for (id, SumChange { added, subtracted }) in sum_changes.0 {
            let mut sum: Tokens = self.read_row(id, TOKENS_KIND, "")?.unwrap_or_default();
            sum += added;
            sum -= subtracted;
            self.write_row(id, TOKENS_KIND, "", &to_json(&sum))?;
        }
        transaction.commit()?;
        self.checkpoint_long_wal();
        Ok(())
    }

    /// Deletes messages older than `before`, and the positions of transcripts that were last read before that time. A
    /// deleted message that is reported again is not counted again.
    pub(crate) fn prune_tokens(&self, before: i64) -> Result<()> {
        let Some(tokens_session) = self.session_id(TOKENS_SESSION)? else { return Ok(()) };
        let before = before.min(self.options.now);
        let transaction = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
        self.write_row(tokens_session, PRUNED_BEFORE_KIND, "", &before)?;
        self.connection.execute(
            "DELETE FROM state WHERE session = ?1 AND kind IN (?2, ?3) AND json_extract(value, '$.time') < ?4",
            params![tokens_session, TOKENS_KIND, POSITION_KIND, before],
        )?;
        transaction.commit()?;
        Ok(())
    }

    /// Returns the row id of a session and the time of its first event.
    fn session_start(&self, key: SessionKey<'_>) -> Result<Option<(i64, i64)>> {
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

    /// Reads the JSON value of a row. A value that does not parse counts as absent: this code did not write it.
    fn read_row<T: for<'de> Deserialize<'de>>(&self, session: i64, kind: &str, name: &str) -> Result<Option<T>> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT CAST(value AS TEXT) FROM state WHERE session = ?1 AND kind = ?2 AND name = ?3")?;
        let json: Option<String> = statement.query_row(params![session, kind, name], |row| row.get(0)).optional()?;
        Ok(json.and_then(|json| serde_json::from_str(&json).ok()))
    }

    fn write_row(&self, session: i64, kind: &str, name: &str, value: &dyn ToSql) -> Result<()> {
        self.connection
            .prepare_cached("INSERT OR REPLACE INTO state VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![session, kind, name, value])?;
        Ok(())
    }
}
