//! Stage 4: the demands of file rules. Collects the open demands (stage 3 has already put them in the queue), and runs
//! the commands that may meet these demands.

use engine::Decision;
use store::{StateChanges, StoredState};

use super::Judge;
use super::event_context::EventContext;
use super::load::ApplicablePolicy;
use super::skipped_rules::skipped_rule_notices;
use crate::file_rules::{CommandRunner, JudgedFileRules};
use crate::session::SessionNotice;

/// The notice in a dry run if a command would have to run. A dry run runs no commands.
const NOT_RUN: &str = "a dry run does not run the commands of rules, so a rule with a command is shown as unmet";

/// The decision of one policy, after the commands of its file rules have run.
pub(super) struct DecisionWithDemands {
    pub(super) decision: Decision,
    pub(super) judged_file_rules: Option<JudgedFileRules>,
    /// Notices for the person, in order.
    pub(super) notices: Vec<SessionNotice>,
    /// The changes of session variables that store which demands are open.
    pub(super) changes: StateChanges,
}

impl Judge<'_> {
    /// Runs the commands of the policy's file rules, and collects its open demands and notices.
    pub(super) fn handle_demands(
        &self,
        applicable: &ApplicablePolicy<'_>,
        mut decision: Decision,
        context: &EventContext<'_>,
        session_state: Option<&StoredState>,
    ) -> DecisionWithDemands {
        let file_facts = applicable.facts.file_facts_if_used();
        let mut judged_file_rules =
            file_facts.and_then(|file_facts| JudgedFileRules::of(&decision, file_facts, session_state));
        let mut changes = StateChanges::default();
        let mut notices = Vec::new();
        if let Some(judged) = &mut judged_file_rules {
            let command_notices = self.run_commands(applicable, judged, &mut decision, context);
            notices.extend(command_notices.into_iter().map(SessionNotice::Always));
            judged.remember_open_hashes(&mut changes);
        }
        if let Some(file_facts) = file_facts {
            // Damaged files of the queue are removed when the event is first judged. The notices about them are kept,
            // in case the event is judged again.
            context
                .once_per_event
                .damaged_queue_notices
                .borrow_mut()
                .extend(file_facts.demand_tracker.queue().take_problems());
            notices.extend(file_facts.changed_files.take_notices());
        }
        let verdict_notices = std::mem::take(&mut decision.verdict.notices);
        notices.extend(
            verdict_notices
                .into_iter()
                .chain(skipped_rule_notices(applicable, &decision.skipped))
                .map(SessionNotice::Always),
        );
        DecisionWithDemands { decision, judged_file_rules, notices, changes }
    }

    /// Runs the commands that may meet the open demands, and returns notices.
    fn run_commands(
        &self,
        applicable: &ApplicablePolicy<'_>,
        judged: &mut JudgedFileRules,
        decision: &mut Decision,
        context: &EventContext<'_>,
    ) -> Vec<String> {
        if !judged.has_commands() {
            return Vec::new();
        }
        if context.event.is_dry_run {
            return vec![NOT_RUN.to_owned()];
        }
        // No command runs while nothing is enforced.
        if self.enforcement().why_nothing_is_enforced(context.event.time).is_some() {
            return Vec::new();
        }
        let environment = self.situation_builder.environment;
        let command_runner = CommandRunner {
            environment,
            config: &applicable.policy.config,
            root: &applicable.project.root,
            tmp: &applicable.project.tmp(environment),
        };
        judged.run_commands(&command_runner, &context.once_per_event.command_results, decision, context.extend_deadline)
    }
}
