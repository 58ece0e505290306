//! Judges the pace rules of a phase when it is about to be left.

use std::sync::Arc;

use engine::Level;
use engine::pace::{Interrupt, Violation};
use engine::rules::Rule;
use tree::Repository;

use super::condition::is_true;
use super::loaded_states::LoadedStates;
use super::{StepOutcome, WorkflowCommands, WorkflowError};
use crate::facts::ActiveWorkflow;
use crate::facts::pace_facts::PaceFacts;
use crate::facts::token_count::TokenCount;

/// The pace rules that a forced move skips.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Force {
    #[default]
    None,
    /// The move skips all rules with this id, this title or this kind of limit.
    One(String),
    All,
}

impl Force {
    /// True if the move skips the rule.
    pub(super) fn skips(&self, rule: &Rule) -> bool {
        match self {
            Self::None => false,
            Self::All => true,
            Self::One(name) => {
                rule.id == *name
                    || rule.title.as_deref() == Some(name)
                    || rule.as_pace_rule().is_some_and(|pace| pace.limit.name() == name)
            }
        }
    }

    /// The text about skipped rules for the journal; `None` if no rule is skipped.
    pub(super) fn journal_text(&self) -> Option<String> {
        match self {
            Self::None => None,
            Self::One(rule) => Some(rule.clone()),
            Self::All => Some("all".to_owned()),
        }
    }
}

/// A pace rule that refuses a move, because its limit is exceeded.
pub(crate) struct ViolatedPaceRule {
    pub(crate) rule: Rule,
    /// The text for the agent.
    pub(crate) text: String,
    violation: Box<Violation>,
}

impl ViolatedPaceRule {
    /// The result of the refused move.
    pub(super) fn outcome(&self) -> StepOutcome {
        let Self { rule, text, violation } = self;
        StepOutcome::PaceInterrupt { rule: rule.id.clone(), text: text.clone(), violation: violation.clone() }
    }
}

impl WorkflowCommands<'_> {
    /// The first of these pace rules whose limit is exceeded.
    pub(crate) fn violated_pace_rule(
        &self,
        rules: &[Rule],
        active: &Arc<ActiveWorkflow>,
        stored: &LoadedStates,
    ) -> Result<Option<ViolatedPaceRule>, WorkflowError> {
        let facts = self.pace_facts();
        let scope = active.pace_scope();
        let situation = self.situation(active, stored);
        for rule in rules {
            let Some(pace) = rule.as_pace_rule() else { continue };
            // If `when` cannot be evaluated, the rule applies.
            let is_applicable = rule.when.as_ref().is_none_or(|when| is_true(when, &situation).unwrap_or(true));
            if !is_applicable {
                continue;
            }
            let commits = |phases: u32| self.count_commits(phases, active);
            let pace_state = match facts.state_at_move(rule, &scope, commits) {
                Ok(Some(pace_state)) => pace_state,
                Ok(None) => continue,
                Err(_) if rule.on_error.is_some_and(|level| level <= Level::Warn) => continue,
                Err(error) => return Err(WorkflowError::Pace { rule: rule.id.clone(), error }),
            };
            if let Some(violation) = pace.judge(&pace_state) {
                let reason = Some(rule.reason.trim()).filter(|reason| !reason.is_empty());
                let (phase, ack) = (scope.node.as_deref(), rule.ack);
                let text = Interrupt { violation: &violation, phase, reason, ack, refuses_calls: false }.to_string();
                return Ok(Some(ViolatedPaceRule { rule: rule.clone(), text, violation: Box::new(violation) }));
            }
        }
        Ok(None)
    }

    /// The facts for pace rules at the time of this command.
    pub(super) fn pace_facts(&self) -> PaceFacts {
        let (event, journal_path) = (Arc::new(self.event()), self.project.journal_path(self.environment));
        let tokens = TokenCount::of_command(Arc::clone(&event), journal_path.clone(), self.store_options());
        PaceFacts::new(event, journal_path, self.store_options(), Arc::new(tokens))
    }

    /// The number of commits in the last phases, and the names of these phases.
    pub(super) fn count_commits(&self, phases: u32, active: &ActiveWorkflow) -> (Option<u32>, Vec<String>) {
        let phases = active.position.last_phases(usize::try_from(phases).unwrap_or(usize::MAX));
        let since = phases.first().map_or(self.now, |phase| phase.started);
        let head = phases.first().and_then(|phase| phase.head.as_deref());
        let repository = Repository::of(&self.project.root);
        let count = repository.and_then(|repository| repository.count_commits_since(since / 1000, head));
        (count, phases.iter().map(|phase| phase.node.clone()).collect())
    }

    /// The pace rules of the current node, as two lists: those that `force` skips, and the others. Fails if `force`
    /// names no rule of the node.
    pub(crate) fn pace_rules(active: &ActiveWorkflow, force: &Force) -> Result<(Vec<Rule>, Vec<Rule>), WorkflowError> {
        let node = active.position.node();
        let rules: Vec<&Rule> = active.workflow.rules_at(node).filter(|rule| rule.as_pace_rule().is_some()).collect();
        if let Force::One(name) = force
            && !rules.iter().any(|rule| force.skips(rule))
        {
            let known = rules.iter().map(|rule| rule.id.clone()).collect();
            return Err(WorkflowError::UnknownRule { rule: name.clone(), node: node.to_owned(), known });
        }
        Ok(rules.into_iter().cloned().partition(|rule| force.skips(rule)))
    }
}
