//! The command or the path that makes a clause true or unknown.

use std::cmp::Reverse;
use std::sync::Arc;

use super::Truth;
use crate::situation::Situation;

/// What made a clause true or unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// As it was written, where the clause is about paths.
    pub path: Option<Arc<str>>,
    /// A place in the script's commands.
    pub command: Option<usize>,
}

impl Subject {
    /// Of the commands that a clause speaks of, the innermost: not what runs it.
    pub(super) fn among(truths: &[Truth], truth: Truth, situation: &Situation) -> Option<Self> {
        let commands = situation.script()?.commands.iter().enumerate().zip(truths);
        let speaking = commands.filter(|(_, command)| **command == truth && truth > Truth::False);
        let innermost = speaking.min_by_key(|((_, command), _)| Reverse(command.via().len()));
        innermost.map(|((place, _), _)| Self { path: None, command: Some(place) })
    }
}

/// The first of those that make a clause what it is; before all, one that the clause names itself, and not only what
/// could be in it.
#[derive(Default)]
pub(super) struct Surest(Option<((Truth, bool), Subject)>);

impl Surest {
    pub(super) fn offer(&mut self, truth: Truth, is_named: bool, subject: impl FnOnce() -> Subject) {
        if self.0.as_ref().is_none_or(|(surest, _)| (truth, is_named) > *surest) {
            self.0 = Some(((truth, is_named), subject()));
        }
    }

    pub(super) fn subject(self) -> Option<Subject> {
        self.0.map(|(_, subject)| subject)
    }
}
