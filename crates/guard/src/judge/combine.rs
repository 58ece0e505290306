//! Folds what each applicable policy says about an event into one verdict.

use engine::observers::VariableChanges;
use engine::{Event, Finding, Level, Verdict};
use policy::Config;
use store::SessionState;

use super::applicable::{ApplicablePolicy, PolicyScope};
use super::consequences::Consequences;
use super::observe::Observed;
use super::settle::SettledDecision;
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
    /// For the person.
    notices: Vec<String>,
    /// For the agent.
    context: Vec<String>,
    /// Notices of policy files that cannot be used.
    broken: Vec<String>,
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
            context: Vec::new(),
            broken: Vec::new(),
            unmatched_promises: UnmatchedPromises::of(event),
            is_approved: false,
            consequences: Consequences::default(),
        }
    }

    /// The variables set so far.
    pub(super) fn variables(&self) -> &VariableChanges {
        &self.consequences.changes.variables
    }

    pub(super) fn add_notices(&mut self, notices: impl IntoIterator<Item = String>) {
        self.notices.extend(notices);
    }

    pub(super) fn add_broken_notices(&mut self, notices: impl IntoIterator<Item = String>) {
        self.broken.extend(notices);
    }

    pub(super) fn add_notices_once(&mut self, notices: impl IntoIterator<Item = SessionNotice>) {
        let news = self.consequences.unseen(notices, self.state);
        self.notices.extend(news);
    }

    pub(super) fn add_failure(&mut self, failure: Option<Failure>) {
        self.findings.extend(failure.map(|failure| failure.finding()));
    }

    /// Adds the result of one policy.
    pub(super) fn add(
        &mut self,
        applicable: &ApplicablePolicy<'_>,
        observed: Observed,
        settled: Result<SettledDecision, Failure>,
    ) {
        self.add_broken_notices(applicable.policy.broken.iter().map(failure::broken_notice));
        if self.is_first {
            self.add_notices(applicable.policy.untrusted.iter().cloned());
        }
        self.add_notices(observed.notices);
        self.context.extend(observed.texts);
        self.keep_variables(&applicable.scope, observed.variables);
        match settled {
            Ok(settled) => self.add_settled(applicable, settled),
            Err(failure) => self.add_failure(Some(failure)),
        }
    }

    fn add_settled(&mut self, applicable: &ApplicablePolicy<'_>, settled: SettledDecision) {
        let SettledDecision { decision, demands, notices, changes } = settled;
        self.unmatched_promises.drop_matching(&applicable.policy.rules, &decision.judged_file_rules);
        self.add_notices_once(notices);
        self.is_approved |= decision.verdict.approved;
        self.findings.extend(decision.verdict.findings);
        self.consequences.changes.variables.extend(changes.variables);
        self.consequences.demands.extend(demands);
        self.consequences.add_facts(&applicable.facts);
        let is_of_workflow = matches!(applicable.scope, PolicyScope::Workflow(_));
        self.consequences.counters.add(decision.pace_updates, decision.holds, is_of_workflow, &applicable.facts);
    }

    /// Keeps the variables that observers and actions of a policy set.
    fn keep_variables(&mut self, scope: &PolicyScope, observed: VariableChanges) {
        let changes = &mut self.consequences.changes;
        for (name, value) in observed {
            match scope {
                PolicyScope::Workflow(active) if active.declares(&name) => {
                    changes.workflow.insert(name, value);
                }
                PolicyScope::Workflow(_) | PolicyScope::Project => {
                    changes.variables.insert(name, value);
                }
                // A nested policy must not change variables that the project's policy uses.
                PolicyScope::Folder if !self.config.knows_variable(&name) => {
                    changes.variables.entry(name).or_insert(value);
                }
                PolicyScope::Folder => {}
            }
        }
    }

    /// Returns the verdict and its consequences. `lift` says why a verdict is not enforced.
    pub(super) fn into_verdict(
        self,
        lift: impl FnOnce(&Verdict) -> Option<engine::NotEnforced>,
    ) -> (Verdict, Consequences) {
        let Self {
            is_first,
            findings,
            mut notices,
            context,
            broken,
            unmatched_promises,
            is_approved,
            consequences,
            ..
        } = self;
        let mut verdict = Verdict::of(findings);
        verdict.approved = is_approved && verdict.level == Level::Allow;
        // Told when a session begins, and again when the verdict is `ask`: the broken file may be the reason.
        if is_first || verdict.level == Level::Ask {
            notices.extend(broken);
        }
        (verdict.notices, verdict.context) = (notices, context);
        verdict.not_enforced = lift(&verdict);
        verdict.context.extend(unmatched_promises.hint(&verdict));
        (verdict, consequences)
    }
}
