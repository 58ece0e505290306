//! The context of a command: directories, shell, machine, environment, and the state of the repository.

use std::sync::Arc;

use super::{CheckedOutBranch, Container, ExportedVariable, PossibleDirectories, RemovedVariables};

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExecutionContext {
    pub directories: PossibleDirectories,
    /// The shell that the command runs in: an index in [`Script::shells`](super::Script::shells).
    pub shell: usize,
    /// True if the command would run on another machine, or in a container.
    pub is_remote: bool,
    /// The container on this machine that the command runs in.
    pub(crate) container: Option<Arc<Container>>,
    /// Variables that the script has exported before the command.
    pub exported: Arc<[ExportedVariable]>,
    /// Variables that the command does not inherit from the environment in which the script was started.
    pub removed: RemovedVariables,
    /// Git settings that earlier commands of the script have set: names in lower case, and values.
    pub git_settings: Arc<[Arc<(String, String)>]>,
    /// Git settings from the environment of the command.
    pub(crate) git_environment: Vec<(String, String)>,
    /// The branches that may be checked out when the command runs, as far as the script determines them.
    pub branches: Arc<[CheckedOutBranch]>,
}
