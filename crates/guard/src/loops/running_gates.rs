//! The gates of the current hat whose commands are running.

use engine::workflow::{Gate, Requirement};

use crate::Environment;
use crate::project::Project;
use crate::session::Stage;
use crate::workflow::{Receipts, Running};

impl Stage {
    /// The running gates, each once, by id.
    pub fn running_gates(&self, project: &Project, environment: &Environment) -> Vec<(String, Running)> {
        let ways = self.workflow.nodes.iter().flat_map(|node| &node.transitions).flat_map(|way| &way.requires);
        let mut running: Vec<(String, Running)> = Vec::new();
        for Requirement { id, gate, .. } in ways.chain(&self.close_requires) {
            if let Gate::Command { words, .. } = gate
                && !running.iter().any(|(known, _)| known == id)
                && let Some(found) = Running::of(&Receipts::of(words, &project.root, environment))
            {
                running.push((id.clone(), found));
            }
        }
        running
    }
}
