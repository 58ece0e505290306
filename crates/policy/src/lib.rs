//! Policy files: what a team wrote down, read, checked and made ready for judging.
//!
//! This crate turns `.linchpin/config.yml` and the files in `.linchpin/rules/` of every tier into [`engine`] rules, tells what is
//! wrong with them and where, and keeps the compiled form that hooks read. It knows files and text; it knows nothing of
//! agents, of the journal or of what a verdict leads to. A broken file breaks only itself.

mod actions;
mod amend;
mod bundled;
mod cache;
mod case;
mod catalogue;
mod config;
mod config_triggers;
mod deepwork;
pub mod edit;
mod enforce;
mod files;
mod format;
mod import;
mod key_reference;
mod library;
mod lints;
mod listing;
mod load;
mod loops;
mod observers;
mod people_only;
mod rule;
mod rule_list;
mod rule_status;
mod schema;
mod session_pin;
mod text;
mod values;
mod weakened;
mod workflow;

#[cfg(test)]
mod tests;

pub use bundled::{BundledRule, bundled_rules};
pub use cache::{BrokenFile, Compiled, before, compiled, looked_at, read_anew};
pub use case::{Case, CaseSubject, Cases, EventFields, Expectation, Happened, What};
pub use config::{AgentPermissions, BranchSettings, CommandSettings, Config, JournalMode, Mode, Sandbox};
pub use deepwork::deepwork_warnings;
pub use enforce::{InForce, Reason};
pub use files::folder::{PolicyFolder, Tiers};
pub use files::private_files::{
    create_private_folder, forget_old_files, forget_old_files_but, try_to_write_in, write_new_private_file,
    write_private_file,
};
pub use import::Rewritten;
pub use key_reference::key_reference;
pub use load::{Before, Loaded, load};
pub use loops::{LoopFile, PRESETS, Preset, gate_files_rule, loop_file};
pub use rule::definition::{Definition, Form};
pub use rule_status::RuleStatus;
pub use schema::schemas;
pub use session_pin::{Held, Kept, SessionPin, enforced_since};
pub use text::diagnostic::{Diagnostic, ErrorKind, Severity, Style};
pub use text::digest::digest;
pub use text::source::SourcePosition;
pub use text::yaml::scalar;
pub use weakened::{Weakened, weakened};
pub use workflow::{CompiledWorkflow, WorkflowFile, Workflows, compiled_workflow, workflows};
