//! What the agents have in common: one JSON object in, one JSON object out.
//!
//! The family's names of fields, events and tools are Claude Code's. Those of other agents are in their own folders.

pub(crate) mod answer;
pub(crate) mod decode;
pub(crate) mod encode;
pub(crate) mod envelope;
pub(crate) mod hold;
pub(crate) mod kinds;
pub(crate) mod limit;
mod mcp;
pub(crate) mod patch;
pub(crate) mod patch_call;
pub(crate) mod paths;
pub(crate) mod powers;
pub(crate) mod reply;
pub(crate) mod shell_text;
pub(crate) mod tools;
pub(crate) mod wording;
