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

use super::active::Active;
use super::live_facts::LiveFacts;
use super::loop_facts::LoopFacts;
use super::position::Position;
use super::session_journal::SessionJournal;
use super::task_facts::TaskFacts;
use super::token_count::TokenCount;
use crate::file_rules::{FileSetting, PromptBaseline};
use crate::project::{Project, store_options};
use crate::session::Stage;
use crate::{Environment, failure};

/// The default path of the rules' directory, which `protect-guardrails` names.
const RULES_ARE_KNOWN_AS: &str = "~/.config/linchpin/rules";

pub struct SituationBuilder<'a> {
    pub environment: &'a Environment,
    pub project: &'a Project,
    /// The policy of the session's project.
    pub policy: Arc<CompiledPolicy>,
    /// The current hat, if the session belongs to a run of a loop.
    pub stage: Option<Arc<Stage>>,
    /// The journal's path.
    pub store: PathBuf,
    /// True if a command asks, not a hook.
    is_for_command: bool,
    tokens: OnceLock<Arc<TokenCount>>,
}

impl<'a> SituationBuilder<'a> {
    pub fn for_hook(
        project: &'a Project,
        policy: Arc<CompiledPolicy>,
        stage: Option<Arc<Stage>>,
        store: PathBuf,
        environment: &'a Environment,
    ) -> Self {
        Self { environment, project, policy, stage, store, is_for_command: false, tokens: OnceLock::new() }
    }

    pub fn for_command(
        project: &'a Project,
        policy: Arc<CompiledPolicy>,
        stage: Option<Arc<Stage>>,
        environment: &'a Environment,
    ) -> Self {
        let store = project.store(environment);
        Self { environment, project, policy, stage, store, is_for_command: true, tokens: OnceLock::new() }
    }

    /// The situation for rules of the active workflow. `policy` is the policy of its current node.
    pub fn in_workflow(
        &self,
        active: &Arc<Active>,
        policy: &CompiledPolicy,
        event: &Arc<Event>,
        state: Option<&SessionState>,
    ) -> (Arc<Situation>, Arc<LiveFacts>) {
        let facts = self.facts(self.project, policy, event, state).in_workflow(Arc::clone(active), &self.policy.rules);
        self.situation(self.project, policy, event, facts)
    }

    /// The situation for rules of the project or a directory in it. `active` is the active workflow.
    pub fn of_policy(
        &self,
        project: &Project,
        policy: &CompiledPolicy,
        event: &Arc<Event>,
        state: Option<&SessionState>,
        active: Option<&Arc<Active>>,
    ) -> (Arc<Situation>, Arc<LiveFacts>) {
        let facts = self.facts(project, policy, event, state).beside_workflow(active.cloned());
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
        let is_part = project.root != self.project.root;
        let place = BaseFolders { is_subfolder: is_part, ..place(&project.root, &policy.config, self.environment) };
        (Arc::new(Situation::new(Arc::clone(event), place, Arc::clone(&facts) as _)), facts)
    }

    /// The facts of the project's workflow, loop and tasks, without a session; and notices of a workflow whose file is
    /// broken.
    pub fn facts_without_session(&self, event: &Arc<Event>) -> (LiveFacts, Vec<String>) {
        let journal = Store::open_existing_read(&self.store, self.store_options(event));
        let workflow = match journal.and_then(|journal| journal.workflow()) {
            Ok(workflow) => Some(workflow),
            // Without a journal, no workflow was ever started.
            Err(StoreError::Missing { .. }) => Some(SessionState::default()),
            Err(_) => None,
        };
        let mut broken = Vec::new();
        let active = self.active(workflow.as_ref(), event, &mut broken);
        let session = workflow.is_some().then(SessionState::default);
        let facts = self.facts(self.project, &self.policy, event, session.as_ref()).beside_workflow(active);
        (facts, broken)
    }

    fn facts(
        &self,
        project: &Project,
        policy: &CompiledPolicy,
        event: &Arc<Event>,
        state: Option<&SessionState>,
    ) -> LiveFacts {
        let history = SessionJournal {
            store: self.store.clone(),
            agent: event.agent.clone(),
            session: event.session.clone(),
            home: self.environment.home.as_deref().map(|home| home.to_string_lossy().into_owned()),
            options: self.store_options(event),
            in_loop: LoopFacts { stage: self.stage.clone(), work: self.project.work(self.environment) },
            tasks: TaskFacts::of(self.project, self.environment),
        };
        let folder = project.root.strip_prefix(&self.project.root).unwrap_or(Path::new(""));
        let files = FileSetting {
            project: project.clone(),
            environment: self.environment.clone(),
            event: Arc::clone(event),
            config: Arc::clone(&policy.config),
            rules: vec![policy.rules.clone()],
            store: self.store.clone(),
            options: self.store_options(event),
            kept: self.kept_tree(event, state),
        };
        let (state, config) = (state.cloned(), Arc::clone(&policy.config));
        LiveFacts::new(&project.root, folder, state, config, history, files, Arc::clone(self.tokens(event)))
    }

    /// The active workflow. Adds a notice to `broken` if its file cannot be used.
    pub fn active(&self, state: Option<&SessionState>, event: &Event, broken: &mut Vec<String>) -> Option<Arc<Active>> {
        let now = event.time;
        if let Some(stage) = &self.stage {
            // The rules of a hat apply even if the journal is unreadable.
            let state = state.cloned().unwrap_or_default();
            let position = Position::of(&state.variables).unwrap_or_else(|| Position::of_stage(stage, now));
            let (workflow, claims) = (stage.workflow.clone(), Map::new());
            return Some(Arc::new(Active { workflow, position, state, claims, now }));
        }
        let state = state?;
        let position = Position::of(&state.variables)?;
        let is_kept = !event.is_dry_run;
        let compiled =
            self.project.workflow(&position.workflow, position.tier, &self.policy, is_kept, self.environment);
        if compiled.as_ref().is_none_or(|compiled| compiled.is_last_good) {
            broken.push(failure::broken_workflow_notice(&position.workflow, compiled.is_some()));
        }
        let compiled = compiled?;
        let (state, claims) = (state.clone(), position.claims.clone());
        Some(Arc::new(Active { workflow: compiled.workflow, position, state, claims, now }))
    }

    /// The name and time of the tree snapshot to compare with: for gates, the one taken when the hat was put on; else
    /// the one of the session's last prompt.
    fn kept_tree(&self, event: &Event, state: Option<&SessionState>) -> Option<(String, i64)> {
        let of_stage = self.stage.as_ref().filter(|_| self.is_for_command).and_then(|stage| stage.kept_tree());
        of_stage.or_else(|| Some((event.session.clone(), PromptBaseline::last(&state?.variables)?)))
    }

    /// INVARIANT: a builder is used for one event only.
    pub fn tokens(&self, event: &Arc<Event>) -> &Arc<TokenCount> {
        self.tokens.get_or_init(|| {
            let of = if self.is_for_command { TokenCount::of_command } else { TokenCount::of_hook };
            Arc::new(of(Arc::clone(event), self.store.clone(), self.store_options(event)))
        })
    }

    pub fn store_options(&self, event: &Event) -> store::StoreOptions {
        store_options(&self.policy.config, event.time, self.stage.as_ref().map(|stage| stage.run))
    }
}

/// The folders that paths in a policy's rules are relative to.
pub fn place(root: &Path, config: &Config, environment: &Environment) -> BaseFolders {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let mut known_as = environment.known_folders();
    // The rules' directory is configurable, and protected wherever it is.
    if let Some(folder) = &config.rules_dir {
        known_as.push((text(&root.join(folder)), RULES_ARE_KNOWN_AS.to_owned()));
    }
    BaseFolders {
        root: text(root),
        home: environment.home.as_deref().map(text),
        temp: Some(text(&environment.temp)),
        aliases: known_as,
        is_subfolder: false,
    }
}
