//! The demand that an unmet file rule may make.

use super::{FileMatch, FileRule};
use crate::ack_by::AckBy;
use crate::verdict::Level;

/// An unmet file rule with its triggers and missing files. The rule makes a demand unless an answer is already stored
/// for all triggers.
#[derive(Debug, Clone, Copy)]
pub struct PossibleDemand<'a> {
    /// The rule's id.
    pub id: &'a str,
    pub title: &'a str,
    pub ack: AckBy,
    pub action: Level,
    /// The maximum number of times that the rule asks for the same files, counted across stops.
    pub max_holds: u32,
    pub file_rule: &'a FileRule,
    pub file_match: &'a FileMatch,
}
