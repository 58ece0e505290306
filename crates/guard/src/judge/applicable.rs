//! Stage 1: the policies that apply to an event.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use engine::file_rules::Baseline;
use engine::{Event, EventKind, Situation};
use policy::{CompiledPolicy, PinnedPolicy, PolicyFolder};

use super::Judge;
use super::event_context::{EventContext, Stored};
use crate::facts::{ActiveWorkflow, LiveFacts, MAX_PATH_LENGTH};
use crate::file_rules::{GIT_LIMIT, PromptSnapshots, delete_old};
use crate::grants::Trust;
use crate::project::Project;
use crate::session::policy as session_policy;
use crate::workflow::policy_at;

/// The origin of a policy.
#[derive(Clone)]
pub(super) enum PolicyScope {
    /// The session's project, including the user tier.
    Project,
    /// The workflow that is active in the project.
    Workflow(Arc<ActiveWorkflow>),
    /// A directory below the project's root that has a policy of its own.
    Folder,
}

/// A policy that applies to an event, with the facts that its rules can ask for.
#[derive(Clone)]
pub(super) struct ApplicablePolicy<'a> {
    pub(super) scope: PolicyScope,
    pub(super) project: &'a Project,
    pub(super) policy: &'a CompiledPolicy,
    pub(super) facts: Arc<LiveFacts>,
    pub(super) situation: Arc<Situation>,
}

pub(super) struct LoadedPolicies<'b> {
    own: ApplicablePolicy<'b>,
    of_workflow: Option<(Arc<ActiveWorkflow>, CompiledPolicy)>,
    pub(super) nested: &'b [(Project, PinnedPolicy)],
    /// Snapshots of working trees for file rules, taken when a prompt arrives.
    pub(super) prompt_snapshots: &'b PromptSnapshots,
    /// Notices of a workflow whose file cannot be used.
    pub(super) broken: Vec<String>,
}

impl LoadedPolicies<'_> {
    pub(super) fn active(&self) -> Option<&Arc<ActiveWorkflow>> {
        self.of_workflow.as_ref().map(|(active, _)| active)
    }
}

impl Judge<'_> {
    pub(super) fn load<'b>(&'b self, context: &'b EventContext<'_>, stored: Stored<'_>) -> LoadedPolicies<'b> {
        let event = context.event;
        let (project, policy) = (self.builder.project, &*self.builder.policy);
        let mut broken = Vec::new();
        let active = self.builder.active(stored.workflow, event, &mut broken);
        let (situation, facts) = self.builder.of_policy(project, policy, event, stored.session, active.as_ref());
        let own = ApplicablePolicy { scope: PolicyScope::Project, project, policy, facts, situation };
        let of_workflow = active.map(|active| {
            let policy = self.policy_of(&active);
            (active, policy)
        });
        let nested = context.nested.get_or_init(|| self.nested(event, &own.situation));
        let prompt_snapshots = context.prompt_snapshots.get_or_init(|| {
            let nested = nested.iter().map(|(project, held)| (project, &held.policy));
            let of_workflow = of_workflow.iter().map(|(_, policy)| (project, policy));
            let policies = nested.chain([(project, policy)]).chain(of_workflow);
            self.prepare_for_file_rules(event, policies, context.more_time)
        });
        LoadedPolicies { own, of_workflow, nested, prompt_snapshots, broken }
    }

    /// Yields the project's own policy, then that of its active workflow, then those of directories in it.
    pub(super) fn applicable_policies<'b>(
        &'b self,
        loaded: &'b LoadedPolicies<'b>,
        event: &'b Arc<Event>,
        stored: Stored<'b>,
    ) -> impl Iterator<Item = ApplicablePolicy<'b>> {
        let project = self.builder.project;
        let of_workflow = loaded.of_workflow.iter().map(move |(active, policy)| {
            let (situation, facts) = self.builder.in_workflow(active, policy, event, stored.session);
            ApplicablePolicy { scope: PolicyScope::Workflow(Arc::clone(active)), project, policy, facts, situation }
        });
        let of_folders = loaded.nested.iter().map(move |(project, held)| {
            let policy = &held.policy;
            let (situation, facts) = self.builder.of_policy(project, policy, event, stored.session, loaded.active());
            ApplicablePolicy { scope: PolicyScope::Folder, project, policy, facts, situation }
        });
        std::iter::once(loaded.own.clone()).chain(of_workflow).chain(of_folders)
    }

    /// Extends the deadline if file rules have to wait for git, and takes a snapshot of the tree at a prompt if a rule
    /// compares with the prompt.
    fn prepare_for_file_rules<'p>(
        &self,
        event: &Arc<Event>,
        policies: impl Iterator<Item = (&'p Project, &'p CompiledPolicy)>,
        more_time: &dyn Fn(Duration),
    ) -> PromptSnapshots {
        let mut prompt_snapshots = PromptSnapshots::default();
        // Agents wait for tool calls, so file rules are not judged there.
        if event.is_dry_run || !event.kind.is_stop() && event.kind != EventKind::Prompt {
            return prompt_snapshots;
        }
        for (project, policy) in policies {
            let baselines = policy.rules.baselines().unwrap_or_default();
            if !baselines.is_empty() {
                more_time(GIT_LIMIT);
                prompt_snapshots.notices.extend(delete_old(project, self.builder.environment));
            }
            if event.kind == EventKind::Prompt && baselines.contains(&Baseline::Prompt) {
                prompt_snapshots.take(project, event, self.builder.environment);
            }
        }
        prompt_snapshots
    }

    /// The policy of the workflow's current node.
    fn policy_of(&self, active: &ActiveWorkflow) -> CompiledPolicy {
        let is_trusted =
            Trust::of(&self.builder.project.root, self.builder.environment).accepts_workflow(&active.workflow);
        policy_at(&active.workflow, active.position.node(), &self.builder.policy, is_trusted)
    }

    /// The policies of directories between the root and the paths of the event.
    fn nested(&self, event: &Event, situation: &Situation) -> Vec<(Project, PinnedPolicy)> {
        // A policy that was deleted during the session counts as it was last read.
        let has_policy = |folder: &Path| {
            let policy = PolicyFolder::of_project(folder);
            // Most directories have no policy, so the cheapest check (one `stat`) comes first.
            (policy.path.is_dir() && policy.has_policy())
                || session_policy::knows(&Project::nested(folder), event, self.builder.environment)
        };
        let nested = nested_roots(&self.builder.project.root, situation, has_policy).into_iter().map(|root| {
            let project = Project::nested(&root);
            let policy = session_policy::of_event(&project, event, self.builder.environment);
            (project, policy)
        });
        nested.collect()
    }
}

/// Directories below the root that have their own policy and contain a working directory or file of the event.
pub(crate) fn nested_roots(root: &Path, situation: &Situation, has_policy: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let mut folders = BTreeSet::new();
    for path in situation.involved_paths().iter().map(Path::new) {
        let possible = path.ancestors().skip_while(|folder| folder.as_os_str().len() > MAX_PATH_LENGTH);
        // The ancestors of a known directory were added with it.
        for folder in possible.take_while(|folder| *folder != root && folder.starts_with(root)) {
            if !folders.insert(folder.to_owned()) {
                break;
            }
        }
    }
    folders.into_iter().filter(|folder| has_policy(folder)).collect()
}
