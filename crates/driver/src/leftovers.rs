//! Finds and ends processes of a run that survived its driver. They could still write into the tree.

use std::fs;
use std::path::{Path, PathBuf};

use guard::Environment;
use guard::session::HatPhase;
use runner::{LeftoverProcesses, ProcessGroupId};
use work::RunId;

use crate::run_lock::RunLock;

/// Returns the leftover processes of a run. The caller must ensure that the run is not active, or be its driver:
/// otherwise the agent that is working counts as a leftover.
pub fn find_leftovers(run: RunId, root: &Path, environment: &Environment) -> LeftoverProcesses {
    let group = fs::read_to_string(group_file(run, root, environment)).ok();
    let group = group.and_then(|group| group.parse::<ProcessGroupId>().ok());
    LeftoverProcesses { started_by: HatPhase::started_by(run, root), group }
}

/// Ends leftover processes and returns their number; `None` if a run is active in this tree.
pub fn end_leftovers(run: RunId, root: &Path, environment: &Environment) -> std::io::Result<Option<usize>> {
    // The lock keeps other processes from driving the run meanwhile.
    let Some(_lock) = RunLock::acquire(root, environment)? else { return Ok(None) };
    Ok(Some(end_leftovers_locked(run, root, environment)))
}

/// Like [`end_leftovers`], for a caller that holds the lock.
pub(crate) fn end_leftovers_locked(run: RunId, root: &Path, environment: &Environment) -> usize {
    let count = find_leftovers(run, root, environment).end();
    // The system may reuse the process group id from now on.
    let _ = fs::remove_file(group_file(run, root, environment));
    count
}

/// The file that stores the process group of a run's agent. Dropping this value deletes the file.
pub(crate) struct AgentGroupFile {
    file: PathBuf,
}

impl AgentGroupFile {
    pub fn new(run: RunId, root: &Path, environment: &Environment) -> Self {
        Self { file: group_file(run, root, environment) }
    }

    /// Stores the process group whose leader is the agent's first process. If this fails, leftovers are still found by
    /// their environment variables.
    pub fn store(&self, leader: u32) {
        let _ = ProcessGroupId::of(leader).map(|group| policy::write_private_file(&self.file, group.to_string()));
    }
}

impl Drop for AgentGroupFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.file);
    }
}

fn group_file(run: RunId, root: &Path, environment: &Environment) -> PathBuf {
    environment.project_state(root).join("runs").join(format!("{run}.group"))
}
