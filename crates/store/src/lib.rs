//! Linchpin's history: the journal of events and verdicts, and each session's variables and counters, in one SQLite
//! database a project.
//!
//! This crate owns what is in that file and how it gets there: its schema, its settings, what is masked and digested
//! on the way in, and what becomes of a database that is missing, corrupt, locked, full or newer. It must not know
//! rules, agents' payloads, configuration files or the terminal: it is told an event and a verdict and keeps them.
//!
//! ```ignore
//! let mut store = Store::open(path, options)?;
//! let mut judgement = store.begin(SessionKey { agent: "claude", session: "…" })?;
//! loop {
//!     let record = judge(judgement.state());
//!     match judgement.record(&record)? {
//!         Recorded::Stored(id) => break id,
//!         Recorded::Moved(again) => judgement = *again,
//!     }
//! }
//! ```
//!
//! # One event, one transaction, two milliseconds
//!
//! Every event is a process of its own: opening, parsing the schema and closing count as much as writing. So there are
//! few tables, an ordinary event is one row of one table and one entry of one index, and the settings are those of
//! [`database`]. The lock for writing is taken only when there is something to write, never while rules are judged:
//! see [`judgement`].
//!
//! # Privacy
//!
//! Commands, paths, reasons, facts, variables and what workflows give agents to read enter the database only as [`Masked`]
//! texts, which [`mask()`] makes; names of events, sessions, tools and rules as they are. Prompts, messages, tool inputs and outputs and
//! unknown fields enter as keyed digests only ([`digest`]), unless the journal is [`Journal::Full`]. Rules' own texts are
//! kept as they are: they are a team's files, and a version that differs from what was in force would explain nothing.

mod aside;
mod busy;
mod calls;
mod changes;
mod checkpoint;
mod commands;
mod counted;
pub mod database;
pub mod digest;
mod digest_key;
mod entry;
mod error;
mod event_id;
mod files;
pub mod judgement;
mod log;
pub mod mask;
mod mentions;
mod note;
mod notice;
mod open;
mod prune;
mod record;
mod registry;
mod rule_counts;
mod schema;
mod session_key;
mod state;
mod tokens;
mod workflow;

pub use calls::RecordedCall;
pub use changes::{CounterChange, StateChanges, WORKFLOW_VARIABLE};
pub use commands::RecordedCommand;
pub use counted::Counted;
pub use database::{Options, Store};
pub use entry::{Entry, EntrySession, EntryTool};
pub use error::StoreError;
pub use event_id::EventId;
pub use judgement::{Judgement, Recorded};
pub use log::Filter;
pub use mask::{Masked, mask};
pub use mentions::Mention;
pub use note::{LOOP, Note, NoteKind, PERSON};
pub use notice::Notice;
pub use record::{Journal, Record};
pub use registry::{KeptVersion, RuleVersion};
pub use rule_counts::{Deed, PhaseName, RuleCount, RuleDeed};
pub use session_key::{SessionKey, phase_key};
pub use state::SessionState;
pub use tokens::{Message, PhaseStart, Stretch};

pub(crate) type Result<T> = std::result::Result<T, StoreError>;
