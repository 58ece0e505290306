//! How the journal records the facts of file rules: their names and values.

use engine::facts::DemandState;
use engine::file_rules::{Change, ChangeScope, Changes, Status};
use serde_json::{Value, json};

/// The maximum number of changes recorded with a judgement.
const MAX_RECORDED_CHANGES: usize = 500;

/// The name of the fact with the changes in a scope.
pub fn changes_fact(change_scope: ChangeScope) -> String {
    format!("files.{}.{}", change_scope.compare_to.name(), change_scope.attribute.name())
}

/// The name of the fact with the state of a rule's demand.
pub fn demand_fact(rule: &str) -> String {
    format!("answered.{rule}")
}

/// The value of the fact with changes; null if there are too many changes.
pub fn changes_record(changes: &Changes) -> Value {
    if changes.len() > MAX_RECORDED_CHANGES {
        return Value::Null;
    }
    let record = |(path, status): (&str, Status)| {
        let letter = status.letter().to_string();
        if changes.is_own(path) { json!([letter, path]) } else { json!([letter, path, OTHERS_MARK]) }
    };
    changes.iter().map(record).collect()
}

/// The text that marks a recorded change as made by another session.
const OTHERS_MARK: &str = "another's";

/// The changes that a fact records; `None` if there were too many.
pub fn changes_of_record(record: &Value) -> Option<Changes> {
    let rows: Vec<Vec<String>> = serde_json::from_value(record.clone()).ok()?;
    let change =
        |row: &Vec<String>| Some(Change { status: Status::from_letter(row.first()?)?, path: row.get(1)?.clone() });
    let changes: Changes = rows.iter().map(change).collect::<Option<_>>()?;
    let is_of_others =
        |path: &str| rows.iter().any(|row| row.len() > 2 && row.get(1).is_some_and(|other| other == path));
    Some(changes.with_own(|path| !is_of_others(path)))
}

/// The value of the fact with the state of a demand.
pub fn demand_record(state: &DemandState) -> Value {
    json!({ "settled": state.answered_files, "shown": state.times_asked, "given_up": state.is_given_up })
}

/// The state of a demand that a fact records.
pub fn demand_of_record(record: &Value) -> Option<DemandState> {
    Some(DemandState {
        answered_files: serde_json::from_value(record.get("settled")?.clone()).ok()?,
        times_asked: u32::try_from(record.get("shown")?.as_u64()?).ok()?,
        is_given_up: record.get("given_up")?.as_bool()?,
    })
}
