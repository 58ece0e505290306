//! Builds the [`Situation`] in which rules and expressions are evaluated, and its [`LiveFacts`].
//!
//! Hooks and commands both use the builder, so that an expression has the same value in a rule and in a move of a
//! workflow.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use engine::{BaseDirectories, Event, Situation};
use policy::CompiledPolicy;
use policy::Config;
use serde_json::Map;
use store::{Store, StoreError, StoredState};

use super::active_workflow::ActiveWorkflow;
use super::fact_sources::FactSources;
use super::live_facts::LiveFacts;
use super::loop_facts::LoopFacts;
use super::task_facts::TaskFacts;
use super::token_count::TokenCount;
use crate::file_rules::{FileFactsBuilder, PromptBaseline};
use crate::position::Position;
use crate::project::{Project, store_options};
use crate::session::HatPhase;
use crate::{Environment, notices};

/// The default path of the rules' directory. The bundled rule `protect-guardrails` protects this path.
const DEFAULT_RULES_PATH: &str = "~/.config/linchpin/rules";

/// Builds the situations for one event: one for each policy that applies.
pub struct SituationBuilder<'a> {
    pub environment: &'a Environment,
    pub project: &'a Project,
    /// The policy of the session's project.
    pub policy: Arc<CompiledPolicy>,
    /// The current hat, if the session belongs to a run of a loop.
    pub hat_phase: Option<Arc<HatPhase>>,
    /// The journal's path.
    pub journal_path: PathBuf,
    /// True if the facts are for a `linchpin` command, false if they are for a hook.
    is_for_command: bool,
    /// Counts the used tokens when a rule first asks for them.
    tokens: OnceLock<Arc<TokenCount>>,
}

impl<'a> SituationBuilder<'a> {
    pub fn for_hook(
        project: &'a Project,
        policy: Arc<CompiledPolicy>,
        hat_phase: Option<Arc<HatPhase>>,
        journal_path: PathBuf,
        environment: &'a Environment,
    ) -> Self {
        Self { environment, project, policy, hat_phase, journal_path, is_for_command: false, tokens: OnceLock::new() }
    }

    pub fn for_command(
        project: &'a Project,
        policy: Arc<CompiledPolicy>,
        hat_phase: Option<Arc<HatPhase>>,
        environment: &'a Environment,
    ) -> Self {
        let journal_path = project.journal_path(environment);
        Self { environment, project, policy, hat_phase, journal_path, is_for_command: true, tokens: OnceLock::new() }
    }

    /// The situation for rules of the active workflow, with its facts. `policy` is the policy of the workflow's current
    /// node.
    pub fn situation_in_workflow(
        &self,
        active: &Arc<ActiveWorkflow>,
        policy: &CompiledPolicy,
        event: &Arc<Event>,
        state: Option<&StoredState>,
    ) -> (Arc<Situation>, Arc<LiveFacts>) {
        let facts = self.facts(self.project, policy, event, state).in_workflow(Arc::clone(active), &self.policy.rules);
        self.situation(self.project, policy, event, facts)
    }

    /// The situation for rules of the project or of a directory in the project, with its facts. `active` is the active
    /// workflow.
    pub fn situation_of_policy(
        &self,
        project: &Project,
        policy: &CompiledPolicy,
        event: &Arc<Event>,
        state: Option<&StoredState>,
        active: Option<&Arc<ActiveWorkflow>>,
    ) -> (Arc<Situation>, Arc<LiveFacts>) {
        let facts = self.facts(project, policy, event, state).with_surrounding_workflow(active.cloned());
        self.situation(project, policy, event, facts)
    }

    fn situation(
        &self,
        project: &Project,
        policy: &CompiledPolicy,
        event: &Arc<Event>,
        facts: LiveFacts,
    ) -> (Arc<Situation>, Arc<LiveFacts>) {
        let facts = Arc::new(facts);
        let is_subdirectory = project.root != self.project.root;
        let base_directories =
            BaseDirectories { is_subdirectory, ..base_directories(&project.root, &policy.config, self.environment) };
        (Arc::new(Situation::new(Arc::clone(event), base_directories, Arc::clone(&facts) as _)), facts)
    }

    /// The facts that do not depend on a session, such as those about the project's workflow, loop and tasks. Also
    /// returns a notice if the file of the active workflow cannot be used.
    pub fn facts_without_session(&self, event: &Arc<Event>) -> (LiveFacts, Vec<String>) {
        let journal = Store::open_read_only(&self.journal_path, self.store_options(event));
        let workflow_state = match journal.and_then(|journal| journal.workflow_state()) {
            Ok(state) => Some(state),
            // If there is no journal, no workflow was ever started.
            Err(StoreError::Missing { .. }) => Some(StoredState::default()),
            Err(_) => None,
        };
        let mut broken_workflow_notices = Vec::new();
        let active = self.active_workflow(workflow_state.as_ref(), event, &mut broken_workflow_notices);
        let session_state = workflow_state.is_some().then(StoredState::default);
        let facts =
            self.facts(self.project, &self.policy, event, session_state.as_ref()).with_surrounding_workflow(active);
        (facts, broken_workflow_notices)
    }

    fn facts(
        &self,
        project: &Project,
        policy: &CompiledPolicy,
        event: &Arc<Event>,
        state: Option<&StoredState>,
    ) -> LiveFacts {
        let sources = FactSources {
            journal_path: self.journal_path.clone(),
            agent: event.agent.clone(),
            session: event.session.clone(),
            home: self.environment.home.as_deref().map(|home| home.to_string_lossy().into_owned()),
            options: self.store_options(event),
            loop_facts: LoopFacts {
                hat_phase: self.hat_phase.clone(),
                work_path: self.project.work_database_path(self.environment),
            },
            task_facts: TaskFacts::of(self.project, self.environment),
        };
        let directory = project.root.strip_prefix(&self.project.root).unwrap_or(Path::new(""));
        let file_facts_builder = FileFactsBuilder {
            project: project.clone(),
            environment: self.environment.clone(),
            event: Arc::clone(event),
            config: Arc::clone(&policy.config),
            rules: vec![policy.rules.clone()],
            journal_path: self.journal_path.clone(),
            options: self.store_options(event),
            tree_snapshot: self.tree_snapshot(event, state),
            workflow_baseline: None,
        };
        let (state, config) = (state.cloned(), Arc::clone(&policy.config));
        let tokens = Arc::clone(self.tokens(event));
        LiveFacts::new(&project.root, directory, state, config, sources, file_facts_builder, tokens)
    }

    /// The active workflow: in a run of a loop, the workflow of the current hat; otherwise the one that the stored
    /// state names. If the file of the latter cannot be used, its last good version is used, if there is one, and a
    /// notice is added to `broken_workflow_notices`.
    pub fn active_workflow(
        &self,
        state: Option<&StoredState>,
        event: &Event,
        broken_workflow_notices: &mut Vec<String>,
    ) -> Option<Arc<ActiveWorkflow>> {
        let now = event.time;
        if let Some(hat_phase) = &self.hat_phase {
            // The rules of a hat apply even if the journal is unreadable.
            let state = state.cloned().unwrap_or_default();
            let position = Position::of(&state.variables).unwrap_or_else(|| Position::of_hat_phase(hat_phase, now));
            let (workflow, claims) = (hat_phase.workflow.clone(), Map::new());
            return Some(Arc::new(ActiveWorkflow { workflow, position, state, claims, now }));
        }
        let state = state?;
        let position = Position::of(&state.variables)?;
        let is_cached = !event.is_dry_run;
        let compiled = self.project.compiled_workflow(
            &position.workflow_name,
            position.tier,
            &self.policy,
            is_cached,
            self.environment,
        );
        if compiled.as_ref().is_none_or(|compiled| compiled.is_last_good) {
            broken_workflow_notices.push(notices::broken_workflow_notice(&position.workflow_name, compiled.is_some()));
        }
        let compiled = compiled?;
        let (state, claims) = (state.clone(), position.claims.clone());
        Some(Arc::new(ActiveWorkflow { workflow: compiled.workflow, position, state, claims, now }))
    }

    /// The name and time of the tree snapshot with which the working tree is compared. For a command in a run, this is
    /// the snapshot from when the hat was activated, if there is one. In all other cases, it is the snapshot of the
    /// session's last prompt; `None` if there is none.
    fn tree_snapshot(&self, event: &Event, state: Option<&StoredState>) -> Option<(String, i64)> {
        let hat_snapshot =
            self.hat_phase.as_ref().filter(|_| self.is_for_command).and_then(|hat_phase| hat_phase.tree_snapshot());
        hat_snapshot.or_else(|| Some((event.session.clone(), PromptBaseline::last_time(&state?.variables)?)))
    }

    /// Counts the tokens that were used. All calls return the count for the event of the first call, so a builder must
    /// be used for one event only.
    pub fn tokens(&self, event: &Arc<Event>) -> &Arc<TokenCount> {
        self.tokens.get_or_init(|| {
            let count = if self.is_for_command { TokenCount::of_command } else { TokenCount::of_hook };
            Arc::new(count(Arc::clone(event), self.journal_path.clone(), self.store_options(event)))
        })
    }

    pub fn store_options(&self, event: &Event) -> store::StoreOptions {
        store_options(&self.policy.config, event.time, self.hat_phase.as_ref().map(|hat_phase| hat_phase.run))
    }
}

/// The directories to which paths in a policy's rules are relative.
pub fn base_directories(root: &Path, config: &Config, environment: &Environment) -> BaseDirectories {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let mut aliases = environment.directory_aliases();
    // The rules' directory is configurable. With this alias, rules that protect the default path also protect the
    // configured directory.
    if let Some(directory) = &config.rules_dir {
        aliases.push((text(&root.join(directory)), DEFAULT_RULES_PATH.to_owned()));
    }
    BaseDirectories {
        root: text(root),
        home: environment.home.as_deref().map(text),
        temp: Some(text(&environment.temp)),
        aliases,
        is_subdirectory: false,
    }
}
