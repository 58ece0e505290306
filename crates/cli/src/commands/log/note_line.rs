//! Describes notes of the journal, each in one line.

use serde_json::{Map, Value};
use store::{JournalEntry, NoteKind};

use crate::plural::counted;

/// Returns the text to print after the note's kind. It is empty, or begins with a space, a colon or a comma.
pub fn note_line(kind: NoteKind, entry: &JournalEntry) -> String {
    let fields = Fields(&entry.fields);
    let field = |name: &str| fields.text(name);
    let workflow = fields.workflow();
    let by = fields.by(&entry.session.agent);
    match kind {
        NoteKind::Ack => format!(": rule `{}`{by}: {}", field("rule"), field("reason")),
        NoteKind::Allow => format!(" {}, {}", field("refusal"), field("span")),
        NoteKind::Pause => format!(" for {}: {}", counted(fields.pause_minutes(entry.time), "minute"), field("reason")),
        NoteKind::Resume => match field("what").as_str() {
            "" => String::new(),
            what => format!(" {what}"),
        },
        NoteKind::Task => format!(" {} {}", field("task"), field("what")),
        NoteKind::Start => format!("{workflow}, at `{}`{by}", field("to")),
        NoteKind::Move => format!("{workflow}, {}{}{by}", fields.nodes_moved(), fields.forced()),
        NoteKind::Abort => format!("{workflow}, at `{}`{by}", field("from")),
        NoteKind::Continue => format!("{workflow}, past {}{by}", quoted(&field("past"))),
        NoteKind::MoveRefused if entry.fields.contains_key("run") => {
            let (topic, hat, iteration) = (field("topic"), field("hat"), field("iteration"));
            format!(": topic `{topic}` of hat `{hat}`, iteration {iteration}: {}", field("why"))
        }
        NoteKind::MoveRefused => {
            format!("{workflow} stays at `{}` because of {}", field("from"), quoted(&field("why")))
        }
        NoteKind::Emit => {
            let (run, iteration, hat) = (field("run"), field("iteration"), field("hat"));
            format!(": topic `{}`, by hat `{hat}` in iteration {iteration} of run `{run}`", field("topic"))
        }
        NoteKind::Iteration => {
            let (run, hat, topic) = (field("run"), field("hat"), field("topic"));
            format!(" {} of run `{run}`: hat `{hat}` on topic `{topic}`", field("iteration"))
        }
        NoteKind::Progress => format!(" {}", field("text")),
        NoteKind::Run => format!(" {} {}", field("run"), field("what")),
        NoteKind::Set => {
            let value = entry.fields.get("value").map(Value::to_string).unwrap_or_default();
            let comma = if workflow.is_empty() { ":" } else { "," };
            format!("{workflow}{comma} variable `{}` = {value}{by}", field("name"))
        }
        NoteKind::StopRequested => format!(" {}", field("what")),
        NoteKind::Approve => format!("{workflow}, gate `{}`, by {}", field("gate"), fields.approver()),
    }
}

/// Puts each name of a comma-separated list in backticks.
fn quoted(names: &str) -> String {
    names.split(", ").map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The fields of a note.
struct Fields<'e>(&'e Map<String, Value>);

impl Fields<'_> {
    /// Returns a field as text; empty if the field is missing.
    fn text(&self, name: &str) -> String {
        match self.0.get(name) {
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => String::new(),
        }
    }

    /// Returns `, by the person` or `, by the agent`. Empty if `actor`, which the line names already, tells a person
    /// from an agent.
    fn by(&self, actor: &str) -> String {
        const PERSON: &str = "person";
        match self.text("by").as_str() {
            "" => String::new(),
            by if (by == PERSON) == (actor == PERSON) => String::new(),
            by => format!(", by the {by}"),
        }
    }

    /// Returns the name of the note's workflow, after a colon; empty if the note belongs to no workflow.
    fn workflow(&self) -> String {
        match self.text("workflow").as_str() {
            "" => String::new(),
            name => format!(": workflow `{name}`"),
        }
    }

    /// Returns the duration of a pause in minutes. `started`: when the pause began, in milliseconds since 1970.
    fn pause_minutes(&self, started: i64) -> usize {
        let milliseconds = self.0.get("until").and_then(Value::as_i64).unwrap_or_default() - started;
        usize::try_from(milliseconds / 60_000).unwrap_or_default()
    }

    /// Describes the node that a move left and the node that it entered.
    fn nodes_moved(&self) -> String {
        let (from, to) = (self.text("from"), self.text("to"));
        match self.text("how").as_str() {
            "restart" if from == to => format!("restarted at `{to}`"),
            "restart" => format!("`{from}` → `{to}`, restarted"),
            "prev" => format!("`{from}` → `{to}`, back"),
            _ => format!("`{from}` → `{to}`"),
        }
    }

    /// Returns which pace rules the move skipped with `--force`; empty if none.
    fn forced(&self) -> String {
        match self.text("forced").as_str() {
            "" => String::new(),
            "all" => ", forced past all rules".to_owned(),
            rule => format!(", forced past rule `{rule}`"),
        }
    }

    /// Returns the name of the person who approved a gate, or `the person`.
    fn approver(&self) -> String {
        match self.text("who").as_str() {
            "" => format!("the {}", self.text("by")),
            who => who.to_owned(),
        }
    }
}
