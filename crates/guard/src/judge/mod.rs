//! Judges one event and records it.
//!
//! `transaction` reads the stored state, runs the stages and writes the journal. `Judge::run_stages` runs the stages,
//! each in a file of its own: `load`, `observe`, `decide`, `demands`. `combine` makes one verdict of the results of all
//! policies, and `record` selects what the journal stores.
//!
//! Every stage adds to the `consequences`. Their methods, in the order in which they are called: `drop_seen_notices` and
//! `add_facts` for each policy; `drop_seen_notices` and `gather_facts` once all policies are judged; `count_outcome` once
//! it is known whether the call is allowed; `write_queue` once the judgement is recorded.

mod combine;
mod consequences;
mod decide;
mod demands;
mod event_context;
mod external_behavior;
mod load;
mod observe;
mod observer_programs;
mod record;
#[cfg(test)]
mod tests;
mod transaction;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use engine::event::ShellText;
use engine::{Event, EventKind, Verdict};
use policy::{Config, PinnedPolicy, Weakening};
use store::{EntryId, SessionKey, SessionState, Store};
use tempfile::TempDir;

use self::combine::CombinedVerdict;
use self::consequences::Consequences;
use self::decide::decide;
use self::event_context::{EventContext, OncePerEvent, StoredStates};
use self::load::PoliciesOfEvent;
pub(crate) use self::load::nested_roots;
use self::observe::observe;
use self::observer_programs::ObserverPrograms;
use self::transaction::is_refused_call;
use crate::Environment;
use crate::facts::SessionContext;
use crate::failure::{self, Failure};
use crate::file_rules::{JudgedFileRules, PromptBaseline, SessionBaseline};
use crate::grants::{Allowances, CallDigest, EnforcementMode};
use crate::project::Project;
use crate::session::{HatPhase, hat_sessions, policy as session_policy};

/// The session id of the test events that `doctor` sends through a hook. They are judged like any other event, but not
/// recorded.
pub const SELF_TEST_SESSION: &str = "linchpin-doctor";

/// Judges one event of a session.
pub struct Judge<'a> {
    session_context: SessionContext<'a>,
    /// True if the session belongs to a run and the run's hat cannot be read.
    hat_is_unreadable: bool,
    /// Weakenings of the policy that do not apply to this session.
    new_weakenings: Vec<Weakening>,
    /// A temporary journal for a dry run in a project that has none. Dropping it deletes the files.
    _temporary_journal: Option<TempDir>,
}

#[derive(Debug)]
pub struct Judged {
    pub verdict: Verdict,
    /// The event's id in the journal; `None` if it was not recorded.
    pub id: Option<EntryId>,
}

impl<'a> Judge<'a> {
    /// Loads the policy that applies to the event's session.
    pub fn new(project: &'a Project, event: &Event, environment: &'a Environment) -> Self {
        let PinnedPolicy { policy, new_weakenings } = session_policy::pin_for_event(project, event, environment);
        let (policy, mut journal_path) = (Arc::new(policy), project.journal_path(environment));
        let temporary_journal = (event.is_dry_run && !journal_path.exists())
            .then(|| tempfile::tempdir_in(&environment.temp).ok())
            .flatten();
        if let Some(temporary_journal) = &temporary_journal {
            journal_path = temporary_journal.path().join("state.db");
        }
        let hat_phase = HatPhase::of_process(project, environment).map(Arc::new);
        let hat_is_unreadable = hat_phase.is_none() && HatPhase::run_id_of_process(project, environment).is_some();
        let session_context = SessionContext::for_hook(project, policy, hat_phase, journal_path, environment);
        if temporary_journal.is_some() {
            // If this fails, the dry run reports an unreadable journal.
            drop(Store::open(&session_context.journal_path, session_context.store_options(event)));
        }
        Self { session_context, hat_is_unreadable, new_weakenings, _temporary_journal: temporary_journal }
    }

    pub fn config(&self) -> &Config {
        &self.session_context.policy.config
    }

    fn run_stages(&self, context: &EventContext<'_>, stored: StoredStates<'_>) -> (Verdict, Consequences) {
        let event = context.event;
        let mut combined = CombinedVerdict::new(event, context.is_first, stored.session, self.config());
        let loaded = self.load(context, stored);
        self.add_policy_notices(&loaded, context, &mut combined);
        for applicable in self.applicable_policies(&loaded, event, stored) {
            let observed =
                observe(&applicable, context, combined.variables(), self.session_context.hat_phase.is_some());
            let decision = decide(&applicable, self.session_context.environment);
            let with_demands =
                decision.map(|decision| self.handle_demands(&applicable, decision, context, stored.session));
            combined.add(&applicable, observed, with_demands);
        }
        combined.add_notices(context.once_per_event.damaged_queue_notices.borrow().iter().cloned());
        self.remember_baseline(context, stored.session, &mut combined.consequences);
        let tokens = self.session_context.tokens(event);
        combined.add_notices_once(tokens.notice());
        combined.add_failure(self.missing_input(event));
        let (verdict, mut consequences) =
            combined.into_verdict(|verdict| self.enforcement().why_not_enforced(verdict, event.time));
        consequences.gather_facts(event);
        consequences.active = loaded.active_workflow().cloned();
        let of_workflow = consequences.active.as_deref().map(|active| &active.state);
        tokens.store_transcripts(stored.session, of_workflow, &mut consequences.changes);
        if let Some(run) = of_workflow.filter(|_| self.session_context.hat_phase.is_some()) {
            hat_sessions::add(event, &run.variables, &mut consequences.changes);
        }
        (verdict, consequences)
    }

    /// Adds notices about the policies themselves.
    fn add_policy_notices(
        &self,
        loaded: &PoliciesOfEvent<'_>,
        context: &EventContext<'_>,
        combined: &mut CombinedVerdict<'_>,
    ) {
        let (event, root) = (context.event, &self.session_context.project.root);
        combined.add_notices(self.enforcement().notice(event, context.is_first));
        combined.add_notices(
            self.new_weakenings.iter().map(|change| session_policy::ignored_weakening_notice(change, Path::new(""))),
        );
        combined.add_notices(loaded.preparation.notices.iter().cloned());
        for (project, pinned) in loaded.nested_policies {
            let folder = project.root.strip_prefix(root).unwrap_or(&project.root);
            combined.add_notices(
                pinned.new_weakenings.iter().map(|change| session_policy::ignored_weakening_notice(change, folder)),
            );
        }
        combined.add_broken_file_notices(loaded.broken_workflow_notices.iter().cloned());
        if loaded.preparation.is_snapshot_taken {
            PromptBaseline::store_time(event.time, &mut combined.consequences.changes);
        }
    }

    /// Judges an event and records it. `is_first` is true for the first event of the session. `extend_deadline` is
    /// called before git or a rule's command runs.
    pub fn judge_and_record(&self, event: &Arc<Event>, is_first: bool, extend_deadline: &dyn Fn(Duration)) -> Judged {
        let context = EventContext {
            event,
            is_first,
            observer_programs: ObserverPrograms::new(
                self.session_context.environment,
                &self.session_context.policy.config,
            ),
            once_per_event: OncePerEvent::default(),
            extend_deadline,
        };
        if event.is_dry_run {
            return Judged { verdict: self.dry_run(&context), id: None };
        }
        let judge_by = |stored: StoredStates<'_>| self.run_stages(&context, stored);
        let judged = self.in_transaction(event, &context.once_per_event, judge_by);
        judged.unwrap_or_else(|error| self.judge_without_journal(&context, &error))
    }

    /// Judges with the stored state and stores nothing.
    fn dry_run(&self, context: &EventContext<'_>) -> Verdict {
        let event = context.event;
        let journal =
            Store::open_read_only(&self.session_context.journal_path, self.session_context.store_options(event));
        let states = |journal: &Store| {
            let key = SessionKey { agent: &event.agent, session: &event.session };
            let read = journal.session(key).and_then(|session| Ok((session, journal.workflow()?)));
            read.map_err(|error| failure::journal_notice(&error))
        };
        let states = match &journal {
            Ok(journal) => states(journal),
            Err(error) => Err(failure::journal_notice(error)),
        };
        let (states, notice) = match states {
            Ok(states) => (Some(states), None),
            Err(notice) => (None, Some(notice)),
        };
        let stored = StoredStates {
            session: states.as_ref().map(|(session, _)| session),
            workflow: states.as_ref().map(|(_, workflow)| workflow),
        };
        let (mut verdict, _) = self.run_stages(context, stored);
        verdict.notices.extend(notice);
        if event.session == SELF_TEST_SESSION {
            // `doctor` tests whether the guard works, even while it is paused.
            verdict.not_enforced = None;
        } else if is_refused_call(event, &verdict) {
            let input = journal.ok().and_then(|mut journal| journal.input_digest(event).ok()?);
            let call = CallDigest::of_event(event, input.as_deref());
            verdict.not_enforced = call.and_then(|call| {
                Allowances::of(&self.session_context.project.root, self.session_context.environment).peek(&call)
            });
        }
        verdict
    }

    /// Stores the checked-out commit as the session's baseline when the session begins, and again when it stops with all
    /// demands met.
    fn remember_baseline(
        &self,
        context: &EventContext<'_>,
        state: Option<&SessionState>,
        consequences: &mut Consequences,
    ) {
        let (event, root) = (context.event, &self.session_context.project.root);
        let is_met = !consequences.demands.is_empty() && consequences.demands.iter().all(JudgedFileRules::are_all_met);
        let baseline = if context.is_first {
            Some(SessionBaseline::at(event, root))
        } else if event.kind == EventKind::Stop && is_met {
            state.and_then(|state| SessionBaseline::stored(&state.variables)?.if_changed(root))
        } else {
            None
        };
        if let Some(baseline) = baseline {
            baseline.store(&mut consequences.changes);
        }
    }

    /// The enforcement mode of the session's root. A nested policy cannot change it.
    fn enforcement(&self) -> EnforcementMode<'_> {
        let SessionContext { environment, project, .. } = &self.session_context;
        EnforcementMode { mode: self.config().mode, root: &project.root, environment }
    }

    /// Returns the failure if the event lacks a field that judging needs, or if the hat of the run cannot be read.
    fn missing_input(&self, event: &Event) -> Option<Failure> {
        let hat_is_unreadable = self.hat_is_unreadable && event.kind.awaits_permission();
        missing_in_call(event).or(hat_is_unreadable.then_some(Failure::UnreadableHat))
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
