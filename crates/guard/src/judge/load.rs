//! Stage 1: the policies that apply to an event. The project's policy was loaded with the [`Judge`]; this stage adds the
//! policies of the active workflow and of directories below the root, and prepares for the file rules of all of them.

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
    Nested,
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

pub(super) struct PoliciesOfEvent<'b> {
    project_policy: ApplicablePolicy<'b>,
    of_workflow: Option<(Arc<ActiveWorkflow>, CompiledPolicy)>,
    pub(super) nested_policies: &'b [(Project, PinnedPolicy)],
    pub(super) preparation: &'b FileRulePreparation,
    /// Notices about a workflow whose file cannot be used.
    pub(super) broken_workflow_notices: Vec<String>,
}

impl PoliciesOfEvent<'_> {
    pub(super) fn active_workflow(&self) -> Option<&Arc<ActiveWorkflow>> {
        self.of_workflow.as_ref().map(|(active, _)| active)
    }
}

impl Judge<'_> {
    pub(super) fn load<'b>(&'b self, context: &'b EventContext<'_>, stored: StoredStates<'_>) -> PoliciesOfEvent<'b> {
        let event = context.event;
        let (project, policy) = (self.session_context.project, &*self.session_context.policy);
        let mut broken_workflow_notices = Vec::new();
        let active = self.session_context.active_workflow(stored.workflow, event, &mut broken_workflow_notices);
        let (situation, facts) =
            self.session_context.situation_of_policy(project, policy, event, stored.session, active.as_ref());
        let project_policy = ApplicablePolicy { origin: PolicyOrigin::Project, project, policy, facts, situation };
        let of_workflow = active.map(|active| {
            let policy = self.policy_of_workflow(&active);
            (active, policy)
        });
        let nested = context
            .once_per_event
            .nested_policies
            .get_or_init(|| self.load_nested_policies(event, &project_policy.situation));
        let preparation = context.once_per_event.file_rule_preparation.get_or_init(|| {
            let nested = nested.iter().map(|(project, pinned)| (project, &pinned.policy));
            let of_workflow = of_workflow.iter().map(|(_, policy)| (project, policy));
            let policies = nested.chain([(project, policy)]).chain(of_workflow);
            FileRulePreparation::prepare(event, policies, self.session_context.environment, context.extend_deadline)
        });
        PoliciesOfEvent { project_policy, of_workflow, nested_policies: nested, preparation, broken_workflow_notices }
    }

    /// Yields the project's own policy, then that of its active workflow, then those of directories in it.
    pub(super) fn applicable_policies<'b>(
        &'b self,
        loaded: &'b PoliciesOfEvent<'b>,
        event: &'b Arc<Event>,
        stored: StoredStates<'b>,
    ) -> impl Iterator<Item = ApplicablePolicy<'b>> {
        let project = self.session_context.project;
        let of_workflow = loaded.of_workflow.iter().map(move |(active, policy)| {
            let (situation, facts) = self.session_context.situation_in_workflow(active, policy, event, stored.session);
            ApplicablePolicy { origin: PolicyOrigin::Workflow(Arc::clone(active)), project, policy, facts, situation }
        });
        let of_nested = loaded.nested_policies.iter().map(move |(project, pinned)| {
            let policy = &pinned.policy;
            let (situation, facts) = self.session_context.situation_of_policy(
                project,
                policy,
                event,
                stored.session,
                loaded.active_workflow(),
            );
            ApplicablePolicy { origin: PolicyOrigin::Nested, project, policy, facts, situation }
        });
        std::iter::once(loaded.project_policy.clone()).chain(of_workflow).chain(of_nested)
    }

    /// The policy of the workflow's current node.
    fn policy_of_workflow(&self, active: &ActiveWorkflow) -> CompiledPolicy {
        let is_trusted = Trust::of(&self.session_context.project.root, self.session_context.environment)
            .accepts_workflow(&active.workflow);
        policy_at(&active.workflow, active.position.node(), &self.session_context.policy, is_trusted)
    }

    /// The policies of directories between the root and the paths of the event.
    fn load_nested_policies(&self, event: &Event, situation: &Situation) -> Vec<(Project, PinnedPolicy)> {
        // If a policy was deleted during the session, its last version still applies.
        let has_policy = |folder: &Path| {
            let policy = PolicyFolder::of_project(folder);
            // Most directories have no policy, so the cheapest check (one `stat`) comes first.
            (policy.path.is_dir() && policy.has_policy())
                || session_policy::has_pin(&Project::nested(folder), event, self.session_context.environment)
        };
        let nested = nested_roots(&self.session_context.project.root, situation, has_policy).into_iter().map(|root| {
            let project = Project::nested(&root);
            let policy = session_policy::pin_for_event(&project, event, self.session_context.environment);
            (project, policy)
        });
        nested.collect()
    }
}

/// Directories below the root that have their own policy and contain a working directory or file of the event.
pub(crate) fn nested_roots(root: &Path, situation: &Situation, has_policy: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let mut folders = BTreeSet::new();
    for path in situation.involved_paths().iter().map(Path::new) {
        let ancestors = path.ancestors().skip_while(|folder| folder.as_os_str().len() > MAX_PATH_LENGTH);
        // The ancestors of a known directory were added with it.
        for folder in ancestors.take_while(|folder| *folder != root && folder.starts_with(root)) {
            if !folders.insert(folder.to_owned()) {
                break;
            }
        }
    }
    folders.into_iter().filter(|folder| has_policy(folder)).collect()
}
