//! What an event is to those who count.

use serde::{Deserialize, Serialize};

use super::Limit;
use crate::event::{Access, Event, EventKind, Outcome, ShellText};
use crate::paths;
use crate::search::{LazySearch, SearchError};
use crate::situation::Situation;

/// Something that a limit on repetition may count: one tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Happening {
    /// `whole`: as the agent wrote it. `parts`: the normalised text of each simple command.
    Command { whole: String, parts: Vec<String>, has_failed: bool },
    /// Project-relative paths, each once.
    Edit { tool: String, paths: Vec<String> },
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

impl Happening {
    /// The tool call of an event; `None` where it has none that counts.
    pub fn of(situation: &Situation) -> Option<Self> {
        let Event { kind, tool, outcome, .. } = &*situation.event;
        if !matches!(kind, EventKind::BeforeTool | EventKind::AfterTool | EventKind::ToolFailed) {
            return None;
        }
        let call = tool.as_ref()?;
        let has_failed = *kind == EventKind::ToolFailed || *outcome == Some(Outcome::Failed);
        if let Some(ShellText::Command(whole)) = &call.shell {
            let parts = situation.texts().iter().filter(|text| !text.is_empty()).cloned().collect();
            return Some(Self::Command { whole: whole.clone(), parts, has_failed });
        }
        let edited = call.files.iter().filter(|file| call.mcp.is_empty() && file.access != Some(Access::Read));
        let mut paths: Vec<String> = edited
            .filter_map(|file| {
                let path = paths::tidy(&situation.place.absolute(&file.path, &situation.event.cwd));
                paths::below(&path, &situation.place.root).map(str::to_owned)
            })
            .collect();
        paths.dedup();
        (!paths.is_empty() && file_tool(&call.name)).then(|| Self::Edit { tool: call.name.clone(), paths })
    }

    pub fn has_failed(&self) -> bool {
        matches!(self, Self::Command { has_failed: true, .. })
    }

    /// What of it a limit counts.
    pub fn counted(&self, limit: &Limit, time: i64) -> Result<Vec<Attempt>, SearchError> {
        match (self, limit) {
            (Self::Command { whole, parts, has_failed }, Limit::RepeatedCommand { pattern, failures_only, .. })
                if !failures_only || *has_failed =>
            {
                let Some(pattern) = pattern else {
                    let key = whole.split_whitespace().collect::<Vec<_>>().join(" ");
                    let text = if parts.is_empty() { key.clone() } else { parts.join("; ") };
                    return Ok(vec![Attempt { time, text, tool: None, key }]);
                };
                let search = LazySearch::new(pattern.regex.as_str(), std::borrow::Cow::Borrowed(&pattern.hints));
                for part in parts {
                    if search.found_in(part)? {
                        return Ok(vec![Attempt { time, text: part.clone(), tool: None, key: String::new() }]);
                    }
                }
                Ok(Vec::new())
            }
            (Self::Edit { tool, paths }, Limit::RepeatedFileEdit { pattern, .. }) => {
                let search = pattern
                    .as_ref()
                    .map(|pattern| LazySearch::new(pattern.regex.as_str(), std::borrow::Cow::Borrowed(&pattern.hints)));
                let mut attempts = Vec::new();
                for path in paths {
                    let key = match &search {
                        None => path.clone(),
                        Some(search) if search.found_in(path)? => String::new(),
                        Some(_) => continue,
                    };
                    attempts.push(Attempt { time, text: path.clone(), tool: Some(tool.clone()), key });
                }
                Ok(attempts)
            }
            _ => Ok(Vec::new()),
        }
    }
}

/// Whether files are what the tool is for. What others write is not edited.
fn file_tool(name: &str) -> bool {
    matches!(name, "Edit" | "MultiEdit" | "NotebookEdit" | "Write")
}
