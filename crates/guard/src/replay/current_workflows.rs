//! Workflows as their files are now, for judging recorded events again.

use std::cell::OnceCell;
use std::sync::Arc;

use engine::workflow::Workflow;
use policy::{CompiledPolicy, PolicyFolder, Tiers, Workflows};

use crate::Environment;
use crate::grants::Trust;
use crate::project::Project;
use crate::workflow::policy_at;

pub struct CurrentWorkflows<'a> {
    project: &'a Project,
    environment: &'a Environment,
    tiers: Tiers,
    /// True if the workflows are only tried out. They then need no trust.
    are_trusted: bool,
    /// Loaded on first use.
    workflows: OnceCell<Workflows>,
}

/// The rules of a workflow at a node.
pub enum NodePolicy {
    /// The workflow no longer exists.
    Gone,
    /// The workflow's file cannot be read.
    Broken,
    Loaded {
        workflow: Arc<Workflow>,
        policy: Box<CompiledPolicy>,
    },
}

impl<'a> CurrentWorkflows<'a> {
    pub fn of_project(project: &'a Project, environment: &'a Environment) -> Self {
        Self { project, environment, tiers: project.tiers.clone(), are_trusted: false, workflows: OnceCell::new() }
    }

    /// Uses the workflows of a policy folder in place of the project's, if it has some.
    #[must_use]
    pub fn with_workflows_of(self, folder: PolicyFolder) -> Self {
        if !folder.workflows().is_dir() {
            return self;
        }
        let tiers = Tiers { project: Some(folder), ..self.tiers };
        Self { tiers, are_trusted: true, ..self }
    }

    /// The policy of a workflow at a node. `project_policy` applies as well.
    pub fn at(&self, name: &str, node: &str, project_policy: &CompiledPolicy) -> NodePolicy {
        let Some(file) = self.workflows().named(name) else { return NodePolicy::Gone };
        let Some(workflow) = &file.workflow else { return NodePolicy::Broken };
        let is_trusted = self.are_trusted || self.trust().accepts_workflow(workflow);
        let policy = Box::new(policy_at(workflow, node, project_policy, is_trusted));
        NodePolicy::Loaded { workflow: Arc::new(workflow.clone()), policy }
    }

    fn trust(&self) -> Trust {
        Trust::of(&self.project.root, self.environment)
    }

    fn workflows(&self) -> &Workflows {
        self.workflows.get_or_init(|| {
            let trust = self.trust();
            let last_good = policy::last_good_policy(&self.project.cache_path(self.environment));
            let loaded = policy::load(&self.tiers, &last_good, |text| self.are_trusted || trust.accepts(text));
            policy::workflows(&self.tiers, &loaded)
        })
    }
}
