//! Rebuilds events from the journal, as far as they were recorded.

use engine::event::{CallOutcome, Event, EventKind, ShellText, ToolCall};
use store::JournalEntry;

use crate::facts::input_record;

/// The event of an entry; `None` if the entry is a note.
pub fn recorded_event(entry: &JournalEntry) -> Option<Event> {
    let kind = EventKind::from_name(&entry.kind)?;
    if let Some(whole) = entry.event.as_ref().and_then(|whole| serde_json::from_value(whole.clone()).ok()) {
        return Some(whole);
    }
    let shell = match &entry.tool.command {
        Some(command) => Some(ShellText::Command(command.clone())),
        None if entry.tool.command_missing => Some(ShellText::Missing),
        None => None,
    };
    let tool = entry.tool.name.as_ref().map(|name| ToolCall {
        name: name.clone(),
        aliases: entry.tool.aliases.clone(),
        id: entry.tool.id.clone(),
        input: input_record::recorded_input(entry),
        output: None,
        shell,
        files: entry.tool.paths.clone(),
        mcp: entry.tool.mcp.clone(),
    });
    let outcome = [CallOutcome::Ok, CallOutcome::Failed]
        .into_iter()
        .find(|outcome| entry.outcome.as_deref() == Some(outcome.name()));
    Some(Event {
        kind,
        name: entry.name.clone(),
        session: entry.session.id.clone(),
        cwd: entry.cwd.clone(),
        tool,
        outcome,
        held_before: entry.held_before,
        subagent: entry.subagent.clone(),
        ..Event::unknown(&entry.session.agent, entry.time)
    })
}
