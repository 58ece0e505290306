//! Forgetting what is older than the retention allows. The one place that deletes.

use rusqlite::{OptionalExtension, TransactionBehavior, params};

use crate::session_key::{RUN_PREFIX, WORKFLOW_AGENT};
use crate::tokens::TOKENS;
use crate::{Result, Store};

/// Rows a transaction: others get their turn in between, and the log stays short.
const ROWS_AT_ONCE: i64 = 2_000;

impl Store {
    /// Deletes the events from before a time, the variables and counters of sessions that have none left, the messages of
    /// transcripts, and the versions of rules that were replaced before it and that no finding names any more. Returns the
    /// number of events deleted.
    ///
    /// The newest event always stays, so that its id is not given again; and of a session its name, root and first time
    /// stay, because a process that read them may be about to record.
    pub fn prune(&mut self, before: i64) -> Result<usize> {
        let Some(end) = self.first_event_since(before)? else { return Ok(0) };
        let mut deleted = 0;
        let mut from: i64 =
            self.connection.query_row("SELECT coalesce(min(id), 0) FROM events", [], |row| row.get(0))?;
        while from < end {
            let to = end.min(from.saturating_add(ROWS_AT_ONCE));
            deleted += self.prune_range(from, to, before)?;
            self.checkpoint_if_long();
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

    /// The workflow and runs never have events of their own, and stand where they stand however long ago they were begun.
    fn prune_state(&self, before: i64) -> Result<()> {
        self.connection.execute(
            "DELETE FROM state WHERE session IN (SELECT id FROM sessions WHERE first_seen < ?1 \
             AND NOT EXISTS (SELECT 1 FROM events WHERE session = sessions.id) \
             AND (agent, session) NOT IN (VALUES (?2, ''), (?3, ?4)) AND NOT (agent = ?2 AND session LIKE ?5))",
            params![before, WORKFLOW_AGENT, TOKENS.agent, TOKENS.session, format!("{}%", RUN_PREFIX)],
        )?;
        Ok(())
    }

    /// Where the events since `time` begin: found by halving, because ids follow time but for the odd pair of processes
    /// that met. At the latest the newest event; none in an empty journal.
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
