//! `check`: judges the file rules without an agent, for people, pre-commit hooks and CI.

pub mod ack_trailer;
mod comparison;
mod fix;
mod github;
mod name_status;
mod report;
mod sarif;
mod text;

use std::sync::Arc;

use engine::decide::RuleOutcome as Judged;
use engine::rules::Rule;
use guard::Project;
use guard::check::{self, CheckResult, CheckedRule, FileCheck};
use guard::facts::TaskFacts;
use guard::file_rules::Queue;
use guard::session::project_of_command;
use policy::{CompiledPolicy, Diagnostic, LoadedPolicy};

use super::Context;
use super::unknown_rule::not_in_force;
use crate::arguments::{CheckArguments, CheckFormat};
use crate::exit_code::ExitCode;
use crate::problem::{CommandOutcome, Problem};
use comparison::Comparison;
use report::CheckReport;

pub fn run(arguments: &CheckArguments, context: &Context) -> CommandOutcome {
    let project = Project::of_person(&context.environment);
    super::validate::require_policy(&project)?;
    // This also queues the texts of new rules, so that the next hook records them in the journal.
    let policy = Arc::new(project.compiled_policy(&context.environment));
    let rules = rules(arguments, &policy, || project.load(&context.environment))?;
    let mut comparison = Comparison::of(arguments, &project, &policy.config, &rules, &context.environment)?;
    let check = FileCheck {
        rules: &rules,
        project: &project,
        policy: Arc::clone(&policy),
        environment: &context.environment,
        base_directories: guard::facts::base_directories(&project.root, &policy.config, &context.environment),
        compared: std::mem::take(&mut comparison.compared),
        queue: Queue::of(&project, &context.environment).for_dry_run(true),
        // Before a commit, promises and acknowledgements on this machine count. Otherwise they are ignored, because a
        // person wants to see the actual state.
        answers_count: arguments.staged,
        acknowledged: comparison.acknowledged.iter().map(|trailer| trailer.name.clone()).collect(),
        tasks: TaskFacts::of(&project_of_command(&context.environment), &context.environment),
        now: super::now(),
    };
    let CheckResult { rules: mut checked, notes: of_workflow } =
        check::check(check).map_err(|error| Problem::new("Internal", error.to_string()))?;
    checked.retain(|checked| is_wanted(&checked.rule, arguments));
    let mut notes = std::mem::take(&mut comparison.notes);
    notes.extend(of_workflow);
    notes.extend(policy.untrusted.iter().cloned());
    if arguments.fix {
        notes.extend(fix::run_commands(&mut checked, &comparison.baseline, &project, &policy.config, context));
    }
    // The compiled policy has no diagnostics, so broken files are read again to report their errors.
    let problems: Vec<Diagnostic> = match policy.broken.as_slice() {
        [] => Vec::new(),
        _ => project.load(&context.environment).errors().cloned().collect(),
    };
    let Comparison { baseline, since, changed_files, acknowledged, prefix, .. } = comparison;
    let can_be_acknowledged = arguments.changed_from.is_none();
    let report = CheckReport {
        checked,
        problems,
        baseline,
        since,
        changed_files,
        notes,
        acknowledged,
        can_be_acknowledged,
        prefix,
    };
    let format = if context.output.json { CheckFormat::Json } else { arguments.format };
    match format {
        CheckFormat::Text => text::show(&report, context),
        CheckFormat::Json => context.output.value(&report.to_json()),
        CheckFormat::Github => github::show(&report, context),
        CheckFormat::Sarif => context.output.value(&sarif::log(&report)),
    }
    Ok(report.exit_code())
}

/// Returns the file rules in force. Fails if one of the requested rules is not among them.
fn rules(
    arguments: &CheckArguments,
    policy: &CompiledPolicy,
    load: impl FnOnce() -> LoadedPolicy,
) -> Result<Vec<Rule>, Problem> {
    let rules = policy.rules.all().map_err(|error| Problem::new("Unreadable", error.to_string()))?;
    let (rules, others): (Vec<Rule>, Vec<Rule>) = rules.into_iter().partition(|rule| rule.as_file_rule().is_some());
    if let Some(unknown) = arguments.rules.iter().find(|wanted| !rules.iter().any(|rule| is_called(rule, wanted))) {
        if others.iter().any(|rule| is_called(rule, unknown)) {
            return Err(not_a_file_rule(unknown).help("name a file rule, or leave out `--rule` to check all of them"));
        }
        let loaded = load();
        if loaded.untrusted_rules.iter().any(|waiting| is_called(&waiting.rule, unknown)) {
            let message = format!("rule `{unknown}` is ignored until a person accepts it");
            return Err(Problem::new("Untrusted", message).help("`linchpin trust` shows and accepts it"));
        }
        return Err(not_in_force(unknown, &loaded));
    }
    Ok(rules)
}

pub fn not_a_file_rule(rule: &str) -> Problem {
    let message = format!("rule `{rule}` is not a file rule, so `check` does not judge it");
    Problem::new("NotAcknowledgeable", message)
}

/// True if `name` is the rule's id or title.
fn is_called(rule: &Rule, name: &str) -> bool {
    rule.id == name || rule.display_title().to_lowercase() == name.to_lowercase()
}

fn is_wanted(rule: &Rule, arguments: &CheckArguments) -> bool {
    arguments.rules.is_empty() || arguments.rules.iter().any(|name| is_called(rule, name))
}

/// True if the rule cannot be judged before its command runs: the command has not run, and no missing file shows
/// already that the rule is unmet.
fn waits_for_its_command(checked: &CheckedRule) -> bool {
    let is_run = checked.command.is_some() || checked.file_match.pairs().next().is_some();
    checked.rule.runs_command() && checked.is_unmet() && !is_run
}

fn is_broken(checked: &CheckedRule) -> bool {
    matches!(checked.outcome, Judged::Fault(..))
}

impl CheckReport {
    fn exit_code(&self) -> ExitCode {
        if !self.problems.is_empty() || self.checked.iter().any(is_broken) {
            ExitCode::Usage
        } else if self.unmet().next().is_some() {
            ExitCode::No
        } else {
            ExitCode::Done
        }
    }
}
