//! What a script consists of: simple commands and their parts.

mod branch;
mod command;
mod container;
mod evidence;
mod execution_context;
mod folders;
mod input;
mod invocation;
mod plain_path;
mod redirect;
mod script;
mod variables;
mod word;
mod written;

pub use branch::Branch;
pub use command::SimpleCommand;
pub(crate) use container::{Container, Mount};
pub use evidence::Evidence;
pub use execution_context::ExecutionContext;
pub use folders::Folders;
pub(crate) use input::Input;
pub use invocation::Invocation;
pub(crate) use plain_path::{climbs, plain};
pub use redirect::{Redirect, RedirectKind};
pub use script::Script;
pub(crate) use variables::Variable;
pub use variables::{Assignment, ExportedVariable, RemovedVariables};
pub use word::Word;
pub(crate) use word::{ALL_BELOW, SOME_NUMBER};
pub(crate) use written::MAX_WRITTEN;
pub use written::{Earlier, Written};
