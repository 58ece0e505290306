//! What a file rule asks for, before it is known who has answered it.

use super::{FileMatch, FileRule};
use crate::ack_by::AckBy;
use crate::verdict::Level;

/// The parts of a rule on which it depends whether its demand is answered, and what it found.
#[derive(Debug, Clone, Copy)]
pub struct UnmetFileRule<'a> {
    /// Of the rule.
    pub id: &'a str,
    pub title: &'a str,
    pub ack: AckBy,
    pub action: Level,
    /// How often it may hold one stop.
    pub most_holds: u32,
    pub file: &'a FileRule,
    pub found: &'a FileMatch,
}
