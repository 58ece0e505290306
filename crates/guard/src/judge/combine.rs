//! Folds what each applicable policy says about an event into one verdict.

use engine::observers::VariableChanges;
use engine::{Event, Finding, Level, Verdict};
use policy::Config;
use store::SessionState;

use super::effects::Effects;
use super::load::{ApplicablePolicy, PolicyScope};
use super::observe::Observed;
use super::settle::Settled;
use crate::failure::{self, Failure};
use crate::file_rules::Unheard;
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
    unheard: Unheard,
    is_approved: bool,
    pub(super) effects: Effects,
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
            unheard: Unheard::of(event),
            is_approved: false,
            effects: Effects::default(),
        }
    }

    /// The variables set so far.
    pub(super) fn variables(&self) -> &VariableChanges {
        &self.effects.changes.variables
    }

    pub(super) fn note(&mut self, notices: impl IntoIterator<Item = String>) {
        self.notices.extend(notices);
    }

    pub(super) fn note_broken(&mut self, notices: impl IntoIterator<Item = String>) {
        self.broken.extend(notices);
    }

    pub(super) fn note_news(&mut self, notices: impl IntoIterator<Item = SessionNotice>) {
        let news = self.effects.news(notices, self.state);
        self.notices.extend(news);
    }

    pub(super) fn find(&mut self, failure: Option<Failure>) {
        self.findings.extend(failure.map(|failure| failure.finding()));
    }

    /// Adds the result of one policy.
    pub(super) fn add(&mut self, here: &ApplicablePolicy<'_>, observed: Observed, settled: Result<Settled, Failure>) {
        self.note_broken(here.policy.broken.iter().map(failure::broken_notice));
        if self.is_first {
            self.note(here.policy.untrusted.iter().cloned());
        }
        self.note(observed.notices);
        self.context.extend(observed.texts);
        self.keep_variables(&here.scope, observed.variables);
        match settled {
            Ok(settled) => self.add_settled(here, settled),
            Err(failure) => self.find(Some(failure)),
        }
    }

    fn add_settled(&mut self, here: &ApplicablePolicy<'_>, settled: Settled) {
        let Settled { decision, demands, notices, changes } = settled;
        self.unheard.hear(&here.policy.rules, &decision.judged_file_rules);
        self.note_news(notices);
        self.is_approved |= decision.verdict.approved;
        self.findings.extend(decision.verdict.findings);
        self.effects.changes.variables.extend(changes.variables);
        self.effects.demands.extend(demands);
        self.effects.add_facts(&here.facts);
        let is_of_workflow = matches!(here.scope, PolicyScope::Workflow(_));
        self.effects.conduct.add(decision.pace_updates, decision.holds, is_of_workflow, &here.facts);
    }

    /// Keeps the variables that observers and actions of a policy set.
    fn keep_variables(&mut self, scope: &PolicyScope, observed: VariableChanges) {
        let changes = &mut self.effects.changes;
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
    pub(super) fn into_verdict(self, lift: impl FnOnce(&Verdict) -> Option<engine::NotEnforced>) -> (Verdict, Effects) {
        let Self { is_first, findings, mut notices, context, broken, unheard, is_approved, effects, .. } = self;
        let mut verdict = Verdict::of(findings);
        verdict.approved = is_approved && verdict.level == Level::Allow;
        // Told when a session begins, and again when the verdict is `ask`: the broken file may be the reason.
        if is_first || verdict.level == Level::Ask {
            notices.extend(broken);
        }
        (verdict.notices, verdict.context) = (notices, context);
        verdict.not_enforced = lift(&verdict);
        verdict.context.extend(unheard.told(&verdict));
        (verdict, effects)
    }
}
