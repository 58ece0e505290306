//! What a tool call contributes to the counts of pace rules.

use serde::{Deserialize, Serialize};

use super::PaceLimit;
use crate::bounded_regex::{LazyRegex, RegexError, RegexSource};

/// A tool call as limits on repetition see it. A patch applied through a shell is both a command and an edit.
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
    /// Project-relative, without duplicates.
    paths: Vec<String>,
}

/// One counted command or edit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// Milliseconds since 1970.
    pub time: i64,
    /// The command or the edited path.
    pub text: String,
    /// The tool that edited the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Attempts with equal keys count together. Empty if the rule has a pattern, because all matches count together;
    /// otherwise the repeated command or path.
    #[serde(skip)]
    pub key: String,
}

impl Activity {
    /// `whole` is the script as the agent wrote it, `parts` the normalised text of each simple command.
    pub fn command(whole: String, parts: Vec<String>, has_failed: bool) -> Self {
        Self { command: Some(Command { whole, parts, has_failed }), edit: None }
    }

    /// `paths` are project-relative, without duplicates.
    pub fn edit(tool: String, paths: Vec<String>) -> Self {
        Self { command: None, edit: Some(Edit { tool, paths }) }
    }

    /// Adds edits to a command that edits files itself.
    #[must_use]
    pub fn with_edit(self, tool: String, paths: Vec<String>) -> Self {
        Self { edit: Some(Edit { tool, paths }), ..self }
    }

    /// The attempts that a limit counts.
    pub fn counted(&self, limit: &PaceLimit, time: i64) -> Result<Vec<Attempt>, RegexError> {
        match (self, limit) {
            (Self { command: Some(command), .. }, PaceLimit::RepeatedCommand { pattern, failures_only, .. })
                if !failures_only || command.has_failed =>
            {
                command.counted(pattern.as_ref(), time)
            }
            (Self { edit: Some(edit), .. }, PaceLimit::RepeatedFileEdit { pattern, .. }) => {
                edit.counted(pattern.as_ref(), time)
            }
            _ => Ok(Vec::new()),
        }
    }
}

impl Command {
    fn counted(&self, pattern: Option<&RegexSource>, time: i64) -> Result<Vec<Attempt>, RegexError> {
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
    fn counted(&self, pattern: Option<&RegexSource>, time: i64) -> Result<Vec<Attempt>, RegexError> {
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
