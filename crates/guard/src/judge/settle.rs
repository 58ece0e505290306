//! Stage 4: demands of file rules. Runs their commands and gathers the notices.

use engine::Decision;
use engine::decide::SkippedRule;
use store::{SessionState, StateChanges};

use super::Judge;
use super::applicable::ApplicablePolicy;
use super::event_context::EventContext;
use crate::failure;
use crate::file_rules::{Commands, Demands};
use crate::session::SessionNotice;

const NOT_RUN: &str = "a rule's command was not run: it counts as not met until the command passes";

/// A decision after its demands were settled.
pub(super) struct SettledDecision {
    pub(super) decision: Decision,
    pub(super) demands: Option<Demands>,
    /// Notices for the person, in order.
    pub(super) notices: Vec<SessionNotice>,
    /// Variables of the session that demands set.
    pub(super) changes: StateChanges,
}

impl Judge<'_> {
    pub(super) fn settle(
        &self,
        applicable: &ApplicablePolicy<'_>,
        mut decision: Decision,
        context: &EventContext<'_>,
        state: Option<&SessionState>,
    ) -> SettledDecision {
        let files = applicable.facts.files_asked();
        let mut demands = files.and_then(|files| Demands::of(&decision, files, state));
        let mut changes = StateChanges::default();
        let mut notices = Vec::new();
        if let Some(demands) = &mut demands {
            notices.extend(self.run_commands(applicable, demands, &mut decision, context));
            demands.remember(&mut changes);
        }
        let mut notices: Vec<SessionNotice> = notices.into_iter().map(SessionNotice::Always).collect();
        if let Some(files) = files {
            // If an event is judged twice, damaged queue files are discarded the first time.
            context.damaged.borrow_mut().extend(files.session_demands.queue().take_problems());
            notices.extend(files.changed.take_notices());
        }
        let said = std::mem::take(&mut decision.verdict.notices);
        notices
            .extend(said.into_iter().chain(skipped_notices(applicable, &decision.skipped)).map(SessionNotice::Always));
        SettledDecision { decision, demands, notices, changes }
    }

    /// Runs commands of rules that could meet their demands, and returns the notices.
    fn run_commands(
        &self,
        applicable: &ApplicablePolicy<'_>,
        demands: &mut Demands,
        decision: &mut Decision,
        context: &EventContext<'_>,
    ) -> Vec<String> {
        if !demands.have_commands() {
            return Vec::new();
        }
        if context.event.is_dry_run {
            return vec![NOT_RUN.to_owned()];
        }
        // No command runs while nothing is enforced.
        if self.enforcement().lift_for_all(context.event.time).is_some() {
            return Vec::new();
        }
        let environment = self.builder.environment;
        let commands = Commands {
            environment,
            config: &applicable.policy.config,
            root: &applicable.project.root,
            tmp: &applicable.project.tmp(environment),
        };
        demands.run_commands(&commands, &context.command_results, decision, context.more_time)
    }
}

/// Notices of rules that were skipped, and of a queue that cannot be written.
fn skipped_notices(applicable: &ApplicablePolicy<'_>, skipped: &[SkippedRule]) -> Vec<String> {
    let files = applicable.facts.files_asked();
    let unwritten = files.and_then(|files| files.session_demands.take_problem());
    let is_about_files = |rule: &str| files.is_some_and(|files| files.rule(rule).is_some());
    let told = skipped.iter().map(|SkippedRule { rule, unreadable }| match &unwritten {
        Some(why) if is_about_files(rule) => format!("rule `{rule}` was skipped: {why}"),
        _ => failure::skipped_rule_notice(rule, *unreadable),
    });
    let told: Vec<String> = told.collect();
    let alone = unwritten.filter(|_| !skipped.iter().any(|skipped| is_about_files(&skipped.rule)));
    told.into_iter().chain(alone).collect()
}
