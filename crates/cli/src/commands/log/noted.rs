//! What a note in the journal says: what people and agents did beside the events of hooks.

use serde_json::Value;
use store::{Entry, NoteKind};

use crate::plural::counted;

/// One line, beginning with a space.
pub fn noted(kind: NoteKind, entry: &Entry) -> String {
    let field = |name: &str| match entry.fields.get(name) {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    };
    let workflow = match field("workflow").as_str() {
        "" => String::new(),
        name => format!(" {name}:"),
    };
    match kind {
        NoteKind::Ack => format!(" {}, by the {}: {}", field("rule"), field("by"), field("reason")),
        NoteKind::Allow => format!(" {}, {}", field("refusal"), field("span")),
        NoteKind::Pause => {
            let length = entry.fields.get("until").and_then(Value::as_i64).unwrap_or_default() - entry.time;
            let minutes = usize::try_from(length / 60_000).unwrap_or_default();
            format!(" for {}: {}", counted(minutes, "minute"), field("reason"))
        }
        NoteKind::Resume => match field("what").as_str() {
            "" => String::new(),
            what => format!(" {what}"),
        },
        NoteKind::Task => format!(" {} {}", field("task"), field("what")),
        NoteKind::Start => format!(" {} at {}, by the {}", field("workflow"), field("to"), field("by")),
        NoteKind::Move => {
            let (from, to) = (field("from"), field("to"));
            let way = match field("how").as_str() {
                "restart" if from == to => format!("restarted at {to}"),
                "restart" => format!("{from} → {to}, restarted"),
                "prev" => format!("{from} → {to}, back"),
                _ => format!("{from} → {to}"),
            };
            let forced = match field("forced").as_str() {
                "" => String::new(),
                "all" => ", forced past all rules".to_owned(),
                rule => format!(", forced past {rule}"),
            };
            format!("{workflow} {way}{forced}, by the {}", field("by"))
        }
        NoteKind::Abort => format!(" {} at {}, by the {}", field("workflow"), field("from"), field("by")),
        NoteKind::Continue => format!("{workflow} past {}, by the {}", field("past"), field("by")),
        NoteKind::Held if entry.fields.contains_key("run") => {
            format!(" {} of {}, iteration {}: {}", field("topic"), field("hat"), field("iteration"), field("why"))
        }
        NoteKind::Held => format!(" {} at {}: {}", field("workflow"), field("from"), field("why")),
        NoteKind::Emit => {
            let (run, iteration, hat) = (field("run"), field("iteration"), field("hat"));
            format!(" {}, by {hat} in iteration {iteration} of {run}", field("topic"))
        }
        NoteKind::Iteration => {
            format!(" {} of {}: {} for {}", field("iteration"), field("run"), field("hat"), field("topic"))
        }
        NoteKind::Progress => format!(" {}", field("text")),
        NoteKind::Run => format!(" {} {}", field("run"), field("what")),
        NoteKind::Set => {
            let value = entry.fields.get("value").map(Value::to_string).unwrap_or_default();
            format!("{workflow} {} = {value}, by the {}", field("name"), field("by"))
        }
        NoteKind::StopAsked => format!(" {}", field("what")),
        NoteKind::Approve => {
            let by = match field("who").as_str() {
                "" => format!("the {}", field("by")),
                who => who.to_owned(),
            };
            format!("{workflow} {}, by {by}", field("gate"))
        }
    }
}
