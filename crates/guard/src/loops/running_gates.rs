//! Finds the gates of the current hat whose commands are running.

use engine::workflow::{Gate, Requirement};

use crate::Environment;
use crate::project::Project;
use crate::session::HatPhase;
use crate::workflow::{ReceiptFiles, RunningCommand};

impl HatPhase {
    /// The ids of the gates whose commands are running, with the running command. Each id is listed once.
    pub fn running_gates(&self, project: &Project, environment: &Environment) -> Vec<(String, RunningCommand)> {
        let requirements =
            self.workflow.nodes.iter().flat_map(|node| &node.transitions).flat_map(|transition| &transition.requires);
        let mut running: Vec<(String, RunningCommand)> = Vec::new();
        for Requirement { id, gate, .. } in requirements.chain(&self.close_requires) {
            if let Gate::Command { words, .. } = gate
                && !running.iter().any(|(other, _)| other == id)
                && let Some(command) = RunningCommand::of(&ReceiptFiles::of(words, &project.root, environment))
            {
                running.push((id.clone(), command));
            }
        }
        running
    }
}
