//! One clause of a rule after it was judged: its truth, and what people are told of it.

use super::{PathKey, Subject, Truth};
use crate::facts::Missing;
use crate::situation::Situation;

/// More is not needed to find it again.
const MAX_LETTERS: usize = 80;

/// One clause of a rule, judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Clause {
    /// The key in the rule's file.
    pub key: &'static str,
    pub truth: Truth,
    /// What was compared with what, for people.
    pub shown: String,
    /// What made it so, where it is about commands or paths.
    pub subject: Option<Subject>,
    /// A fact that it depends on and that is missing; its truth then counts for nothing.
    pub missing: Option<Missing>,
}

impl Clause {
    pub(crate) fn new(key: &'static str, truth: Truth, shown: String) -> Self {
        Self { key, truth, shown, subject: None, missing: None }
    }

    pub fn is_about_paths(&self) -> bool {
        PathKey::ALL.iter().any(|key| key.name() == self.key)
    }

    /// What the reason of a rule about commands or paths ends with, where a shell call made it speak.
    pub(crate) fn told_subject(clauses: &[Self], truth: Truth, situation: &Situation) -> Option<String> {
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

/// On one line.
fn shortened(text: &str) -> String {
    let mut letters = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
    let mut start: String = letters.by_ref().take(MAX_LETTERS).collect();
    if letters.next().is_some() {
        start.push('…');
    }
    start
}
