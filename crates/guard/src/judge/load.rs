//! Stage 1: loads the policies that apply to an event. [`Judge::new`] has already loaded the project's policy. This
//! stage adds the policies of the active workflow and of directories below the root, and prepares the judgement by the
//! file rules of all policies.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::file_rules::{AttributionMode, ChangeScope};
use engine::{Event, Situation};
use policy::{CompiledPolicy, PinnedPolicy, PolicyFolder};
use store::StoredState;

use super::Judge;
use super::event_context::{EventContext, StoredStates};
use crate::facts::{ActiveWorkflow, LiveFacts, MAX_PATH_LENGTH};
use crate::file_rules::{FileRulePreparation, GIT_TIMEOUT};
use crate::grants::Trust;
use crate::project::Project;
use crate::session::{policy as session_policy, touched_directories};
use crate::workflow::policy_at;

/// Where a policy comes from.
#[derive(Clone)]
pub(super) enum PolicyOrigin {
    /// The session's project. Its policy includes the user tier.
    Project,
    /// The workflow that is active in the project.
    Workflow(Arc<ActiveWorkflow>),
    /// A directory below the project's root that has a policy of its own. The path is relative to this root.
    Nested(PathBuf),
}

impl PolicyOrigin {
    /// Names the place of the policy's settings in messages.
    pub(super) fn place(&self) -> String {
        match self {
            Self::Workflow(active) => format!("workflow `{}`", active.workflow.name),
            Self::Project | Self::Nested(_) => "the configuration".to_owned(),
        }
    }
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

/// The policies that apply to an event.
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

    /// The directories of nested policies that have file rules, relative to the root.
    pub(super) fn nested_directories_with_file_rules(&self) -> impl Iterator<Item = &Path> {
        let root = &self.project_policy.project.root;
        let nested = self.nested_policies.iter();
        nested
            .filter(|(_, pinned)| pinned.policy.rules.baselines().is_ok_and(|baselines| !baselines.is_empty()))
            .filter_map(move |(project, _)| project.root.strip_prefix(root).ok())
    }
}

impl Judge<'_> {
    /// Loads the policies that apply to the event.
    pub(super) fn load<'b>(&'b self, context: &'b EventContext<'_>, stored: StoredStates<'_>) -> PoliciesOfEvent<'b> {
        let event = context.event;
        let (project, policy) = (self.situation_builder.project, &*self.situation_builder.policy);
        let mut broken_workflow_notices = Vec::new();
        let active = self.situation_builder.active_workflow(stored.workflow, event, &mut broken_workflow_notices);
        let (situation, facts) =
            self.situation_builder.situation_of_policy(project, policy, event, stored.session, active.as_ref());
        let project_policy = ApplicablePolicy { origin: PolicyOrigin::Project, project, policy, facts, situation };
        let of_workflow = active.map(|active| {
            let policy = self.policy_of_workflow(&active);
            (active, policy)
        });
        let nested = context
            .once_per_event
            .nested_policies
            .get_or_init(|| self.load_nested_policies(context, &project_policy, stored.session));
        let preparation = context.once_per_event.file_rule_preparation.get_or_init(|| {
            let nested = nested.iter().map(|(project, pinned)| (project, &pinned.policy));
            let of_workflow = of_workflow.iter().map(|(_, policy)| (project, policy));
            let policies = nested.chain([(project, policy)]).chain(of_workflow);
            FileRulePreparation::prepare(event, policies, self.situation_builder.environment, context.extend_deadline)
        });
        PoliciesOfEvent { project_policy, of_workflow, nested_policies: nested, preparation, broken_workflow_notices }
    }

    /// Yields the project's own policy, then the policy of its active workflow, then the policies of directories in the
    /// project.
    pub(super) fn applicable_policies<'b>(
        &'b self,
        loaded: &'b PoliciesOfEvent<'b>,
        event: &'b Arc<Event>,
        stored: StoredStates<'b>,
    ) -> impl Iterator<Item = ApplicablePolicy<'b>> {
        let project = self.situation_builder.project;
        let of_workflow = loaded.of_workflow.iter().map(move |(active, policy)| {
            let (situation, facts) =
                self.situation_builder.situation_in_workflow(active, policy, event, stored.session);
            ApplicablePolicy { origin: PolicyOrigin::Workflow(Arc::clone(active)), project, policy, facts, situation }
        });
        let of_nested = loaded.nested_policies.iter().map(move |(project, pinned)| {
            let policy = &pinned.policy;
            let (situation, facts) = self.situation_builder.situation_of_policy(
                project,
                policy,
                event,
                stored.session,
                loaded.active_workflow(),
            );
            let root = &self.situation_builder.project.root;
            let directory = project.root.strip_prefix(root).unwrap_or(&project.root).to_owned();
            ApplicablePolicy { origin: PolicyOrigin::Nested(directory), project, policy, facts, situation }
        });
        std::iter::once(loaded.project_policy.clone()).chain(of_workflow).chain(of_nested)
    }

    /// The policy that the workflow has at its current node.
    fn policy_of_workflow(&self, active: &ActiveWorkflow) -> CompiledPolicy {
        let is_trusted = Trust::of(&self.situation_builder.project.root, self.situation_builder.environment)
            .accepts_workflow(&active.workflow);
        policy_at(&active.workflow, active.position.node(), &self.situation_builder.policy, is_trusted)
    }

    /// The policies of directories below the root that contain a path of the event. At a stop, also the policies of
    /// directories in which the session may have changed files.
    fn load_nested_policies(
        &self,
        context: &EventContext<'_>,
        project_policy: &ApplicablePolicy<'_>,
        state: Option<&StoredState>,
    ) -> Vec<(Project, PinnedPolicy)> {
        let (event, root) = (context.event, &self.situation_builder.project.root);
        let mut paths = project_policy.situation.involved_paths();
        if event.kind.is_stop() {
            paths.extend(self.paths_of_session(context, project_policy, state));
        }
        // A policy that was deleted during the session still applies, in its last version.
        let has_policy = |directory: &Path| {
            let policy = PolicyFolder::of_project(directory);
            // The cheapest check comes first, because most directories have no policy.
            (policy.path.is_dir() && policy.has_policy())
                || session_policy::has_pin(&Project::nested(directory), event, self.situation_builder.environment)
        };
        let nested = nested_roots(root, &paths, has_policy).into_iter().map(|root| {
            let project = Project::nested(&root);
            let policy = session_policy::pin_for_event(&project, event, self.situation_builder.environment);
            (project, policy)
        });
        nested.collect()
    }

    /// The directories of nested policies that calls of the session touched. If the project has file rules, this also
    /// returns the files that the session changed. Without file rules, these files are left out, because then git would
    /// have to list the changed files for this purpose alone.
    fn paths_of_session(
        &self,
        context: &EventContext<'_>,
        project_policy: &ApplicablePolicy<'_>,
        state: Option<&StoredState>,
    ) -> Vec<String> {
        let compare_to = project_policy.policy.rules.baselines().ok().and_then(|baselines| baselines.first().copied());
        let changes = compare_to.and_then(|compare_to| {
            (context.extend_deadline)(GIT_TIMEOUT);
            let change_scope = ChangeScope { compare_to, attribute: AttributionMode::Session };
            project_policy.facts.file_facts().changes(change_scope)
        });
        let touched = state.map(|state| touched_directories::stored(&state.variables)).unwrap_or_default();
        let own_paths = changes.iter().flat_map(|changes| changes.own()).map(|(path, _)| path.to_owned());
        let root = self.situation_builder.project.root.to_string_lossy();
        touched.into_iter().chain(own_paths).map(|path| format!("{root}/{path}")).collect()
    }
}

/// The directories below the root that have a policy of their own and that contain one of the paths.
pub(crate) fn nested_roots(root: &Path, paths: &[String], has_policy: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let mut directories = BTreeSet::new();
    for path in paths.iter().map(Path::new) {
        let ancestors = path.ancestors().skip_while(|directory| directory.as_os_str().len() > MAX_PATH_LENGTH);
        // If a directory was added before, its ancestors were added with it.
        for directory in ancestors.take_while(|directory| *directory != root && directory.starts_with(root)) {
            if !directories.insert(directory.to_owned()) {
                break;
            }
        }
    }
    directories.into_iter().filter(|directory| has_policy(directory)).collect()
}
