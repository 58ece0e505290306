//! Linchpin's own tasks that a session starts or ends. The command itself reports them to `task_claim_tracking`,
//! because it knows whether it succeeded.

use engine::behavior_names::CLAIMED_TASKS;
use engine::observers::{BuiltinBehavior, ObserverKind, claim_changes};
use policy::Config;
use serde_json::json;
use store::{Note, NoteKind, SessionKey, StateChanges, Store, StoreError};

use super::{CommandRun, SessionOwner};

/// Records that an agent's session started a task (`is_claim`), or that a task ended. No session claims an ended task
/// any more, no matter who ended it. Nothing is recorded if no observer tracks claims. A task that a person starts is
/// not claimed.
pub fn record_claim(
    task: &str,
    is_claim: bool,
    command: &CommandRun<'_>,
    config: &Config,
    root: &str,
    store: &mut Store,
) -> Result<(), StoreError> {
    let tracks_claims =
        |kind: &ObserverKind| matches!(kind, ObserverKind::Behavior(BuiltinBehavior::TaskClaimTracking(_)));
    if !config.observers.iter().any(|observer| tracks_claims(&observer.kind)) {
        return Ok(());
    }
    let sessions = if is_claim {
        command.likely_session(store)?.map(|SessionOwner { agent, id }| (agent, id)).into_iter().collect()
    } else {
        store.sessions_with_variable(CLAIMED_TASKS)?
    };
    let status = if is_claim { "started" } else { "ended" };
    let fields = [("task".to_owned(), json!(task)), ("what".to_owned(), json!(status))].into_iter().collect();
    for (agent, session) in &sessions {
        let session = SessionKey { agent, session };
        let claimed_tasks = store.session(session)?.variables.get(CLAIMED_TASKS).cloned();
        let variables = claim_changes(task, is_claim, claimed_tasks);
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
