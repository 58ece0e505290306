//! The activity of a tool call: the command or the edits that pace rules count.

use serde::{Deserialize, Serialize};

use super::PaceLimit;
use crate::bounded_regex::{LazyRegex, RegexError, RegexSource};

/// The part of a tool call that is counted by limits on repetition. A patch that is applied through a shell is both a
/// command and an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activity {
    command: Option<Command>,
    edit: Option<Edit>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Command {
    /// The script as the agent wrote it.
    whole: String,
    parts: Vec<String>,
    has_failed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Edit {
    tool: String,
    /// The edited paths, relative to the project's root and without duplicates.
    paths: Vec<String>,
}

/// One counted command or edit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// The time of the attempt, in milliseconds since 1970.
    pub time: i64,
    /// The command or the edited path.
    pub text: String,
    /// The tool that edited the file; `None` for a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Attempts with equal keys count together. If the rule has a pattern, the key is empty, so that all matches count
    /// together. If the rule has no pattern, the key is the command or path.
    #[serde(skip)]
    pub key: String,
}

impl Activity {
    /// `whole` is the script as the agent wrote it, `parts` the normalized text of each simple command.
    pub fn command(whole: String, parts: Vec<String>, has_failed: bool) -> Self {
        Self { command: Some(Command { whole, parts, has_failed }), edit: None }
    }

    /// `paths` are relative to the project's root, without duplicates.
    pub fn edit(tool: String, paths: Vec<String>) -> Self {
        Self { command: None, edit: Some(Edit { tool, paths }) }
    }

    /// Adds the edits of a command that also edits files, such as a patch.
    #[must_use]
    pub fn with_edit(self, tool: String, paths: Vec<String>) -> Self {
        Self { edit: Some(Edit { tool, paths }), ..self }
    }

    /// Returns the commands or edits of the activity that the limit counts.
    pub fn attempts(&self, limit: &PaceLimit, time: i64) -> Result<Vec<Attempt>, RegexError> {
        match (self, limit) {
            (Self { command: Some(command), .. }, PaceLimit::RepeatedCommand { pattern, failures_only, .. })
                if !failures_only || command.has_failed =>
            {
                command.attempts(pattern.as_ref(), time)
            }
            (Self { edit: Some(edit), .. }, PaceLimit::RepeatedFileEdit { pattern, .. }) => {
                edit.attempts(pattern.as_ref(), time)
            }
            _ => Ok(Vec::new()),
        }
    }
}

impl Command {
    fn attempts(&self, pattern: Option<&RegexSource>, time: i64) -> Result<Vec<Attempt>, RegexError> {
        let Self { whole, parts, .. } = self;
        let Some(pattern) = pattern else {
            let key = whole.split_whitespace().collect::<Vec<_>>().join(" ");
            let text = if parts.is_empty() { key.clone() } else { parts.join("; ") };
            return Ok(vec![Attempt { time, text, tool: None, key }]);
        };
        let regex = lazy_regex(pattern);
        for part in parts {
            if regex.is_match(part)? {
                return Ok(vec![Attempt { time, text: part.clone(), tool: None, key: String::new() }]);
            }
        }
        Ok(Vec::new())
    }
}

impl Edit {
    fn attempts(&self, pattern: Option<&RegexSource>, time: i64) -> Result<Vec<Attempt>, RegexError> {
        let regex = pattern.map(lazy_regex);
        let mut attempts = Vec::new();
        for path in &self.paths {
            let key = match &regex {
                None => path.clone(),
                Some(regex) if regex.is_match(path)? => String::new(),
                Some(_) => continue,
            };
            attempts.push(Attempt { time, text: path.clone(), tool: Some(self.tool.clone()), key });
        }
        Ok(attempts)
    }
}

fn lazy_regex(pattern: &RegexSource) -> LazyRegex<'_> {
    LazyRegex::new(pattern.regex.as_str(), std::borrow::Cow::Borrowed(&pattern.hints))
}
