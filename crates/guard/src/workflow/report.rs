//! The report on the active workflow, for `linchpin status`.

use std::sync::Arc;

use super::{NextMoves, WorkflowCommands, WorkflowError};
use crate::position::Position;

/// The position of a workflow, with its pace rules and gates.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkflowReport {
    pub position: Position,
    /// True if the workflow's file has changed since the node was entered.
    pub is_changed: bool,
    /// The reason why the workflow cannot be moved now.
    pub problem: Option<String>,
    /// Pace rules of the node, each with its progress towards the limit.
    pub pace: Vec<(String, String)>,
    /// The ids of the workflow's other rules at the node.
    pub rules: Vec<String>,
    pub next_moves: NextMoves,
}

impl WorkflowCommands<'_> {
    /// The report on the active workflow; `None` if no workflow is active.
    pub fn report(&self) -> Result<Option<WorkflowReport>, WorkflowError> {
        let stored = self.load_states()?;
        let Some(position) = Position::of(&stored.workflow_state.variables) else { return Ok(None) };
        let active = match self.active_in(&stored) {
            Ok(active) => active,
            Err(error) => {
                let problem = Some(error.to_string());
                let (pace, rules, next_moves) = (Vec::new(), Vec::new(), NextMoves::default());
                return Ok(Some(WorkflowReport { position, is_changed: true, problem, pace, rules, next_moves }));
            }
        };
        let problem = active.node().is_none().then(|| {
            let (workflow, node) = (&active.workflow.name, position.node());
            format!("workflow `{workflow}` no longer has a node `{node}`")
        });
        let facts = self.pace_facts();
        let scope = active.pace_scope();
        let rules = active.workflow.rules_at(position.node()).filter_map(|rule| Some((rule, rule.as_pace_rule()?)));
        let pace = rules.filter_map(|(rule, pace)| {
            let pace_state =
                facts.state_for_report(rule, &scope, |phases| self.count_commits(phases, &active)).ok()??;
            let suffix =
                if scope.is_limit_off(&rule.digest, &pace.limit) { ", skipped until the next move" } else { "" };
            Some((rule.id.clone(), format!("{}{suffix}", pace.progress(&pace_state))))
        });
        let pace = pace.collect();
        let trusted_part = if self.trusts(&active) { None } else { Some(active.workflow.clone().without_untrusted()) };
        let in_force = trusted_part.as_ref().unwrap_or(&active.workflow).rules_at(position.node());
        let rules = in_force.filter(|rule| rule.as_pace_rule().is_none()).map(|rule| rule.id.clone()).collect();
        let is_changed = active.workflow.digest != position.digest;
        let active = Arc::new(active);
        let next_moves = active.node().map(|node| self.preview_moves(node, &active, &stored)).unwrap_or_default();
        Ok(Some(WorkflowReport { position, is_changed, problem, pace, rules, next_moves }))
    }
}
