//! One event, judged and recorded.

mod effects;
mod external_behavior;
mod observe;

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use engine::event::ShellText;
use engine::file_rules::Baseline;
use engine::workflow::Action;
use engine::{Decision, Event, EventKind, Finding, Inquiry, Level, Lifted, Place, Situation, Verdict};
use policy::{Compiled, Config, Held, JournalMode, PolicyFolder, Weakened};
use serde_json::Map;
use store::{EventId, Journal, Judgement, Record, Recorded, SessionKey, SessionState, StateChanges, Store, StoreError};
use tempfile::TempDir;

use effects::{Conduct, Effects};

use self::observe::Programs;
use crate::facts::token_count::TokenCount;
use crate::facts::{Active, LONGEST_PATH, LiveFacts, LoopFacts, Position, SessionJournal, TaskFacts};
use crate::failure::Failure;
use crate::file_rules::{
    Commands, Demands, FileSetting, GIT_LIMIT, KeptBaselines, PromptBaseline, Ran, SessionStart, Unheard, forget_old,
};
use crate::grants::{Allowances, Call, EnforcementMode, Trust};
use crate::project::{Project, store_options};
use crate::session::{Stage, policy as session_policy};
use crate::workflow::{Acted, act, policy_at};
use crate::{Environment, failure, rule_deeds};

/// The session of the forged events with which `doctor` tries a hook: judged like any other, and kept nowhere.
pub const TRIAL_SESSION: &str = "linchpin-doctor";

const NOT_RUN: &str = "a rule's command was not run: it counts as not met until the command passes";

/// A folder that `protect-guardrails` names.
const RULES_ARE_KNOWN_AS: &str = "~/.config/linchpin/rules";

/// A project whose policy is loaded.
pub struct Judge<'a> {
    environment: &'a Environment,
    project: &'a Project,
    policy: Arc<Compiled>,
    /// The hat that is on, where the session belongs to a run of a loop.
    stage: Option<Arc<Stage>>,
    /// The session belongs to a run, and nobody can say what that asks for.
    is_astray: bool,
    /// What only this session still has.
    news: Vec<Weakened>,
    /// Where the journal is.
    store: PathBuf,
    /// An empty journal for a dry run where there is none yet; deleted with this.
    scratch: Option<TempDir>,
    /// Whether nobody waits for the verdict of a hook.
    is_looking: bool,
    tokens: OnceLock<Arc<TokenCount>>,
}

#[derive(Debug)]
pub struct Judged {
    pub verdict: Verdict,
    /// The journal's number of it; none where it was not recorded.
    pub id: Option<EventId>,
}

/// A policy that an event falls under: the project's, or one of a folder in it.
struct ApplicablePolicy<'a> {
    project: &'a Project,
    policy: &'a Compiled,
    facts: Arc<LiveFacts>,
    situation: Arc<Situation>,
    is_of_workflow: bool,
}

impl ApplicablePolicy<'_> {
    /// What is to be told of how changes were found.
    fn file_news(&self, occasion: &Occasion<'_>, state: Option<&SessionState>, effects: &mut Effects) -> Vec<String> {
        let Some(files) = self.facts.files_asked() else { return Vec::new() };
        // Where this is judged twice, what was put away the first time is gone the second time.
        occasion.damaged.borrow_mut().extend(files.settlement.queue().take_problems());
        effects.news(files.changed.take_notices(), state)
    }

    /// What is to be told of rules that were skipped, and of a queue that cannot be written.
    fn of_skipped(&self, skipped: &[String]) -> Vec<String> {
        let files = self.facts.files_asked();
        let unwritten = files.and_then(|files| files.settlement.take_problem());
        let is_about_files = |rule: &str| files.is_some_and(|files| files.rule(rule).is_some());
        let told = skipped.iter().map(|rule| match &unwritten {
            Some(why) if is_about_files(rule) => format!("rule `{rule}` was skipped: {why}"),
            _ => failure::skipped_rule_notice(rule),
        });
        let told: Vec<String> = told.collect();
        let alone = unwritten.filter(|_| !skipped.iter().any(|rule| is_about_files(rule)));
        told.into_iter().chain(alone).collect()
    }
}

/// What is stored between events; none of what cannot be had.
#[derive(Clone, Copy)]
struct Stored<'a> {
    session: Option<&'a SessionState>,
    workflow: Option<&'a SessionState>,
}

impl<'a> Judge<'a> {
    /// The judge of an event's session.
    pub fn new(project: &'a Project, event: &Event, environment: &'a Environment) -> Self {
        let Held { policy, news } = session_policy::of_event(project, event, environment);
        let (policy, mut store) = (Arc::new(policy), project.store(environment));
        let scratch =
            (event.is_dry_run && !store.exists()).then(|| tempfile::tempdir_in(&environment.temp).ok()).flatten();
        if let Some(scratch) = &scratch {
            store = scratch.path().join("state.db");
        }
        let stage = Stage::of_process(project, environment).map(Arc::new);
        let is_astray = stage.is_none() && Stage::run_of_process(project, environment).is_some();
        let tokens = OnceLock::new();
        let judge =
            Self { environment, project, policy, stage, is_astray, news, store, scratch, is_looking: false, tokens };
        if judge.scratch.is_some() {
            // Where this fails, the journal is one that cannot be read.
            drop(Store::open(&judge.store, judge.store_options(event)));
        }
        judge
    }

    /// One that only looks.
    pub(crate) fn looking(
        project: &'a Project,
        policy: Arc<Compiled>,
        stage: Option<Arc<Stage>>,
        environment: &'a Environment,
    ) -> Self {
        let (store, news) = (project.store(environment), Vec::new());
        let tokens = OnceLock::new();
        Self {
            environment,
            project,
            policy,
            stage,
            is_astray: false,
            news,
            store,
            scratch: None,
            is_looking: true,
            tokens,
        }
    }

    /// What is known where a workflow is about to move.
    pub(crate) fn situation_in(
        &self,
        active: &Arc<Active>,
        event: &Arc<Event>,
        state: Option<&SessionState>,
    ) -> (Arc<Situation>, Arc<LiveFacts>) {
        let ApplicablePolicy { situation, facts, .. } = self.jurisdiction_of(active, &self.policy, event, state);
        (situation, facts)
    }

    /// What the project's own rules know.
    pub(crate) fn situation_of_project(
        &self,
        event: &Arc<Event>,
        state: Option<&SessionState>,
    ) -> (Arc<Situation>, Arc<LiveFacts>) {
        let ApplicablePolicy { situation, facts, .. } =
            self.jurisdiction(self.project, &self.policy, event, state, None);
        (situation, facts)
    }

    /// What is known of the project's workflow, loop and tasks where no session asks, and what is said of a workflow whose
    /// file is broken.
    pub(crate) fn facts_without_session(&self, event: &Arc<Event>) -> (LiveFacts, Vec<String>) {
        let journal = Store::open_existing_read(&self.store, self.store_options(event));
        let workflow = match journal.and_then(|journal| journal.workflow()) {
            Ok(workflow) => Some(workflow),
            // Where there is no journal, no workflow was ever started.
            Err(StoreError::Missing { .. }) => Some(SessionState::default()),
            Err(_) => None,
        };
        let mut broken = Vec::new();
        let active = self.active(workflow.as_ref(), event, &mut broken);
        let session = workflow.is_some().then(SessionState::default);
        let facts = self.facts(self.project, &self.policy, event, session.as_ref()).beside_workflow(active);
        (facts, broken)
    }

    pub fn config(&self) -> &Config {
        &self.policy.config
    }

    /// Judges an event and records it. `is_first`: nothing was heard of the session before. `more_time` is asked for
    /// where git has to be waited for, or a rule's command.
    pub fn judge(&self, event: &Arc<Event>, is_first: bool, more_time: &dyn Fn(Duration)) -> Judged {
        let occasion = Occasion {
            event,
            is_first,
            nested: OnceCell::new(),
            kept: OnceCell::new(),
            programs: Programs::new(self.environment, &self.policy.config),
            ran: Ran::default(),
            damaged: RefCell::default(),
            allowed: OnceCell::new(),
            more_time,
        };
        if event.is_dry_run {
            return Judged { verdict: self.dry_run(&occasion), id: None };
        }
        let judge = |stored: Stored<'_>| self.verdict(&occasion, stored);
        let recorded = self.record(event, &occasion.allowed, &occasion.nested, judge);
        recorded.unwrap_or_else(|error| {
            // It may still be read, and what a phase forbids does not wait for a lock.
            let journal = Store::open_existing_read(&self.store, self.store_options(event));
            let workflow = journal.and_then(|journal| journal.workflow()).ok();
            let (mut verdict, effects) = self.verdict(&occasion, Stored { session: None, workflow: workflow.as_ref() });
            if is_refused_call(event, &verdict) {
                // What was used up for this call counts for it.
                verdict.lifted = occasion.allowed.get().copied().flatten();
            }
            verdict.notices.push(failure::store_notice(&error));
            // The queue counts on, or a file rule could hold for ever.
            verdict.notices.extend(effects.conclude(verdict.lifted.is_none()));
            Judged { verdict, id: None }
        })
    }

    /// Judges by what is stored, and stores nothing.
    fn dry_run(&self, occasion: &Occasion<'_>) -> Verdict {
        let event = occasion.event;
        let journal = Store::open_existing_read(&self.store, self.store_options(event));
        let states = |journal: &Store| {
            let key = SessionKey { agent: &event.agent, session: &event.session };
            let read = journal.session(key).and_then(|session| Ok((session, journal.workflow()?)));
            read.map_err(|error| failure::store_notice(&error))
        };
        let states = match &journal {
            Ok(journal) => states(journal),
            Err(error) => Err(failure::store_notice(error)),
        };
        let (states, notice) = match states {
            Ok(states) => (Some(states), None),
            Err(notice) => (None, Some(notice)),
        };
        let stored = Stored {
            session: states.as_ref().map(|(session, _)| session),
            workflow: states.as_ref().map(|(_, workflow)| workflow),
        };
        let (mut verdict, _) = self.verdict(occasion, stored);
        verdict.notices.extend(notice);
        if event.session == TRIAL_SESSION {
            // It is asked whether the guard works, not whether it is set aside.
            verdict.lifted = None;
        } else if is_refused_call(event, &verdict) {
            let input = journal.ok().and_then(|mut journal| journal.input_digest(event).ok()?);
            let call = Call::of_event(event, input.as_deref());
            verdict.lifted = call.and_then(|call| Allowances::of(&self.project.root, self.environment).look_at(&call));
        }
        verdict
    }

    /// Where git has to be waited for, there is more time. Where a rule compares with how things were at the prompt, that
    /// is written down when the prompt arrives.
    fn prepare_for_file_rules<'p>(
        &self,
        event: &Arc<Event>,
        policies: impl Iterator<Item = (&'p Project, &'p Compiled)>,
        more_time: &dyn Fn(Duration),
    ) -> KeptBaselines {
        let mut kept = KeptBaselines::default();
        // Where an agent waits for a call, nobody waits longer for its file rules.
        if event.is_dry_run || !event.kind.is_stop() && event.kind != EventKind::Prompt {
            return kept;
        }
        for (project, policy) in policies {
            let baselines = policy.rules.baselines().unwrap_or_default();
            if !baselines.is_empty() {
                more_time(GIT_LIMIT);
                kept.notices.extend(forget_old(project, self.environment));
            }
            if event.kind == EventKind::Prompt && baselines.contains(&Baseline::Prompt) {
                kept.keep(project, event, self.environment);
            }
        }
        kept
    }

    /// Records an event that could not be judged. Where that fails too, there is nothing more to say.
    pub fn record_unjudged(&self, event: &Arc<Event>, mut verdict: Verdict) -> Verdict {
        verdict.lifted = self.lifting().of(&verdict, event.time);
        let judge = |_: Stored<'_>| (verdict.clone(), Effects::default());
        let recorded = self.record(event, &OnceCell::new(), &OnceCell::new(), judge);
        recorded.map_or(verdict, |judged| judged.verdict)
    }

    fn record(
        &self,
        event: &Arc<Event>,
        allowed: &OnceCell<Option<Lifted>>,
        nested: &OnceCell<Vec<(Project, Held)>>,
        judge: impl Fn(Stored<'_>) -> (Verdict, Effects),
    ) -> Result<Judged, StoreError> {
        let mut store = Store::open(&self.store, self.store_options(event))?;
        let notices = self.news_of(&mut store);
        let mut judgement = store.begin(SessionKey { agent: &event.agent, session: &event.session })?;
        let (mut verdict, id) = loop {
            let stored = Stored { session: Some(judgement.state()), workflow: Some(judgement.workflow()) };
            let (mut verdict, mut effects) = judge(stored);
            verdict.notices.extend(notices.iter().cloned());
            let call = refused_call(event, &verdict, &mut judgement);
            if let Some(call) = &call {
                // Looked for once, even if judged twice: what may pass once is then used up.
                verdict.lifted =
                    *allowed.get_or_init(|| Allowances::of(&self.project.root, self.environment).take(call));
            }
            effects.heed(event, &verdict);
            let phase = || Position::of(&judgement.workflow().variables).map(|position| position.phase_named());
            effects.changes.deeds = rule_deeds::of_verdict(&verdict, phase);
            let record = Record {
                event,
                root: &self.project.root.to_string_lossy(),
                verdict: &verdict,
                facts: &effects.facts,
                fields: &effects.fields,
                changes: &effects.changes,
                journal: match self.policy.config.journal {
                    JournalMode::Lean => Journal::Lean,
                    JournalMode::Full => Journal::Full,
                },
            };
            match judgement.record(&record)? {
                Recorded::Stored(id) => {
                    verdict.appeal = call.filter(|_| verdict.lifted.is_none()).map(|_| id.0);
                    verdict.notices.extend(effects.conclude(verdict.lifted.is_none()));
                    break (verdict, id);
                }
                Recorded::Moved(again) => judgement = *again,
            }
        };
        let nested = nested.get().into_iter().flatten().map(|(project, held)| (project, &held.policy));
        // Every version of every rule stays, so that a finding names the text that made it.
        for (project, policy) in nested.chain([(self.project, &*self.policy)]) {
            project.new_versions(self.environment).register(&policy.read, &mut store, event.time);
        }
        // What happened to the journal while it was written is told, if not recorded.
        verdict.notices.extend(self.news_of(&mut store));
        Ok(Judged { verdict, id: Some(id) })
    }

    fn news_of(&self, store: &mut Store) -> Vec<String> {
        store.take_notices().iter().filter(|notice| self.is_news(notice)).map(ToString::to_string).collect()
    }

    /// A journal that was just made is news only to somebody who had one before.
    fn is_news(&self, notice: &store::Notice) -> bool {
        if !matches!(notice, store::Notice::Created { .. }) {
            return true;
        }
        self.project.had_journal(self.environment)
    }

    fn verdict(&self, occasion: &Occasion<'_>, stored: Stored<'_>) -> (Verdict, Effects) {
        let Occasion { event, is_first, .. } = occasion;
        let is_first = *is_first;
        let state = stored.session;
        let mut broken = Vec::new();
        let active = self.active(stored.workflow, event, &mut broken);
        let own = self.jurisdiction(self.project, &self.policy, event, state, active.as_ref());
        let of_workflow = active.as_ref().map(|active| self.policy_of(active));
        let nested = occasion.nested.get_or_init(|| self.nested(event, &own.situation));
        let kept = occasion.kept.get_or_init(|| {
            let nested = nested.iter().map(|(project, held)| (project, &held.policy));
            let of_workflow = of_workflow.iter().map(|policy| (self.project, policy));
            let policies = nested.chain([(self.project, &*self.policy)]).chain(of_workflow);
            self.prepare_for_file_rules(event, policies, occasion.more_time)
        });
        let mut effects = Effects::default();
        let mut findings: Vec<Finding> = Vec::new();
        let mut notices: Vec<String> = self.lifting().notice(event, is_first).into_iter().collect();
        notices.extend(self.news.iter().map(|change| session_policy::kept_notice(change, Path::new(""))));
        notices.extend(kept.notices.iter().cloned());
        if kept.is_kept {
            PromptBaseline::remember(event.time, &mut effects.changes);
        }
        let mut context = Vec::new();
        let mut unheard = Unheard::of(event);
        let mut conduct = Conduct::default();
        let mut approved = false;
        for (project, held) in nested {
            let folder = project.root.strip_prefix(&self.project.root).unwrap_or(&project.root);
            notices.extend(held.news.iter().map(|change| session_policy::kept_notice(change, folder)));
        }
        let in_workflow = active.as_ref().zip(of_workflow.as_ref());
        let in_workflow = in_workflow.map(|(active, policy)| self.jurisdiction_of(active, policy, event, state));
        let further_in = nested
            .iter()
            .map(|(project, held)| self.jurisdiction(project, &held.policy, event, state, active.as_ref()));
        for here in std::iter::once(own).chain(in_workflow).chain(further_in) {
            broken.extend(here.policy.broken.iter().map(failure::broken_notice));
            if is_first {
                notices.extend(here.policy.untrusted.iter().cloned());
            }
            if here.is_of_workflow {
                // It sees what the project's own observers made of the event.
                here.facts.overlay(&effects.changes.variables);
            }
            let observers = &here.policy.config.observers;
            // Programs from outside may do anything.
            let programs = Some(&occasion.programs).filter(|_| !event.is_dry_run);
            notices.extend(observe::observe(observers, &here.situation, &here.facts, here.project, programs));
            let acted = self.acted(&here, active.as_deref(), event);
            context.extend(acted.texts);
            notices.extend(acted.notices);
            self.keep_observed(&here, active.as_deref(), &mut effects.changes);
            let inquiry = Inquiry { situation: &here.situation, rules: &here.policy.rules, thorough: false };
            let Ok(mut decision) = engine::decide(&inquiry) else {
                findings.push(Failure::UnreadablePolicy.finding());
                // Those of a workflow are not in it.
                if !here.is_of_workflow {
                    here.project.forget_compiled(self.environment);
                }
                continue;
            };
            unheard.hear(&here.policy.rules, &decision.file_rules);
            notices.extend(self.demand(&here, &mut decision, occasion, state, &mut effects));
            notices.extend(here.file_news(occasion, state, &mut effects));
            approved |= decision.verdict.approved;
            findings.extend(decision.verdict.findings);
            notices.extend(decision.verdict.notices);
            notices.extend(here.of_skipped(&decision.skipped));
            conduct.pace.extend(decision.pace.into_iter().map(|memory| (memory, here.is_of_workflow)));
            let counted = |(rule, count): (String, u32)| (here.facts.hold_counter(&rule), count);
            conduct.holds.extend(decision.holds.into_iter().map(counted));
            effects.facts.extend(here.facts.used());
            effects.paths.extend(here.facts.path_record());
            effects.asked_input.join(here.facts.asked_input());
            conduct.facts.push(here.facts);
        }
        notices.extend(occasion.damaged.borrow().iter().cloned());
        self.remember_start(occasion, state, &mut effects);
        notices.extend(effects.news(self.tokens(event).notice().into_iter().collect(), state));
        effects.complete(event);
        findings.extend(self.what_is_missing(event).map(|failure| failure.finding()));
        let mut verdict = Verdict::of(findings);
        verdict.approved = approved && verdict.level == Level::Allow;
        // Said when a session begins, and again where the broken file may be the reason why this has to be asked.
        if is_first || verdict.level == Level::Ask {
            notices.extend(broken);
        }
        (verdict.notices, verdict.context) = (notices, context);
        verdict.lifted = self.lifting().of(&verdict, event.time);
        verdict.context.extend(unheard.told(&verdict));
        self.tokens(event).remember(state, active.as_deref().map(|active| &active.state), &mut effects.changes);
        (effects.conduct, effects.active) = (conduct, active);
        (verdict, effects)
    }

    /// What is checked out when the session begins, and when it stops with nothing left to do.
    fn remember_start(&self, occasion: &Occasion<'_>, state: Option<&SessionState>, effects: &mut Effects) {
        let (event, root) = (occasion.event, &self.project.root);
        let is_met = !effects.demands.is_empty() && effects.demands.iter().all(Demands::are_met);
        let start = if occasion.is_first {
            SessionStart::at(event, root)
        } else if event.kind == EventKind::Stop && is_met {
            state.and_then(|state| SessionStart::of(&state.variables)?.moved(root))
        } else {
            None
        };
        if let Some(start) = start {
            start.remember(&mut effects.changes);
        }
    }

    /// What the workflow, or a configuration, does by itself at this event.
    fn acted(&self, here: &ApplicablePolicy<'_>, active: Option<&Active>, event: &Event) -> Acted {
        let kind = event.kind;
        let act = |place: &str, actions: &mut dyn Iterator<Item = &Action>, guides: &BTreeMap<String, String>| {
            act(place, actions, guides, &here.situation, &here.facts)
        };
        let mut all = Acted::default();
        if let Some(active) = active.filter(|_| here.is_of_workflow) {
            all.texts.extend(self.introduction(active, event));
            let place = format!("`{}` of workflow `{}`", kind.name(), active.workflow.name);
            all.extend(act(&place, &mut active.workflow.actions_on(kind), &active.workflow.guides));
        } else if here.facts.has_state() {
            for triggers in here.policy.config.triggers.iter().filter(|triggers| triggers.has_any(kind)) {
                let place = format!("`{}` of the configuration", kind.name());
                all.extend(act(&place, &mut triggers.actions_on(kind), &triggers.guides));
            }
        }
        all
    }

    /// What the observers and actions of a policy set.
    fn keep_observed(&self, here: &ApplicablePolicy<'_>, active: Option<&Active>, changes: &mut StateChanges) {
        let is_outermost = std::ptr::eq(here.project, self.project);
        for (name, value) in here.facts.observed() {
            if active.is_some_and(|active| here.is_of_workflow && active.declares(&name)) {
                changes.workflow.insert(name, value);
            } else if is_outermost {
                changes.variables.insert(name, value);
            // A policy further in does not decide what the one around it goes by.
            } else if !self.policy.config.knows_variable(&name) {
                changes.variables.entry(name).or_insert(value);
            }
        }
    }

    /// What file rules ask for, and their commands; what is given back are the notices.
    fn demand(
        &self,
        here: &ApplicablePolicy<'_>,
        decision: &mut Decision,
        occasion: &Occasion<'_>,
        state: Option<&SessionState>,
        effects: &mut Effects,
    ) -> Vec<String> {
        let event = occasion.event;
        let files = here.facts.files_asked();
        let Some(mut demands) = files.and_then(|files| Demands::of(decision, files, state)) else { return Vec::new() };
        let mut notices = Vec::new();
        // Nothing is run where nothing would be enforced.
        let is_enforced = || self.lifting().of_everything(event.time).is_none();
        if demands.have_commands() && event.is_dry_run {
            notices.push(NOT_RUN.to_owned());
        } else if demands.have_commands() && is_enforced() {
            let commands = Commands {
                environment: self.environment,
                config: &here.policy.config,
                root: &here.project.root,
                tmp: &here.project.tmp(self.environment),
            };
            notices = demands.run_commands(&commands, &occasion.ran, decision, occasion.more_time);
        }
        demands.remember(&mut effects.changes);
        effects.demands.push(demands);
        notices
    }

    /// The workflow that is active here. `broken`: what is said of one whose file cannot be used.
    fn active(&self, state: Option<&SessionState>, event: &Event, broken: &mut Vec<String>) -> Option<Arc<Active>> {
        let now = event.time;
        if let Some(stage) = &self.stage {
            // What holds under a hat holds whatever became of the journal.
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

    /// What a workflow asks for at its current node.
    fn policy_of(&self, active: &Active) -> Compiled {
        let is_trusted = Trust::of(&self.project.root, self.environment).accepts_workflow(&active.workflow);
        policy_at(&active.workflow, active.position.node(), &self.policy, is_trusted)
    }

    fn jurisdiction_of<'b>(
        &'b self,
        active: &Arc<Active>,
        policy: &'b Compiled,
        event: &Arc<Event>,
        state: Option<&SessionState>,
    ) -> ApplicablePolicy<'b> {
        let facts = self.facts(self.project, policy, event, state).in_workflow(Arc::clone(active), &self.policy.rules);
        ApplicablePolicy { is_of_workflow: true, ..self.jurisdiction_by(self.project, policy, event, Arc::new(facts)) }
    }

    /// The mode of the session's own root: a folder in it cannot lift what the project says.
    fn lifting(&self) -> EnforcementMode<'_> {
        EnforcementMode { mode: self.policy.config.mode, root: &self.project.root, environment: self.environment }
    }

    /// The policies of folders between the root and what the event is about.
    fn nested(&self, event: &Event, situation: &Situation) -> Vec<(Project, Held)> {
        // One that vanished during the session counts as it last was.
        let has_policy = |folder: &Path| {
            let policy = PolicyFolder::of_project(folder);
            // Most folders have none: that should cost no more than one look.
            (policy.path.is_dir() && policy.has_policy())
                || session_policy::knows(&Project::nested(folder), event, self.environment)
        };
        let nested = nested_roots(&self.project.root, situation, has_policy).into_iter().map(|root| {
            let project = Project::nested(&root);
            let policy = session_policy::of_event(&project, event, self.environment);
            (project, policy)
        });
        nested.collect()
    }

    fn jurisdiction<'b>(
        &self,
        project: &'b Project,
        policy: &'b Compiled,
        event: &Arc<Event>,
        state: Option<&SessionState>,
        active: Option<&Arc<Active>>,
    ) -> ApplicablePolicy<'b> {
        let facts = self.facts(project, policy, event, state).beside_workflow(active.cloned());
        self.jurisdiction_by(project, policy, event, Arc::new(facts))
    }

    fn jurisdiction_by<'b>(
        &self,
        project: &'b Project,
        policy: &'b Compiled,
        event: &Arc<Event>,
        facts: Arc<LiveFacts>,
    ) -> ApplicablePolicy<'b> {
        let is_part = project.root != self.project.root;
        let place = Place { is_part, ..place(&project.root, &policy.config, self.environment) };
        let situation = Arc::new(Situation::new(Arc::clone(event), place, Arc::clone(&facts) as _));
        ApplicablePolicy { project, policy, facts, situation, is_of_workflow: false }
    }

    fn facts(
        &self,
        project: &Project,
        policy: &Compiled,
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

    /// What a session that begins has to know; in a run, the prompt says it all.
    fn introduction(&self, active: &Active, event: &Event) -> Option<String> {
        let is_news = event.kind == EventKind::SessionStart && self.stage.is_none();
        is_news.then(|| active.introduction())
    }

    /// What would have to be known to judge the event.
    fn what_is_missing(&self, event: &Event) -> Option<Failure> {
        let is_astray = self.is_astray && event.kind.awaits_permission();
        missing_in_call(event).or(is_astray.then_some(Failure::UnreadableStage))
    }

    /// How the tree was when the hat was put on, for its gates; else at the session's last prompt.
    fn kept_tree(&self, event: &Event, state: Option<&SessionState>) -> Option<(String, i64)> {
        let of_stage = self.stage.as_ref().filter(|_| self.is_looking).and_then(|stage| stage.kept_tree());
        of_stage.or_else(|| Some((event.session.clone(), PromptBaseline::last(&state?.variables)?)))
    }

    /// INVARIANT: a judge is asked about one event.
    fn tokens(&self, event: &Arc<Event>) -> &Arc<TokenCount> {
        self.tokens.get_or_init(|| {
            let of = if self.is_looking { TokenCount::of_command } else { TokenCount::of_hook };
            Arc::new(of(Arc::clone(event), self.store.clone(), self.store_options(event)))
        })
    }

    fn store_options(&self, event: &Event) -> store::Options {
        store_options(&self.policy.config, event.time, self.stage.as_ref().map(|stage| stage.run))
    }
}

/// An event that is being judged, and what is done for it once, however often it is judged.
struct Occasion<'a> {
    event: &'a Arc<Event>,
    /// Nothing was heard of the session before.
    is_first: bool,
    /// The policies of folders below the root, once somebody has looked.
    nested: OnceCell<Vec<(Project, Held)>>,
    /// How trees were, once somebody has looked.
    kept: OnceCell<KeptBaselines>,
    programs: Programs<'a>,
    ran: Ran,
    /// What was put away of the queue because it could not be used.
    damaged: RefCell<Vec<String>>,
    /// Whether a person let this very call through, once somebody has looked.
    allowed: OnceCell<Option<Lifted>>,
    more_time: &'a dyn Fn(Duration),
}

/// The folders that the rules of a policy speak of.
pub fn place(root: &Path, config: &Config, environment: &Environment) -> Place {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let mut known_as = environment.known_folders();
    // Rules lie where the configuration says, and are as protected there.
    if let Some(folder) = &config.rules_dir {
        known_as.push((text(&root.join(folder)), RULES_ARE_KNOWN_AS.to_owned()));
    }
    Place {
        root: text(root),
        home: environment.home.as_deref().map(text),
        temp: Some(text(&environment.temp)),
        known_as,
        is_part: false,
    }
}

/// The call that a person can let through, where the verdict refuses one.
fn refused_call(event: &Event, verdict: &Verdict, judgement: &mut Judgement) -> Option<Call> {
    if !is_refused_call(event, verdict) {
        return None;
    }
    // What is wrong with the journal shows when the event is recorded.
    let input = judgement.input_digest(event).ok().flatten();
    Call::of_event(event, input.as_deref())
}

fn is_refused_call(event: &Event, verdict: &Verdict) -> bool {
    event.kind.awaits_permission() && verdict.stops() && verdict.lifted.is_none()
}

/// What a call would have to say to be judged.
fn missing_in_call(event: &Event) -> Option<Failure> {
    if !event.kind.awaits_permission() {
        return None;
    }
    let Some(call) = event.tool.as_ref().filter(|call| !call.name.is_empty()) else {
        return Some(Failure::MissingTool);
    };
    let is_about_a_file = matches!(call.name.as_str(), "Read" | "Write" | "Edit" | "MultiEdit" | "NotebookEdit");
    match &call.shell {
        Some(ShellText::Missing) => Some(Failure::MissingCommand),
        None if is_about_a_file && call.files.is_empty() => Some(Failure::MissingTool),
        _ => None,
    }
}

/// The folders below the root that have a policy of their own and that the event is about: where it and its commands
/// happen, and the files that they name.
pub(crate) fn nested_roots(root: &Path, situation: &Situation, has_policy: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let mut folders = BTreeSet::new();
    for path in situation.whereabouts().iter().map(Path::new) {
        let possible = path.ancestors().skip_while(|folder| folder.as_os_str().len() > LONGEST_PATH);
        // What is around one that is known is known too.
        for folder in possible.take_while(|folder| *folder != root && folder.starts_with(root)) {
            if !folders.insert(folder.to_owned()) {
                break;
            }
        }
    }
    folders.into_iter().filter(|folder| has_policy(folder)).collect()
}
