//! What the agents with Claude-shaped hooks have in common: one JSON object in, one JSON object out.
//!
//! Nothing here knows a particular agent; the deltas are in the agents' own folders.

pub(crate) mod answer;
pub(crate) mod decode;
pub(crate) mod envelope;
pub(crate) mod kinds;
pub(crate) mod limit;
mod mcp;
pub(crate) mod output;
pub(crate) mod patch;
pub(crate) mod paths;
pub(crate) mod powers;
pub(crate) mod reply;
pub(crate) mod tools;
pub(crate) mod wording;
