//! Stage 4: the demands of file rules. Collects the open demands, which are stored in the queue later, and runs the
//! commands that may meet them.

use engine::Decision;
use engine::decide::SkippedRule;
use engine::facts::FactStore;
use store::{SessionState, StateChanges};

use super::Judge;
use super::event_context::EventContext;
use super::load::ApplicablePolicy;
use crate::failure;
use crate::file_rules::{Commands, JudgedFileRules};
use crate::session::SessionNotice;

const NOT_RUN: &str = "a rule's command was not run: the rule is unmet until the command passes";

/// A decision with its open demands, after their commands have run.
pub(super) struct DecisionWithDemands {
    pub(super) decision: Decision,
    pub(super) demands: Option<JudgedFileRules>,
    /// Notices for the person, in order.
    pub(super) notices: Vec<SessionNotice>,
    /// Variables of the session that demands set.
    pub(super) changes: StateChanges,
}

impl Judge<'_> {
    pub(super) fn handle_demands(
        &self,
        applicable: &ApplicablePolicy<'_>,
        mut decision: Decision,
        context: &EventContext<'_>,
        state: Option<&SessionState>,
    ) -> DecisionWithDemands {
        let files = applicable.facts.files_if_used();
        let mut demands = files.and_then(|files| JudgedFileRules::of(&decision, files, state));
        let mut changes = StateChanges::default();
        let mut notices = Vec::new();
        if let Some(demands) = &mut demands {
            notices.extend(self.run_commands(applicable, demands, &mut decision, context));
            demands.store_open_demands(&mut changes);
        }
        let mut notices: Vec<SessionNotice> = notices.into_iter().map(SessionNotice::Always).collect();
        if let Some(files) = files {
            // Damaged queue files are only found the first time that an event is judged, so their notices are kept.
            context
                .once_per_event
                .damaged_queue_notices
                .borrow_mut()
                .extend(files.demand_tracker.queue().take_problems());
            notices.extend(files.changed_files.take_notices());
        }
        let verdict_notices = std::mem::take(&mut decision.verdict.notices);
        notices.extend(
            verdict_notices
                .into_iter()
                .chain(skipped_notices(applicable, &decision.skipped))
                .map(SessionNotice::Always),
        );
        DecisionWithDemands { decision, demands, notices, changes }
    }

    /// Runs the commands that may meet the demands of their rules, and returns notices.
    fn run_commands(
        &self,
        applicable: &ApplicablePolicy<'_>,
        demands: &mut JudgedFileRules,
        decision: &mut Decision,
        context: &EventContext<'_>,
    ) -> Vec<String> {
        if !demands.has_commands() {
            return Vec::new();
        }
        if context.event.is_dry_run {
            return vec![NOT_RUN.to_owned()];
        }
        // No command runs while nothing is enforced.
        if self.enforcement().why_nothing_is_enforced(context.event.time).is_some() {
            return Vec::new();
        }
        let environment = self.session_context.environment;
        let commands = Commands {
            environment,
            config: &applicable.policy.config,
            root: &applicable.project.root,
            tmp: &applicable.project.tmp(environment),
        };
        demands.run_commands(&commands, &context.once_per_event.command_results, decision, context.extend_deadline)
    }
}

/// Notices of rules that were skipped, and of a queue that cannot be written.
fn skipped_notices(applicable: &ApplicablePolicy<'_>, skipped: &[SkippedRule]) -> Vec<String> {
    let files = applicable.facts.files_if_used();
    let unwritten = files.and_then(|files| files.demand_tracker.take_problem());
    let notices = skipped.iter().map(|SkippedRule { rule, unreadable }| match (&unwritten, unreadable) {
        (Some(why), FactStore::Queue) => format!("rule `{rule}` was skipped: {why}"),
        _ => failure::skipped_rule_notice(rule, *unreadable),
    });
    let notices: Vec<String> = notices.collect();
    let is_explained = skipped.iter().any(|skipped| skipped.unreadable == FactStore::Queue);
    notices.into_iter().chain(unwritten.filter(|_| !is_explained)).collect()
}
