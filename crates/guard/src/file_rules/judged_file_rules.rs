//! The file rules of one policy that were judged at one event, and their open demands: runs commands and records demands.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use engine::decide::Demand;
use engine::{Decision, SectionKind};
use serde_json::{Map, Value};
use store::{SessionState, StateChanges};

use super::command_action::{CommandResult, Commands, failed_command_text};
use super::file_facts::FileFacts;
use super::queue::{BaselineName, trigger_hash};

/// The file rules of one policy that were judged at one event, with the demands that are open.
pub struct JudgedFileRules {
    files: Arc<FileFacts>,
    /// Open demands, each with its baseline.
    open_demands: Vec<(Demand, BaselineName)>,
    /// Ids of the rules that were judged.
    judged_rules: Vec<String>,
    variables: Map<String, Value>,
}

/// The results of commands at one event. They are stored so that each command runs only once, even if the event is
/// judged twice.
#[derive(Default)]
pub struct CommandResults(RefCell<BTreeMap<(PathBuf, String), CommandResult>>);

impl JudgedFileRules {
    /// `None` if no file rule was judged.
    pub fn of(decision: &Decision, files: &Arc<FileFacts>, state: Option<&SessionState>) -> Option<Self> {
        if decision.judged_file_rules.is_empty() {
            return None;
        }
        let baseline_name = |demand: &Demand| {
            let change_scope = demand.rule.as_file_rule()?.scope;
            Some(files.changed_files.since(change_scope)?.baseline_name)
        };
        let open_demands = decision.demands.iter().filter_map(|demand| Some((demand.clone(), baseline_name(demand)?)));
        Some(Self {
            open_demands: open_demands.collect(),
            judged_rules: decision.judged_file_rules.clone(),
            variables: state.map(|state| state.variables.clone()).unwrap_or_default(),
            files: Arc::clone(files),
        })
    }

    /// True if there is no open demand.
    pub fn are_all_met(&self) -> bool {
        self.open_demands.is_empty()
    }

    pub fn has_commands(&self) -> bool {
        self.open_demands.iter().any(|(demand, _)| demand.rule.runs_command())
    }

    /// Runs the commands of rules, in order. If a command succeeds, the finding of its rule is removed; if it fails,
    /// its output becomes the finding's reason. Returns notices.
    pub fn run_commands(
        &mut self,
        commands: &Commands<'_>,
        earlier_results: &CommandResults,
        decision: &mut Decision,
        extend_deadline: &dyn Fn(Duration),
    ) -> Vec<String> {
        let mut notices = Vec::new();
        let demand_tracker = &self.files.demand_tracker;
        self.open_demands.retain(|(demand, baseline_name)| {
            let rule = &demand.rule;
            let Some(action) = rule.as_file_rule().and_then(|file| file.command.as_ref()) else { return true };
            // Two policies may have a rule with the same id.
            let key =
                (commands.root.to_owned(), trigger_hash(&rule.id, demand.found.trigger_files(), &baseline_name.name));
            let earlier = earlier_results.0.borrow().get(&key).cloned();
            let uncommitted_digest = self.files.uncommitted_digest();
            let earlier = earlier.or_else(|| {
                let result = demand_tracker.earlier_result(demand, baseline_name, uncommitted_digest.as_deref())?;
                Some(CommandResult { is_passed: false, result, notices: Vec::new() })
            });
            let outcome = earlier.unwrap_or_else(|| {
                extend_deadline(commands.max_duration(action, &demand.found));
                let outcome = commands.run(&rule.id, action, &demand.found);
                demand_tracker.record_command_result(demand, baseline_name, &outcome, self.files.uncommitted_digest());
                notices.extend(outcome.notices.iter().cloned());
                outcome
            });
            earlier_results.0.borrow_mut().insert(key, outcome.clone());
            if outcome.is_passed {
                decision.withdraw(demand);
            } else if let Some(finding) = decision.verdict.findings.iter_mut().find(|finding| finding.rule == rule.id) {
                finding.reason = failed_command_text(rule, &demand.found, &outcome.result);
                // A finding keeps its section if only a person may acknowledge it.
                if finding.section == Some(SectionKind::Demand) {
                    finding.section = Some(SectionKind::FailedCommand);
                }
            }
            !outcome.is_passed
        });
        notices
    }

    /// Stores the open demands in the session's variables.
    pub fn store_open_demands(&self, changes: &mut StateChanges) {
        self.files.demand_tracker.store_open_demands(&self.open_demands, &self.variables, &self.judged_rules, changes);
    }

    /// Writes the demands to the queue. Called once the judgement is recorded. `is_enforced` is true if the agent sees
    /// the demands. Returns error messages.
    pub fn write_queue(&self, is_enforced: bool) -> Vec<String> {
        let demand_tracker = &self.files.demand_tracker;
        demand_tracker.write_queue(&self.open_demands, &self.variables, &self.judged_rules, is_enforced);
        demand_tracker.take_problem().into_iter().chain(demand_tracker.queue().take_problems()).collect()
    }
}
