//! Finds the command or path that makes a clause true or unknown, for messages.

use std::cmp::Reverse;
use std::sync::Arc;

use super::Truth;
use crate::situation::Situation;

/// The command or path that makes a clause true or unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// The path in the form that messages show; `None` if the clause does not match paths.
    pub path: Option<Arc<str>>,
    /// The index of the command in the script.
    pub command_index: Option<usize>,
}

impl Subject {
    /// The innermost command with this truth: if one command of the script runs another command, the command that is
    /// run is chosen.
    pub(super) fn innermost_command(truths: &[Truth], truth: Truth, situation: &Situation) -> Option<Self> {
        let commands = situation.script()?.commands.iter().enumerate().zip(truths);
        let matching = commands.filter(|(_, command_truth)| **command_truth == truth && truth > Truth::False);
        let innermost = matching.min_by_key(|((_, command), _)| Reverse(command.via().len()));
        innermost.map(|((index, _), _)| Self { path: None, command_index: Some(index) })
    }
}

/// Keeps the best of the offered subjects. A subject that makes the clause true is better than a subject that makes the
/// clause unknown. If this does not decide, a path that the clause matches is better than a directory that may contain
/// matching files. Of equally good subjects, the first is kept.
#[derive(Default)]
pub(super) struct BestSubject(Option<((Truth, bool), Subject)>);

impl BestSubject {
    pub(super) fn offer(&mut self, truth: Truth, is_direct_match: bool, subject: impl FnOnce() -> Subject) {
        if self.0.as_ref().is_none_or(|(best, _)| (truth, is_direct_match) > *best) {
            self.0 = Some(((truth, is_direct_match), subject()));
        }
    }

    pub(super) fn subject(self) -> Option<Subject> {
        self.0.map(|(_, subject)| subject)
    }
}
