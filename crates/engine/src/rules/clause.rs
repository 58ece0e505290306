//! Judged clauses, and their form in messages to people.

use super::{PathKey, Subject, Truth};
use crate::facts::Missing;
use crate::situation::Situation;

/// The maximum length of a command or path in a reason. This length is enough to recognize the command or path.
const MAX_SHOWN_CHARACTERS: usize = 80;

/// One judged clause of a rule.
#[derive(Debug, Clone, PartialEq)]
pub struct Clause {
    /// The key in the rule's file.
    pub key: &'static str,
    pub truth: Truth,
    /// The command, paths or other value that the clause was compared with, as people see it.
    pub shown: String,
    /// The command or path that made the clause true or unknown.
    pub subject: Option<Subject>,
    /// A missing fact that the clause depends on. If this field is set, `truth` is meaningless.
    pub missing: Option<Missing>,
}

impl Clause {
    /// The content of `shown` if the call has no command.
    pub const NO_COMMAND: &str = "not a shell call with a command";
    /// The content of `shown` if only the part of the script that cannot be parsed may match.
    pub const UNPARSABLE: &str = "a command that cannot be parsed";

    pub(crate) fn new(key: &'static str, truth: Truth, shown: String) -> Self {
        Self { key, truth, shown, subject: None, missing: None }
    }

    /// True if `shown` is a command or an expression.
    pub fn shows_code(&self) -> bool {
        let is_code = self.key == "when" || self.key.starts_with("command");
        is_code && ![Self::NO_COMMAND, Self::UNPARSABLE].contains(&self.shown.as_str())
    }

    pub fn matches_paths(&self) -> bool {
        PathKey::ALL.iter().any(|key| key.name() == self.key)
    }

    /// The last part of a finding's reason. This part names the matched command or path. `None` if no clause has a
    /// subject.
    pub(crate) fn matched_text(clauses: &[Self], truth: Truth, situation: &Situation) -> Option<String> {
        // The last subject is shown, because later clauses consider only the commands that the earlier clauses match.
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
    let mut characters = text.chars().map(|character| if character.is_control() { ' ' } else { character });
    let mut start: String = characters.by_ref().take(MAX_SHOWN_CHARACTERS).collect();
    if characters.next().is_some() {
        start.push('…');
    }
    start
}
