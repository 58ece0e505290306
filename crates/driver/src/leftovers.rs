//! Finds and ends processes of a run that survived its driver. They could still write into the tree.

use std::fs;
use std::path::{Path, PathBuf};

use guard::Environment;
use guard::session::HatPhase;
use runner::{Leftovers, ProcessGroupId};
use work::RunId;

use crate::run_lock::RunLock;

/// Returns the processes of a run. INVARIANT: the run is not active, or its own driver calls this.
pub fn leftovers(run: RunId, root: &Path, environment: &Environment) -> Leftovers {
    let group = fs::read_to_string(group_file(run, root, environment)).ok();
    let group = group.and_then(|group| group.parse::<ProcessGroupId>().ok());
    Leftovers { started_by: HatPhase::started_by(run, root), group }
}

/// Ends leftover processes and returns their number; `None` if a run is active in this tree.
pub fn end_leftovers(run: RunId, root: &Path, environment: &Environment) -> std::io::Result<Option<usize>> {
    // The lock prevents other processes from driving the run meanwhile.
    let Some(_lock) = RunLock::take(root, environment)? else { return Ok(None) };
    Ok(Some(end_leftover_processes(run, root, environment)))
}

/// Like [`end_leftovers`], for a caller that holds the lock.
pub(crate) fn end_leftover_processes(run: RunId, root: &Path, environment: &Environment) -> usize {
    let count = leftovers(run, root, environment).end();
    // The system may reuse the group's number from now on.
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

    /// Stores the process group that begins with the agent's first process. If this fails, leftovers are still found by
    /// their environment.
    pub fn store(&self, first: u32) {
        let _ = ProcessGroupId::of(first).map(|group| policy::write_private_file(&self.file, group.to_string()));
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
