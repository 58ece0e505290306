//! Where a command runs: folders, shell, machine, environment, and the state of the repository.

use std::sync::Arc;

use super::{Branch, Container, ExportedVariable, Folders, RemovedVariables};

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExecutionContext {
    pub folders: Folders,
    /// The shell it runs in: a place in [`Script::scopes`](super::Script::scopes).
    pub scope: usize,
    /// Whether it would run somewhere else: on another machine, or in a container.
    pub is_remote: bool,
    /// The container that it runs in, of this machine.
    pub(crate) container: Option<Arc<Container>>,
    /// Variables that the script has exported so far.
    pub exported: Arc<[ExportedVariable]>,
    /// Variables from before the script that the command does not get to see any more.
    pub removed: RemovedVariables,
    /// Settings of git that the script has made so far: names in lower case, and values.
    pub git_settings: Arc<[Arc<(String, String)>]>,
    /// Settings of git that its environment gives it.
    pub(crate) git_environment: Vec<(String, String)>,
    /// The branches that may be checked out where it runs, as far as the script says.
    pub branches: Arc<[Branch]>,
}
