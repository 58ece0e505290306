//! The workflows as their files are now, by whose rules history is judged.

use std::cell::OnceCell;
use std::sync::Arc;

use engine::workflow::Workflow;
use policy::{Compiled, PolicyFolder, Tiers, Workflows};

use crate::Environment;
use crate::grants::Trust;
use crate::project::Project;
use crate::workflow::policy_at;

pub struct PresentWorkflows<'a> {
    project: &'a Project,
    environment: &'a Environment,
    tiers: Tiers,
    /// Nothing of them is put in force.
    are_trusted: bool,
    /// Read where the first of them is met.
    found: OnceCell<Workflows>,
}

/// What a workflow says at a node now.
pub enum AtNode {
    /// There is no such workflow any more.
    Gone,
    /// Its file cannot be read, so nobody knows what it says.
    Broken,
    Sound {
        workflow: Arc<Workflow>,
        policy: Box<Compiled>,
    },
}

impl<'a> PresentWorkflows<'a> {
    pub fn of_project(project: &'a Project, environment: &'a Environment) -> Self {
        Self { project, environment, tiers: project.tiers.clone(), are_trusted: false, found: OnceCell::new() }
    }

    /// Those of a policy folder in the place of the project's, if it has some.
    #[must_use]
    pub fn or_of(self, folder: PolicyFolder) -> Self {
        if !folder.workflows().is_dir() {
            return self;
        }
        let tiers = Tiers { project: Some(folder), ..self.tiers };
        Self { tiers, are_trusted: true, ..self }
    }

    /// `own`: what holds anyway.
    pub fn at(&self, name: &str, node: &str, own: &Compiled) -> AtNode {
        let Some(file) = self.found().named(name) else { return AtNode::Gone };
        let Some(workflow) = &file.workflow else { return AtNode::Broken };
        let is_trusted = self.are_trusted || self.trust().accepts_workflow(workflow);
        let policy = Box::new(policy_at(workflow, node, own, is_trusted));
        AtNode::Sound { workflow: Arc::new(workflow.clone()), policy }
    }

    fn trust(&self) -> Trust {
        Trust::of(&self.project.root, self.environment)
    }

    fn found(&self) -> &Workflows {
        self.found.get_or_init(|| {
            let trust = self.trust();
            let before = policy::before(&self.project.cache(self.environment));
            let loaded = policy::load(&self.tiers, &before, |weakening| self.are_trusted || trust.accepts(weakening));
            policy::workflows(&self.tiers, &loaded)
        })
    }
}
