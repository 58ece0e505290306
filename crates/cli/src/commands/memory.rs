//! `memory`: knowledge about a project, stored for people and agents.

use guard::session::project_of_command;
use serde_json::json;
use work::{Memories, Memory, MemoryError, MemoryFilter, MemoryKind, WorkDatabase};

use super::{Context, validate};
use crate::arguments::{MemoryAction, MemoryArguments, MemoryFilterArguments, MemoryType, NamedMemoryArguments};
use crate::exit_code::ExitCode;
use crate::problem::{CommandOutcome, Problem};

/// The maximum number of search results to show; the others are only counted.
const MAX_RESULTS: usize = 20;
/// The maximum length of a text in a list.
const MAX_LINE_CHARACTERS: usize = 80;

pub fn run(arguments: &MemoryArguments, context: &Context) -> CommandOutcome {
    let project = project_of_command(&context.environment);
    validate::require_policy(&project)?;
    let work = WorkDatabase::open(&project.work_database_path(&context.environment))?;
    let memories = work.memories();
    match &arguments.action {
        MemoryAction::Add { text, kind, tags } => {
            let memory = memories.add((*kind).into(), text, tags, super::now())?;
            context.output.line_or(format!("Saved as {}.", memory.id), &json!({ "memory": memory }));
        }
        MemoryAction::Search { words, filter } => search(&words.join(" "), filter, memories, context)?,
        MemoryAction::List { filter } => list(filter, memories, context)?,
        MemoryAction::Show(NamedMemoryArguments { memory }) => {
            let memory = memories.find(memory)?;
            context.output.line_or(full_text(&memory), &json!({ "memory": memory }));
        }
        MemoryAction::Delete(NamedMemoryArguments { memory }) => {
            let memory = memories.find(memory)?;
            memories.delete(memory.id)?;
            context.output.line_or(format!("Deleted {}.", memory.id), &json!({ "memory": memory }));
        }
    }
    Ok(ExitCode::Done)
}

fn search(
    words: &str,
    arguments: &MemoryFilterArguments,
    memories: Memories<'_>,
    context: &Context,
) -> Result<(), Problem> {
    let (found, total) = memories.search(words, filter(arguments), MAX_RESULTS)?;
    let output = &context.output;
    if output.json {
        output.value(&json!({ "memories": found, "total": total }));
        return Ok(());
    }
    for memory in &found {
        output.line(full_text(memory));
    }
    if found.is_empty() {
        output.line("No memory has all of these words.");
    } else if total > found.len() {
        let more = total - found.len();
        let have = if more == 1 { "has" } else { "have" };
        output.line(format!("{more} more {have} them: add words to narrow the search."));
    }
    Ok(())
}

fn list(arguments: &MemoryFilterArguments, memories: Memories<'_>, context: &Context) -> Result<(), Problem> {
    let listed = memories.list(filter(arguments))?;
    let output = &context.output;
    if output.json {
        output.value(&json!({ "memories": listed }));
        return Ok(());
    }
    if listed.is_empty() {
        output.line("There are no such memories. `linchpin memory add TEXT` adds one.");
    }
    let width = listed.iter().map(|memory| memory.id.to_string().len()).max().unwrap_or(0);
    for memory in &listed {
        let (id, kind) = (memory.id.to_string(), memory.kind.name());
        let tags = if memory.tags.is_empty() { String::new() } else { format!("  [{}]", memory.tags.join(", ")) };
        output.line(format!("{id:<width$}  {kind:<8}  {}{tags}", first_line(&memory.text)));
    }
    Ok(())
}

fn filter(arguments: &MemoryFilterArguments) -> MemoryFilter<'_> {
    MemoryFilter { kind: arguments.kind.map(Into::into), tag: arguments.tag.as_deref() }
}

fn full_text(memory: &Memory) -> String {
    let tags = if memory.tags.is_empty() { String::new() } else { format!(" [{}]", memory.tags.join(", ")) };
    let text: Vec<String> = lines(&memory.text).map(|line| format!("    {line}").trim_end().to_owned()).collect();
    format!("{} ({}){tags}\n{}", memory.id, memory.kind.name(), text.join("\n"))
}

/// Splits a text at every character that a terminal may show as a line break, so that no part of the text looks like a
/// line of the command's own output.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| line.split(['\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}']))
}

fn first_line(text: &str) -> String {
    let mut lines = lines(text).map(str::trim).filter(|line| !line.is_empty());
    let line = lines.next().unwrap_or_default();
    let start: String = line.chars().take(MAX_LINE_CHARACTERS).collect();
    let is_all = start.len() == line.len() && lines.next().is_none();
    if is_all { start } else { format!("{start}…") }
}

impl From<MemoryType> for MemoryKind {
    fn from(kind: MemoryType) -> Self {
        match kind {
            MemoryType::Pattern => Self::Pattern,
            MemoryType::Decision => Self::Decision,
            MemoryType::Fix => Self::Fix,
            MemoryType::Context => Self::Context,
        }
    }
}

impl From<MemoryError> for Problem {
    fn from(error: MemoryError) -> Self {
        let message = error.to_string();
        match error {
            MemoryError::Work(error) => error.into(),
            MemoryError::Text(_) => Self::new("InvalidValue", message),
            MemoryError::Tag(_) => {
                Self::new("InvalidValue", message).help("a tag is one word; for several write `--tag one --tag two`")
            }
            MemoryError::NoWords(_) => {
                Self::new("InvalidValue", message).help("a word contains at least one letter or digit")
            }
            MemoryError::NotFound(_) => {
                Self::new("NotFound", message).help("`linchpin memory list` lists the memories")
            }
        }
    }
}
