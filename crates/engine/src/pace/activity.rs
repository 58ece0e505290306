//! What an event is to those who count.

use serde::{Deserialize, Serialize};

use super::PaceLimit;
use crate::bounded_regex::{LazyRegex, RegexError, RegexSource};

/// Something that limits on repetition may count: one tool call. A patch that is typed into a shell is a command and an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activity {
    command: Option<Command>,
    edit: Option<Edit>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Command {
    /// As the agent wrote it.
    whole: String,
    /// The normalised text of each simple command.
    parts: Vec<String>,
    has_failed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Edit {
    tool: String,
    /// Project-relative, each once.
    paths: Vec<String>,
}

/// One time that something was done which a limit counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// Milliseconds since 1970.
    pub time: i64,
    /// The command, or the path.
    pub text: String,
    /// By which it was edited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// With what else it counts together: nothing where there is a pattern, else what is the same.
    #[serde(skip)]
    pub key: String,
}

impl Activity {
    /// `whole`: as the agent wrote it. `parts`: the normalised text of each simple command.
    pub fn command(whole: String, parts: Vec<String>, has_failed: bool) -> Self {
        Self { command: Some(Command { whole, parts, has_failed }), edit: None }
    }

    /// Of files, by their project-relative paths, each once.
    pub fn edit(tool: String, paths: Vec<String>) -> Self {
        Self { command: None, edit: Some(Edit { tool, paths }) }
    }

    /// A command that edits files itself.
    #[must_use]
    pub fn with_edit(self, tool: String, paths: Vec<String>) -> Self {
        Self { edit: Some(Edit { tool, paths }), ..self }
    }

    /// What of it a limit counts.
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
        let search = search(pattern);
        for part in parts {
            if search.found_in(part)? {
                return Ok(vec![Attempt { time, text: part.clone(), tool: None, key: String::new() }]);
            }
        }
        Ok(Vec::new())
    }
}

impl Edit {
    fn counted(&self, pattern: Option<&RegexSource>, time: i64) -> Result<Vec<Attempt>, RegexError> {
        let search = pattern.map(search);
        let mut attempts = Vec::new();
        for path in &self.paths {
            let key = match &search {
                None => path.clone(),
                Some(search) if search.found_in(path)? => String::new(),
                Some(_) => continue,
            };
            attempts.push(Attempt { time, text: path.clone(), tool: Some(self.tool.clone()), key });
        }
        Ok(attempts)
    }
}

fn search(pattern: &RegexSource) -> LazyRegex<'_> {
    LazyRegex::new(pattern.regex.as_str(), std::borrow::Cow::Borrowed(&pattern.hints))
}
