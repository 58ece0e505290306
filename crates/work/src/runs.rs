//! Runs of a loop: their accepted topics, waiting topics, iterations, and requests to stop.
//!
//! One process drives a run and may die at any time, and other processes (the agents) publish topics. Therefore every
//! step is one transaction, and a run's usage is computed from its iterations instead of being stored.

use rusqlite::{OptionalExtension, Row, params};

use store::{Masked, mask};

use crate::run::{Iteration, IterationOutcome, PublishedTopic, Run, RunEnd, RunId, RunOutcome, RunUsage};
use crate::{Result, WorkDatabase};

/// - `topics`: accepted topics, in order. `iteration` is the iteration that published the topic, or 0. `taken` is the
///   iteration that handles the topic; NULL if the topic waits; 0 if no hat takes it.
/// - `iterations`: `seen` is the time of the driver's last heartbeat. `refused` is the reason why the last attempt to
///   hand over was refused. `waits_for` is a gate that only a person can open.
/// - `stops`: requests to stop. The time of a request to stop a run immediately is negative.
pub(crate) const TABLES: &str = "
    CREATE TABLE runs (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        objective TEXT,
        started INTEGER NOT NULL,
        ended INTEGER,
        ending TEXT,
        why TEXT
    ) STRICT;
    CREATE TABLE iterations (
        run INTEGER NOT NULL,
        number INTEGER NOT NULL,
        hat TEXT NOT NULL,
        topic TEXT NOT NULL,
        started INTEGER NOT NULL,
        seen INTEGER NOT NULL,
        ended INTEGER,
        outcome TEXT,
        refused TEXT,
        waits_for TEXT,
        remark TEXT,
        tokens INTEGER,
        cost_usd REAL,
        PRIMARY KEY (run, number)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE topics (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        run INTEGER NOT NULL,
        topic TEXT NOT NULL,
        summary TEXT NOT NULL,
        payload TEXT,
        hat TEXT,
        iteration INTEGER NOT NULL,
        taken INTEGER,
        tries INTEGER NOT NULL DEFAULT 0,
        remark TEXT,
        tree TEXT
    ) STRICT;
    CREATE INDEX topics_that_wait ON topics (run, taken);
    CREATE INDEX topics_of_iteration ON topics (run, iteration);
    CREATE INDEX topics_alike ON topics (run, topic, summary, tree);
    CREATE TABLE progress (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        run INTEGER NOT NULL,
        time INTEGER NOT NULL,
        text TEXT NOT NULL
    ) STRICT;
    CREATE TABLE stops (name TEXT PRIMARY KEY, time INTEGER NOT NULL) STRICT, WITHOUT ROWID;
";

/// A topic that an agent wants to publish.
#[derive(Debug, Clone, Copy)]
pub struct HandOver<'a> {
    pub topic: &'a str,
    pub summary: &'a str,
    /// A JSON object.
    pub payload: Option<&'a str>,
    /// True if the topic completes the run, so that no hat has to take it.
    pub completes_run: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HandOverOutcome {
    Accepted,
    /// The iteration has handed over already, with this topic.
    AlreadyHandedOver(String),
    /// The iteration has ended, or does not exist.
    IterationOver,
}

/// How an iteration ended.
#[derive(Debug, Clone, Default)]
pub struct IterationEnd {
    pub outcome: Option<IterationOutcome>,
    /// The reason, if the agent failed or did not hand over.
    pub remark: Option<String>,
    /// The note for the next agent that handles the same topic; none if that agent gets the remark.
    pub note_for_retry: Option<String>,
    /// A digest of the working tree.
    pub tree: Option<String>,
    pub tokens: Option<i64>,
    pub cost_usd: Option<f64>,
}

impl WorkDatabase {
    /// Begins a run by publishing its first topic.
    pub fn begin_run(&self, objective: Option<&str>, topic: &str, now: i64) -> Result<RunId> {
        let transaction = self.write_transaction()?;
        let objective = objective.map(mask);
        transaction.execute("INSERT INTO runs (objective, started) VALUES (?1, ?2)", params![objective, now])?;
        let run = transaction.last_insert_rowid();
        let run = RunId(run.unsigned_abs());
        publish(&transaction, run, topic, &objective.unwrap_or_default())?;
        transaction.commit()?;
        Ok(run)
    }

    /// Publishes a topic that the loop itself publishes, not a hat.
    pub fn publish_for_run(&self, run: RunId, topic: &str, summary: &str) -> Result<()> {
        publish(&self.connection, run, topic, &mask(summary))
    }

    /// Resumes a run that ended, or whose driver was killed. An iteration without an end is stored as handed over if it
    /// published a topic; otherwise it is stored as aborted, and the topic that it handled waits again. Topics that no
    /// hat took wait again too, because the hats may have changed, except `completion_topic`, which completes the run.
    pub fn resume_run(&self, run: RunId, completion_topic: &str, now: i64) -> Result<()> {
        let transaction = self.write_transaction()?;
        transaction.execute(
            "UPDATE topics SET taken = NULL WHERE run = ?1 AND taken = 0 AND topic <> ?2",
            params![run, completion_topic],
        )?;
        transaction.execute(
            "UPDATE topics SET taken = NULL WHERE run = ?1 AND taken IN (SELECT number FROM iterations i WHERE i.run = ?1 \
             AND outcome IS NULL AND NOT EXISTS (SELECT 1 FROM topics t WHERE t.run = ?1 AND t.iteration = i.number))",
            [run],
        )?;
        transaction.execute(
            "UPDATE iterations SET ended = seen, outcome = CASE WHEN EXISTS (SELECT 1 FROM topics t WHERE t.run = ?1 \
             AND t.iteration = number) THEN ?2 ELSE ?3 END WHERE run = ?1 AND outcome IS NULL",
            params![run, IterationOutcome::HandedOver.name(), IterationOutcome::Aborted.name()],
        )?;
        reopen_tasks(&transaction, &format!("{run}/%"), now)?;
        // Resuming withdraws a request to stop, and topics that failed get all their retries again.
        transaction.execute("DELETE FROM stops WHERE name = ?1", [run_stop_name(run)])?;
        transaction.execute("UPDATE topics SET tries = 0 WHERE run = ?1 AND taken IS NULL", [run])?;
        transaction.execute("UPDATE runs SET ended = NULL, ending = NULL, why = NULL WHERE id = ?1", [run])?;
        Ok(transaction.commit()?)
    }

    pub fn end_run(&self, run: RunId, outcome: RunOutcome, why: &str, now: i64) -> Result<()> {
        self.connection.execute(
            "UPDATE runs SET ended = ?2, ending = ?3, why = ?4 WHERE id = ?1",
            params![run, now, outcome.name(), mask(why)],
        )?;
        Ok(())
    }

    pub fn run(&self, run: RunId) -> Result<Option<Run>> {
        let found = self
            .connection
            .prepare_cached(&format!("{SELECT_RUN} WHERE id = ?1"))?
            .query_row([run], run_from_row)
            .optional()?;
        Ok(found)
    }

    /// Returns the last `limit` runs, newest first.
    pub fn runs(&self, limit: u32) -> Result<Vec<Run>> {
        let mut statement = self.connection.prepare(&format!("{SELECT_RUN} ORDER BY id DESC LIMIT ?1"))?;
        let runs = statement.query_map([limit], run_from_row)?.collect::<rusqlite::Result<_>>()?;
        Ok(runs)
    }

    /// Returns the topic that has waited longest.
    pub fn oldest_waiting_topic(&self, run: RunId) -> Result<Option<PublishedTopic>> {
        let found = self
            .connection
            .prepare_cached(
                "SELECT id, topic, summary, payload, hat, tries, remark FROM topics \
                 WHERE run = ?1 AND taken IS NULL ORDER BY id LIMIT 1",
            )?
            .query_row([run], |row| {
                Ok(PublishedTopic {
                    id: row.get(0)?,
                    topic: row.get(1)?,
                    summary: row.get(2)?,
                    payload: row.get(3)?,
                    from: row.get(4)?,
                    tries: row.get(5)?,
                    remark: row.get(6)?,
                })
            })
            .optional()?;
        Ok(found)
    }

    /// Marks a topic as handled, because no hat takes it.
    pub fn skip_topic(&self, published: i64) -> Result<()> {
        self.connection.execute("UPDATE topics SET taken = 0 WHERE id = ?1", [published])?;
        Ok(())
    }

    /// Begins an iteration that handles a waiting topic under a hat, and returns the iteration's number.
    pub fn begin_iteration(&self, run: RunId, published: &PublishedTopic, hat: &str, now: i64) -> Result<u32> {
        let transaction = self.write_transaction()?;
        let number: u32 = transaction.query_row(
            "SELECT coalesce(max(number), 0) + 1 FROM iterations WHERE run = ?1",
            [run],
            |row| row.get(0),
        )?;
        transaction.execute(
            "INSERT INTO iterations (run, number, hat, topic, started, seen) VALUES (?1, ?2, ?3, ?4, ?5, ?5)",
            params![run, number, hat, published.topic, now],
        )?;
        transaction.execute("UPDATE topics SET taken = ?2 WHERE id = ?1", params![published.id, number])?;
        transaction.commit()?;
        Ok(number)
    }

    /// Stores that the driver was alive at this time.
    pub fn record_heartbeat(&self, run: RunId, iteration: u32, now: i64) -> Result<()> {
        self.connection
            .prepare_cached("UPDATE iterations SET seen = ?3 WHERE run = ?1 AND number = ?2")?
            .execute(params![run, iteration, now])?;
        Ok(())
    }

    /// Accepts a topic if the iteration has not ended and has not handed over yet.
    pub fn hand_over(&self, run: RunId, iteration: u32, hat: &str, hand_over: HandOver<'_>) -> Result<HandOverOutcome> {
        let transaction = self.write_transaction()?;
        let is_active = transaction
            .query_row(
                "SELECT 1 FROM iterations JOIN runs ON runs.id = run WHERE run = ?1 AND number = ?2 AND outcome IS NULL \
                 AND runs.ended IS NULL",
                params![run, iteration],
                |_| Ok(()),
            )
            .optional()?
            .is_some();
        if !is_active {
            return Ok(HandOverOutcome::IterationOver);
        }
        if let Some(topic) = handed_over_topic(&transaction, run, iteration)? {
            return Ok(HandOverOutcome::AlreadyHandedOver(topic));
        }
        transaction.execute(
            "INSERT INTO topics (run, topic, summary, payload, hat, iteration, taken) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![
                run,
                hand_over.topic,
                mask(hand_over.summary),
                hand_over.payload.map(mask),
                hat,
                iteration,
                hand_over.completes_run.then_some(0)
            ],
        )?;
        transaction.commit()?;
        Ok(HandOverOutcome::Accepted)
    }

    /// Stores why the iteration's last attempt to hand over was refused. `waits_for`: the gate that a person has to
    /// open, if that is the only reason.
    pub fn record_refusal(&self, run: RunId, iteration: u32, why: &str, waits_for: Option<&str>) -> Result<()> {
        self.connection.execute(
            "UPDATE iterations SET refused = ?3, waits_for = ?4 WHERE run = ?1 AND number = ?2",
            params![run, iteration, mask(why), waits_for],
        )?;
        Ok(())
    }

    /// Returns the gate that a person has to open, if the iteration's last attempt to hand over failed only at that
    /// gate.
    pub fn awaited_gate(&self, run: RunId, iteration: u32) -> Result<Option<String>> {
        let found = self.connection.query_row(
            "SELECT waits_for FROM iterations WHERE run = ?1 AND number = ?2",
            params![run, iteration],
            |row| row.get(0),
        );
        Ok(found.optional()?.flatten())
    }

    /// Like [`Self::awaited_gate`], for the latest iteration that failed only at such a gate.
    pub fn last_awaited_gate(&self, run: RunId) -> Result<Option<String>> {
        let found = self.connection.query_row(
            "SELECT waits_for FROM iterations WHERE run = ?1 AND waits_for IS NOT NULL ORDER BY number DESC LIMIT 1",
            [run],
            |row| row.get(0),
        );
        Ok(found.optional()?)
    }

    /// Returns the latest iteration whose attempt to hand over was refused, and the reason.
    pub fn last_refusal(&self, run: RunId) -> Result<Option<(u32, String)>> {
        let found = self.connection.query_row(
            "SELECT number, refused FROM iterations WHERE run = ?1 AND refused IS NOT NULL ORDER BY number DESC LIMIT 1",
            [run],
            |row| Ok((row.get(0)?, row.get(1)?)),
        );
        Ok(found.optional()?)
    }

    /// Returns why the iteration's last attempt to hand over was refused.
    pub fn refusal(&self, run: RunId, iteration: u32) -> Result<Option<String>> {
        let found = self.connection.query_row(
            "SELECT refused FROM iterations WHERE run = ?1 AND number = ?2",
            params![run, iteration],
            |row| row.get(0),
        );
        Ok(found.optional()?.flatten())
    }

    pub fn handed_over_topic(&self, run: RunId, iteration: u32) -> Result<Option<String>> {
        handed_over_topic(&self.connection, run, iteration)
    }

    /// Returns the summary that the iteration published with its topic.
    pub fn summary(&self, run: RunId, iteration: u32) -> Result<Option<String>> {
        let found = self.connection.query_row(
            "SELECT summary FROM topics WHERE run = ?1 AND iteration = ?2",
            params![run, iteration],
            |row| row.get(0),
        );
        Ok(found.optional()?)
    }

    /// Stores the end of an iteration. Unless the outcome is `HandedOver`, `DefaultTopic` or `Done`, the topic that the
    /// iteration handled waits again, with `end.note_for_retry` or, if there is none, with `end.remark`.
    pub fn end_iteration(&self, run: RunId, number: u32, end: &IterationEnd, now: i64) -> Result<()> {
        let transaction = self.write_transaction()?;
        let (outcome, remark) = (end.outcome.unwrap_or(IterationOutcome::NoTopic), end.remark.as_deref().map(mask));
        let note_for_retry = end.note_for_retry.as_deref().map(mask).or_else(|| remark.clone());
        transaction.execute(
            "UPDATE iterations SET ended = ?3, seen = ?3, outcome = ?4, remark = ?5, tokens = ?6, cost_usd = ?7 \
             WHERE run = ?1 AND number = ?2",
            params![run, number, now, outcome.name(), remark, end.tokens, end.cost_usd],
        )?;
        reopen_tasks(&transaction, &crate::starter_id(&run.to_string(), number.into()), now)?;
        match outcome {
            IterationOutcome::HandedOver | IterationOutcome::DefaultTopic => {
                transaction.execute(
                    "UPDATE topics SET tree = ?3 WHERE run = ?1 AND iteration = ?2",
                    params![run, number, end.tree],
                )?;
            }
            // The iteration had no topic to publish, and the topic that it handled is done.
            IterationOutcome::Done => {}
            IterationOutcome::NoTopic => {
                transaction.execute(
                    "UPDATE topics SET taken = NULL, tries = tries + 1, remark = ?3 WHERE run = ?1 AND taken = ?2",
                    params![run, number, note_for_retry],
                )?;
            }
            IterationOutcome::Failed | IterationOutcome::Aborted => {
                transaction.execute(
                    "UPDATE topics SET taken = NULL, remark = ?3 WHERE run = ?1 AND taken = ?2",
                    params![run, number, note_for_retry],
                )?;
            }
        }
        Ok(transaction.commit()?)
    }

    /// Stores the tokens that an aborted iteration had used.
    pub fn record_tokens(&self, run: RunId, iteration: u32, tokens: Option<i64>) -> Result<()> {
        let update = "UPDATE iterations SET tokens = ?3 WHERE run = ?1 AND number = ?2 AND tokens IS NULL";
        self.connection.execute(update, params![run, iteration, tokens])?;
        Ok(())
    }

    /// Counts how often iterations of this run published the same as this iteration: the same topic with the same
    /// summary and payload, at the same state of the working tree. Returns 0 if that state is unknown.
    pub fn count_repetitions(&self, run: RunId, iteration: u32) -> Result<u32> {
        let count = self.connection.query_row(
            "SELECT count(*) FROM topics a JOIN topics b ON b.run = a.run AND b.topic = a.topic AND b.summary = a.summary \
             AND b.payload IS a.payload AND b.tree = a.tree WHERE a.run = ?1 AND a.iteration = ?2 AND b.iteration > 0",
            params![run, iteration],
            |row| row.get(0),
        )?;
        Ok(count)
    }

    pub fn usage(&self, run: RunId) -> Result<RunUsage> {
        let usage = self.connection.query_row(
            "SELECT count(*) FILTER (WHERE outcome IS NOT ?2), coalesce(sum(coalesce(ended, seen) - started), 0), \
             sum(tokens), sum(cost_usd), count(*) FILTER (WHERE outcome = ?3 AND number > (SELECT coalesce(max(number), 0) \
             FROM iterations WHERE run = ?1 AND outcome NOT IN (?2, ?3))) FROM iterations WHERE run = ?1",
            params![run, IterationOutcome::Aborted.name(), IterationOutcome::Failed.name()],
            |row| {
                Ok(RunUsage {
                    iterations: row.get(0)?,
                    time: row.get(1)?,
                    tokens: row.get(2)?,
                    cost_usd: row.get(3)?,
                    failures: row.get(4)?,
                })
            },
        )?;
        Ok(usage)
    }

    /// Returns the number of a hat's iterations, without aborted ones.
    pub fn count_activations(&self, run: RunId, hat: &str) -> Result<u32> {
        let count = self.connection.query_row(
            "SELECT count(*) FROM iterations WHERE run = ?1 AND hat = ?2 AND outcome IS NOT ?3",
            params![run, hat, IterationOutcome::Aborted.name()],
            |row| row.get(0),
        )?;
        Ok(count)
    }

    /// Returns the last `limit` iterations, oldest first.
    pub fn iterations(&self, run: RunId, limit: u32) -> Result<Vec<Iteration>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT i.number, i.hat, i.topic, i.started, i.ended, i.outcome, i.remark, i.tokens, i.cost_usd, t.topic, \
             t.summary FROM iterations i LEFT JOIN topics t ON t.run = i.run AND t.iteration = i.number \
             WHERE i.run = ?1 ORDER BY i.number DESC LIMIT ?2",
        )?;
        let rows = statement.query_map(params![run, limit], |row| {
            let outcome: Option<String> = row.get(5)?;
            Ok(Iteration {
                number: row.get(0)?,
                hat: row.get(1)?,
                topic: row.get(2)?,
                started: row.get(3)?,
                ended: row.get(4)?,
                outcome: outcome.as_deref().and_then(IterationOutcome::from_name),
                remark: row.get(6)?,
                tokens: row.get(7)?,
                cost_usd: row.get(8)?,
                handed_over: row.get(9)?,
                summary: row.get(10)?,
            })
        })?;
        let mut iterations: Vec<Iteration> = rows.collect::<rusqlite::Result<_>>()?;
        iterations.reverse();
        Ok(iterations)
    }

    /// Returns all accepted topics, including the run's first one, oldest first.
    pub fn accepted_topics(&self, run: RunId) -> Result<Vec<String>> {
        let mut statement = self.connection.prepare_cached("SELECT topic FROM topics WHERE run = ?1 ORDER BY id")?;
        let topics = statement.query_map([run], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        Ok(topics)
    }

    /// True if the run was completed by this topic.
    pub fn was_completed_by(&self, run: RunId, topic: &str) -> Result<bool> {
        let last = self.connection.query_row(
            "SELECT topic = ?2 AND taken IS 0 FROM topics WHERE run = ?1 AND iteration > 0 ORDER BY id DESC LIMIT 1",
            params![run, topic],
            |row| row.get(0),
        );
        Ok(last.optional()?.unwrap_or(false))
    }

    /// Stores a progress message of an agent.
    pub fn add_progress(&self, run: RunId, text: &str, now: i64) -> Result<()> {
        self.connection
            .execute("INSERT INTO progress (run, time, text) VALUES (?1, ?2, ?3)", params![run, now, mask(text)])?;
        Ok(())
    }

    /// Returns the progress messages after message `number`, each with its number.
    pub fn progress_since(&self, run: RunId, number: i64) -> Result<Vec<(i64, String)>> {
        let mut statement =
            self.connection.prepare_cached("SELECT id, text FROM progress WHERE run = ?1 AND id > ?2 ORDER BY id")?;
        let messages = statement.query_map(params![run, number], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(messages.collect::<rusqlite::Result<_>>()?)
    }

    /// Asks a run to stop. `immediately`: without waiting for the end of the iteration.
    pub fn request_run_stop(&self, run: RunId, immediately: bool, time: i64) -> Result<()> {
        self.request_stop(&run_stop_name(run), if immediately { -time } else { time })
    }

    pub fn request_session_stop(&self, session: &str, time: i64) -> Result<()> {
        self.request_stop(&session_stop_name(session), time)
    }

    /// Returns none if nobody asked the run to stop, true if it has to stop immediately, and false if it has to stop
    /// after the current iteration.
    pub fn run_stop_request(&self, run: RunId) -> Result<Option<bool>> {
        Ok(self.stop_time(&run_stop_name(run))?.map(|time| time < 0))
    }

    /// Returns when a person asked a session to stop.
    pub fn session_stop_request(&self, session: &str) -> Result<Option<i64>> {
        self.stop_time(&session_stop_name(session))
    }

    /// Withdraws a session's request to stop. Returns false if there was none.
    pub fn clear_session_stop(&self, session: &str) -> Result<bool> {
        let deleted = self.connection.execute("DELETE FROM stops WHERE name = ?1", [session_stop_name(session)])?;
        Ok(deleted > 0)
    }

    fn request_stop(&self, name: &str, time: i64) -> Result<()> {
        self.connection.execute("INSERT OR REPLACE INTO stops VALUES (?1, ?2)", params![name, time])?;
        Ok(())
    }

    fn stop_time(&self, name: &str) -> Result<Option<i64>> {
        let mut statement = self.connection.prepare_cached("SELECT time FROM stops WHERE name = ?1")?;
        Ok(statement.query_row([name], |row| row.get(0)).optional()?)
    }
}

fn publish(connection: &rusqlite::Connection, run: RunId, topic: &str, summary: &Masked<'_>) -> Result<()> {
    connection.execute(
        "INSERT INTO topics (run, topic, summary, iteration) VALUES (?1, ?2, ?3, 0)",
        params![run, topic, summary],
    )?;
    Ok(())
}

/// Reopens the tasks in progress whose starter id matches a `LIKE` pattern.
fn reopen_tasks(transaction: &rusqlite::Connection, starter_pattern: &str, now: i64) -> Result<()> {
    transaction.execute(
        "UPDATE tasks SET state = 'open', changed = ?2 WHERE state = 'in_progress' AND started_by LIKE ?1",
        params![starter_pattern, now],
    )?;
    Ok(())
}

const SELECT_RUN: &str = "SELECT id, objective, started, ended, ending, why FROM runs";

fn run_from_row(row: &Row<'_>) -> rusqlite::Result<Run> {
    let ending: Option<String> = row.get(4)?;
    let end = match (row.get(3)?, ending.as_deref().and_then(RunOutcome::from_name)) {
        (Some(time), Some(outcome)) => {
            Some(RunEnd { outcome, why: row.get::<_, Option<String>>(5)?.unwrap_or_default(), time })
        }
        _ => None,
    };
    let id: i64 = row.get(0)?;
    Ok(Run { id: RunId(id.unsigned_abs()), objective: row.get(1)?, started: row.get(2)?, end })
}

fn handed_over_topic(connection: &rusqlite::Connection, run: RunId, iteration: u32) -> Result<Option<String>> {
    let mut statement = connection.prepare_cached("SELECT topic FROM topics WHERE run = ?1 AND iteration = ?2")?;
    Ok(statement.query_row(params![run, iteration], |row| row.get(0)).optional()?)
}

fn run_stop_name(run: RunId) -> String {
    format!("run {run}")
}

fn session_stop_name(session: &str) -> String {
    format!("session {session}")
}

impl rusqlite::ToSql for RunId {
    fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
        Ok(i64::try_from(self.0).unwrap_or(i64::MAX).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_added_per_iteration_equals_usage_counted_from_the_database() {
        let directory = tempfile::tempdir().expect("a directory");
        let work = WorkDatabase::open(&directory.path().join("work.db")).expect("a database");
        let run = work.begin_run(None, "task.start", 0).expect("a run");
        let mut usage = work.usage(run).expect("counted");
        let outcomes = [
            IterationOutcome::Failed,
            IterationOutcome::Aborted,
            IterationOutcome::Failed,
            IterationOutcome::NoTopic,
            IterationOutcome::Failed,
        ];
        for (index, outcome) in outcomes.into_iter().enumerate() {
            let published = work.oldest_waiting_topic(run).expect("read").expect("something waits");
            let now = i64::try_from(index).expect("few") * 100;
            let number = work.begin_iteration(run, &published, "hat", now).expect("begun");
            let tokens = (index > 1).then_some(7);
            let end = IterationEnd {
                outcome: Some(outcome),
                tokens,
                cost_usd: tokens.map(|_| 0.5),
                ..IterationEnd::default()
            };
            work.end_iteration(run, number, &end, now + 30).expect("ended");
            usage = usage.with_iteration(&work.iterations(run, 1).expect("read").pop().expect("the last"));
            assert_eq!(usage, work.usage(run).expect("counted"), "after {number}");
        }
        assert_eq!((usage.iterations, usage.failures, usage.time, usage.tokens), (4, 1, 150, Some(21)));
    }
}
