use super::{FileMatch, FileRule};
use crate::ack_by::AckBy;
use crate::verdict::Level;

/// An unmet file rule with its match. It becomes a demand unless the files are already answered for.
#[derive(Debug, Clone, Copy)]
pub struct UnmetFileRule<'a> {
    /// The rule's id.
    pub id: &'a str,
    pub title: &'a str,
    pub ack: AckBy,
    pub action: Level,
    /// Maximum of holds of one stop.
    pub max_holds: u32,
    pub file: &'a FileRule,
    pub found: &'a FileMatch,
}
