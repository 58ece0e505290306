//! The tables, and the migrations between schema versions.
//!
//! `PRAGMA user_version` counts the migrations that were applied. A released migration is never edited; changes are
//! appended as a new one. Every process that opens the database parses every statement here, so each table or index
//! costs time on every event.
//!
//! - `meta`: properties of the database itself: `digest_key`.
//! - `sessions`: agent and session id, interned, and the project root at the session's first event.
//! - `state`: values of sessions, workflows and phases. The rows of a session are adjacent, so one page holds
//!   everything that an event needs. Values of `kind`:
//!   - `variable` (value: JSON), `counter` (value: integer), and `revision` (one row per session, which counts the
//!     changes of its variables and counters);
//!   - `counted`: attempts that pace rules count (`attempts.rs`); `by_rule`: how often rules fired (`rule_counts.rs`);
//!     `consumed…`: tokens (`tokens.rs`). These kinds sort before the first three, so that a query for a session's
//!     variables does not read their rows;
//!   - `rule`: versions of rules (`rule_versions.rs`), under session 0.
//! - `events`: the journal. JSON columns are NULL if empty. `kind` is an open set: events of agents use the engine's
//!   names, notes use their own (`note.rs`). `lifted` says why a verdict was not enforced.
//! - `findings`: one row per finding of a rule.
//!
//! The index on `events` is (session, command is NULL): a session's commands are one contiguous range of it, ordered by
//! id, however many other events there are. There is no index on time: ids are nearly in order of time, so a binary
//! search by id suffices.

use rusqlite::{Connection, TransactionBehavior};

use crate::{Result, StoreError};

/// An event changes two pages, and the WAL receives whole pages. This is half of SQLite's default, so an event writes
/// half as many bytes, and later processes read half as many. Reading a million events is no slower.
const PAGE_BYTES: u32 = 2048;

const MIGRATIONS: &[&str] = &[
    "
    CREATE TABLE meta (name TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID;
    INSERT INTO meta VALUES ('digest_key', randomblob(32));
    CREATE TABLE sessions (
        id INTEGER PRIMARY KEY,
        agent TEXT NOT NULL,
        session TEXT NOT NULL,
        root TEXT NOT NULL,
        first_seen INTEGER NOT NULL,
        UNIQUE (agent, session)
    ) STRICT;
    CREATE TABLE state (
        session INTEGER NOT NULL,
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        value ANY NOT NULL,
        PRIMARY KEY (session, kind, name)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE events (
        id INTEGER PRIMARY KEY,
        session INTEGER NOT NULL,
        time INTEGER NOT NULL,
        kind TEXT NOT NULL,
        level TEXT NOT NULL,
        approved INTEGER NOT NULL,
        name TEXT NOT NULL,
        tool TEXT,
        command TEXT,
        command_missing INTEGER NOT NULL,
        outcome TEXT,
        call TEXT,
        cwd TEXT NOT NULL,
        held_before INTEGER NOT NULL,
        subagent TEXT,
        aliases TEXT,
        mcp TEXT,
        paths TEXT,
        fields TEXT,
        facts TEXT,
        digests TEXT,
        notices TEXT,
        event TEXT
    ) STRICT;
    CREATE INDEX events_of_session ON events (session, command IS NULL);
    CREATE TABLE findings (
        event INTEGER NOT NULL,
        place INTEGER NOT NULL,
        rule TEXT NOT NULL,
        level TEXT NOT NULL,
        reason TEXT NOT NULL,
        because TEXT,
        digest TEXT,
        PRIMARY KEY (event, place)
    ) STRICT, WITHOUT ROWID;
",
    "
    ALTER TABLE events ADD COLUMN changes TEXT;
    ALTER TABLE events ADD COLUMN lifted TEXT;
",
    "
    ALTER TABLE events ADD COLUMN context TEXT;
",
];

/// The schema version that this code writes.
pub(crate) fn version() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

/// Returns the schema version of a database; 0 for an empty one. Fails if it is newer than this code.
pub(crate) fn version_of(connection: &Connection) -> Result<i64> {
    let found = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if found > version() {
        return Err(StoreError::Newer { found, known: version() });
    }
    Ok(found)
}

/// Applies the missing migrations. If several processes try at once, one of them migrates, and the others find nothing
/// left to do.
pub(crate) fn migrate(connection: &mut Connection) -> Result<()> {
    let found = version_of(connection)?;
    if found == version() {
        return Ok(());
    }
    if found == 0 {
        // The file stores both settings. Neither can be set inside a transaction; setting them again changes nothing.
        connection.execute_batch(&format!("PRAGMA page_size = {PAGE_BYTES}"))?;
        connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Exclusive)?;
    let found = usize::try_from(version_of(&transaction)?).unwrap_or(0);
    for migration in MIGRATIONS.iter().skip(found) {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "user_version", version())?;
    Ok(transaction.commit()?)
}
