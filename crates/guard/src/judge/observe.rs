//! Stage 2: observers and actions. They run in the order in which they are declared, before the rules of the same
//! event; each sees the variables that earlier ones set.
//!
//! An observer that fails changes nothing and causes a notice. Observers of an untrusted project are not part of its
//! policy.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::observers::{Observer, ObserverKind, VariableChanges};
use engine::workflow::Action;
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
    pub(super) variables: VariableChanges,
}

/// Runs the observers and actions of a policy. `before` has the variables that earlier policies set. `is_in_run` is
/// true if the session belongs to a run of a loop.
pub(super) fn observe(
    applicable: &ApplicablePolicy<'_>,
    context: &EventContext<'_>,
    before: &VariableChanges,
    is_in_run: bool,
) -> Observed {
    if matches!(applicable.origin, PolicyOrigin::Workflow(_)) {
        // A workflow sees the variables that the project's own observers set.
        applicable.facts.overlay(before);
    }
    // External programs can have side effects, so a dry run starts none.
    let programs = Some(&context.observer_programs).filter(|_| !context.event.is_dry_run);
    let mut notices = run_observers(applicable, programs);
    let action_output = run_event_actions(applicable, context.event, is_in_run);
    notices.extend(action_output.notices);
    Observed { texts: action_output.texts, notices, variables: applicable.facts.observed_changes() }
}

/// Runs the observers, applies their changes to the facts, and returns notices.
fn run_observers(applicable: &ApplicablePolicy<'_>, programs: Option<&ObserverPrograms>) -> Vec<String> {
    let observers = &applicable.policy.config.observers;
    // If there is no stored state, there are no variables to change, and rules that use variables are skipped.
    if observers.is_empty() || !applicable.facts.has_state() {
        return Vec::new();
    }
    applicable.facts.set_observing(true);
    let mut notices = Vec::new();
    for observer in observers {
        match changes(observer, &applicable.situation, applicable.project, programs) {
            Ok(changes) if changes.is_empty() => {}
            Ok(changes) => applicable.facts.overlay(&changes),
            Err(why) => notices.push(format!("observer `{}` changed nothing: {why}", observer.name)),
        }
    }
    applicable.facts.set_observing(false);
    notices
}

/// Runs the actions for this event: those of the workflow if the policy is a workflow's, else those of the
/// configuration.
fn run_event_actions(applicable: &ApplicablePolicy<'_>, event: &Event, is_in_run: bool) -> ActionOutput {
    let kind = event.kind;
    let run_actions = |source: &str, actions: &mut dyn Iterator<Item = &Action>, guides: &BTreeMap<String, String>| {
        run_actions(source, actions, guides, &applicable.situation, &applicable.facts)
    };
    let mut all = ActionOutput::default();
    if let PolicyOrigin::Workflow(active) = &applicable.origin {
        // In a run, the prompt has the same information.
        if kind == EventKind::SessionStart && !is_in_run {
            all.texts.push(active.introduction());
        }
        let source = format!("`{}` of workflow `{}`", kind.name(), active.workflow.name);
        all.extend(run_actions(&source, &mut active.workflow.actions_on(kind), &active.workflow.guides));
    } else if applicable.facts.has_state() {
        for triggers in applicable.policy.config.triggers.iter().filter(|triggers| triggers.has_any(kind)) {
            let source = format!("`{}` of the configuration", kind.name());
            all.extend(run_actions(&source, &mut triggers.actions_on(kind), &triggers.guides));
        }
    }
    all
}

fn changes(
    observer: &Observer,
    situation: &Arc<Situation>,
    project: &Project,
    programs: Option<&ObserverPrograms>,
) -> Result<VariableChanges, String> {
    match &observer.kind {
        ObserverKind::Declared(declared) => declared.observe(situation),
        ObserverKind::Behavior(behavior) => behavior.observe(situation).map_err(|missing| missing.to_string()),
        ObserverKind::External(external) => match programs {
            Some(programs) => {
                let answer = programs.answer(observer, external, project, situation)?;
                external.changes(&observer.name, answer, situation.facts.as_ref())
            }
            None => Ok(VariableChanges::new()),
        },
    }
}
