//! The number of a row of the journal.

use serde::{Deserialize, Serialize};

/// A row of the journal. Ids grow with each record and are never used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EventId(pub i64);
