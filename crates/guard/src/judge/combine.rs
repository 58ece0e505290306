//! Combines the results of all applicable policies for an event into one verdict.

use engine::observers::VariableChanges;
use engine::{Event, Finding, Level, Verdict};
use policy::Config;
use store::SessionState;

use super::consequences::Consequences;
use super::demands::DecisionWithDemands;
use super::load::{ApplicablePolicy, PolicyOrigin};
use super::observe::Observed;
use crate::failure::{self, Failure};
use crate::file_rules::UnmatchedPromises;
use crate::session::SessionNotice;

pub(super) struct CombinedVerdict<'a> {
    /// True for the first event of the session.
    is_first: bool,
    state: Option<&'a SessionState>,
    /// The configuration of the session's project.
    config: &'a Config,
    findings: Vec<Finding>,
    /// Notices for the person.
    notices: Vec<String>,
    /// Texts for the agent.
    agent_texts: Vec<String>,
    /// Notices about policy files that cannot be used.
    broken_file_notices: Vec<String>,
    unmatched_promises: UnmatchedPromises,
    is_approved: bool,
    pub(super) consequences: Consequences,
}

impl<'a> CombinedVerdict<'a> {
    pub(super) fn new(event: &Event, is_first: bool, state: Option<&'a SessionState>, config: &'a Config) -> Self {
        Self {
            is_first,
            state,
            config,
            findings: Vec::new(),
            notices: Vec::new(),
            agent_texts: Vec::new(),
            broken_file_notices: Vec::new(),
            unmatched_promises: UnmatchedPromises::of(event),
            is_approved: false,
            consequences: Consequences::default(),
        }
    }

    /// The variables set so far.
    pub(super) fn variables(&self) -> &VariableChanges {
        &self.consequences.changes.session_variables
    }

    pub(super) fn add_notices(&mut self, notices: impl IntoIterator<Item = String>) {
        self.notices.extend(notices);
    }

    pub(super) fn add_broken_file_notices(&mut self, notices: impl IntoIterator<Item = String>) {
        self.broken_file_notices.extend(notices);
    }

    pub(super) fn add_notices_once(&mut self, notices: impl IntoIterator<Item = SessionNotice>) {
        let new = self.consequences.drop_seen_notices(notices, self.state);
        self.notices.extend(new);
    }

    pub(super) fn add_failure(&mut self, failure: Option<Failure>) {
        self.findings.extend(failure.map(|failure| failure.finding()));
    }

    /// Adds the result of one policy.
    pub(super) fn add(
        &mut self,
        applicable: &ApplicablePolicy<'_>,
        observed: Observed,
        result: Result<DecisionWithDemands, Failure>,
    ) {
        self.add_broken_file_notices(applicable.policy.broken.iter().map(failure::broken_file_notice));
        if self.is_first {
            self.add_notices(applicable.policy.untrusted.iter().cloned());
        }
        self.add_notices(observed.notices);
        self.agent_texts.extend(observed.texts);
        self.add_variables(&applicable.origin, observed.variables);
        match result {
            Ok(with_demands) => self.add_decision(applicable, with_demands),
            Err(failure) => self.add_failure(Some(failure)),
        }
    }

    fn add_decision(&mut self, applicable: &ApplicablePolicy<'_>, with_demands: DecisionWithDemands) {
        let DecisionWithDemands { decision, demands, notices, changes } = with_demands;
        self.unmatched_promises.drop_matching(&applicable.policy.rules, &decision.judged_file_rules);
        self.add_notices_once(notices);
        self.is_approved |= decision.verdict.approved;
        self.findings.extend(decision.verdict.findings);
        self.consequences.changes.session_variables.extend(changes.session_variables);
        self.consequences.demands.extend(demands);
        self.consequences.add_facts(&applicable.facts);
        let is_of_workflow = matches!(applicable.origin, PolicyOrigin::Workflow(_));
        self.consequences.counters.add(decision.pace_updates, decision.holds, is_of_workflow, &applicable.facts);
    }

    /// Adds the variables that observers and actions of a policy set.
    fn add_variables(&mut self, origin: &PolicyOrigin, observed: VariableChanges) {
        let changes = &mut self.consequences.changes;
        for (name, value) in observed {
            match origin {
                PolicyOrigin::Workflow(active) if active.declares(&name) => {
                    changes.workflow_variables.insert(name, value);
                }
                PolicyOrigin::Workflow(_) | PolicyOrigin::Project => {
                    changes.session_variables.insert(name, value);
                }
                // A nested policy must not change variables that the project's policy uses.
                PolicyOrigin::Nested if !self.config.knows_variable(&name) => {
                    changes.session_variables.entry(name).or_insert(value);
                }
                PolicyOrigin::Nested => {}
            }
        }
    }

    /// Returns the verdict and its consequences. `why_not_enforced` returns the reason if a verdict is not enforced.
    pub(super) fn into_verdict(
        self,
        why_not_enforced: impl FnOnce(&Verdict) -> Option<engine::NotEnforced>,
    ) -> (Verdict, Consequences) {
        let Self {
            is_first,
            findings,
            mut notices,
            agent_texts,
            broken_file_notices,
            unmatched_promises,
            is_approved,
            consequences,
            ..
        } = self;
        let mut verdict = Verdict::of(findings);
        verdict.approved = is_approved && verdict.level == Level::Allow;
        // These notices are given when a session begins, and again when the verdict is `ask`, because the broken file
        // may be the reason for it.
        if is_first || verdict.level == Level::Ask {
            notices.extend(broken_file_notices);
        }
        (verdict.notices, verdict.agent_texts) = (notices, agent_texts);
        verdict.not_enforced = why_not_enforced(&verdict);
        verdict.agent_texts.extend(unmatched_promises.hint(&verdict));
        (verdict, consequences)
    }
}
