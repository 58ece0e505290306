//! The protocol that the agents share: the hook reads one JSON object and answers with at most one JSON object, or
//! refuses by exit code 2.
//!
//! The canonical names of fields, events and tools are Claude Code's. What other agents do differently is in the
//! directories of those agents.

pub(crate) mod answer;
pub(crate) mod broken_payload;
pub(crate) mod capabilities;
pub(crate) mod decode;
pub(crate) mod encode;
pub(crate) mod event_names;
pub(crate) mod hold_echo;
pub(crate) mod limit;
mod mcp;
pub(crate) mod patch;
pub(crate) mod patch_call;
pub(crate) mod paths;
pub(crate) mod payload_fields;
pub(crate) mod reply;
pub(crate) mod shell_text;
pub(crate) mod tools;
pub(crate) mod wording;
