//! The parts of a prompt that do not come from the loop: events, tasks, memories and notes.

use std::fmt::{self, Write};

use super::quote::Quoted;

/// The maximum number of tasks that a prompt lists. If there are more, the number of the remaining tasks is shown.
pub const MAX_TASKS: usize = 20;
/// The maximum size of all memories in a prompt together.
const MAX_MEMORY_BYTES: usize = 4 * 1024;
const MAX_SCRATCHPAD_BYTES: usize = 16 * 1024;

/// A published event, as the prompt shows it to the hat that the event triggers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IncomingEvent {
    pub topic: String,
    /// The hat that published the event; `None` if the person who started the run or Linchpin itself published the
    /// event.
    pub from: Option<String>,
    pub summary: String,
    /// The payload as JSON text.
    pub payload: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PromptContext {
    /// The objective of the run.
    pub objective: Option<String>,
    pub ready_tasks: Vec<ReadyTask>,
    /// The number of ready tasks that are not in `ready_tasks`.
    pub more_ready: usize,
    /// The memories, in the order of how well they match the events and the objective, the best match first.
    pub memories: Vec<PromptMemory>,
    pub scratchpad: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadyTask {
    pub id: String,
    pub priority: u8,
    pub title: String,
    /// The tasks that block this task forever, because they failed or do not exist.
    pub blockers: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptMemory {
    pub id: String,
    pub kind: String,
    pub text: String,
}

impl IncomingEvent {
    pub(super) fn write(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { topic, from, summary, payload } = self;
        write!(out, "\n<event topic=\"{topic}\"")?;
        if let Some(from) = from {
            write!(out, " from=\"{from}\"")?;
        }
        write!(out, ">\n{}", Quoted(summary))?;
        if let Some(payload) = payload {
            write!(out, "{}", Quoted(payload))?;
        }
        out.write_str("</event>\n")
    }
}

impl PromptContext {
    pub(super) fn write_tasks(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("\n<ready-tasks>\n")?;
        for ReadyTask { id, priority, title, blockers } in self.ready_tasks.iter().take(MAX_TASKS) {
            let mut line = format!("{id} (priority {priority}) {title}");
            if !blockers.is_empty() {
                let _ = write!(line, " [permanently blocked by {}]", blockers.join(", "));
            }
            write!(out, "{}", Quoted(&line))?;
        }
        match self.ready_tasks.len() + self.more_ready {
            0 => out.write_str("none\n")?,
            count if count > MAX_TASKS => writeln!(out, "and {} more: `linchpin task ready`", count - MAX_TASKS)?,
            _ => {}
        }
        out.write_str("</ready-tasks>\n")
    }

    pub(super) fn write_memories(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut remaining = MAX_MEMORY_BYTES;
        let lines = self.memories.iter().map(|PromptMemory { id, kind, text }| {
            let line = format!("{id} ({kind}) {text}");
            Quoted(&line).to_string()
        });
        let fitting: Vec<String> = lines
            .take_while(|line| {
                let fits = line.len() <= remaining;
                remaining = remaining.saturating_sub(line.len());
                fits
            })
            .collect();
        if fitting.is_empty() {
            return Ok(());
        }
        write!(out, "\n<memories>\n{}</memories>\n", fitting.concat())
    }

    pub(super) fn write_scratchpad(&self, path: &str, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(text) = self.scratchpad.as_deref().map(str::trim_end).filter(|text| !text.is_empty()) else {
            return Ok(());
        };
        let from = text.len().saturating_sub(MAX_SCRATCHPAD_BYTES);
        let from = (from..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
        let end = text.get(from..).unwrap_or_default();
        let ellipsis = if from > 0 { "…" } else { "" };
        let end = format!("{ellipsis}{end}");
        write!(out, "\n<scratchpad path=\"{path}\">\n{}</scratchpad>\n", Quoted(&end))
    }
}
