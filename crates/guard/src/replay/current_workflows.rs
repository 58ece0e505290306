//! Workflows as their files are now, for judging recorded events again.

use std::cell::OnceCell;
use std::sync::Arc;

use engine::workflow::Workflow;
use policy::{CompiledPolicy, PolicyFolder, PolicyFolders, Workflows};

use crate::Environment;
use crate::grants::Trust;
use crate::project::Project;
use crate::workflow::policy_at;

/// The workflows by whose rules recorded events are judged.
pub struct CurrentWorkflows<'a> {
    project: &'a Project,
    environment: &'a Environment,
    tiers: PolicyFolders,
    /// True if the workflows need no trust, because they are only tried out.
    are_trusted: bool,
    /// The workflows, loaded when one of them is first used.
    workflows: OnceCell<Workflows>,
}

/// The policy that a workflow has at one of its nodes.
pub enum NodePolicy {
    /// The workflow no longer exists.
    Gone,
    /// The workflow's file has errors.
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

    /// If the policy directory `directory` has a directory of workflows, uses these in place of the project's
    /// workflows.
    #[must_use]
    pub fn with_workflows_of(self, directory: PolicyFolder) -> Self {
        if !directory.workflows().is_dir() {
            return self;
        }
        let tiers = PolicyFolders { project: Some(directory), ..self.tiers };
        Self { tiers, are_trusted: true, ..self }
    }

    /// The policy that a workflow has at a node. A rule that `project_policy` contains in the same version is left out,
    /// unless it is a pace rule.
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
