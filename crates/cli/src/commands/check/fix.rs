//! `check --fix`: runs the commands of unmet rules.

use engine::decide::{Demand, RuleOutcome};
use guard::Project;
use guard::check::CheckedRule;
use guard::file_rules::{BaselineId, CommandRunner, DemandTracker, OpenDemand, Queue};
use guard::timestamp;
use policy::Config;

use crate::commands::{Context, now};

/// The session name under which the queue stores the results of a check.
const SESSION: &str = "check";

/// Runs the commands of the unmet rules one after the other, and stores the results. Returns notes for people.
pub fn run_commands(
    checked: &mut [CheckedRule],
    baseline: &str,
    project: &Project,
    config: &Config,
    context: &Context,
) -> Vec<String> {
    let tmp = project.tmp(&context.environment);
    let timestamp = timestamp(now());
    let demand_tracker =
        DemandTracker::new(&project.root, Queue::of(project, &context.environment), SESSION, timestamp, None);
    let command_runner = CommandRunner { environment: &context.environment, config, root: &project.root, tmp: &tmp };
    let mut notes = Vec::new();
    for checked in checked.iter_mut().filter(|checked| checked.is_unmet()) {
        let Some(action) = checked.rule.as_file_rule().and_then(|file| file.command.as_ref()) else { continue };
        let outcome = command_runner.run(&checked.rule.id, action, &checked.file_match);
        let demand = Demand {
            rule: checked.rule.clone(),
            file_match: checked.file_match.clone(),
            release_notice: None,
            times_asked: 0,
        };
        let open = OpenDemand::new(demand, BaselineId::from(baseline.to_owned()));
        demand_tracker.record_command_result(&open, &outcome, None);
        notes.extend(outcome.notices.iter().cloned());
        if outcome.is_passed {
            checked.outcome = RuleOutcome::NotApplied;
        }
        checked.command = Some(outcome.result);
    }
    notes.extend(demand_tracker.take_problem());
    notes
}
