//! `linchpin continue`: restarts the limits of pace rules that have fired, so that the work can go on. The workflow
//! does not move.

use std::sync::Arc;

use engine::rules::{AckBy, Rule};
use serde_json::json;
use store::{CountedOutcome, NoteKind, StateChanges};

use super::loaded_states::{LoadedStates, find_node};
use super::{Step, StepOutcome, WorkflowCommands, WorkflowError};
use crate::facts::pace_facts::PaceScope;
use crate::facts::{ActiveWorkflow, pace_facts};
use crate::position::Position;
use crate::rule_outcomes;

impl WorkflowCommands<'_> {
    /// Restarts the limits of the pace rules that have fired, except those that only a person may continue past. If an
    /// agent runs the command and one such rule of the session has fired, no limit of the session is restarted.
    pub fn continue_past_rules(&self) -> Result<Step, WorkflowError> {
        self.require_permission_for_active("continue")?;
        Self::retry_on_conflict(|| {
            let stored = self.load_states()?;
            if Position::of(&stored.workflow_state.variables).is_none() {
                return self.continue_in_session(stored);
            }
            self.continue_in_phase(stored)
        })
    }

    /// Restarts the limits of rules of the phase and of the session.
    fn continue_in_phase(&self, mut stored: LoadedStates) -> Result<Step, WorkflowError> {
        let active = self.active_in(&stored)?;
        let node = find_node(&active.workflow, active.position.node())?.clone();
        let fired_rules = fired_phase_rules(&active, &stored)?;
        if let Some(rule) = fired_rules.iter().find(|rule| self.is_only_for_people(rule)) {
            return Err(WorkflowError::OnlyAPerson(rule.id.clone()));
        }
        // Rules of the session may have fired as well. If an agent runs the command and may not continue past one of
        // them, no limit of the session is restarted.
        let session_rules = self.fired_session_rules(&stored);
        let human_only_rule =
            session_rules.iter().find(|rule| self.is_only_for_people(rule)).map(|rule| rule.id.clone());
        let session_rules = match human_only_rule {
            Some(rule) if fired_rules.is_empty() => return Err(WorkflowError::OnlyAPerson(rule)),
            Some(_) => Vec::new(),
            None => session_rules,
        };
        if fired_rules.is_empty() && session_rules.is_empty() {
            let active = Arc::new(active);
            let prompt = self.prompt(&node, &active, &stored)?;
            let nothing = format!("No pace rule has fired at `{}`, so there is nothing to continue past.", node.name);
            return Ok(Step { notices: vec![nothing], ..Step::stayed(&active, StepOutcome::Prompt(prompt)) });
        }
        let mut changes = StateChanges::default();
        if !session_rules.is_empty() {
            self.restart_session_limits(&session_rules, &stored, &mut changes);
        }
        let (facts, scope) = (self.pace_facts(), active.pace_scope());
        for rule in &fired_rules {
            facts.restart_limit(rule, &scope, &mut changes);
        }
        active.position.after_continue().add_to(&mut changes);
        let names = fired_rules.iter().map(|rule| rule.id.as_str());
        changes.rule_outcomes.extend(rule_outcomes::for_rules(
            names,
            CountedOutcome::Continued,
            Some(active.position.phase_name()),
        ));
        let rule_ids: Vec<&str> = fired_rules.iter().chain(&session_rules).map(|rule| rule.id.as_str()).collect();
        let fields = self.journal_fields([
            ("workflow", json!(active.workflow.name)),
            ("at", json!(node.name)),
            ("past", json!(rule_ids.join(", "))),
        ]);
        self.write(&mut stored, NoteKind::Continue, &fields, &changes)?;
        let active = Arc::new(active);
        let prompt = self.prompt(&node, &active, &stored)?;
        Ok(Step::stayed(&active, StepOutcome::Prompt(prompt)))
    }

    /// Restarts the limits of rules of the session, if no workflow is active.
    fn continue_in_session(&self, mut stored: LoadedStates) -> Result<Step, WorkflowError> {
        let rules = self.fired_session_rules(&stored);
        if rules.is_empty() {
            return Err(WorkflowError::NothingToContinue);
        }
        if let Some(rule) = rules.iter().find(|rule| self.is_only_for_people(rule)) {
            return Err(WorkflowError::OnlyAPerson(rule.id.clone()));
        }
        let mut changes = StateChanges::default();
        self.restart_session_limits(&rules, &stored, &mut changes);
        let names: Vec<String> = rules.into_iter().map(|rule| rule.id).collect();
        let fields = self.journal_fields([("past", json!(names.join(", ")))]);
        let (root, cwd) = self.root_and_cwd();
        stored.store.write_note(&self.note(NoteKind::Continue, &fields, &changes, &root, &cwd))?;
        let outcome = StepOutcome::LimitsRestarted(names);
        Ok(Step {
            workflow_name: String::new(),
            node: String::new(),
            has_moved: false,
            outcome,
            texts: Vec::new(),
            notices: Vec::new(),
        })
    }

    /// Adds the restart of the limits of the session's rules to the changes.
    fn restart_session_limits(&self, rules: &[Rule], stored: &LoadedStates, changes: &mut StateChanges) {
        let (facts, scope) = (self.pace_facts(), PaceScope::of_session(&stored.session_state, self.now));
        for rule in rules {
            facts.restart_limit(rule, &scope, changes);
        }
        changes.rule_outcomes.extend(rule_outcomes::for_rules(
            rules.iter().map(|rule| rule.id.as_str()),
            CountedOutcome::Continued,
            None,
        ));
    }

    /// The rules of the project's policy that have fired in the session.
    fn fired_session_rules(&self, stored: &LoadedStates) -> Vec<Rule> {
        let digests: Vec<&str> = pace_facts::digests_of_fired_rules(&stored.session_state.variables).collect();
        if digests.is_empty() || self.agent_session.is_none() {
            return Vec::new();
        }
        let rules = self.policy.rules.all().unwrap_or_default();
        rules.into_iter().filter(|rule| digests.contains(&rule.digest.as_str())).collect()
    }

    /// True if an agent runs the command, and only a person may continue past the rule.
    fn is_only_for_people(&self, rule: &Rule) -> bool {
        self.is_by_agent && rule.ack == AckBy::Human
    }
}

/// The pace rules of the phase that have fired since the last `linchpin continue`.
fn fired_phase_rules(active: &ActiveWorkflow, stored: &LoadedStates) -> Result<Vec<Rule>, WorkflowError> {
    let rules = active.workflow.rules_at(active.position.node()).filter(|rule| rule.as_pace_rule().is_some());
    let mut rules = rules.peekable();
    if rules.peek().is_none() {
        return Ok(Vec::new());
    }
    // If a pace rule refused a move, earlier versions of Linchpin did not mark the rule as fired, but counted the
    // refusal.
    let (counts, phase) = (stored.store.rule_counts()?, Some(active.position.phase_name()));
    let refused_a_move = |rule: &Rule| {
        let count = counts.get(&rule.id).and_then(|phases| phases.get(&phase));
        count.is_some_and(|count| count.blocked > 0 && count.acknowledged == 0)
    };
    let scope = active.pace_scope();
    Ok(rules.filter(|rule| scope.has_fired(&rule.digest) || refused_a_move(rule)).cloned().collect())
}

#[cfg(test)]
mod tests;
