//! What an event is to those who count.

use serde::{Deserialize, Serialize};

use super::Limit;
use crate::event::{CallOutcome, Event, EventKind, ShellText, ToolCall};
use crate::rules::TextSearch;
use crate::search::{LazySearch, SearchError};
use crate::situation::Situation;
use path::Access;

/// Something that limits on repetition may count: one tool call. A patch that is typed into a shell is a command and an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Happening {
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

impl Happening {
    /// `whole`: as the agent wrote it. `parts`: the normalised text of each simple command.
    pub fn command(whole: String, parts: Vec<String>, has_failed: bool) -> Self {
        Self { command: Some(Command { whole, parts, has_failed }), edit: None }
    }

    /// Of a file, by its project-relative path.
    pub fn edit(tool: String, path: String) -> Self {
        Self { command: None, edit: Some(Edit { tool, paths: vec![path] }) }
    }

    /// The tool call of an event; `None` where it has none that counts.
    pub fn of(situation: &Situation) -> Option<Self> {
        let Event { kind, tool, outcome, .. } = &*situation.event;
        if !matches!(kind, EventKind::BeforeTool | EventKind::AfterTool | EventKind::ToolFailed) {
            return None;
        }
        let call = tool.as_ref()?;
        let has_failed = *kind == EventKind::ToolFailed || *outcome == Some(CallOutcome::Failed);
        let command = match &call.shell {
            Some(ShellText::Command(whole)) => {
                let parts = situation.texts().iter().filter(|text| !text.is_empty()).cloned().collect();
                Some(Command { whole: whole.clone(), parts, has_failed })
            }
            _ => None,
        };
        let edit = Edit::of(call, situation);
        (command.is_some() || edit.is_some()).then_some(Self { command, edit })
    }

    /// What of it a limit counts.
    pub fn counted(&self, limit: &Limit, time: i64) -> Result<Vec<Attempt>, SearchError> {
        match (self, limit) {
            (Self { command: Some(command), .. }, Limit::RepeatedCommand { pattern, failures_only, .. })
                if !failures_only || command.has_failed =>
            {
                command.counted(pattern.as_ref(), time)
            }
            (Self { edit: Some(edit), .. }, Limit::RepeatedFileEdit { pattern, .. }) => {
                edit.counted(pattern.as_ref(), time)
            }
            _ => Ok(Vec::new()),
        }
    }
}

impl Command {
    fn counted(&self, pattern: Option<&TextSearch>, time: i64) -> Result<Vec<Attempt>, SearchError> {
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
    fn of(call: &ToolCall, situation: &Situation) -> Option<Self> {
        // The files of a shell call are those of a patch that the agent applies itself.
        let is_mcp = !call.mcp.is_empty();
        if !is_mcp && call.shell.is_none() && !file_tool(&call.name) {
            return None;
        }
        // What an MCP tool does to a file is not always known.
        let is_edited = |access: Option<Access>| access.map_or(!is_mcp, |access| access != Access::Read);
        let mut paths: Vec<String> = Vec::new();
        for file in call.files.iter().filter(|file| is_edited(file.access)) {
            let path = path::tidy(&situation.place.absolute(&file.path, &situation.event.cwd));
            let path = path::below(&path, &situation.place.root);
            if let Some(path) = path.filter(|path| !paths.iter().any(|known| known == path)) {
                paths.push(path.to_owned());
            }
        }
        (!paths.is_empty()).then(|| Self { tool: call.name.clone(), paths })
    }

    fn counted(&self, pattern: Option<&TextSearch>, time: i64) -> Result<Vec<Attempt>, SearchError> {
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

fn search(pattern: &TextSearch) -> LazySearch<'_> {
    LazySearch::new(pattern.regex.as_str(), std::borrow::Cow::Borrowed(&pattern.hints))
}

/// Whether files are what the tool is for. What others write is not edited.
fn file_tool(name: &str) -> bool {
    matches!(name, "Edit" | "MultiEdit" | "NotebookEdit" | "Write")
}
