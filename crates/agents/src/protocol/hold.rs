//! What an agent is told whose stop is held, known again where it comes back as a prompt.

use engine::{EventKind, Level};
use serde_json::{Map, Value};

use super::powers::Blocking;
use super::wording::{ACKNOWLEDGE, ATTENTION, lead};

/// The kind of an event, unless it is a prompt that no person wrote: some agents go on after a held stop with what it was
/// told as their prompt.
pub(crate) fn unless_hold(kind: EventKind, fields: &Map<String, Value>) -> EventKind {
    let prompt = fields.get("prompt").and_then(Value::as_str).unwrap_or_default();
    if kind == EventKind::Prompt && is_hold(prompt) { EventKind::Other } else { kind }
}

/// Whether the text is what an agent is told whose stop is held. It begins with the paragraph of a rule that holds, or with
/// what file rules ask for, before which others may warn; and those always say how to acknowledge them. People who speak of
/// a hold do not begin so.
pub(super) fn is_hold(text: &str) -> bool {
    let text = text.trim_start();
    let begins_with = |level: Level| {
        text.strip_prefix(lead(Blocking::Held, level))
            .and_then(|rest| rest.strip_prefix(" by Linchpin"))
            .is_some_and(|rest| [" rule `", ": ", ", which gave no reason."].iter().any(|next| rest.starts_with(next)))
    };
    let demands = format!("{ATTENTION}\n\n");
    let asks_for_something = text.starts_with(&demands)
        || ([Level::Warn, Level::Ask].into_iter().any(begins_with) && text.contains(&format!("\n\n{demands}")));
    begins_with(Level::Block) || (asks_for_something && text.contains(ACKNOWLEDGE))
}
