//! Combines the results of all policies that apply to an event into one verdict.

use std::path::Path;

use engine::observers::VariableChanges;
use engine::{Event, Finding, Level, Verdict};
use policy::Config;
use store::StoredState;

use super::consequences::Consequences;
use super::demands::DecisionWithDemands;
use super::load::{ApplicablePolicy, PolicyOrigin};
use super::observe::Observed;
use crate::failure::Failure;
use crate::file_rules::UnmatchedPromises;
use crate::notices;
use crate::session::SessionNotice;

/// The combined results of the policies that were added so far.
pub(super) struct CombinedVerdict<'a> {
    /// True for the first event of the session.
    is_first_event: bool,
    session_state: Option<&'a StoredState>,
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
    pub(super) fn new(
        event: &Event,
        is_first_event: bool,
        session_state: Option<&'a StoredState>,
        config: &'a Config,
    ) -> Self {
        Self {
            is_first_event,
            session_state,
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

    /// The changes of session variables that follow from the policies that were added so far.
    pub(super) fn variable_changes(&self) -> &VariableChanges {
        &self.consequences.changes.session_variables
    }

    pub(super) fn add_notices(&mut self, notices: impl IntoIterator<Item = String>) {
        self.notices.extend(notices);
    }

    pub(super) fn add_broken_file_notices(&mut self, notices: impl IntoIterator<Item = String>) {
        self.broken_file_notices.extend(notices);
    }

    /// Adds the notices that this session was not given before.
    pub(super) fn add_session_notices(&mut self, notices: impl IntoIterator<Item = SessionNotice>) {
        let new = self.consequences.take_new_notices(notices, self.session_state);
        self.notices.extend(new);
    }

    pub(super) fn add_failure(&mut self, failure: Option<Failure>) {
        self.findings.extend(failure.map(|failure| failure.finding()));
    }

    /// Adds the results of one policy: of its observers and actions, and of its rules.
    pub(super) fn add(
        &mut self,
        applicable: &ApplicablePolicy<'_>,
        observed: Observed,
        result: Result<DecisionWithDemands, Failure>,
    ) {
        self.add_broken_file_notices(applicable.policy.broken.iter().map(notices::broken_file_notice));
        if self.is_first_event {
            self.add_notices(applicable.policy.untrusted.iter().cloned());
        }
        self.add_notices(observed.notices);
        self.agent_texts.extend(observed.texts);
        self.add_variables(&applicable.origin, observed.changes);
        match result {
            Ok(with_demands) => self.add_decision(applicable, with_demands),
            Err(failure) => self.add_failure(Some(failure)),
        }
    }

    /// Adds the decision of one policy's rules, with the open demands.
    fn add_decision(&mut self, applicable: &ApplicablePolicy<'_>, with_demands: DecisionWithDemands) {
        let DecisionWithDemands { decision, judged_file_rules, notices, changes } = with_demands;
        self.unmatched_promises.drop_matching(&applicable.policy.rules, &decision.judged_file_rule_ids);
        self.add_session_notices(notices);
        self.is_approved |= decision.verdict.approved;
        let mut findings = decision.verdict.findings;
        if let PolicyOrigin::Nested(directory) = &applicable.origin {
            for finding in &mut findings {
                name_directory(finding, directory);
            }
        }
        self.findings.extend(findings);
        self.consequences.changes.session_variables.extend(changes.session_variables);
        self.consequences.judged_file_rules.extend(judged_file_rules);
        self.consequences.add_used_facts(&applicable.facts);
        let is_of_workflow = matches!(applicable.origin, PolicyOrigin::Workflow(_));
        self.consequences.counters.add(decision.pace_updates, decision.holds, is_of_workflow, &applicable.facts);
    }

    /// Adds the changes of variables by observers and actions of a policy.
    fn add_variables(&mut self, origin: &PolicyOrigin, variable_changes: VariableChanges) {
        let changes = &mut self.consequences.changes;
        for (name, value) in variable_changes {
            match origin {
                PolicyOrigin::Workflow(active) if active.declares(&name) => {
                    changes.workflow_variables.insert(name, value);
                }
                PolicyOrigin::Workflow(_) | PolicyOrigin::Project => {
                    changes.session_variables.insert(name, value);
                }
                // A nested policy must not change the variables of the project's policy.
                PolicyOrigin::Nested(_) if !self.config.knows_variable(&name) => {
                    changes.session_variables.entry(name).or_insert(value);
                }
                PolicyOrigin::Nested(_) => {}
            }
        }
    }

    /// Returns the verdict and its consequences. `why_not_enforced` returns the reason why the verdict is not enforced;
    /// `None` if it is enforced.
    pub(super) fn into_verdict(
        self,
        why_not_enforced: impl FnOnce(&Verdict) -> Option<engine::NotEnforced>,
    ) -> (Verdict, Consequences) {
        let Self {
            is_first_event,
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
        // Notices about broken files are given at the first event of a session, and whenever the verdict is `ask`,
        // because a broken file may be the reason for that verdict.
        if is_first_event || verdict.level == Level::Ask {
            notices.extend(broken_file_notices);
        }
        (verdict.notices, verdict.agent_texts) = (notices, agent_texts);
        verdict.not_enforced = why_not_enforced(&verdict);
        verdict.agent_texts.extend(unmatched_promises.hint(&verdict));
        (verdict, consequences)
    }
}

/// Adds the directory of a nested policy to the heading of a section, because the paths in the section are relative to
/// this directory.
fn name_directory(finding: &mut Finding, directory: &Path) {
    if finding.section.is_some()
        && let Some((heading, rest)) = finding.reason.split_once('\n')
    {
        finding.reason = format!("{heading} (in `{}`)\n{rest}", directory.display());
    }
}
