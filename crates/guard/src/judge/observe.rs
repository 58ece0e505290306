//! Stage 2: observers and actions. They run before the rules judge the event: first all observers, then all actions, in
//! the order in which they are declared. Each sees the variables that the earlier ones set.
//!
//! An observer that fails changes nothing and causes a notice. Observers of an untrusted project
//! that run a program are not part of the policy.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::observers::{Observer, ObserverKind, VariableChanges};
use engine::workflow::WorkflowAction;
use engine::{Event, EventKind, Situation};

use super::event_context::EventContext;
use super::load::{ApplicablePolicy, PolicyOrigin};
use super::observer_programs::ObserverPrograms;
use crate::project::Project;
use crate::workflow::{ActionOutput, run_actions};

/// The results of one policy's observers and actions.
#[derive(Default)]
pub(super) struct Observed {
    /// Texts for the agent.
    pub(super) texts: Vec<String>,
    /// Notices for the person.
    pub(super) notices: Vec<String>,
    /// The variables that were set or unset. For a workflow's policy, also the variables that earlier policies changed.
    pub(super) changes: VariableChanges,
}

/// Runs the observers and actions of a policy. `earlier_changes` has the variables that the policies before this one
/// changed. `is_in_run` is true if the session belongs to a run of a loop.
pub(super) fn observe(
    applicable: &ApplicablePolicy<'_>,
    context: &EventContext<'_>,
    earlier_changes: &VariableChanges,
    is_in_run: bool,
) -> Observed {
    let mut changes = VariableChanges::new();
    if matches!(applicable.origin, PolicyOrigin::Workflow(_)) {
        // A workflow's policy sees the variables that the observers and actions of the project's own policy set.
        applicable.facts.apply_changes(earlier_changes);
        changes.clone_from(earlier_changes);
    }
    // External programs can have side effects, so a dry run starts none.
    let programs = Some(&context.observer_programs).filter(|_| !context.event.is_dry_run);
    let (observer_changes, mut notices) = run_observers(applicable, programs);
    let action_output = run_event_actions(applicable, context.event, is_in_run);
    changes.extend(observer_changes);
    changes.extend(action_output.changes);
    notices.extend(action_output.notices);
    Observed { texts: action_output.texts, notices, changes }
}

/// Runs the observers and applies the variables that they change to the facts. Returns the changes and notices.
fn run_observers(
    applicable: &ApplicablePolicy<'_>,
    programs: Option<&ObserverPrograms>,
) -> (VariableChanges, Vec<String>) {
    let (mut all_changes, mut notices) = (VariableChanges::new(), Vec::new());
    let observers = &applicable.policy.config.observers;
    // If the stored state could not be read, there are no variables to change, and rules that use variables are
    // skipped.
    if observers.is_empty() || !applicable.facts.has_state() {
        return (all_changes, notices);
    }
    applicable.facts.pause_recording();
    for observer in observers {
        match changes_of(observer, &applicable.situation, applicable.project, programs) {
            Ok(changes) => {
                applicable.facts.apply_changes(&changes);
                all_changes.extend(changes);
            }
            Err(why) => notices.push(format!(
                "observer `{}` failed and set no variables: {why}; correct the observer under `observers:` in {}",
                observer.name,
                applicable.origin.place(),
            )),
        }
    }
    applicable.facts.resume_recording();
    (all_changes, notices)
}

/// Runs the actions for this event. If the policy belongs to a workflow, these are the workflow's actions, else those
/// of the configuration.
fn run_event_actions(applicable: &ApplicablePolicy<'_>, event: &Event, is_in_run: bool) -> ActionOutput {
    let kind = event.kind;
    let run = |source: &str, actions: &mut dyn Iterator<Item = &WorkflowAction>, guides: &BTreeMap<String, String>| {
        run_actions(source, actions, guides, &applicable.situation, &applicable.facts)
    };
    let mut all = ActionOutput::default();
    if let PolicyOrigin::Workflow(active) = &applicable.origin {
        // In a run, the agent needs no introduction to the workflow: the iteration's prompt says what to do.
        if kind == EventKind::SessionStart && !is_in_run {
            all.texts.push(active.introduction());
        }
        let source = format!("`{}` of workflow `{}`", kind.name(), active.workflow.name);
        all.extend(run(&source, &mut active.workflow.actions_on(kind), &active.workflow.guides));
    } else if applicable.facts.has_state() {
        for triggers in applicable.policy.config.triggers.iter().filter(|triggers| triggers.has_any(kind)) {
            let source = format!("`{}` of the configuration", kind.name());
            all.extend(run(&source, &mut triggers.actions_on(kind), &triggers.guides));
        }
    }
    all
}

/// The variables that an observer changes at this event. An external program changes none if `programs` is `None`.
fn changes_of(
    observer: &Observer,
    situation: &Arc<Situation>,
    project: &Project,
    programs: Option<&ObserverPrograms>,
) -> Result<VariableChanges, String> {
    match &observer.kind {
        ObserverKind::Declared(declared) => declared.observe(situation),
        ObserverKind::Builtin(behavior) => behavior.observe(situation).map_err(|missing| missing.to_string()),
        ObserverKind::External(external) => match programs {
            Some(programs) => {
                let answer = programs.answer(observer, external, project, situation)?;
                external.changes(&observer.name, answer, situation.facts.as_ref())
            }
            None => Ok(VariableChanges::new()),
        },
    }
}
