//! The names under which the journal keeps facts. [`LiveFacts`](super::LiveFacts) write by them,
//! [`RecordedFacts`](super::RecordedFacts) read by them.

use std::path::Path;

use engine::facts::TaskField;
use store::WORKFLOW_VARIABLE_PREFIX;

/// The fact that holds what was claimed with the move that led to the current phase.
pub const CLAIMS_FACT: &str = "claims";

/// The name of the fact that says what a variable was. A workflow may have one that the session has too.
pub fn variable_fact(name: &str, is_of_workflow: bool) -> String {
    format!("{}{name}", if is_of_workflow { WORKFLOW_VARIABLE_PREFIX } else { SESSION_VARIABLE })
}

/// Before the name of a session's variable, where facts are noted.
pub const SESSION_VARIABLE: &str = "variables.";

/// The name of the fact that says how a phase, or else the session, stood with a pace rule: one rule may be in force for both.
pub fn pace_fact(digest: &str, is_of_workflow: bool) -> String {
    if is_of_workflow { format!("workflow.pace.{digest}") } else { format!("pace.{digest}") }
}

/// The name of the fact that says whether a session was asked to stop.
pub fn stop_fact(session: Option<&str>) -> String {
    session.map_or_else(|| "stop_signal".to_owned(), |session| format!("stop_signal.{session}"))
}

pub fn tasks_fact(field: TaskField) -> String {
    format!("tasks.{}", field.name())
}

/// The name of the fact that says whether a task and all below it are complete.
pub fn tree_fact(id: &str) -> String {
    format!("task_tree_complete({})", store::mask(id))
}

pub fn review_fact(id: &str) -> String {
    format!("task_needs_user_review({})", store::mask(id))
}

/// The name of a fact in the journal. The policy of a folder below the root has facts of its own.
pub fn fact_name(folder: &Path, name: &str) -> String {
    let folder = folder.to_string_lossy();
    if folder.is_empty() { name.to_owned() } else { format!("{folder}:{name}") }
}

const HOLD: &str = "hold:";

/// The counter of a rule's holds. Rules of two folders may have one id.
pub fn hold_counter(folder: &Path, rule: &str) -> String {
    let folder = folder.to_string_lossy();
    if folder.is_empty() { format!("{HOLD}{rule}") } else { format!("{HOLD}{folder}/{rule}") }
}

/// The rule whose holds a counter counts, if it is such a counter.
pub fn held_rule(counter: &str) -> Option<&str> {
    counter.strip_prefix(HOLD)
}
