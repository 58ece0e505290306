//! The result of a check, independent of the output format.

use engine::Level;
use engine::decide::{RuleOutcome, section};
use guard::check::{CheckedRule, STORED_STATE};
use guard::file_rules::failed_command_text;
use policy::Diagnostic;
use serde_json::{Value, json};

use super::ack_trailer::Trailer;
use crate::plural::counted;

pub struct CheckReport {
    pub checked: Vec<CheckedRule>,
    /// Errors in policy files.
    pub problems: Vec<Diagnostic>,
    /// The full name of the commit with which the files were compared, or the name of the list of changes.
    pub baseline: String,
    /// The baseline in words for people, such as `since 1a2b3c`.
    pub since: String,
    /// The number of changed files.
    pub changed_files: usize,
    /// Notes for people about how the changes were determined.
    pub notes: Vec<String>,
    /// Acknowledgements in commit messages.
    pub acknowledged: Vec<Trailer>,
    /// True if the changes come from git, so that rules can be acknowledged for them.
    pub can_be_acknowledged: bool,
    /// The project's path within its repository. Other tools expect paths relative to the repository.
    pub prefix: String,
}

impl CheckReport {
    pub fn unmet(&self) -> impl Iterator<Item = &CheckedRule> {
        self.checked.iter().filter(|checked| checked.is_unmet() && !super::waits_for_its_command(checked))
    }

    /// Returns the rules that can be judged only after their command has run.
    pub fn waiting(&self) -> impl Iterator<Item = &CheckedRule> {
        self.checked.iter().filter(|checked| super::waits_for_its_command(checked))
    }

    /// Returns the rules that depend on facts that only a session has, each with these facts.
    pub fn undecided(&self) -> impl Iterator<Item = (&CheckedRule, &[String])> {
        self.checked.iter().filter_map(|checked| Some((checked, checked.missing_facts()?)))
    }

    /// Returns the rules that a commit message acknowledges, each with the reason.
    fn acknowledged_rules(&self) -> impl Iterator<Item = (&CheckedRule, &str)> {
        let acknowledged = self.checked.iter().filter(|checked| checked.outcome == RuleOutcome::Acknowledged);
        acknowledged.filter_map(|checked| {
            let trailer = self.acknowledged.iter().find(|trailer| super::is_called(&checked.rule, &trailer.name))?;
            Some((checked, trailer.reason.as_str()))
        })
    }

    /// Returns remarks about rules that were not judged or are acknowledged, about rules that their commands fixed, and
    /// about the comparison.
    pub fn remarks(&self) -> Vec<String> {
        let waiting = self.waiting().map(|checked| {
            let files = counted(checked.file_match.triggers.len(), "file");
            format!("`{}` was not judged: `linchpin check --fix` runs its command ({files})", checked.rule.id)
        });
        let met_by_command = self.checked.iter().filter(|checked| !checked.is_unmet()).filter_map(|checked| {
            let result = checked.command.as_ref()?;
            Some(format!("`{}` {}", checked.rule.id, result.message.as_deref().unwrap_or_default()))
        });
        let acknowledged = self.acknowledged_rules().map(|(checked, reason)| match reason {
            "" => format!("`{}` is acknowledged by a commit", checked.rule.id),
            _ => format!("`{}` is acknowledged by a commit: {reason}", checked.rule.id),
        });
        let undecided = self.undecided().map(|(checked, facts)| undecided_text(&checked.rule.id, facts));
        let silenced = self.checked.iter().filter(|checked| !checked.silenced_by.is_empty()).map(silenced_text);
        let of_rules = waiting.chain(met_by_command).chain(undecided).chain(silenced).chain(acknowledged);
        of_rules.chain(self.notes.iter().cloned()).collect()
    }

    /// Explains how to acknowledge the unmet rules: those that are acknowledged on this machine already, and the others.
    pub fn how_to_acknowledge(&self) -> Vec<String> {
        let can_be_acknowledged = |checked: &&CheckedRule| self.can_be_acknowledged && !super::is_broken(checked);
        let (here, open): (Vec<&CheckedRule>, Vec<&CheckedRule>) =
            self.unmet().filter(can_be_acknowledged).partition(|checked| checked.is_answered_here);
        let here = here.into_iter().map(|checked| {
            let rule = &checked.rule.id;
            format!(
                "`{rule}` is acknowledged on this machine, which counts for agents and for `check --staged`. For `check` and CI, \
                 commit with `--trailer \"$(linchpin ack {rule} --reason '…' --trailer)\"`."
            )
        });
        let name = match open.as_slice() {
            [] => None,
            [only] => Some(only.rule.id.as_str()),
            _ => Some("NAME"),
        };
        let open = name.map(|name| {
            format!(
                "If a rule does not apply, run `linchpin ack {name} --reason \"…\"`: the acknowledgement then counts for agents and for `check --staged`. For CI, \
                 add `--trailer`, and put the printed line into the commit message."
            )
        });
        here.chain(open).collect()
    }

    pub fn to_json(&self) -> Value {
        let rules: Vec<Value> = self.checked.iter().map(to_json).collect();
        let problems: Vec<Value> = self.problems.iter().map(crate::commands::validate::to_json).collect();
        json!({
            "unmet": self.unmet().next().is_some(),
            "baseline": self.baseline,
            "changed": self.changed_files,
            "rules": rules,
            "problems": problems,
            "notes": self.notes,
        })
    }
}

fn to_json(checked: &CheckedRule) -> Value {
    let CheckedRule { rule, file_match, outcome, command, .. } = checked;
    json!({
        "rule": rule.id,
        "title": rule.display_title(),
        "source": rule.source,
        "unmet": checked.is_unmet() && !super::waits_for_its_command(checked),
        "outcome": outcome_name(checked),
        "level": level(outcome).map(Level::name),
        "trigger_files": file_match.trigger_files().collect::<Vec<_>>(),
        "expected_files": file_match.missing_files(),
        "matched_files": file_match.satisfied_by,
        "pairs": file_match.pairs().collect::<Vec<_>>(),
        "command": command,
        "lacks": checked.missing_facts(),
        "reason": checked.is_unmet().then(|| reason(checked)),
    })
}

fn undecided_text(rule: &str, facts: &[String]) -> String {
    if facts.iter().any(|fact| fact == STORED_STATE) {
        return format!("`{rule}` was not judged: its `when` needs {STORED_STATE}, which cannot be read");
    }
    let needs = facts.join(" and ");
    let is_variable = facts.iter().any(|fact| fact.starts_with("`variables."));
    let help = if is_variable { ". `check` uses the default under `variables:` in `.linchpin/config.yml`" } else { "" };
    format!("`{rule}` was not judged: its `when` needs {needs}, and `check` runs outside a session{help}")
}

/// Describes a rule that is skipped because its `when` is false with the defaults of variables. Outside of sessions,
/// variables have their defaults.
fn silenced_text(checked: &CheckedRule) -> String {
    let names: Vec<String> = checked.silenced_by.iter().map(|name| format!("`variables.{name}`")).collect();
    let has = if names.len() == 1 { "has its default" } else { "have their defaults" };
    let (rule, names) = (&checked.rule.id, names.join(" and "));
    format!("`{rule}` was skipped: outside a session {names} {has}, and then the rule's `when` is false")
}

fn outcome_name(checked: &CheckedRule) -> &'static str {
    match checked.outcome {
        RuleOutcome::Fault(..) => "broken",
        RuleOutcome::Acknowledged => "acknowledged",
        RuleOutcome::Undecidable(_) => "undecidable",
        _ if super::waits_for_its_command(checked) => "command not run",
        _ if checked.is_unmet() => "unmet",
        _ => "met",
    }
}

pub fn level(outcome: &RuleOutcome) -> Option<Level> {
    match outcome {
        RuleOutcome::Matched(level) | RuleOutcome::Fault(level, _) => Some(*level),
        _ => None,
    }
}

/// Returns the reason text for an unmet rule, as an agent would get it.
pub fn reason(checked: &CheckedRule) -> String {
    match &checked.outcome {
        RuleOutcome::Fault(_, why) => {
            format!("## {}\nThis rule failed: {why}", checked.rule.display_title())
        }
        _ => match &checked.command {
            Some(result) => failed_command_text(&checked.rule, &checked.file_match, result),
            None => section(&checked.rule, &checked.file_match),
        },
    }
}
