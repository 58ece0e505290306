//! Policy files: what a team wrote down, read, checked and made ready for judging.
//!
//! This crate turns `.linchpin/config.yml` and `.linchpin/rules/*.md` of every tier into [`engine`] rules, tells what is
//! wrong with them and where, and keeps the compiled form that hooks read. It knows files and text; it knows nothing of
//! agents, of the journal or of what a verdict leads to. A broken file breaks only itself.

mod bundled;
mod cache;
mod config;
mod diagnostic;
mod digest;
mod fields;
mod folder;
mod frontmatter;
mod inputs;
mod load;
mod private_folder;
mod rule_file;
mod source;
mod stamp;
mod yaml;

#[cfg(test)]
mod tests;

pub use bundled::{BundledRule, bundled_rules};
pub use cache::{BrokenFile, Compiled, compiled};
pub use config::{Config, JournalMode, Mode};
pub use diagnostic::{Diagnostic, ErrorKind, Severity, Style};
pub use digest::digest;
pub use folder::{PolicyFolder, Tiers};
pub use load::{Before, InForce, Loaded, Reason, load};
pub use private_folder::create_private_folder;
pub use source::Position;
