//! The tables, and how a database gets from one version to the next.
//!
//! `PRAGMA user_version` is the number of migrations a database has had. A migration that was released is never
//! edited; what later versions need is a new one at the end. Every statement here is parsed again by every process
//! that opens the database: a table or an index more is felt on every event.
//!
//! - `meta`: what belongs to the database itself: `digest_key`.
//! - `sessions`: agent and session, interned, and the root that the session was given at its first event.
//! - `state`: a session's rows lie together, so one page holds what an event needs. `kind` is `variable` (value: JSON),
//!   `counter` (value: integer) or `revision` (one row a session, counting the changes of the others); and `counted`, for
//!   what pace rules count (`counted.rs`), `by_rule`, for how often rules spoke (`rule_counts.rs`), and `consumed` and its like, for tokens (`tokens.rs`), which lie before those. Rows
//!   of session 0 are of kind `rule`: the versions of rules (`registry.rs`).
//! - `events`: the journal. JSON columns are NULL where there is nothing. `kind` is open: events of agents carry the
//!   engine's names, records of other sorts their own (`note.rs`). `lifted` says why a verdict was not enforced.
//! - `findings`: only where a rule spoke.
//!
//! The index on `events` is (session, has no command): a session's commands are one run of it, in order of id, however
//! many other events lie between them. There is none on time: ids follow time closely enough to search by.

use rusqlite::{Connection, TransactionBehavior};

use crate::{Result, StoreError};

/// Bytes. An event changes two pages and the log gets them whole, so half of SQLite's usual size is half of the bytes
/// that an event writes and that the next processes reread; reading a million events through is no slower by it.
const PAGE_SIZE: u32 = 2048;

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

/// The version that this code writes.
pub(crate) fn version() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

/// The version of a database; 0 where nothing was ever stored. An error where it is newer than this code.
pub(crate) fn version_of(connection: &Connection) -> Result<i64> {
    let found = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if found > version() {
        return Err(StoreError::Newer { found, known: version() });
    }
    Ok(found)
}

/// Brings a database up to date. Of several processes that try at once, one does it and the others find it done.
pub(crate) fn migrate(connection: &mut Connection) -> Result<()> {
    let found = version_of(connection)?;
    if found == version() {
        return Ok(());
    }
    if found == 0 {
        // Kept in the file from then on. Neither can be set inside a transaction; setting them twice does nothing.
        connection.execute_batch(&format!("PRAGMA page_size = {PAGE_SIZE}"))?;
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
