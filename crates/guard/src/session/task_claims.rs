//! Tasks of Linchpin's own that a session takes on: `task_claim_tracking` learns of them from the command itself, which
//! knows for sure whether it was done.

use engine::behavior_names::CLAIMED_TASKS;
use engine::observers::{BuiltinBehavior, ObserverKind, claim_changes};
use policy::Config;
use serde_json::json;
use store::{Note, NoteKind, SessionKey, StateChanges, Store, StoreError};

use super::{CommandRun, SessionOwner};

/// Writes down that the session of an agent has started a task (`is_claim`), or that a task has ended, whoever ended it: no
/// session has claimed it any more. Nothing is written where no observer keeps track of claims; a person's start is no claim.
pub fn note_claim(
    task: &str,
    is_claim: bool,
    command: &CommandRun<'_>,
    config: &Config,
    root: &str,
    store: &mut Store,
) -> Result<(), StoreError> {
    let keeps_track =
        |kind: &ObserverKind| matches!(kind, ObserverKind::Behavior(BuiltinBehavior::TaskClaimTracking(_)));
    if !config.observers.iter().any(|observer| keeps_track(&observer.kind)) {
        return Ok(());
    }
    let sessions = if is_claim {
        command.agent(store)?.map(|SessionOwner { agent, session }| (agent, session)).into_iter().collect()
    } else {
        store.sessions_with_variable(CLAIMED_TASKS)?
    };
    let what = if is_claim { "started" } else { "ended" };
    let fields = [("task".to_owned(), json!(task)), ("what".to_owned(), json!(what))].into_iter().collect();
    for (agent, session) in &sessions {
        let session = SessionKey { agent, session };
        let claimed = store.session(session)?.variables.get(CLAIMED_TASKS).cloned();
        let variables = claim_changes(task, is_claim, claimed);
        if variables.is_empty() {
            continue;
        }
        let changes = StateChanges { variables, ..StateChanges::default() };
        store.note(&Note {
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
