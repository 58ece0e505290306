//! What the file rules of one policy ask for at one event: their commands are run, the rest is told and written down.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use engine::decide::Demand;
use engine::{Decision, SectionKind};
use serde_json::{Map, Value};
use store::{SessionState, StateChanges};

use super::command_action::{CommandResult, Commands, told};
use super::file_facts::FileFacts;
use super::queue::{Reference, trigger_hash};

pub struct Demands {
    files: Arc<FileFacts>,
    /// With what each was compared.
    open: Vec<(Demand, Reference)>,
    /// The rules that were judged.
    judged: Vec<String>,
    variables: Map<String, Value>,
}

/// What came of commands at one event: judging may be done twice, and they are run once.
#[derive(Default)]
pub struct Ran(RefCell<BTreeMap<(PathBuf, String), CommandResult>>);

impl Demands {
    /// `None` where no file rule had anything to go by.
    pub fn of(decision: &Decision, files: &Arc<FileFacts>, state: Option<&SessionState>) -> Option<Self> {
        if decision.judged_file_rules.is_empty() {
            return None;
        }
        let reference = |demand: &Demand| {
            let reach = demand.rule.as_file_rule()?.scope;
            Some(files.changed.since(reach)?.reference)
        };
        let open = decision.demands.iter().filter_map(|demand| Some((demand.clone(), reference(demand)?)));
        Some(Self {
            open: open.collect(),
            judged: decision.judged_file_rules.clone(),
            variables: state.map(|state| state.variables.clone()).unwrap_or_default(),
            files: Arc::clone(files),
        })
    }

    /// Whether nothing is asked for.
    pub fn are_met(&self) -> bool {
        self.open.is_empty()
    }

    pub fn have_commands(&self) -> bool {
        self.open.iter().any(|(demand, _)| demand.rule.runs_command())
    }

    /// Runs the commands of the rules that have one, in order of the rules. A rule whose command went well has nothing
    /// more to say; one whose command failed tells of that. Returns what the person is to know.
    pub fn run_commands(
        &mut self,
        commands: &Commands<'_>,
        ran: &Ran,
        decision: &mut Decision,
        more_time: &dyn Fn(Duration),
    ) -> Vec<String> {
        let mut notices = Vec::new();
        let settlement = &self.files.settlement;
        self.open.retain(|(demand, reference)| {
            let rule = &demand.rule;
            let Some(action) = rule.as_file_rule().and_then(|file| file.command.as_ref()) else { return true };
            // Two policies may have a rule of one name.
            let key = (commands.root.to_owned(), trigger_hash(&rule.id, demand.found.trigger_files(), &reference.name));
            let known = ran.0.borrow().get(&key).cloned();
            let tree = self.files.state_of_tree();
            let known = known.or_else(|| {
                let result = settlement.known_result(demand, reference, tree.as_deref())?;
                Some(CommandResult { is_passed: false, result, notices: Vec::new() })
            });
            let outcome = known.unwrap_or_else(|| {
                more_time(commands.longest(action, &demand.found));
                let outcome = commands.run(&rule.id, action, &demand.found);
                settlement.ran(demand, reference, &outcome, self.files.state_of_tree());
                notices.extend(outcome.notices.iter().cloned());
                outcome
            });
            ran.0.borrow_mut().insert(key, outcome.clone());
            if outcome.is_passed {
                decision.withdraw(demand);
            } else if let Some(finding) = decision.verdict.findings.iter_mut().find(|finding| finding.rule == rule.id) {
                finding.reason = told(rule, &demand.found, &outcome.result);
                // Who may acknowledge it stays as it is.
                if finding.section == Some(SectionKind::Demand) {
                    finding.section = Some(SectionKind::FailedCommand);
                }
            }
            !outcome.is_passed
        });
        notices
    }

    /// What the session has to remember.
    pub fn remember(&self, changes: &mut StateChanges) {
        self.files.settlement.remember(&self.open, &self.variables, &self.judged, changes);
    }

    /// Writes down, once the judgement is recorded, what was asked for. `is_enforced`: the agent is told. Returns what
    /// went wrong.
    pub fn conclude(&self, is_enforced: bool) -> Vec<String> {
        let settlement = &self.files.settlement;
        settlement.conclude(&self.open, &self.variables, &self.judged, is_enforced);
        settlement.take_problem().into_iter().chain(settlement.queue().take_problems()).collect()
    }
}
