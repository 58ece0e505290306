//! The demands of one policy's file rules at one event: runs their commands and records them.

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

/// The demands of one policy's file rules that are open after its rules were judged.
pub struct OpenDemands {
    files: Arc<FileFacts>,
    /// Open demands, each with its baseline.
    open: Vec<(Demand, BaselineName)>,
    /// Ids of the rules that were judged.
    judged: Vec<String>,
    variables: Map<String, Value>,
}

/// The results of commands at one event. They are stored so that each command runs only once, even if the event is
/// judged twice.
#[derive(Default)]
pub struct CommandResults(RefCell<BTreeMap<(PathBuf, String), CommandResult>>);

impl OpenDemands {
    /// `None` if no file rule was judged.
    pub fn of(decision: &Decision, files: &Arc<FileFacts>, state: Option<&SessionState>) -> Option<Self> {
        if decision.judged_file_rules.is_empty() {
            return None;
        }
        let baseline_name = |demand: &Demand| {
            let change_scope = demand.rule.as_file_rule()?.scope;
            Some(files.changed.since(change_scope)?.baseline_name)
        };
        let open = decision.demands.iter().filter_map(|demand| Some((demand.clone(), baseline_name(demand)?)));
        Some(Self {
            open: open.collect(),
            judged: decision.judged_file_rules.clone(),
            variables: state.map(|state| state.variables.clone()).unwrap_or_default(),
            files: Arc::clone(files),
        })
    }

    /// True if there is no open demand.
    pub fn are_met(&self) -> bool {
        self.open.is_empty()
    }

    pub fn have_commands(&self) -> bool {
        self.open.iter().any(|(demand, _)| demand.rule.runs_command())
    }

    /// Runs the commands of rules, in order. If a command succeeds, the finding of its rule is removed; if it fails,
    /// its output becomes the finding's reason. Returns notices.
    pub fn run_commands(
        &mut self,
        commands: &Commands<'_>,
        ran: &CommandResults,
        decision: &mut Decision,
        more_time: &dyn Fn(Duration),
    ) -> Vec<String> {
        let mut notices = Vec::new();
        let demand_tracker = &self.files.demand_tracker;
        self.open.retain(|(demand, baseline_name)| {
            let rule = &demand.rule;
            let Some(action) = rule.as_file_rule().and_then(|file| file.command.as_ref()) else { return true };
            // Two policies may have a rule with the same id.
            let key =
                (commands.root.to_owned(), trigger_hash(&rule.id, demand.found.trigger_files(), &baseline_name.name));
            let known = ran.0.borrow().get(&key).cloned();
            let tree = self.files.state_of_tree();
            let known = known.or_else(|| {
                let result = demand_tracker.known_result(demand, baseline_name, tree.as_deref())?;
                Some(CommandResult { is_passed: false, result, notices: Vec::new() })
            });
            let outcome = known.unwrap_or_else(|| {
                more_time(commands.longest(action, &demand.found));
                let outcome = commands.run(&rule.id, action, &demand.found);
                demand_tracker.record_command_result(demand, baseline_name, &outcome, self.files.state_of_tree());
                notices.extend(outcome.notices.iter().cloned());
                outcome
            });
            ran.0.borrow_mut().insert(key, outcome.clone());
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
    pub fn remember(&self, changes: &mut StateChanges) {
        self.files.demand_tracker.remember(&self.open, &self.variables, &self.judged, changes);
    }

    /// Writes the demands to the queue. Called once the judgement is recorded. `is_enforced` is true if the agent sees
    /// the demands. Returns error messages.
    pub fn write_queue(&self, is_enforced: bool) -> Vec<String> {
        let demand_tracker = &self.files.demand_tracker;
        demand_tracker.write_queue(&self.open, &self.variables, &self.judged, is_enforced);
        demand_tracker.take_problem().into_iter().chain(demand_tracker.queue().take_problems()).collect()
    }
}
