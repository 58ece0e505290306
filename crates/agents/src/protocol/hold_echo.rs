//! Recognizes prompts that no person wrote, because they repeat the text with which Linchpin held a stop.
//!
//! After a held stop, some agents continue with that text as a new prompt.

use engine::{EventKind, Level};
use serde_json::{Map, Value};

use super::capabilities::BlockEffect;
use super::wording::{ACKNOWLEDGE, ATTENTION, lead};

/// Returns [`EventKind::Other`] for a prompt that repeats the text of a held stop, and `kind` otherwise.
pub(crate) fn kind_unless_hold_echo(kind: EventKind, fields: &Map<String, Value>) -> EventKind {
    let prompt = fields.get("prompt").and_then(Value::as_str).unwrap_or_default();
    if kind == EventKind::Prompt && is_hold_text(prompt) { EventKind::Other } else { kind }
}

/// True if the text is a message with which a stop was held. Such a message begins in one of two ways: with the
/// paragraph of a rule that blocks; or with the demands of file rules, before which there can be paragraphs of rules
/// that warn or ask. Demands also need the command that acknowledges them. A prompt that a person writes about a hold
/// does not begin like this.
pub(super) fn is_hold_text(text: &str) -> bool {
    let text = text.trim_start();
    let begins_with = |level: Level| {
        text.strip_prefix(lead(BlockEffect::Held, level))
            .and_then(|rest| rest.strip_prefix(" by Linchpin"))
            .is_some_and(|rest| rest == "." || [" rule `", ": ", ".\n"].iter().any(|next| rest.starts_with(next)))
    };
    let demands = format!("{ATTENTION}\n\n");
    let asks_for_something = text.starts_with(&demands)
        || ([Level::Warn, Level::Ask].into_iter().any(begins_with) && text.contains(&format!("\n\n{demands}")));
    begins_with(Level::Block) || (asks_for_something && text.contains(ACKNOWLEDGE))
}
