//! The tasks that a session has seen in the results of its task tools, and which of them a reference means.
//!
//! People and agents say `#12`, the first letters of an id, or the whole id; what is stored is always the one id.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The variable in which a session remembers them.
pub(super) const SEEN_TASKS: &str = "_seen_tasks";

/// The oldest are forgotten.
const TASKS_LIMIT: usize = 200;
const REFERENCE_LIMIT: usize = 128;
/// A shorter prefix means too many.
const PREFIX_LEAST: usize = 4;
/// How deep a result is looked through.
const DEPTH_LIMIT: usize = 4;

const ID_KEYS: [&str; 3] = ["id", "task_id", "uuid"];
const REFERENCE_KEYS: [&str; 6] = ["ref", "reference", "number", "seq_num", "short_id", "key"];
/// Where task servers put tasks within what they answer.
const HOLDERS: [&str; 8] = ["task", "tasks", "result", "results", "items", "data", "children", "subtasks"];

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Task {
    pub(super) id: String,
    /// Other names of it, without `#`.
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

    /// Remembers every task that a result shows, and gives them in its order.
    pub(super) fn learn(&mut self, result: &Value) -> Vec<Task> {
        let mut shown = Vec::new();
        collect(result, 0, &mut shown);
        let mut met = std::collections::BTreeSet::new();
        shown.retain(|task| met.insert(task.id.clone()));
        for task in &shown {
            self.add(task);
        }
        let excess = self.tasks.len().saturating_sub(TASKS_LIMIT);
        self.tasks.drain(..excess);
        shown
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

    /// The one task that a reference means; none where it is not known, or could be several.
    pub(super) fn resolve(&self, reference: &str) -> Option<String> {
        let reference = plain(reference)?;
        let is_exact = |task: &&Task| task.id == reference || task.refs.contains(&reference);
        let exact: Vec<&Task> = self.tasks.iter().filter(is_exact).collect();
        match exact.as_slice() {
            [only] => return Some(only.id.clone()),
            [] if reference.len() >= PREFIX_LEAST => {}
            _ => return None,
        }
        let mut begun = self.tasks.iter().filter(|task| task.id.starts_with(&reference));
        match (begun.next(), begun.next()) {
            (Some(only), None) => Some(only.id.clone()),
            _ => None,
        }
    }
}

/// A reference as it is compared: without `#` and white space; a UUID in small letters.
pub(super) fn plain(reference: &str) -> Option<String> {
    let reference = reference.trim().trim_start_matches('#');
    let is_sound = !reference.is_empty() && reference.len() <= REFERENCE_LIMIT && !reference.contains(char::is_control);
    is_sound.then(|| if is_uuid(reference) { reference.to_lowercase() } else { reference.to_owned() })
}

/// Text, or a whole number: both are used as ids.
pub(super) fn reference(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => plain(text),
        Value::Number(number) if number.is_u64() => Some(number.to_string()),
        _ => None,
    }
}

pub(super) fn is_uuid(text: &str) -> bool {
    let lengths = [8, 4, 4, 4, 12];
    let mut parts = text.split('-');
    let fits = lengths.iter().all(|length| {
        parts.next().is_some_and(|part| part.len() == *length && part.chars().all(|letter| letter.is_ascii_hexdigit()))
    });
    fits && parts.next().is_none()
}

fn collect(value: &Value, depth: usize, shown: &mut Vec<Task>) {
    if depth > DEPTH_LIMIT || shown.len() >= TASKS_LIMIT {
        return;
    }
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, depth + 1, shown)),
        Value::Object(fields) => {
            let named = |keys: &[&str]| keys.iter().filter_map(|key| reference(fields.get(*key)?)).collect::<Vec<_>>();
            let mut ids = named(&ID_KEYS);
            // The longest name is the one that no other task has.
            if let Some(place) = ids.iter().position(|id| is_uuid(id)).or((!ids.is_empty()).then_some(0)) {
                let id = ids.swap_remove(place);
                let mut refs = named(&REFERENCE_KEYS);
                refs.extend(ids);
                refs.retain(|reference| *reference != id);
                shown.push(Task { id, refs });
            }
            for holder in HOLDERS {
                if let Some(inner) = fields.get(holder) {
                    collect(inner, depth + 1, shown);
                }
            }
        }
        _ => {}
    }
}
