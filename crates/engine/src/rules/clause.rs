//! Judged clauses, and how they are shown to people.

use super::{PathKey, Subject, Truth};
use crate::facts::Missing;
use crate::situation::Situation;

/// Maximum length of a shown command or path; enough to recognise it.
const MAX_LETTERS: usize = 80;

/// One judged clause of a rule.
#[derive(Debug, Clone, PartialEq)]
pub struct Clause {
    /// The key in the rule's file.
    pub key: &'static str,
    pub truth: Truth,
    /// The compared value, for people.
    pub shown: String,
    /// The command or path that made the clause true or unknown.
    pub subject: Option<Subject>,
    /// A missing fact that the clause depends on; its truth is then meaningless.
    pub missing: Option<Missing>,
}

impl Clause {
    /// Shown instead of a command, if the call has none.
    pub const NO_COMMAND: &str = "not a shell call with a command";
    /// Shown instead of a command or path that cannot be known.
    pub const UNPARSABLE: &str = "a command that cannot be parsed";

    pub(crate) fn new(key: &'static str, truth: Truth, shown: String) -> Self {
        Self { key, truth, shown, subject: None, missing: None }
    }

    /// True if `shown` is a command or an expression as it was written.
    pub fn shows_code(&self) -> bool {
        let is_code = self.key == "when" || self.key.starts_with("command");
        is_code && ![Self::NO_COMMAND, Self::UNPARSABLE].contains(&self.shown.as_str())
    }

    pub fn matches_paths(&self) -> bool {
        PathKey::ALL.iter().any(|key| key.name() == self.key)
    }

    /// The words at the end of a rule's reason that name the matched command or path. `None` if no clause has one.
    pub(crate) fn matched_text(clauses: &[Self], truth: Truth, situation: &Situation) -> Option<String> {
        // Later clauses are narrower: each considers only commands that the earlier ones match.
        let subject = clauses.iter().rev().find_map(|clause| clause.subject.as_ref())?;
        let command = subject.command_index.and_then(|index| situation.command_texts().get(index)).map(String::as_str);
        let command = command.filter(|text| !text.is_empty());
        let path = subject.path.as_deref();
        let names_commands = clauses.iter().any(|clause| clause.subject.is_some() && !clause.matches_paths());
        let is_sure = truth == Truth::True;
        let text = shortened(if is_sure && !names_commands { path.or(command) } else { command.or(path) }?);
        Some(if is_sure { format!("Matched: `{text}`") } else { format!("Possible match: `{text}`") })
    }
}

/// Shortens the text and puts it on one line.
fn shortened(text: &str) -> String {
    let mut letters = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
    let mut start: String = letters.by_ref().take(MAX_LETTERS).collect();
    if letters.next().is_some() {
        start.push('…');
    }
    start
}
