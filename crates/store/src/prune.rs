//! Deletes journal entries older than the retention period. No other module deletes journal entries.

use rusqlite::{OptionalExtension, TransactionBehavior, params};

use crate::session_key::{RUN_PREFIX, WORKFLOW_AGENT};
use crate::tokens::TOKENS_SESSION;
use crate::{Result, Store};

/// The maximum number of rows per transaction: other processes can write in between, and the WAL stays short.
const MAX_BATCH_ROWS: i64 = 2_000;

impl Store {
    /// Deletes everything older than `before`: events, the state of sessions without remaining events, token usage of
    /// transcript messages, and rule versions that were replaced and that no finding refers to. Returns the number of
    /// deleted events.
    ///
    /// The newest event is never deleted, so that its id is not reused. Rows of `sessions` are never deleted, because a
    /// process that has read one may be about to record an event.
    pub fn prune(&mut self, before: i64) -> Result<usize> {
        let Some(end) = self.first_event_since(before)? else { return Ok(0) };
        let mut deleted = 0;
        let mut from: i64 =
            self.connection.query_row("SELECT coalesce(min(id), 0) FROM events", [], |row| row.get(0))?;
        while from < end {
            let to = end.min(from.saturating_add(MAX_BATCH_ROWS));
            deleted += self.prune_range(from, to, before)?;
            self.checkpoint_long_wal();
            from = to;
        }
        if deleted > 0 {
            self.prune_state(before)?;
        }
        self.prune_tokens(before)?;
        self.prune_rule_versions(before)?;
        Ok(deleted)
    }

    fn prune_range(&mut self, from: i64, to: i64, before: i64) -> Result<usize> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute(
            "DELETE FROM findings WHERE event IN (SELECT id FROM events WHERE id >= ?1 AND id < ?2 AND time < ?3)",
            params![from, to, before],
        )?;
        let deleted = transaction
            .execute("DELETE FROM events WHERE id >= ?1 AND id < ?2 AND time < ?3", params![from, to, before])?;
        transaction.commit()?;
        Ok(deleted)
    }

    /// Deletes the state of old sessions without events. Keeps the state of workflows, runs and token counts, which
    /// never have events: a workflow or a run remains active however long ago it began.
    fn prune_state(&self, before: i64) -> Result<()> {
        self.connection.execute(
            "DELETE FROM state WHERE session IN (SELECT id FROM sessions WHERE first_seen < ?1 \
             AND NOT EXISTS (SELECT 1 FROM events WHERE session = sessions.id) \
             AND (agent, session) NOT IN (VALUES (?2, ''), (?3, ?4)) AND NOT (agent = ?2 AND session LIKE ?5))",
            params![before, WORKFLOW_AGENT, TOKENS_SESSION.agent, TOKENS_SESSION.session, format!("{}%", RUN_PREFIX)],
        )?;
        Ok(())
    }

    /// Returns the id of the first event since `time`, or of the newest event if all are older; none in an empty
    /// journal. Uses binary search: ids are in order of time, except for events of processes that ran at the same
    /// moment.
    pub(crate) fn first_event_since(&self, time: i64) -> Result<Option<i64>> {
        let ends = self.connection.query_row(
            "SELECT (SELECT min(id) FROM events), (SELECT max(id) FROM events)",
            [],
            |row| Ok(row.get::<_, Option<i64>>(0)?.zip(row.get::<_, Option<i64>>(1)?)),
        )?;
        let Some((mut low, mut high)) = ends else { return Ok(None) };
        let mut at_or_after = self.connection.prepare("SELECT time FROM events WHERE id >= ?1 ORDER BY id LIMIT 1")?;
        while low < high {
            let middle = low + (high - low) / 2;
            let found: Option<i64> = at_or_after.query_row([middle], |row| row.get(0)).optional()?;
            if found.is_some_and(|found| found < time) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(Some(low))
    }
}
