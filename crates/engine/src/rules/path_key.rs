//! The rule keys that take path patterns, and the kinds of access that each key covers.

use serde::{Deserialize, Serialize};

use path::Access;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PathKey {
    Paths,
    Reads,
    Writes,
    Deletes,
}

impl PathKey {
    pub const ALL: [Self; 4] = [Self::Paths, Self::Reads, Self::Writes, Self::Deletes];

    pub fn name(self) -> &'static str {
        match self {
            Self::Paths => "paths",
            Self::Reads => "reads",
            Self::Writes => "writes",
            Self::Deletes => "deletes",
        }
    }

    pub(super) fn covers(self, access: Access) -> bool {
        match self {
            Self::Paths => true,
            Self::Reads => access == Access::Read,
            // Deleting a file counts as writing it.
            Self::Writes => matches!(access, Access::Write | Access::Delete),
            Self::Deletes => access == Access::Delete,
        }
    }
}
