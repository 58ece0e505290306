//! Policy files: reading, checking, editing and compiling them.
//!
//! This crate turns `.linchpin/config.yml` and the files in `.linchpin/rules/` of every tier into [`engine`] rules,
//! reports their errors with file and line, and writes the compiled cache that hooks read. It does not depend on
//! agents, the journal, or the effects of verdicts. An error in one file does not affect rules in other files.

mod actions;
mod bundled;
mod cache;
mod case;
mod catalogue;
mod config;
mod deepwork;
pub mod edit;
mod files;
mod format;
mod import;
mod incremental;
mod key_reference;
mod library;
mod lints;
mod list_resolver;
mod load;
mod loops;
mod observers;
mod people_only;
mod read_config_triggers;
mod rule;
mod rule_status;
mod rules_in_force;
mod schema;
mod session_pin;
mod text;
mod unresolved_list;
mod values;
mod weakening;
mod workflow;

#[cfg(test)]
mod tests;

pub use bundled::{BundledRule, bundled_rules};
pub use cache::{
    BrokenFile, CompiledPolicy, compile_uncached, compiled_policy, compiled_policy_read_only, last_good_policy,
};
pub use case::{CaseActivity, CaseSubject, Cases, EventFields, Expectation, PolicyCase, TimedActivity};
pub use config::{AgentPermissions, BranchSettings, CommandSettings, Config, JournalMode, PolicyMode, Sandbox};
pub use deepwork::deepwork_warnings;
pub use files::folder::{PolicyFolder, PolicyFolders};
pub use files::private_files::{
    check_writable, create_private_directory, delete_old_files, delete_old_files_daily, delete_old_files_except,
    start_daily_cleanup, write_new_private_file, write_private_file,
};
pub use import::ConversionNote;
pub use key_reference::key_reference;
pub use load::{LastGoodPolicy, LoadedPolicy, load};
pub use loops::{LoopFile, PRESETS, Preset, gate_files_rule, loop_file};
pub use rule::definition::{RuleDefinition, RuleOrigin};
pub use rule_status::RuleStatus;
pub use rules_in_force::{IGNORED_UNTIL_TRUSTED, InForceReason, RuleInForce};
pub use schema::schemas;
pub use session_pin::{IgnoredWeakening, PinnedPolicy, SessionPin, enforced_since};
pub use text::diagnostic::{Diagnostic, DiagnosticKind, RenderStyle, Severity};
pub use text::digest::digest;
pub use text::source::SourcePosition;
pub use text::yaml::parse_scalar;
pub use weakening::{Weakening, weakenings};
pub use workflow::{CompiledWorkflow, WorkflowFile, Workflows, compiled_workflow, workflows};
