//! The journal: events, verdicts, and each session's variables and counters, in one SQLite database per project.
//!
//! This crate owns the database file: its schema, its SQLite settings, the masking and digests of stored values, and
//! the handling of a database that is missing, corrupt, locked, full, or of a newer version. It must not know rules,
//! agents' payloads, configuration files or the terminal: callers pass an event and a verdict, and it stores them.
//!
//! ```ignore
//! let mut store = Store::open(path, options)?;
//! let mut judgement = store.begin(SessionKey { agent: "claude", session: "…" })?;
//! loop {
//!     let record = judge(judgement.session_state());
//!     match judgement.record(&record)? {
//!         RecordOutcome::Stored(id) => break id,
//!         RecordOutcome::Conflict(retry) => judgement = *retry,
//!     }
//! }
//! ```
//!
//! # One event, one transaction, two milliseconds
//!
//! Every event is handled by its own process, so opening the database, parsing its schema and closing it cost as much
//! as writing. Therefore there are few tables, an ordinary event is one table row and one index entry, and SQLite is
//! configured as described in [`database`]. The write lock is taken only to write, never while rules are judged: see
//! [`judgement_transaction`].
//!
//! A spool beside the database was measured, too: a prototype that appended each event to one file under a lock, read
//! the session's state from a small second file, and did not open the database took 1.48 ms where this takes 2.05 ms
//! (`/bin/true` in turns: 0.575 ms). It is not used: every reader would have to fold the spool into the database first,
//! the state and the record of an event would be two files that must survive `kill -9` together, and an event of a
//! session with counters, a workflow or a pace rule has to open the database anyway.
//!
//! # Privacy
//!
//! - Commands, paths, reasons, facts, variables and the instructions of workflows are stored only as [`Masked`]
//!   strings, made by [`mask()`].
//! - Names of events, sessions, tools and rules, and the roots of projects, are stored unchanged.
//! - Prompts, messages, tool inputs and outputs, and unknown fields are stored only as keyed digests ([`digest`]),
//!   unless the journal is [`JournalDetail::Full`].
//! - Rule files are stored unchanged: they are not secret, and a masked text would not explain a past verdict.

mod attempts;
mod busy;
mod calls;
mod calls_mentioning;
mod changes;
mod checkpoint;
mod commands;
pub mod database;
pub mod digest;
mod digest_key;
mod entry_id;
mod error;
mod files;
mod journal_entry;
mod journal_query;
pub mod judgement_transaction;
pub mod mask;
mod note;
mod notice;
mod open;
mod prune;
mod record;
mod replace_corrupt;
mod rule_counts;
mod rule_versions;
mod schema;
mod session_key;
mod state;
mod tokens;
mod workflow;

pub use attempts::CountedAttempt;
pub use calls::{RecordedCall, RecordedCalls};
pub use calls_mentioning::CallInput;
pub use changes::{CounterChange, StateChanges, WORKFLOW_VARIABLE_PREFIX};
pub use commands::RecordedCommand;
pub use database::{Store, StoreOptions};
pub use entry_id::EntryId;
pub use error::StoreError;
pub use journal_entry::{EntrySession, EntryTool, JournalEntry};
pub use journal_query::JournalFilter;
pub use judgement_transaction::{JudgementTransaction, RecordOutcome};
pub use mask::{Masked, mask};
pub use note::{LOOP_SESSION, Note, NoteKind, PERSON_SESSION};
pub use notice::StoreNotice;
pub use record::{EventRecord, JournalDetail};
pub use rule_counts::{CountedOutcome, PhaseName, RecordedRuleOutcome, RuleCounts};
pub use rule_versions::{RuleVersion, StoredRuleVersion};
pub use session_key::{SessionKey, phase_key};
pub use state::StoredState;
pub use tokens::{PhaseStart, TranscriptChunk, TranscriptMessage};

pub(crate) type Result<T> = std::result::Result<T, StoreError>;
