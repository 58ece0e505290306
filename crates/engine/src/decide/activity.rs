//! Converts an event to the [`Activity`] that pace rules count.

use crate::event::{CallOutcome, Event, EventKind, ShellText, ToolCall};
use crate::pace::Activity;
use crate::situation::Situation;
use path::Access;

/// The activity of a tool event; `None` for other events, and for calls that no pace rule counts.
pub(super) fn of(situation: &Situation) -> Option<Activity> {
    let Event { kind, tool, outcome, .. } = &*situation.event;
    if !matches!(kind, EventKind::BeforeTool | EventKind::AfterTool | EventKind::ToolFailed) {
        return None;
    }
    let call = tool.as_ref()?;
    let has_failed = *kind == EventKind::ToolFailed || *outcome == Some(CallOutcome::Failed);
    let command = match &call.shell {
        Some(ShellText::Command(whole)) => {
            let parts = situation.command_texts().iter().filter(|text| !text.is_empty()).cloned().collect();
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

/// The paths of the edited files that are in the project, relative to the project's root and without duplicates.
fn edited_files(call: &ToolCall, situation: &Situation) -> Vec<String> {
    // The adapter lists files of a shell call only if the command is a patch that the agent applies itself, so these
    // files count as edited.
    let is_mcp = !call.mcp.is_empty();
    if !is_mcp && call.shell.is_none() && !is_file_tool(&call.name) {
        return Vec::new();
    }
    // If it is unknown whether an MCP tool reads or writes a file, the file does not count as edited.
    let is_edited = |access: Option<Access>| access.map_or(!is_mcp, |access| access != Access::Read);
    let mut paths: Vec<String> = Vec::new();
    for file in call.files.iter().filter(|file| is_edited(file.access)) {
        let path = path::normalize(&situation.directories.absolute(&file.path, &situation.event.cwd));
        let path = path::relative_to(&path, &situation.directories.root);
        if let Some(path) = path.filter(|path| !paths.iter().any(|known| known == path)) {
            paths.push(path.to_owned());
        }
    }
    paths
}

/// True for tools whose purpose is to edit files. A call of any other tool counts as an edit only of the files that an
/// MCP call changes, and of the files of a patch in a shell call.
fn is_file_tool(name: &str) -> bool {
    matches!(name, "Edit" | "MultiEdit" | "NotebookEdit" | "Write")
}
