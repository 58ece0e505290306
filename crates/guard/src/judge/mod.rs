//! Judges one event and records it. [`Judge::verdict`] runs the stages, one file each: `applicable`, `observe`,
//! `decide`, `settle`. `combine` folds the results of all policies into one verdict, and `record` writes it to the
//! journal.

mod combine;
mod decide;
mod effects;
mod external_behavior;
mod load;
mod observe;
mod occasion;
mod programs;
mod record;
mod settle;
#[cfg(test)]
mod tests;

use std::cell::{OnceCell, RefCell};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use engine::event::ShellText;
use engine::{Event, EventKind, Verdict};
use policy::{Config, PinnedPolicy, Weakening};
use store::{EventId, SessionKey, SessionState, Store};
use tempfile::TempDir;

use self::combine::CombinedVerdict;
use self::decide::decide;
use self::effects::Effects;
use self::load::LoadedPolicies;
pub(crate) use self::load::nested_roots;
use self::observe::observe;
use self::occasion::{Occasion, Stored};
use self::programs::Programs;
use self::record::is_refused_call;
use crate::Environment;
use crate::facts::SituationBuilder;
use crate::failure::{self, Failure};
use crate::file_rules::{Demands, PromptBaseline, Ran, SessionStart};
use crate::grants::{Allowances, Call, EnforcementMode};
use crate::project::Project;
use crate::session::{Stage, policy as session_policy};

/// The session id of the test events that `doctor` sends through a hook. They are judged like any other event, but not
/// recorded.
pub const TRIAL_SESSION: &str = "linchpin-doctor";

/// Judges one event of a session.
pub struct Judge<'a> {
    builder: SituationBuilder<'a>,
    /// True if the session belongs to a run and the run's hat cannot be read.
    is_astray: bool,
    /// Weakenings of the policy that do not apply to this session.
    new_weakenings: Vec<Weakening>,
    /// A temporary journal for a dry run in a project that has none. Dropping it deletes the files.
    _scratch: Option<TempDir>,
}

#[derive(Debug)]
pub struct Judged {
    pub verdict: Verdict,
    /// The event's id in the journal; `None` if it was not recorded.
    pub id: Option<EventId>,
}

impl<'a> Judge<'a> {
    /// Loads the policy that applies to the event's session.
    pub fn new(project: &'a Project, event: &Event, environment: &'a Environment) -> Self {
        let PinnedPolicy { policy, new_weakenings } = session_policy::of_event(project, event, environment);
        let (policy, mut store) = (Arc::new(policy), project.store(environment));
        let scratch =
            (event.is_dry_run && !store.exists()).then(|| tempfile::tempdir_in(&environment.temp).ok()).flatten();
        if let Some(scratch) = &scratch {
            store = scratch.path().join("state.db");
        }
        let stage = Stage::of_process(project, environment).map(Arc::new);
        let is_astray = stage.is_none() && Stage::run_of_process(project, environment).is_some();
        let builder = SituationBuilder::for_hook(project, policy, stage, store, environment);
        if scratch.is_some() {
            // If this fails, the dry run reports an unreadable journal.
            drop(Store::open(&builder.store, builder.store_options(event)));
        }
        Self { builder, is_astray, new_weakenings, _scratch: scratch }
    }

    pub fn config(&self) -> &Config {
        &self.builder.policy.config
    }

    fn verdict(&self, occasion: &Occasion<'_>, stored: Stored<'_>) -> (Verdict, Effects) {
        let event = occasion.event;
        let mut combined = CombinedVerdict::new(event, occasion.is_first, stored.session, self.config());
        let loaded = self.load(occasion, stored);
        self.note_loaded(&loaded, occasion, &mut combined);
        for here in self.applicable(&loaded, event, stored) {
            let observed = observe(&here, occasion, combined.variables(), self.builder.stage.is_some());
            let decision = decide(&here, self.builder.environment);
            let settled = decision.map(|decision| self.settle(&here, decision, occasion, stored.session));
            combined.add(&here, observed, settled);
        }
        combined.note(occasion.damaged.borrow().iter().cloned());
        self.remember_start(occasion, stored.session, &mut combined.effects);
        let tokens = self.builder.tokens(event);
        combined.note_news(tokens.notice());
        combined.find(self.what_is_missing(event));
        let (verdict, mut effects) = combined.into_verdict(|verdict| self.enforcement().of(verdict, event.time));
        effects.complete(event);
        effects.active = loaded.active().cloned();
        let of_workflow = effects.active.as_deref().map(|active| &active.state);
        tokens.remember(stored.session, of_workflow, &mut effects.changes);
        (verdict, effects)
    }

    /// Adds notices about the policies themselves.
    fn note_loaded(&self, loaded: &LoadedPolicies<'_>, occasion: &Occasion<'_>, combined: &mut CombinedVerdict<'_>) {
        let (event, root) = (occasion.event, &self.builder.project.root);
        combined.note(self.enforcement().notice(event, occasion.is_first));
        combined.note(self.new_weakenings.iter().map(|change| session_policy::kept_notice(change, Path::new(""))));
        combined.note(loaded.kept.notices.iter().cloned());
        for (project, held) in loaded.nested {
            let folder = project.root.strip_prefix(root).unwrap_or(&project.root);
            combined.note(held.new_weakenings.iter().map(|change| session_policy::kept_notice(change, folder)));
        }
        combined.note_broken(loaded.broken.iter().cloned());
        if loaded.kept.is_kept {
            PromptBaseline::remember(event.time, &mut combined.effects.changes);
        }
    }

    /// Judges an event and records it. `is_first` is true for the first event of the session. `more_time` extends the
    /// deadline for git or for a rule's command.
    pub fn judge(&self, event: &Arc<Event>, is_first: bool, more_time: &dyn Fn(Duration)) -> Judged {
        let occasion = Occasion {
            event,
            is_first,
            nested: OnceCell::new(),
            kept: OnceCell::new(),
            programs: Programs::new(self.builder.environment, &self.builder.policy.config),
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
            // The journal may still be readable, and the rules of a phase also apply while it is locked.
            let journal = Store::open_existing_read(&self.builder.store, self.builder.store_options(event));
            let workflow = journal.and_then(|journal| journal.workflow()).ok();
            let (mut verdict, effects) = self.verdict(&occasion, Stored { session: None, workflow: workflow.as_ref() });
            if is_refused_call(event, &verdict) {
                // An allowance that was used up for this call applies to it.
                verdict.not_enforced = occasion.allowed.get().copied().flatten();
            }
            verdict.notices.push(failure::store_notice(&error));
            // Holds are counted in the queue even without a journal, or a file rule could hold a stop forever.
            verdict.notices.extend(effects.conclude(verdict.not_enforced.is_none()));
            Judged { verdict, id: None }
        })
    }

    /// Judges with the stored state and stores nothing.
    fn dry_run(&self, occasion: &Occasion<'_>) -> Verdict {
        let event = occasion.event;
        let journal = Store::open_existing_read(&self.builder.store, self.builder.store_options(event));
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
            // `doctor` tests whether the guard works, even while it is paused.
            verdict.not_enforced = None;
        } else if is_refused_call(event, &verdict) {
            let input = journal.ok().and_then(|mut journal| journal.input_digest(event).ok()?);
            let call = Call::of_event(event, input.as_deref());
            verdict.not_enforced = call
                .and_then(|call| Allowances::of(&self.builder.project.root, self.builder.environment).look_at(&call));
        }
        verdict
    }

    /// Remembers the checked-out commit when the session begins, and again when it stops with all demands met.
    fn remember_start(&self, occasion: &Occasion<'_>, state: Option<&SessionState>, effects: &mut Effects) {
        let (event, root) = (occasion.event, &self.builder.project.root);
        let is_met = !effects.demands.is_empty() && effects.demands.iter().all(Demands::are_met);
        let start = if occasion.is_first {
            Some(SessionStart::at(event, root))
        } else if event.kind == EventKind::Stop && is_met {
            state.and_then(|state| SessionStart::of(&state.variables)?.moved(root))
        } else {
            None
        };
        if let Some(start) = start {
            start.remember(&mut effects.changes);
        }
    }

    /// The enforcement mode of the session's root. A nested policy cannot change it.
    fn enforcement(&self) -> EnforcementMode<'_> {
        let SituationBuilder { environment, project, .. } = &self.builder;
        EnforcementMode { mode: self.config().mode, root: &project.root, environment }
    }

    /// Returns the failure for an event that lacks what judging needs.
    fn what_is_missing(&self, event: &Event) -> Option<Failure> {
        let is_astray = self.is_astray && event.kind.awaits_permission();
        missing_in_call(event).or(is_astray.then_some(Failure::UnreadableStage))
    }
}

/// Returns the failure for a call that does not name its tool, command or file.
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
