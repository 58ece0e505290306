//! Changing policy files by command, for every front end: text in, text out, and the files around it.
//!
//! A change is a change of text. Nothing is written anew from a tree, so comments, order, quotes, blank lines and line
//! ends stay as somebody left them. Every new text is parsed again before it counts, and refused unless it says the
//! old thing but for what was asked. This module knows no terminal and asks no questions; who may change what is
//! decided by whoever calls it.

mod delete;
mod document;
mod editor;
mod enable;
mod export;
mod file;
mod import;
mod layout;
mod list;
mod mapping;
mod new_rule;
mod proposal;
mod refusal;
mod soundness;
mod splice;

#[cfg(test)]
mod tests;

pub use crate::text::scalar::Scalar;
pub use document::Document;
pub use editor::{Changed, Editor, FileEdit};
pub use export::Exported;
pub use new_rule::Draft;
pub use proposal::{Proposal, Proposals};
pub use refusal::EditRefusal;
