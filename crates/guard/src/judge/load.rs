//! Stage 1: the policies that apply to an event. The project's own was loaded with the [`Judge`]; this adds those of the
//! active workflow and of directories below the root, and prepares for the file rules of all.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::{Event, Situation};
use policy::{CompiledPolicy, PinnedPolicy, PolicyFolder};

use super::Judge;
use super::event_context::{EventContext, StoredStates};
use crate::facts::{ActiveWorkflow, LiveFacts, MAX_PATH_LENGTH};
use crate::file_rules::FileRulePreparation;
use crate::grants::Trust;
use crate::project::Project;
use crate::session::policy as session_policy;
use crate::workflow::policy_at;

/// The origin of a policy.
#[derive(Clone)]
pub(super) enum PolicyOrigin {
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
    pub(super) origin: PolicyOrigin,
    pub(super) project: &'a Project,
    pub(super) policy: &'a CompiledPolicy,
    pub(super) facts: Arc<LiveFacts>,
    pub(super) situation: Arc<Situation>,
}

pub(super) struct LoadedPolicies<'b> {
    own: ApplicablePolicy<'b>,
    of_workflow: Option<(Arc<ActiveWorkflow>, CompiledPolicy)>,
    pub(super) nested: &'b [(Project, PinnedPolicy)],
    pub(super) preparation: &'b FileRulePreparation,
    /// Notices of a workflow whose file cannot be used.
    pub(super) broken: Vec<String>,
}

impl LoadedPolicies<'_> {
    pub(super) fn active(&self) -> Option<&Arc<ActiveWorkflow>> {
        self.of_workflow.as_ref().map(|(active, _)| active)
    }
}

impl Judge<'_> {
    pub(super) fn load<'b>(&'b self, context: &'b EventContext<'_>, stored: StoredStates<'_>) -> LoadedPolicies<'b> {
        let event = context.event;
        let (project, policy) = (self.session.project, &*self.session.policy);
        let mut broken = Vec::new();
        let active = self.session.active(stored.workflow, event, &mut broken);
        let (situation, facts) =
            self.session.situation_of_policy(project, policy, event, stored.session, active.as_ref());
        let own = ApplicablePolicy { origin: PolicyOrigin::Project, project, policy, facts, situation };
        let of_workflow = active.map(|active| {
            let policy = self.policy_of(&active);
            (active, policy)
        });
        let nested = context.once_only.nested.get_or_init(|| self.nested(event, &own.situation));
        let preparation = context.once_only.file_rule_preparation.get_or_init(|| {
            let nested = nested.iter().map(|(project, pinned)| (project, &pinned.policy));
            let of_workflow = of_workflow.iter().map(|(_, policy)| (project, policy));
            let policies = nested.chain([(project, policy)]).chain(of_workflow);
            FileRulePreparation::of(event, policies, self.session.environment, context.more_time)
        });
        LoadedPolicies { own, of_workflow, nested, preparation, broken }
    }

    /// Yields the project's own policy, then that of its active workflow, then those of directories in it.
    pub(super) fn applicable_policies<'b>(
        &'b self,
        loaded: &'b LoadedPolicies<'b>,
        event: &'b Arc<Event>,
        stored: StoredStates<'b>,
    ) -> impl Iterator<Item = ApplicablePolicy<'b>> {
        let project = self.session.project;
        let of_workflow = loaded.of_workflow.iter().map(move |(active, policy)| {
            let (situation, facts) = self.session.situation_in_workflow(active, policy, event, stored.session);
            ApplicablePolicy { origin: PolicyOrigin::Workflow(Arc::clone(active)), project, policy, facts, situation }
        });
        let of_folders = loaded.nested.iter().map(move |(project, pinned)| {
            let policy = &pinned.policy;
            let (situation, facts) =
                self.session.situation_of_policy(project, policy, event, stored.session, loaded.active());
            ApplicablePolicy { origin: PolicyOrigin::Folder, project, policy, facts, situation }
        });
        std::iter::once(loaded.own.clone()).chain(of_workflow).chain(of_folders)
    }

    /// The policy of the workflow's current node.
    fn policy_of(&self, active: &ActiveWorkflow) -> CompiledPolicy {
        let is_trusted =
            Trust::of(&self.session.project.root, self.session.environment).accepts_workflow(&active.workflow);
        policy_at(&active.workflow, active.position.node(), &self.session.policy, is_trusted)
    }

    /// The policies of directories between the root and the paths of the event.
    fn nested(&self, event: &Event, situation: &Situation) -> Vec<(Project, PinnedPolicy)> {
        // If a policy was deleted during the session, its last version still applies.
        let has_policy = |folder: &Path| {
            let policy = PolicyFolder::of_project(folder);
            // Most directories have no policy, so the cheapest check (one `stat`) comes first.
            (policy.path.is_dir() && policy.has_policy())
                || session_policy::has_pin(&Project::nested(folder), event, self.session.environment)
        };
        let nested = nested_roots(&self.session.project.root, situation, has_policy).into_iter().map(|root| {
            let project = Project::nested(&root);
            let policy = session_policy::of_event(&project, event, self.session.environment);
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
