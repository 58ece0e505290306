//! What an event is to pace rules.

use crate::event::{CallOutcome, Event, EventKind, ShellText, ToolCall};
use crate::pace::Activity;
use crate::situation::Situation;
use path::Access;

/// The tool call of an event; `None` where it has none that counts.
pub(super) fn of(situation: &Situation) -> Option<Activity> {
    let Event { kind, tool, outcome, .. } = &*situation.event;
    if !matches!(kind, EventKind::BeforeTool | EventKind::AfterTool | EventKind::ToolFailed) {
        return None;
    }
    let call = tool.as_ref()?;
    let has_failed = *kind == EventKind::ToolFailed || *outcome == Some(CallOutcome::Failed);
    let command = match &call.shell {
        Some(ShellText::Command(whole)) => {
            let parts = situation.texts().iter().filter(|text| !text.is_empty()).cloned().collect();
            Some(Activity::command(whole.clone(), parts, has_failed))
        }
        _ => None,
    };
    let edited = edited_files(call, situation);
    match command {
        Some(command) if edited.is_empty() => Some(command),
        Some(command) => Some(command.with_edit(call.name.clone(), edited)),
        None if edited.is_empty() => None,
        None => Some(Activity::edit(call.name.clone(), edited)),
    }
}

/// Project-relative, each once.
fn edited_files(call: &ToolCall, situation: &Situation) -> Vec<String> {
    // The files of a shell call are those of a patch that the agent applies itself.
    let is_mcp = !call.mcp.is_empty();
    if !is_mcp && call.shell.is_none() && !is_file_tool(&call.name) {
        return Vec::new();
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
    paths
}

/// Whether files are what the tool is for. What others write is not edited.
fn is_file_tool(name: &str) -> bool {
    matches!(name, "Edit" | "MultiEdit" | "NotebookEdit" | "Write")
}
