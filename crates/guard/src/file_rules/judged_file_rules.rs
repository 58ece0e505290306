//! The file rules of one policy that were judged at one event: runs the commands of their open demands, counts the
//! demands that were shown, and closes those that are no longer made.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use engine::{Decision, SectionKind};
use serde_json::{Map, Value};
use store::{StateChanges, StoredState};

use super::command_action::{CommandResult, CommandRunner, failed_command_text};
use super::file_facts::FileFacts;
use super::open_demand::OpenDemand;

/// The file rules of one policy that were judged at one event, and their open demands.
pub struct JudgedFileRules {
    file_facts: Arc<FileFacts>,
    open_demands: Vec<OpenDemand>,
    /// The ids of the rules that were judged.
    judged_rule_ids: Vec<String>,
    /// See [`Decision::has_unjudged_file_rule`].
    has_unjudged_rule: bool,
    /// The stored variables of the session.
    variables: Map<String, Value>,
}

/// The results of commands at one event, by policy root and demand hash. Each command runs only once, even if the event
/// is judged twice.
#[derive(Default)]
pub struct CommandResults(RefCell<BTreeMap<(PathBuf, String), CommandResult>>);

impl JudgedFileRules {
    /// `None` if the policy has no file rule for this event.
    pub fn of(decision: &Decision, file_facts: &Arc<FileFacts>, state: Option<&StoredState>) -> Option<Self> {
        if decision.judged_file_rule_ids.is_empty() && !decision.has_unjudged_file_rule {
            return None;
        }
        let open_demands = decision.demands.iter().filter_map(|demand| {
            let change_scope = demand.rule.as_file_rule()?.scope;
            let baseline_id = file_facts.changed_files.in_scope(change_scope)?.baseline_id;
            Some(OpenDemand::new(demand.clone(), baseline_id))
        });
        Some(Self {
            open_demands: open_demands.collect(),
            judged_rule_ids: decision.judged_file_rule_ids.clone(),
            has_unjudged_rule: decision.has_unjudged_file_rule,
            variables: state.map(|state| state.variables.clone()).unwrap_or_default(),
            file_facts: Arc::clone(file_facts),
        })
    }

    /// The root of the policy.
    pub fn root(&self) -> &Path {
        self.file_facts.changed_files.root()
    }

    /// True if each rule is met, or its demand was answered. False if a rule has given up or could not be judged,
    /// because such a rule may be unmet.
    pub fn is_each_rule_met(&self) -> bool {
        self.open_demands.is_empty() && !self.has_unjudged_rule
    }

    /// True if a command could meet one of the open demands.
    pub fn has_commands(&self) -> bool {
        self.open_demands.iter().any(|open| open.demand.rule.runs_command())
    }

    /// Runs the commands that may meet the open demands, in order. If a command passes, the demand is closed and its
    /// finding removed from the decision. If it fails, its output becomes the finding's reason. Returns notices.
    pub fn run_commands(
        &mut self,
        command_runner: &CommandRunner<'_>,
        earlier_results: &CommandResults,
        decision: &mut Decision,
        extend_deadline: &dyn Fn(Duration),
    ) -> Vec<String> {
        let mut notices = Vec::new();
        let demand_tracker = &self.file_facts.demand_tracker;
        self.open_demands.retain(|open| {
            let demand = &open.demand;
            let rule = &demand.rule;
            let Some(action) = rule.as_file_rule().and_then(|file| file.command.as_ref()) else { return true };
            // Two policies may have a rule with the same id.
            let key = (command_runner.root.to_owned(), open.hash.clone());
            let earlier = earlier_results.0.borrow().get(&key).cloned();
            let uncommitted_digest = self.file_facts.uncommitted_digest();
            let earlier = earlier.or_else(|| {
                let result = demand_tracker.earlier_failure(open, uncommitted_digest.as_deref())?;
                Some(CommandResult { is_passed: false, result, notices: Vec::new() })
            });
            let outcome = earlier.unwrap_or_else(|| {
                extend_deadline(command_runner.max_duration(action, &demand.file_match));
                let outcome = command_runner.run(&rule.id, action, &demand.file_match);
                self.file_facts.forget_uncommitted_digest();
                demand_tracker.record_command_result(open, &outcome, self.file_facts.uncommitted_digest());
                notices.extend(outcome.notices.iter().cloned());
                outcome
            });
            earlier_results.0.borrow_mut().insert(key, outcome.clone());
            if outcome.is_passed {
                decision.remove_finding_of(demand);
            } else if let Some(finding) = decision.verdict.findings.iter_mut().find(|finding| finding.rule == rule.id) {
                finding.reason = failed_command_text(rule, &demand.file_match, &outcome.result);
                // If only a person may acknowledge the finding, it is in another section, and stays there.
                if finding.section == Some(SectionKind::Demand) {
                    finding.section = Some(SectionKind::FailedCommand);
                }
            }
            !outcome.is_passed
        });
        notices
    }

    /// Adds the hashes of the open demands to the changes of the session's variables.
    pub fn remember_open_hashes(&self, changes: &mut StateChanges) {
        self.file_facts.demand_tracker.remember_open_hashes(
            &self.open_demands,
            &self.variables,
            &self.judged_rule_ids,
            changes,
        );
    }

    /// Updates the queue: if `is_enforced`, counts that the open demands were shown; in any case, closes demands that
    /// are no longer made. Called once the judgement is recorded, or could not be recorded. Returns error messages.
    pub fn count_and_close(&self, is_enforced: bool) -> Vec<String> {
        let demand_tracker = &self.file_facts.demand_tracker;
        demand_tracker.count_and_close(&self.open_demands, &self.variables, &self.judged_rule_ids, is_enforced);
        demand_tracker.take_problem().into_iter().chain(demand_tracker.queue().take_problems()).collect()
    }
}
