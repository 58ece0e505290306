//! Processes left of a run whose driver was killed: they could still write into the tree.

use std::fs;
use std::path::{Path, PathBuf};

use guard::Environment;
use guard::session::Stage;
use runner::{GroupId, Leftovers};
use work::RunId;

use crate::run_lock::RunLock;

/// The processes of a run. INVARIANT: the run is not driven, or its driver asks.
pub fn leftovers(run: RunId, root: &Path, environment: &Environment) -> Leftovers {
    let group = fs::read_to_string(group_file(run, root, environment)).ok();
    let group = group.and_then(|group| group.parse::<GroupId>().ok());
    Leftovers { started_by: Stage::started_by(run, root), group }
}

/// Ends them, and says how many there were. None where a run is driven in this tree.
pub fn end_leftovers(run: RunId, root: &Path, environment: &Environment) -> std::io::Result<Option<usize>> {
    // Holding the lock keeps others from driving the run meanwhile.
    let Some(_lock) = RunLock::take(root, environment)? else { return Ok(None) };
    Ok(Some(end(run, root, environment)))
}

/// The same, for a caller that holds the lock.
pub(crate) fn end(run: RunId, root: &Path, environment: &Environment) -> usize {
    let count = leftovers(run, root, environment).end();
    // Another process group may be given the number now.
    let _ = fs::remove_file(group_file(run, root, environment));
    count
}

/// Remembers the process group of a run's agent for as long as the agent is at work.
pub(crate) struct AgentGroup {
    file: PathBuf,
}

impl AgentGroup {
    pub fn new(run: RunId, root: &Path, environment: &Environment) -> Self {
        Self { file: group_file(run, root, environment) }
    }

    /// Where it cannot be written down, processes are still known by their environment.
    pub fn note(&self, first: u32) {
        let _ = GroupId::of(first).map(|group| policy::write_private_file(&self.file, group.to_string()));
    }
}

impl Drop for AgentGroup {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.file);
    }
}

fn group_file(run: RunId, root: &Path, environment: &Environment) -> PathBuf {
    environment.project_state(root).join("runs").join(format!("{run}.group"))
}
