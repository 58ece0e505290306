//! Files of the repository that the commands of gates name, such as the script in `[sh, check.sh]`: an agent that may change
//! them writes its own verdict.
//!
//! How they were when the run began is kept beside the run. A hat is refused to write them, where its agent has hooks; and what
//! it hands over is refused while one of them is not as it was, until a person says yes to it (`linchpin approve GATE`).

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use engine::hats::Loop;
use engine::workflow::{Gate, Requirement};
use work::RunId;

use super::Stage;
use crate::environment::Environment;
use crate::project::Project;
use crate::workflow::{Approvals, Lack, Position};

/// Longer files are no scripts of gates.
const LARGEST: u64 = 16 * 1024 * 1024;

/// What each file was, by its path from the root: a digest, or none where there was no such file.
pub type GateFiles = BTreeMap<String, Option<String>>;

/// As they were when the run began. What a gate names only since then is taken as it is now.
pub fn gate_files_of_run(
    the_loop: &Loop,
    run: RunId,
    project: &Project,
    environment: &Environment,
) -> io::Result<GateFiles> {
    let file = environment.project_state(&project.root).join("runs").join(format!("{run}.gates.json"));
    let kept = fs::read(&file).ok().and_then(|bytes| serde_json::from_slice::<GateFiles>(&bytes).ok());
    let mut files = kept.clone().unwrap_or_default();
    let required = the_loop.topics.values().flat_map(|topic| &topic.requires);
    let required = required.chain(&the_loop.completion.requires).chain(&the_loop.close_requires);
    for path in required.flat_map(|required| named(&required.gate)) {
        files.entry(path).or_insert_with_key(|path| digest(path, &project.root));
    }
    if kept.as_ref() != Some(&files) {
        policy::write_private_file(&file, serde_json::to_vec(&files)?)?;
    }
    Ok(files)
}

impl Stage {
    /// From now on, agents under this hat are refused to write those of these files that were there.
    pub fn protect(&mut self, files: &GateFiles) {
        self.gate_files = files.iter().filter_map(|(path, was)| Some((path.clone(), was.clone()?))).collect();
        let paths: Vec<&str> = self.gate_files.keys().map(String::as_str).collect();
        if !paths.is_empty() {
            let rule = policy::gate_files_rule(self.hat(), &paths, &self.workflow.source);
            self.workflow.nodes.iter_mut().for_each(|node| node.rules.push(rule.clone()));
        }
    }

    /// The gates among these whose files are not as they were, and that nobody has said yes to.
    pub(crate) fn changed_gates<'r>(
        &self,
        required: impl Iterator<Item = &'r Requirement>,
        position: &Position,
        project: &Project,
        environment: &Environment,
    ) -> Vec<Lack> {
        let approvals = Approvals::of(&project.root, environment);
        let lack = |required: &Requirement| {
            let (paths, text) = self.changed(&required.gate, &project.root)?;
            // The text has digests in it: a yes is to what the files are now, whatever else is in the tree.
            if approvals.last(&required.id, &text, position).is_some() {
                return None;
            }
            let why = format!(
                "{text}\nPut back what was there, as with `git checkout -- {}`; or a person accepts the change: `linchpin approve {}`",
                paths.join(" "),
                required.id
            );
            Some(Lack { gate: required.id.clone(), why, rules: Vec::new() })
        };
        required.filter_map(lack).collect()
    }

    /// What a person may say yes to, by gate.
    pub(crate) fn approvable_changes(&self, root: &Path) -> Vec<(String, String)> {
        let ways = self.workflow.nodes.iter().flat_map(|node| &node.transitions).flat_map(|way| &way.requires);
        let mut asked: Vec<(String, String)> = Vec::new();
        for required in ways.chain(&self.close_requires) {
            if let Some((_, text)) = self.changed(&required.gate, root)
                && !asked.iter().any(|(known, _)| *known == required.id)
            {
                asked.push((required.id.clone(), text));
            }
        }
        asked
    }

    /// The files of a gate that are not as they were, and that in words.
    fn changed(&self, gate: &Gate, root: &Path) -> Option<(Vec<String>, String)> {
        let mut changed = Vec::new();
        let mut told = Vec::new();
        for path in named(gate) {
            let Some(was) = self.gate_files.get(&path) else { continue };
            let is = digest(&path, root);
            if is.as_ref() != Some(was) {
                let is = is.map_or_else(|| "gone".to_owned(), |is| format!("now {}", is.get(..12).unwrap_or_default()));
                told.push(format!("`{path}` ({is})"));
                changed.push(path);
            }
        }
        let text =
            format!("this gate's command names files that were changed since the run began: {}", told.join(", "));
        (!changed.is_empty()).then_some((changed, text))
    }
}

/// The paths below the root that a command may mean by its words, whether there is such a file or not.
fn named(gate: &Gate) -> Vec<String> {
    let Gate::Command { words, protect: true, .. } = gate else { return Vec::new() };
    // A word may be a text for a shell, or a flag with its value.
    let is_between = |letter: char| letter.is_whitespace() || "=;&|()<>'\"`".contains(letter);
    let mut paths: Vec<String> = words
        .iter()
        .flat_map(|word| std::iter::once(word.as_str()).chain(word.split(is_between)))
        .filter_map(below_root)
        .collect();
    paths.sort();
    paths.dedup();
    paths
}

fn below_root(word: &str) -> Option<String> {
    let mut path = PathBuf::new();
    for part in Path::new(word).components() {
        match part {
            Component::CurDir => {}
            Component::Normal(part) => path.push(part),
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    path.to_str().filter(|path| !path.is_empty()).map(str::to_owned)
}

/// None where there is no such file.
fn digest(path: &str, root: &Path) -> Option<String> {
    let file = root.join(path);
    let metadata = fs::metadata(&file).ok().filter(|metadata| metadata.is_file() && metadata.len() <= LARGEST);
    metadata.and_then(|_| fs::read(&file).ok()).map(policy::digest)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_command_names_the_files_in_its_words_and_texts() {
        let words = ["sh", "-c", "cd tools && ./check.sh --strict", "--config=ci/check.toml", "../up.sh", "/bin/true"];
        let words = words.map(str::to_owned).to_vec();
        let gate = |protect| Gate::Command {
            text: String::new(),
            words: words.clone(),
            timeout: Duration::from_secs(1),
            protect,
        };
        let paths = named(&gate(true));
        for path in ["check.sh", "ci/check.toml"] {
            assert!(paths.iter().any(|found| found == path), "{path}: {paths:?}");
        }
        assert!(!paths.iter().any(|path| path.contains("up.sh") || path.contains("bin/true")), "{paths:?}");
        assert_eq!(named(&gate(false)), Vec::<String>::new());
    }
}
