//! Trust: a person's consent to the parts of a repository's policy that run programs or make the guard less strict.
//! Digests of the trusted parts are stored in the user's state directory.
//!
//! Only these parts need trust, and a digest covers only these parts. So an edit of a trusted part ends the trust, but
//! an edit of another rule does not.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use engine::hats::Loop;
use engine::workflow::Workflow;

use crate::Environment;

/// The parts of a project's policy that a person trusts.
pub struct Trust {
    /// The path of the file with the digest of the policy's trusted parts.
    policy: PathBuf,
    /// The path of the file with the digest of the loop's trusted parts.
    the_loop: PathBuf,
    /// The path of the file with one line for each trusted workflow: the workflow's name, and the digest of its trusted
    /// parts.
    workflows: PathBuf,
}

impl Trust {
    pub fn of(root: &Path, environment: &Environment) -> Self {
        let directory = environment.project_state(root);
        Self {
            policy: directory.join("trusted"),
            the_loop: directory.join("trusted-loop"),
            workflows: directory.join("trusted-workflows"),
        }
    }

    /// True if a person trusts `text`, which contains all parts of the policy that need trust. False if it is empty.
    pub fn accepts(&self, text: &str) -> bool {
        !text.is_empty() && fs::read_to_string(&self.policy).is_ok_and(|stored| stored.trim() == policy::digest(text))
    }

    /// Stores that a person trusts this text. The text that was trusted before is no longer trusted.
    pub fn accept(&self, text: &str) -> io::Result<()> {
        policy::write_private_file(&self.policy, format!("{}\n", policy::digest(text)))
    }

    /// True if the loop is trusted, so that a run of it may begin.
    pub fn accepts_loop(&self, the_loop: &Loop) -> bool {
        let accepted = [the_loop.text_to_trust(), the_loop.text_to_trust_with_reasons()].map(policy::digest);
        fs::read_to_string(&self.the_loop).is_ok_and(|stored| accepted.iter().any(|digest| stored.trim() == digest))
    }

    /// Stores that the loop is trusted as it is now.
    pub fn accept_loop(&self, the_loop: &Loop) -> io::Result<()> {
        policy::write_private_file(&self.the_loop, format!("{}\n", policy::digest(the_loop.text_to_trust())))
    }

    /// True if the workflow is trusted, so that all of its parts apply. A workflow without parts that need trust is
    /// always accepted.
    pub fn accepts_workflow(&self, workflow: &Workflow) -> bool {
        let texts = [workflow.text_to_trust(), workflow.text_to_trust_with_reasons()];
        let accepted = texts.each_ref().map(|text| workflow_line(workflow, text));
        texts[0].is_empty() || self.workflow_lines().any(|line| accepted.contains(&line))
    }

    /// Stores that the workflow is trusted as it is now.
    pub fn accept_workflow(&self, workflow: &Workflow) -> io::Result<()> {
        let is_other = |line: &String| line.split_once(' ').is_some_and(|(name, _)| name != workflow.name);
        let added = workflow_line(workflow, &workflow.text_to_trust());
        let lines: Vec<String> = self.workflow_lines().filter(is_other).chain([added]).collect();
        policy::write_private_file(&self.workflows, lines.join("\n") + "\n")
    }

    fn workflow_lines(&self) -> impl Iterator<Item = String> {
        let text = fs::read_to_string(&self.workflows).unwrap_or_default();
        text.lines().map(str::to_owned).collect::<Vec<_>>().into_iter()
    }
}

fn workflow_line(workflow: &Workflow, text: &str) -> String {
    format!("{} {}", workflow.name, policy::digest(text))
}

/// The notice about a workflow that is not trusted.
pub fn untrusted_workflow_notice(workflow: &Workflow) -> String {
    let parts = workflow.parts_to_trust();
    let has_gates = parts.iter().any(|part| part.starts_with("gate "));
    let effect = match (has_gates, parts.iter().all(|part| part.starts_with("gate "))) {
        (true, true) => "these gates are not met",
        (true, false) => "these gates are not met, and the other parts are ignored",
        (false, _) => "these parts are ignored",
    };
    format!("{}: until you run `linchpin trust`, {effect}: {}", workflow.source, parts.join("; "))
}
