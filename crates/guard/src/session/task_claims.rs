//! Records which of Linchpin's tasks a session works on, for the observer `task_claim_tracking`. The commands that
//! start and end tasks record this themselves, because only they know whether they succeeded.

use engine::behavior_names::CLAIMED_TASKS;
use engine::observers::{BuiltinBehavior, ObserverKind, claim_changes};
use policy::Config;
use serde_json::json;
use store::{Note, NoteKind, SessionKey, StateChanges, Store, StoreError};

use super::{AgentSession, CommandRun};

/// What happened to a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskEvent {
    /// The task was started. From then on, it counts as claimed by the session that ran the command. If a person ran
    /// the command, no session has claimed the task.
    Started,
    /// No session works on the task any more, no matter who ended it.
    Ended,
}

impl TaskEvent {
    fn name(self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::Ended => "ended",
        }
    }
}

/// Records the event in the sessions that it concerns. Records nothing if no observer tracks tasks.
pub fn record_task_event(
    task: &str,
    task_event: TaskEvent,
    command: &CommandRun<'_>,
    config: &Config,
    root: &str,
    store: &mut Store,
) -> Result<(), StoreError> {
    let tracks_tasks =
        |kind: &ObserverKind| matches!(kind, ObserverKind::Builtin(BuiltinBehavior::TaskClaimTracking(_)));
    if !config.observers.iter().any(|observer| tracks_tasks(&observer.kind)) {
        return Ok(());
    }
    let sessions = match task_event {
        TaskEvent::Started => {
            command.likely_session(store)?.map(|AgentSession { agent, id }| (agent, id)).into_iter().collect()
        }
        TaskEvent::Ended => store.sessions_with_variable(CLAIMED_TASKS)?,
    };
    let fields =
        [("task".to_owned(), json!(task)), ("what".to_owned(), json!(task_event.name()))].into_iter().collect();
    for (agent, session) in &sessions {
        let session = SessionKey { agent, session };
        let claimed_tasks = store.session_state(session)?.variables.get(CLAIMED_TASKS).cloned();
        let variables = claim_changes(task, task_event == TaskEvent::Started, claimed_tasks);
        if variables.is_empty() {
            continue;
        }
        let changes = StateChanges { session_variables: variables, ..StateChanges::default() };
        store.write_note(&Note {
            kind: NoteKind::Task,
            session,
            time: command.now,
            root,
            cwd: root,
            fields: &fields,
            changes: &changes,
        })?;
    }
    Ok(())
}
