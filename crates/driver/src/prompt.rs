//! Gathers the project's part of a prompt: objective, tasks, memories, and the scratchpad of earlier agents.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use engine::hats::prompt::{IncomingEvent, MAX_TASKS, Prompt, PromptContext, PromptMemory, ReadyTask};
use engine::hats::{Hat, Loop};
use work::{PublishedTopic, Task, WorkDatabase};

/// The number of bytes read from the end of the scratchpad; more than a prompt shows.
const SCRATCHPAD_TAIL: u64 = 32 * 1024;

/// Returns the hat and the prompt of a run's first agent; `None` if no hat handles the first topic.
pub fn first_prompt(
    the_loop: &Loop,
    objective: Option<&str>,
    work: &WorkDatabase,
    root: &Path,
) -> Result<Option<(String, String)>, work::WorkError> {
    let Some(hat) = the_loop.hat_for(&the_loop.start) else { return Ok(None) };
    let objective = objective.map(|objective| store::mask(objective).into_owned());
    let summary = objective.clone().unwrap_or_default();
    let events = [IncomingEvent { topic: the_loop.start.clone(), from: None, summary, payload: None }];
    let context = gather_context(objective.as_deref(), &events, the_loop, work, root)?;
    let prompt = Prompt { the_loop, hat, events: &events, context: &context }.to_string();
    Ok(Some((hat.id.clone(), prompt)))
}

pub fn gather_context(
    objective: Option<&str>,
    events: &[IncomingEvent],
    the_loop: &Loop,
    work: &WorkDatabase,
    root: &Path,
) -> Result<PromptContext, work::WorkError> {
    let (ready, count) = work.tasks().ready(MAX_TASKS)?;
    let words: Vec<&str> = events.iter().map(|event| event.summary.as_str()).chain(objective).collect();
    let memories = work.memories().most_relevant(&words.join(" "))?;
    let memory = |memory: work::Memory| PromptMemory {
        id: memory.id.to_string(),
        kind: memory.kind.name().to_owned(),
        text: memory.text,
    };
    Ok(PromptContext {
        objective: objective.map(str::to_owned),
        ready_tasks: ready.iter().map(ready_task).collect(),
        more_ready: count.saturating_sub(ready.len()),
        memories: memories.into_iter().map(memory).collect(),
        scratchpad: read_tail(&root.join(&the_loop.scratchpad), root),
    })
}

fn ready_task(task: &Task) -> ReadyTask {
    ReadyTask {
        id: task.id.to_string(),
        priority: task.priority,
        title: task.title.clone(),
        blockers: task.failed_or_missing_blockers().map(|blocker| blocker.id.to_string()).collect(),
    }
}

/// Returns the events that the hat has to handle: the topic and, after a failed attempt, the remark about that attempt.
pub fn incoming_events(published: &PublishedTopic) -> Vec<IncomingEvent> {
    let PublishedTopic { topic, summary, payload, from, remark, .. } = published;
    let event =
        IncomingEvent { topic: topic.clone(), from: from.clone(), summary: summary.clone(), payload: payload.clone() };
    let retry_event = remark.as_ref().map(|remark| IncomingEvent {
        topic: Loop::SYSTEM_RESUME.to_owned(),
        from: None,
        summary: remark.clone(),
        payload: None,
    });
    std::iter::once(event).chain(retry_event).collect()
}

/// Returns the note to the next agent if the last one handed nothing over.
pub fn retry_note(hat: &Hat, refusal: Option<&str>) -> String {
    let (result, attempt) = match refusal {
        None => ("ended without publishing anything", String::new()),
        Some(why) => ("published no topic that was accepted", format!("\nIts last attempt: {why}")),
    };
    format!("The previous agent under the hat `{}` {result}. Look at what it did, then continue.{attempt}", hat.id)
}

fn read_tail(file: &Path, root: &Path) -> Option<String> {
    // A symlink could point out of the project, and reading a named pipe would block.
    let target = file.canonicalize().ok().filter(|target| target.starts_with(root) && target.is_file())?;
    let mut file = File::open(target).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(SCRATCHPAD_TAIL))).ok()?;
    let mut bytes = Vec::new();
    file.take(SCRATCHPAD_TAIL).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
