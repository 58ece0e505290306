//! Edits policy files for commands.
//!
//! An edit is a text edit. Files are never serialized from a tree, so comments, order, quotes, blank lines and line
//! endings are preserved. Every new text is parsed before it is written, and refused if it differs from the old tree in
//! anything but the requested change. This module must not use the terminal, and does not decide who may change what;
//! callers do.

mod check;
mod delete;
mod document;
mod editor;
mod enable;
mod export;
mod import;
mod layout;
mod list;
mod mapping;
mod new_rule;
mod policy_file_io;
mod proposal;
mod refusal;
mod splice;

#[cfg(test)]
mod tests;

pub use crate::text::scalar::Scalar;
pub use document::Document;
pub use editor::{EditOutcome, Editor, FileEdit};
pub use export::ExportedRule;
pub use new_rule::RuleDraft;
pub use proposal::{Proposal, Proposals};
pub use refusal::EditRefusal;
