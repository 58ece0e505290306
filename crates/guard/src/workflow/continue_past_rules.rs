//! `continue`: restarts the limits of pace rules that have fired, so that work can go on. The workflow does not move.

use std::sync::Arc;

use engine::rules::{AckBy, Rule};
use serde_json::json;
use store::{CountedOutcome, NoteKind, StateChanges};

use super::stored_state::{StoredState, find_node};
use super::{Step, StepOutcome, WorkflowCommands, WorkflowError};
use crate::facts::pace_facts::PaceScope;
use crate::facts::{ActiveWorkflow, pace_facts};
use crate::position::Position;
use crate::rule_outcomes;

impl WorkflowCommands<'_> {
    /// Restarts the limits of all pace rules that have fired.
    pub fn continue_past_rules(&self) -> Result<Step, WorkflowError> {
        self.require_permission_for_active("continue")?;
        Self::retry_on_conflict(|| {
            let stored = self.stored_state()?;
            if Position::of(&stored.workflow.variables).is_none() {
                return self.continue_in_session(stored);
            }
            self.continue_in_phase(stored)
        })
    }

    fn continue_in_phase(&self, mut stored: StoredState) -> Result<Step, WorkflowError> {
        let active = self.active_in(&stored)?;
        let node = find_node(&active.workflow, active.position.node())?.clone();
        let fired_rules = fired_rules(&active, &stored)?;
        if let Some(rule) = fired_rules.iter().find(|rule| self.is_only_for_people(rule)) {
            return Err(WorkflowError::OnlyAPerson(rule.id.clone()));
        }
        // Rules of the session may have fired too. If only a person may continue past one of them, none of them is
        // restarted.
        let of_session = self.interrupting_rules(&stored);
        let human_only_rule = of_session.iter().find(|rule| self.is_only_for_people(rule)).map(|rule| rule.id.clone());
        let of_session = match human_only_rule {
            Some(rule) if fired_rules.is_empty() => return Err(WorkflowError::OnlyAPerson(rule)),
            Some(_) => Vec::new(),
            None => of_session,
        };
        if fired_rules.is_empty() && of_session.is_empty() {
            let active = Arc::new(active);
            let prompt = self.prompt(&node, &active, &stored)?;
            let nothing = format!("No pace rule has fired at `{}`, so there is nothing to continue past.", node.name);
            return Ok(Step { notices: vec![nothing], ..Step::stayed(&active, StepOutcome::Prompt(prompt)) });
        }
        let mut changes = StateChanges::default();
        if !of_session.is_empty() {
            self.restart_limits(&of_session, &stored, &mut changes);
        }
        let (facts, scope) = (self.pace_facts(), active.pace_scope());
        for rule in &fired_rules {
            facts.restart_limit(rule, &scope, &mut changes);
        }
        active.position.after_continue().store(&mut changes);
        let names = fired_rules.iter().map(|rule| rule.id.as_str());
        changes.rule_outcomes.extend(rule_outcomes::for_rules(
            names,
            CountedOutcome::Continued,
            Some(active.position.phase_name()),
        ));
        let rule_ids: Vec<&str> = fired_rules.iter().chain(&of_session).map(|rule| rule.id.as_str()).collect();
        let fields = self.fields([
            ("workflow", json!(active.workflow.name)),
            ("at", json!(node.name)),
            ("past", json!(rule_ids.join(", "))),
        ]);
        self.write(&mut stored, NoteKind::Continue, &fields, &changes)?;
        let active = Arc::new(active);
        let prompt = self.prompt(&node, &active, &stored)?;
        Ok(Step::stayed(&active, StepOutcome::Prompt(prompt)))
    }

    /// Without an active workflow, only rules of the session may have fired.
    fn continue_in_session(&self, mut stored: StoredState) -> Result<Step, WorkflowError> {
        let rules = self.interrupting_rules(&stored);
        if rules.is_empty() {
            return Err(WorkflowError::NothingToContinue);
        }
        if let Some(rule) = rules.iter().find(|rule| self.is_only_for_people(rule)) {
            return Err(WorkflowError::OnlyAPerson(rule.id.clone()));
        }
        let mut changes = StateChanges::default();
        self.restart_limits(&rules, &stored, &mut changes);
        let names: Vec<String> = rules.into_iter().map(|rule| rule.id).collect();
        let fields = self.fields([("past", json!(names.join(", ")))]);
        let (root, cwd) = self.root_and_cwd();
        stored.store.write_note(&self.note(NoteKind::Continue, &fields, &changes, &root, &cwd))?;
        let outcome = StepOutcome::LimitsRestarted(names);
        Ok(Step {
            workflow: String::new(),
            node: String::new(),
            has_moved: false,
            outcome,
            texts: Vec::new(),
            notices: Vec::new(),
        })
    }

    /// Restarts the limits of rules of the session.
    fn restart_limits(&self, rules: &[Rule], stored: &StoredState, changes: &mut StateChanges) {
        let (facts, scope) = (self.pace_facts(), PaceScope::of_session(&stored.session, self.now));
        for rule in rules {
            facts.restart_limit(rule, &scope, changes);
        }
        changes.rule_outcomes.extend(rule_outcomes::for_rules(
            rules.iter().map(|rule| rule.id.as_str()),
            CountedOutcome::Continued,
            None,
        ));
    }

    /// Rules outside of workflows that have fired in the session.
    fn interrupting_rules(&self, stored: &StoredState) -> Vec<Rule> {
        let digests: Vec<&str> = pace_facts::digests_of_fired_rules(&stored.session.variables).collect();
        if digests.is_empty() || self.session_owner.is_none() {
            return Vec::new();
        }
        let rules = self.policy.rules.all().unwrap_or_default();
        rules.into_iter().filter(|rule| digests.contains(&rule.digest.as_str())).collect()
    }

    fn is_only_for_people(&self, rule: &Rule) -> bool {
        self.is_by_agent && rule.ack == AckBy::Human
    }
}

/// The pace rules of the phase that have fired, without a `continue` since.
fn fired_rules(active: &ActiveWorkflow, stored: &StoredState) -> Result<Vec<Rule>, WorkflowError> {
    let rules = active.workflow.rules_at(active.position.node()).filter(|rule| rule.as_pace_rule().is_some());
    let mut rules = rules.peekable();
    if rules.peek().is_none() {
        return Ok(Vec::new());
    }
    // Earlier versions recorded refused moves only in the counts.
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
