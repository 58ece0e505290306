use serde::{Deserialize, Serialize};

/// The number of a journal entry. Ids increase with each entry and are never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EventId(pub i64);
