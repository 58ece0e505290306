//! Ids of journal entries.

use serde::{Deserialize, Serialize};

/// The id of a journal entry: an event or a note. Ids increase with each entry and are never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EntryId(pub i64);
