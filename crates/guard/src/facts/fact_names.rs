//! The names under which [`LiveFacts`](super::LiveFacts) records facts in the journal and
//! [`RecordedFacts`](super::RecordedFacts) reads them.

use std::path::Path;

use engine::facts::TaskField;
use store::WORKFLOW_VARIABLE_PREFIX;

/// The name of the fact with the claims of the move that led to the current phase.
pub const CLAIMS_FACT: &str = "claims";

/// The name of the fact with a variable's value. A workflow and the session may have variables of the same name.
pub fn variable_fact(name: &str, is_of_workflow: bool) -> String {
    format!("{}{name}", if is_of_workflow { WORKFLOW_VARIABLE_PREFIX } else { SESSION_VARIABLE_PREFIX })
}

/// Prefix of facts about variables of the session.
pub const SESSION_VARIABLE_PREFIX: &str = "variables.";

/// The name of the fact with the state of a pace rule. The same rule may count both over the active phase and over the
/// session, so it may have one fact for each.
pub fn pace_fact(digest: &str, is_of_workflow: bool) -> String {
    if is_of_workflow { format!("workflow.pace.{digest}") } else { format!("pace.{digest}") }
}

/// The name of the fact that says whether a session or run was asked to stop. `None` means the current session and its
/// run.
pub fn stop_signal_fact(session: Option<&str>) -> String {
    session.map_or_else(|| "stop_signal".to_owned(), |session| format!("stop_signal.{session}"))
}

/// The name of the fact with the number of tasks of one kind, such as open tasks.
pub fn tasks_fact(field: TaskField) -> String {
    format!("tasks.{}", field.name())
}

/// The name of the fact that says whether a task and all its subtasks are complete.
pub fn task_tree_fact(id: &str) -> String {
    format!("task_tree_complete({})", store::mask(id))
}

/// The name of the fact that says whether a task needs a review by the user.
pub fn task_review_fact(id: &str) -> String {
    format!("task_needs_user_review({})", store::mask(id))
}

/// The full name of a fact in the journal. If the fact belongs to the policy of a directory below the project's root,
/// the full name includes that directory.
pub fn fact_name(directory: &Path, name: &str) -> String {
    let directory = directory.to_string_lossy();
    if directory.is_empty() { name.to_owned() } else { format!("{directory}:{name}") }
}

/// The directory of a nested policy, taken from the full name of a fact about changed files; `None` for the names of
/// other facts, and of facts of the project's own policy.
pub fn directory_of_changes(name: &str) -> Option<&str> {
    name.split_once(":files.").map(|(directory, _)| directory)
}

/// Prefix of the names of the counters that count holds.
const HOLD_PREFIX: &str = "hold:";

/// The name of the counter that counts how often a rule has held a stop. The name includes the policy's directory,
/// because policies of different directories may have rules with the same id.
pub fn hold_counter(directory: &Path, rule: &str) -> String {
    let directory = directory.to_string_lossy();
    if directory.is_empty() { format!("{HOLD_PREFIX}{rule}") } else { format!("{HOLD_PREFIX}{directory}/{rule}") }
}

/// The rule whose holds the counter counts; `None` if the counter does not count holds.
pub fn held_rule(counter: &str) -> Option<&str> {
    counter.strip_prefix(HOLD_PREFIX)
}
