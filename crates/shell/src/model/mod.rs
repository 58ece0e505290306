//! The parts of a script: simple commands and what they consist of.

mod checked_out_branch;
mod command;
mod container;
mod execution_context;
mod file_contents;
mod input;
mod invocation;
mod normalized_path;
mod possible_directories;
mod provenance;
mod redirect;
mod script;
mod variables;
mod word;

pub use checked_out_branch::CheckedOutBranch;
pub use command::SimpleCommand;
pub(crate) use container::{Container, Mount};
pub use execution_context::ExecutionContext;
pub(crate) use file_contents::MAX_CONTENTS;
pub use file_contents::{ContentsLookup, FileContents};
pub(crate) use input::Input;
pub use invocation::Invocation;
pub(crate) use normalized_path::{leads_above_start, normalize_path};
pub use possible_directories::PossibleDirectories;
pub use provenance::Provenance;
pub use redirect::{Redirect, RedirectKind};
pub use script::Script;
pub(crate) use variables::Variable;
pub use variables::{Assignment, ExportedVariable, RemovedVariables};
pub use word::Word;
pub(crate) use word::{ALL_BELOW, SOME_NUMBER};
