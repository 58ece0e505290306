//! Builds the [`Situation`] in which rules and expressions are evaluated, with its [`LiveFacts`].
//!
//! Hooks and commands both use it, so that an expression means the same in a rule and in a move of a workflow.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use engine::{BaseFolders, Event, Situation};
use policy::CompiledPolicy;
use policy::Config;
use serde_json::Map;
use store::{SessionState, Store, StoreError};

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
use crate::{Environment, failure};

/// The default path of the rules' directory. The bundled rule `protect-guardrails` names this path.
const DEFAULT_RULES_PATH: &str = "~/.config/linchpin/rules";

pub struct SessionContext<'a> {
    pub environment: &'a Environment,
    pub project: &'a Project,
    /// The policy of the session's project.
    pub policy: Arc<CompiledPolicy>,
    /// The current hat, if the session belongs to a run of a loop.
    pub hat_phase: Option<Arc<HatPhase>>,
    /// The journal's path.
    pub journal_path: PathBuf,
    /// True if the facts are for a command, false if they are for a hook.
    is_for_command: bool,
    tokens: OnceLock<Arc<TokenCount>>,
}

impl<'a> SessionContext<'a> {
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

    /// The situation for rules of the active workflow. `policy` is the policy of its current node.
    pub fn situation_in_workflow(
        &self,
        active: &Arc<ActiveWorkflow>,
        policy: &CompiledPolicy,
        event: &Arc<Event>,
        state: Option<&SessionState>,
    ) -> (Arc<Situation>, Arc<LiveFacts>) {
        let facts = self.facts(self.project, policy, event, state).in_workflow(Arc::clone(active), &self.policy.rules);
        self.situation(self.project, policy, event, facts)
    }

    /// The situation for rules of the project or a directory in it. `active` is the active workflow.
    pub fn situation_of_policy(
        &self,
        project: &Project,
        policy: &CompiledPolicy,
        event: &Arc<Event>,
        state: Option<&SessionState>,
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
        let is_subfolder = project.root != self.project.root;
        let base_folders =
            BaseFolders { is_subfolder, ..base_folders(&project.root, &policy.config, self.environment) };
        (Arc::new(Situation::new(Arc::clone(event), base_folders, Arc::clone(&facts) as _)), facts)
    }

    /// The facts about the project's workflow, loop and tasks, without a session. Also returns notices about a workflow
    /// whose file is broken.
    pub fn facts_without_session(&self, event: &Arc<Event>) -> (LiveFacts, Vec<String>) {
        let journal = Store::open_read_only(&self.journal_path, self.store_options(event));
        let workflow = match journal.and_then(|journal| journal.workflow()) {
            Ok(workflow) => Some(workflow),
            // Without a journal, no workflow was ever started.
            Err(StoreError::Missing { .. }) => Some(SessionState::default()),
            Err(_) => None,
        };
        let mut broken_workflow_notices = Vec::new();
        let active = self.active_workflow(workflow.as_ref(), event, &mut broken_workflow_notices);
        let session = workflow.is_some().then(SessionState::default);
        let facts = self.facts(self.project, &self.policy, event, session.as_ref()).with_surrounding_workflow(active);
        (facts, broken_workflow_notices)
    }

    fn facts(
        &self,
        project: &Project,
        policy: &CompiledPolicy,
        event: &Arc<Event>,
        state: Option<&SessionState>,
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
        let folder = project.root.strip_prefix(&self.project.root).unwrap_or(Path::new(""));
        let files = FileFactsBuilder {
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
        LiveFacts::new(&project.root, folder, state, config, sources, files, Arc::clone(self.tokens(event)))
    }

    /// The active workflow. If its file cannot be used, adds a notice to `broken_workflow_notices`.
    pub fn active_workflow(
        &self,
        state: Option<&SessionState>,
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
        let compiled =
            self.project.workflow(&position.workflow, position.tier, &self.policy, is_cached, self.environment);
        if compiled.as_ref().is_none_or(|compiled| compiled.is_last_good) {
            broken_workflow_notices.push(failure::broken_workflow_notice(&position.workflow, compiled.is_some()));
        }
        let compiled = compiled?;
        let (state, claims) = (state.clone(), position.claims.clone());
        Some(Arc::new(ActiveWorkflow { workflow: compiled.workflow, position, state, claims, now }))
    }

    /// The name and time of the tree snapshot to compare with. Gates use the snapshot from when the hat was activated;
    /// otherwise it is the snapshot of the session's last prompt.
    fn tree_snapshot(&self, event: &Event, state: Option<&SessionState>) -> Option<(String, i64)> {
        let hat_snapshot =
            self.hat_phase.as_ref().filter(|_| self.is_for_command).and_then(|hat_phase| hat_phase.tree_snapshot());
        hat_snapshot.or_else(|| Some((event.session.clone(), PromptBaseline::last_time(&state?.variables)?)))
    }

    /// INVARIANT: a context is used for one event only.
    pub fn tokens(&self, event: &Arc<Event>) -> &Arc<TokenCount> {
        self.tokens.get_or_init(|| {
            let new = if self.is_for_command { TokenCount::of_command } else { TokenCount::of_hook };
            Arc::new(new(Arc::clone(event), self.journal_path.clone(), self.store_options(event)))
        })
    }

    pub fn store_options(&self, event: &Event) -> store::StoreOptions {
        store_options(&self.policy.config, event.time, self.hat_phase.as_ref().map(|hat_phase| hat_phase.run))
    }
}

/// The directories to which paths in a policy's rules are relative.
pub fn base_folders(root: &Path, config: &Config, environment: &Environment) -> BaseFolders {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let mut aliases = environment.folder_aliases();
    // The rules' directory is configurable, and protected wherever it is.
    if let Some(folder) = &config.rules_dir {
        aliases.push((text(&root.join(folder)), DEFAULT_RULES_PATH.to_owned()));
    }
    BaseFolders {
        root: text(root),
        home: environment.home.as_deref().map(text),
        temp: Some(text(&environment.temp)),
        aliases,
        is_subfolder: false,
    }
}
