//! What an unmet file rule demands.

use super::{FileMatch, FileRule};
use crate::ack_by::AckBy;
use crate::verdict::Level;

/// An unmet file rule with its match. It becomes a demand unless all of its triggers are already answered.
#[derive(Debug, Clone, Copy)]
pub struct UnmetFileRule<'a> {
    /// The rule's id.
    pub id: &'a str,
    pub title: &'a str,
    pub ack: AckBy,
    pub action: Level,
    /// Maximum number of times that the rule holds one stop.
    pub max_holds: u32,
    pub file: &'a FileRule,
    pub found: &'a FileMatch,
}
