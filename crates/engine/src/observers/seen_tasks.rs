//! Remembers the tasks that a session has seen in results of its task tools, so that references to these tasks can be
//! resolved.
//!
//! A reference is `#12`, a prefix of an id, or the full id. The list of claimed tasks contains only full ids.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The session variable that stores the seen tasks.
pub(super) const SEEN_TASKS: &str = "_seen_tasks";

/// The maximum number of remembered tasks. If there are more, the oldest tasks are dropped.
const TASKS_LIMIT: usize = 200;
const REFERENCE_LIMIT: usize = 128;
/// The minimum length of a prefix of an id. A shorter prefix would often be ambiguous.
const MIN_PREFIX: usize = 4;
/// Maximum depth of the search in a result.
const DEPTH_LIMIT: usize = 4;

const ID_KEYS: [&str; 3] = ["id", "task_id", "uuid"];
const REFERENCE_KEYS: [&str; 6] = ["ref", "reference", "number", "seq_num", "short_id", "key"];
/// Fields in which task servers nest tasks.
const NESTING_KEYS: [&str; 8] = ["task", "tasks", "result", "results", "items", "data", "children", "subtasks"];

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Task {
    pub(super) id: String,
    /// References to the task other than its id, without `#`.
    refs: Vec<String>,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SeenTasks {
    tasks: Vec<Task>,
}

impl SeenTasks {
    pub(super) fn of(stored: Option<Value>) -> Self {
        Self { tasks: stored.and_then(|value| serde_json::from_value(value).ok()).unwrap_or_default() }
    }

    pub(super) fn to_value(&self) -> Value {
        serde_json::to_value(&self.tasks).unwrap_or_default()
    }

    /// Remembers the tasks in a result, and returns them in their order in the result.
    pub(super) fn remember_tasks(&mut self, result: &Value) -> Vec<Task> {
        let mut tasks = Vec::new();
        collect(result, 0, &mut tasks);
        let mut ids = std::collections::BTreeSet::new();
        tasks.retain(|task| ids.insert(task.id.clone()));
        for task in &tasks {
            self.add(task);
        }
        let excess = self.tasks.len().saturating_sub(TASKS_LIMIT);
        self.tasks.drain(..excess);
        tasks
    }

    fn add(&mut self, task: &Task) {
        match self.tasks.iter_mut().find(|known| known.id == task.id) {
            Some(known) => {
                for reference in &task.refs {
                    if !known.refs.contains(reference) {
                        known.refs.push(reference.clone());
                    }
                }
            }
            None => self.tasks.push(task.clone()),
        }
    }

    /// The id of the task that a reference identifies; `None` if the reference is unknown or ambiguous.
    pub(super) fn resolve(&self, reference: &str) -> Option<String> {
        let reference = normalize_reference(reference)?;
        let is_exact = |task: &&Task| task.id == reference || task.refs.contains(&reference);
        let exact: Vec<&Task> = self.tasks.iter().filter(is_exact).collect();
        match exact.as_slice() {
            [only] => return Some(only.id.clone()),
            [] if reference.len() >= MIN_PREFIX => {}
            _ => return None,
        }
        let mut matching = self.tasks.iter().filter(|task| task.id.starts_with(&reference));
        match (matching.next(), matching.next()) {
            (Some(only), None) => Some(only.id.clone()),
            _ => None,
        }
    }
}

/// Normalizes a reference: removes `#` and white space, and converts UUIDs to lower case. `None` if the reference is
/// not valid.
pub(super) fn normalize_reference(reference: &str) -> Option<String> {
    let reference = reference.trim().trim_start_matches('#');
    let is_valid = !reference.is_empty() && reference.len() <= REFERENCE_LIMIT && !reference.contains(char::is_control);
    is_valid.then(|| if is_uuid(reference) { reference.to_lowercase() } else { reference.to_owned() })
}

/// Reads a reference from a string or an integer; `None` for any other value, or if the reference is not valid.
pub(super) fn parse_reference(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => normalize_reference(text),
        Value::Number(number) if number.is_u64() => Some(number.to_string()),
        _ => None,
    }
}

pub(super) fn is_uuid(text: &str) -> bool {
    let lengths = [8, 4, 4, 4, 12];
    let mut parts = text.split('-');
    let fits = lengths.iter().all(|length| {
        parts
            .next()
            .is_some_and(|part| part.len() == *length && part.chars().all(|character| character.is_ascii_hexdigit()))
    });
    fits && parts.next().is_none()
}

/// Collects the tasks in a result, or in a part of a result.
fn collect(value: &Value, depth: usize, tasks: &mut Vec<Task>) {
    if depth > DEPTH_LIMIT || tasks.len() >= TASKS_LIMIT {
        return;
    }
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, depth + 1, tasks)),
        Value::Object(fields) => {
            let named =
                |keys: &[&str]| keys.iter().filter_map(|key| parse_reference(fields.get(*key)?)).collect::<Vec<_>>();
            let mut ids = named(&ID_KEYS);
            // A UUID is preferred as the id, because UUIDs are globally unique.
            if let Some(index) = ids.iter().position(|id| is_uuid(id)).or((!ids.is_empty()).then_some(0)) {
                let id = ids.swap_remove(index);
                let mut refs = named(&REFERENCE_KEYS);
                refs.extend(ids);
                refs.retain(|reference| *reference != id);
                tasks.push(Task { id, refs });
            }
            for key in NESTING_KEYS {
                if let Some(inner) = fields.get(key) {
                    collect(inner, depth + 1, tasks);
                }
            }
        }
        _ => {}
    }
}
