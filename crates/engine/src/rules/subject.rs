//! What made a rule speak: the command or the path that its reason names.

use std::cmp::Reverse;
use std::sync::Arc;

use super::{Clause, Truth};
use crate::situation::Situation;

/// What made a clause true or unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// As it was written, where the clause is about paths.
    pub path: Option<Arc<str>>,
    /// A place in the script's commands.
    pub command: Option<usize>,
}

/// More is not needed to find it again.
const MAX_LETTERS: usize = 80;

impl Subject {
    /// Of the commands that a clause speaks of, the innermost: not what runs it.
    pub(super) fn among(truths: &[Truth], truth: Truth, situation: &Situation) -> Option<Self> {
        let commands = situation.script()?.commands.iter().enumerate().zip(truths);
        let speaking = commands.filter(|(_, command)| **command == truth && truth > Truth::False);
        let innermost = speaking.min_by_key(|((_, command), _)| Reverse(command.via().len()));
        innermost.map(|((place, _), _)| Self { path: None, command: Some(place) })
    }

    /// What the reason of a rule about commands or paths ends with, where a shell call made it speak.
    pub(crate) fn told(clauses: &[Clause], truth: Truth, situation: &Situation) -> Option<String> {
        situation.script()?;
        // Later clauses are narrower: of the commands that one means, the next speaks of some.
        let subject = clauses.iter().rev().find_map(|clause| clause.subject.as_ref())?;
        let command = subject.command.and_then(|place| situation.texts().get(place)).map(String::as_str);
        let command = command.filter(|text| !text.is_empty());
        let path = subject.path.as_deref();
        let names_commands = clauses.iter().any(|clause| clause.subject.is_some() && !clause.is_about_paths());
        let is_sure = truth == Truth::True;
        let text = shortened(if is_sure && !names_commands { path.or(command) } else { command.or(path) }?);
        Some(if is_sure { format!("(It is about `{text}`.)") } else { format!("(Perhaps: `{text}`.)") })
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

/// On one line.
fn shortened(text: &str) -> String {
    let mut letters = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
    let mut start: String = letters.by_ref().take(MAX_LETTERS).collect();
    if letters.next().is_some() {
        start.push('…');
    }
    start
}
