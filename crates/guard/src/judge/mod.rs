//! Judges one event and records it.
//!
//! `transaction` reads the stored states, calls `Judge::run_stages`, and writes the journal. There are four stages,
//! each in a file of its own: `load`, and for each policy `observe`, `decide` and `demands`. `combine` makes one
//! verdict of the results of all policies. `event_record` builds what the journal stores.
//!
//! `Consequences` collects what follows from the verdict. Its methods must be called in this order:
//!
//! 1. for each policy: `take_new_notices` and `add_used_facts`;
//! 2. once all policies are judged: `take_new_notices` and `add_event_facts`;
//! 3. once it is known whether the call is allowed: `count_outcome`;
//! 4. once the judgement is recorded, or could not be recorded: `count_and_close_demands`.

mod combine;
mod consequences;
mod decide;
mod demands;
mod event_context;
mod event_record;
mod external_behavior;
mod load;
mod observe;
mod observer_programs;
mod skipped_rules;
#[cfg(test)]
mod tests;
mod transaction;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use engine::event::ShellText;
use engine::{Event, EventKind, Verdict};
use policy::{Config, PinnedPolicy, Weakening};
use store::{EntryId, SessionKey, Store, StoredState};
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
use crate::facts::SituationBuilder;
use crate::failure::Failure;
use crate::file_rules::{JudgedFileRules, PromptBaseline, SessionBaseline, repository_id};
use crate::grants::{Allowances, CallDigest, EnforcementMode};
use crate::notices;
use crate::project::Project;
use crate::session::{HatPhase, hat_sessions, policy as session_policy, touched_directories};

/// The session id of the test events that `linchpin doctor` sends to a hook. These events are judged like those of a
/// dry run: nothing is recorded.
pub const SELF_TEST_SESSION: &str = "linchpin-doctor";

/// Judges one event of a session.
pub struct Judge<'a> {
    situation_builder: SituationBuilder<'a>,
    /// True if the session belongs to a run and the run's hat cannot be read.
    hat_is_unreadable: bool,
    /// Weakenings of the policy that were made during this session. They do not apply to this session until a person
    /// accepts them.
    new_weakenings: Vec<Weakening>,
    /// The directory of a temporary journal, for a dry run in a project that has no journal. When this value is
    /// dropped, the directory is deleted.
    _temporary_journal: Option<TempDir>,
}

/// The result of judging an event.
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
        let situation_builder = SituationBuilder::for_hook(project, policy, hat_phase, journal_path, environment);
        if temporary_journal.is_some() {
            // If the journal cannot be created, the dry run reports an unreadable journal.
            drop(Store::open(&situation_builder.journal_path, situation_builder.store_options(event)));
        }
        Self { situation_builder, hat_is_unreadable, new_weakenings, _temporary_journal: temporary_journal }
    }

    /// The configuration of the session's project.
    pub fn config(&self) -> &Config {
        &self.situation_builder.policy.config
    }

    /// Judges the event by the stored states. This does not write the verdict to the journal. But unless the event is a
    /// dry run, it runs observers and commands of file rules, pins nested policies, adds demands to the queue, takes tree
    /// snapshots, and stores counted tokens.
    fn run_stages(&self, context: &EventContext<'_>, stored: StoredStates<'_>) -> (Verdict, Consequences) {
        let event = context.event;
        let mut combined = CombinedVerdict::new(event, context.is_first_event, stored.session, self.config());
        let loaded = self.load(context, stored);
        self.add_policy_notices(&loaded, context, &mut combined);
        for applicable in self.applicable_policies(&loaded, event, stored) {
            let observed =
                observe(&applicable, context, combined.variable_changes(), self.situation_builder.hat_phase.is_some());
            let decision = decide(&applicable, self.situation_builder.environment);
            let with_demands =
                decision.map(|decision| self.handle_demands(&applicable, decision, context, stored.session));
            combined.add(&applicable, observed, with_demands);
        }
        combined.add_notices(context.once_per_event.damaged_queue_notices.borrow().iter().cloned());
        combined.add_session_notices(self.situation_builder.tokens(event).notice());
        combined.add_failure(self.missing_input(event));
        self.add_new_baseline(context, stored.session, &mut combined.consequences);

        let (verdict, mut consequences) =
            combined.into_verdict(|verdict| self.enforcement().why_not_enforced(verdict, event.time));
        consequences.add_event_facts(event);
        consequences.active_workflow = loaded.active_workflow().cloned();
        if let Some(session) = stored.session {
            let directories = loaded.nested_directories_with_file_rules();
            touched_directories::add(event, directories, &session.variables, &mut consequences.changes);
        }
        self.remember_session(event, stored.session, &mut consequences);
        (verdict, consequences)
    }

    /// Adds the event's transcripts (if they are needed to count tokens) and, in a run, the event's session to the
    /// changes of variables.
    fn remember_session(
        &self,
        event: &Arc<Event>,
        session_state: Option<&StoredState>,
        consequences: &mut Consequences,
    ) {
        let Consequences { active_workflow, changes, .. } = consequences;
        let workflow_state = active_workflow.as_deref().map(|active| &active.state);
        self.situation_builder.tokens(event).remember_transcripts(session_state, workflow_state, changes);
        if self.situation_builder.hat_phase.is_some()
            && let Some(run_state) = workflow_state
        {
            hat_sessions::add(event, &run_state.variables, changes);
        }
    }

    /// Adds notices about the policies and their enforcement. If a tree snapshot was taken, also adds its time to the
    /// changes.
    fn add_policy_notices(
        &self,
        loaded: &PoliciesOfEvent<'_>,
        context: &EventContext<'_>,
        combined: &mut CombinedVerdict<'_>,
    ) {
        let (event, root) = (context.event, &self.situation_builder.project.root);
        combined.add_notices(self.enforcement().notice(event, context.is_first_event));
        combined.add_notices(
            self.new_weakenings.iter().map(|change| session_policy::ignored_weakening_notice(change, Path::new(""))),
        );
        combined.add_notices(loaded.preparation.notices.iter().cloned());
        for (project, pinned) in loaded.nested_policies {
            let directory = project.root.strip_prefix(root).unwrap_or(&project.root);
            combined.add_notices(
                pinned.new_weakenings.iter().map(|change| session_policy::ignored_weakening_notice(change, directory)),
            );
        }
        combined.add_broken_file_notices(loaded.broken_workflow_notices.iter().cloned());
        if loaded.preparation.is_snapshot_taken {
            PromptBaseline::add_time_to(event.time, &mut combined.consequences.changes);
        }
    }

    /// Judges an event and records it, unless it is a dry run. `is_first_event` is true for the first event of the
    /// session. `extend_deadline` is called before git or a rule's command runs.
    pub fn judge_and_record(
        &self,
        event: &Arc<Event>,
        is_first_event: bool,
        extend_deadline: &dyn Fn(Duration),
    ) -> Judged {
        let context = EventContext {
            event,
            is_first_event,
            observer_programs: ObserverPrograms::new(
                self.situation_builder.environment,
                &self.situation_builder.policy.config,
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

    /// Judges the event of a dry run by the stored states, without storing anything.
    fn dry_run(&self, context: &EventContext<'_>) -> Verdict {
        let event = context.event;
        let journal =
            Store::open_read_only(&self.situation_builder.journal_path, self.situation_builder.store_options(event));
        let states = |journal: &Store| {
            let key = SessionKey { agent: &event.agent, session: &event.session };
            let read = journal.session_state(key).and_then(|session| Ok((session, journal.workflow_state()?)));
            read.map_err(|error| notices::journal_notice(&error))
        };
        let states = match &journal {
            Ok(journal) => states(journal),
            Err(error) => Err(notices::journal_notice(error)),
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
            // `linchpin doctor` tests whether the guard works, even during a pause.
            verdict.not_enforced = None;
        } else if is_refused_call(event, &verdict) {
            let input = journal.ok().and_then(|mut journal| journal.input_digest(event).ok()?);
            let call = CallDigest::of_event(event, input.as_deref());
            verdict.not_enforced = call.and_then(|call| {
                Allowances::of(&self.situation_builder.project.root, self.situation_builder.environment).peek(&call)
            });
        }
        verdict
    }

    /// Adds the checked-out commit to the changes as the session's baseline: at the session's first event; and at a
    /// stop, for each repository in which all file rules are met. As long as a file rule is unmet, the baseline of its
    /// repository stays, so that the commits because of which the rule is unmet still count as changes.
    fn add_new_baseline(
        &self,
        context: &EventContext<'_>,
        state: Option<&StoredState>,
        consequences: &mut Consequences,
    ) {
        let event = context.event;
        let no_variables = serde_json::Map::new();
        let variables = state.map_or(&no_variables, |state| &state.variables);
        let baselines = if context.is_first_event {
            vec![SessionBaseline::at(event, &self.situation_builder.project.root)]
        } else if event.kind == EventKind::Stop {
            let roots = roots_with_each_rule_met(&consequences.judged_file_rules);
            let new_baseline = |root: &Path| SessionBaseline::stored(variables, root)?.updated(root);
            roots.into_iter().filter_map(new_baseline).collect()
        } else {
            Vec::new()
        };
        for baseline in baselines {
            baseline.add_to(variables, &mut consequences.changes);
        }
    }

    /// How verdicts are applied in the project. A nested policy cannot change this.
    fn enforcement(&self) -> EnforcementMode<'_> {
        let SituationBuilder { environment, project, .. } = &self.situation_builder;
        EnforcementMode {
            mode: self.config().mode,
            is_enabled: self.config().enabled,
            root: &project.root,
            environment,
        }
    }

    /// The failure if the event is a call that waits for permission, and if it lacks a field that is needed to judge it
    /// or the run's hat cannot be read; `None` otherwise.
    fn missing_input(&self, event: &Event) -> Option<Failure> {
        let hat_is_unreadable = self.hat_is_unreadable && event.kind.awaits_permission();
        missing_in_call(event).or(hat_is_unreadable.then_some(Failure::UnreadableHat))
    }
}

/// For each repository in which the file rules of all policies are met: the root of one of these policies.
fn roots_with_each_rule_met(judged: &[JudgedFileRules]) -> Vec<&Path> {
    let mut by_repository: BTreeMap<String, (&Path, bool)> = BTreeMap::new();
    for rules in judged {
        let (_, is_met) = by_repository.entry(repository_id(rules.root())).or_insert((rules.root(), true));
        *is_met &= rules.is_each_rule_met();
    }
    by_repository.into_values().filter(|(_, is_met)| *is_met).map(|(root, _)| root).collect()
}

/// The failure if the event is a call that waits for permission, and the call does not name its tool, command or file.
fn missing_in_call(event: &Event) -> Option<Failure> {
    if !event.kind.awaits_permission() {
        return None;
    }
    let Some(call) = event.tool.as_ref().filter(|call| !call.name.is_empty()) else {
        return Some(Failure::MissingTool);
    };
    let needs_a_file = matches!(call.name.as_str(), "Read" | "Write" | "Edit" | "MultiEdit" | "NotebookEdit");
    match &call.shell {
        Some(ShellText::Missing) => Some(Failure::MissingCommand),
        None if needs_a_file && call.files.is_empty() => Some(Failure::MissingTool),
        _ => None,
    }
}
