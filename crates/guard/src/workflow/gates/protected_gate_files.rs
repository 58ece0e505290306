//! Protects the files that the commands of gates use, such as the script in `[sh, check.sh]`: an agent that can change
//! such a file controls the gate's result.
//!
//! The digests of these files are stored when a run begins. A rule of each hat refuses writes to the files, if the
//! agent has hooks. With or without hooks, `linchpin emit` and the closing of a task are refused if a file of one of
//! their gates has changed, until a person accepts the change (`linchpin approve GATE`).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;

use engine::hats::Loop;
use engine::workflow::{Gate, Requirement};
use work::RunId;

use super::named_files::NamedFiles;
use crate::Environment;
use crate::position::Position;
use crate::project::Project;
use crate::session::HatPhase;
use crate::workflow::{Approvals, FailedGate};

/// The maximum size of a file in bytes. A larger file is treated as missing, because no script is that large.
const MAX_SIZE: u64 = 16 * 1024 * 1024;

/// Digests of files by path relative to the root; `None` for a missing file.
pub type GateFiles = BTreeMap<String, Option<String>>;

/// The digests of the gates' files when the run began. A file that was added to a gate later has the digest from the
/// time at which it was added. A missing file is included only if a gate runs it, because an agent that creates it
/// controls the gate's result. A missing file that a gate only tests, as in `[test, -f, report]`, is not included,
/// because agents are meant to create it.
pub fn gate_files_of_run(
    the_loop: &Loop,
    run: RunId,
    project: &Project,
    environment: &Environment,
) -> io::Result<GateFiles> {
    let file = environment.project_state(&project.root).join("runs").join(format!("{run}.gates.json"));
    let stored = fs::read(&file).ok().and_then(|bytes| serde_json::from_slice::<GateFiles>(&bytes).ok());
    let mut files = stored.clone().unwrap_or_default();
    let required = the_loop.topics.values().flat_map(|topic| &topic.requires);
    let required = required.chain(&the_loop.completion.requires).chain(&the_loop.close_requires);
    let mut run_by_gates = BTreeSet::new();
    for mut named in required.map(|required| NamedFiles::of(&required.gate, &project.root)) {
        named.resolve(&project.root);
        for path in named.paths.iter().chain(&named.executed) {
            files.entry(path.clone()).or_insert_with_key(|path| digest(path, &project.root));
        }
        run_by_gates.extend(named.executed);
    }
    if stored.as_ref() != Some(&files) {
        policy::write_private_file(&file, serde_json::to_vec(&files)?)?;
    }
    files.retain(|path, old| old.is_some() || run_by_gates.contains(path));
    Ok(files)
}

impl HatPhase {
    /// Adds a rule to this hat that refuses writes to these files.
    pub fn protect(&mut self, files: &GateFiles) {
        self.gate_files.clone_from(files);
        let paths: Vec<&str> = self.gate_files.keys().map(String::as_str).collect();
        if !paths.is_empty() {
            let rule = policy::gate_files_rule(self.hat(), &paths, &self.workflow.source);
            self.workflow.nodes.iter_mut().for_each(|node| node.rules.push(rule.clone()));
        }
    }

    /// The gates with changed files, except if a person has approved these changes.
    pub(crate) fn changed_gates<'r>(
        &self,
        required: impl Iterator<Item = &'r Requirement>,
        position: &Position,
        project: &Project,
        environment: &Environment,
    ) -> Vec<FailedGate> {
        let approvals = Approvals::of(&project.root, environment);
        let failed_gate = |required: &Requirement| {
            let (remedy, text) = self.describe_changes(&required.gate, &project.root)?;
            // The text contains the new digests, so an approval of this text is for these contents of the files. Other
            // files in the tree do not matter.
            if approvals.last(&required.id, &text, position).is_some() {
                return None;
            }
            let why =
                format!("{text}\n{remedy}, or ask a person to accept the change: `linchpin approve {}`", required.id);
            Some(FailedGate { gate: required.id.clone(), why, rules: Vec::new() })
        };
        required.filter_map(failed_gate).collect()
    }

    /// The changes that a person may approve: pairs of gate id and text.
    pub(crate) fn approvable_changes(&self, root: &Path) -> Vec<(String, String)> {
        let transitions =
            self.workflow.nodes.iter().flat_map(|node| &node.transitions).flat_map(|transition| &transition.requires);
        let mut changes: Vec<(String, String)> = Vec::new();
        for required in transitions.chain(&self.close_requires) {
            if let Some((_, text)) = self.describe_changes(&required.gate, root)
                && !changes.iter().any(|(other, _)| *other == required.id)
            {
                changes.push((required.id.clone(), text));
            }
        }
        changes
    }

    /// Describes the changed files of a gate: how to undo the changes, and a text that lists the files. `None` if no
    /// file has changed.
    fn describe_changes(&self, gate: &Gate, root: &Path) -> Option<(String, String)> {
        let (mut changed, mut created, mut lines) = (Vec::new(), Vec::new(), Vec::new());
        let mut named = NamedFiles::of(gate, root);
        named.resolve(root);
        // A file below a symlink that was there when the run began is reported by its real path.
        let is_below_symlink = |path: &String| {
            let mut symlinks = self.gate_files.iter().filter(|(_, old)| old.is_some()).map(|(symlink, _)| symlink);
            symlinks.any(|symlink| symlink != path && path::relative_to(path, symlink).is_some())
        };
        let files = self.gate_files.iter().filter(|(path, _)| named.includes(path) && !is_below_symlink(path));
        for (path, old) in files {
            let new = digest(path, root);
            if new == *old {
                continue;
            }
            let short = new.as_deref().and_then(|new| new.get(..12));
            lines.push(match (old, short) {
                (_, None) => format!("`{path}` (gone)"),
                (Some(_), Some(new)) => format!("`{path}` (now {new})"),
                (None, Some(new)) => format!("`{path}` (did not exist, now {new})"),
            });
            if old.is_some() { changed.push(path.as_str()) } else { created.push(path.as_str()) }
        }
        let restore = format!("Restore the files, for example with `git checkout -- {}`", changed.join(" "));
        let delete =
            format!("Delete {}", created.iter().map(|path| format!("`{path}`")).collect::<Vec<_>>().join(", "));
        let remedy = match (changed.is_empty(), created.is_empty()) {
            (true, true) => return None,
            (false, true) => restore,
            (true, false) => delete,
            (false, false) => format!("{restore}. {delete}"),
        };
        let text = format!("this gate's command runs files that changed since the run began: {}", lines.join(", "));
        Some((remedy, text))
    }
}

/// The digest of a file's contents; `None` if the file is missing. For a symlink to a file in the repository, this is a
/// digest of the target's path, because the digest of the target is stored too.
fn digest(path: &str, root: &Path) -> Option<String> {
    let file = root.join(path);
    if let Ok(target) = fs::read_link(&file)
        && file.canonicalize().ok().zip(root.canonicalize().ok()).is_none_or(|(file, root)| file.starts_with(root))
    {
        return Some(policy::digest(target.to_string_lossy().as_bytes()));
    }
    let metadata = fs::metadata(&file).ok().filter(|metadata| metadata.is_file() && metadata.len() <= MAX_SIZE);
    metadata.and_then(|_| fs::read(&file).ok()).map(policy::digest)
}

#[cfg(test)]
mod tests;
