//! Finds the command or path that makes a clause true or unknown, for messages.

use std::cmp::Reverse;
use std::sync::Arc;

use super::Truth;
use crate::situation::Situation;

/// The match of a clause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// The path as written, if the clause matches paths.
    pub path: Option<Arc<str>>,
    /// Index of the command in the script.
    pub command_index: Option<usize>,
}

impl Subject {
    /// The innermost command with this truth: a command is preferred to the commands that run it.
    pub(super) fn among(truths: &[Truth], truth: Truth, situation: &Situation) -> Option<Self> {
        let commands = situation.script()?.commands.iter().enumerate().zip(truths);
        let matching = commands.filter(|(_, command_truth)| **command_truth == truth && truth > Truth::False);
        let innermost = matching.min_by_key(|((_, command), _)| Reverse(command.via().len()));
        innermost.map(|((index, _), _)| Self { path: None, command_index: Some(index) })
    }
}

/// Keeps the first subject with the strongest truth. A path that the clause matches itself is preferred to a folder
/// that may contain matches.
#[derive(Default)]
pub(super) struct BestSubject(Option<((Truth, bool), Subject)>);

impl BestSubject {
    pub(super) fn offer(&mut self, truth: Truth, is_named: bool, subject: impl FnOnce() -> Subject) {
        if self.0.as_ref().is_none_or(|(best, _)| (truth, is_named) > *best) {
            self.0 = Some(((truth, is_named), subject()));
        }
    }

    pub(super) fn subject(self) -> Option<Subject> {
        self.0.map(|(_, subject)| subject)
    }
}
