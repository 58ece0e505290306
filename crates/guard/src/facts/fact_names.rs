//! Names of facts in the journal. [`LiveFacts`](super::LiveFacts) writes facts under these names,
//! [`RecordedFacts`](super::RecordedFacts) reads them.

use std::path::Path;

use engine::facts::TaskField;
use store::WORKFLOW_VARIABLE_PREFIX;

/// The fact with the claims of the move that led to the current phase.
pub const CLAIMS_FACT: &str = "claims";

/// The name of the fact with a variable's value. A workflow and the session may have variables of the same name.
pub fn variable_fact(name: &str, is_of_workflow: bool) -> String {
    format!("{}{name}", if is_of_workflow { WORKFLOW_VARIABLE_PREFIX } else { SESSION_VARIABLE_PREFIX })
}

/// Prefix of facts about variables of the session.
pub const SESSION_VARIABLE_PREFIX: &str = "variables.";

/// The name of the fact with the state of a pace rule. The active phase and the session have separate facts, because a
/// rule may apply to both.
pub fn pace_fact(digest: &str, is_of_workflow: bool) -> String {
    if is_of_workflow { format!("workflow.pace.{digest}") } else { format!("pace.{digest}") }
}

/// The name of the fact that says whether a session was asked to stop.
pub fn stop_signal_fact(session: Option<&str>) -> String {
    session.map_or_else(|| "stop_signal".to_owned(), |session| format!("stop_signal.{session}"))
}

pub fn tasks_fact(field: TaskField) -> String {
    format!("tasks.{}", field.name())
}

/// The name of the fact that says whether a task and all its subtasks are complete.
pub fn task_tree_fact(id: &str) -> String {
    format!("task_tree_complete({})", store::mask(id))
}

pub fn task_review_fact(id: &str) -> String {
    format!("task_needs_user_review({})", store::mask(id))
}

/// The name of a fact in the journal. Policies of directories below the root have facts of their own.
pub fn fact_name(folder: &Path, name: &str) -> String {
    let folder = folder.to_string_lossy();
    if folder.is_empty() { name.to_owned() } else { format!("{folder}:{name}") }
}

const HOLD_PREFIX: &str = "hold:";

/// The name of the counter of stops that a rule has held. Rules of different directories may have the same id.
pub fn hold_counter(folder: &Path, rule: &str) -> String {
    let folder = folder.to_string_lossy();
    if folder.is_empty() { format!("{HOLD_PREFIX}{rule}") } else { format!("{HOLD_PREFIX}{folder}/{rule}") }
}

/// The rule that a counter of holds belongs to; `None` for other counters.
pub fn held_rule(counter: &str) -> Option<&str> {
    counter.strip_prefix(HOLD_PREFIX)
}
