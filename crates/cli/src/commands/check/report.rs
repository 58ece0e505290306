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
    /// The full name of the commit or list that the changes are relative to.
    pub baseline: String,
    /// The same for people: `since 1a2b3c`.
    pub since: String,
    /// The number of changed files.
    pub changed: usize,
    /// Notes for people about how the changes were determined.
    pub notes: Vec<String>,
    /// Acknowledgements in commit messages.
    pub acknowledged: Vec<Trailer>,
    /// The changes come from git, so promises and acknowledgements about them can be found.
    pub can_be_answered: bool,
    /// The project's path within its repository. Other tools expect paths relative to the repository.
    pub prefix: String,
}

impl CheckReport {
    pub fn unmet(&self) -> impl Iterator<Item = &CheckedRule> {
        self.checked.iter().filter(|checked| checked.is_unmet() && !super::waits_for_its_command(checked))
    }

    /// Rules that can be judged only after their command has run.
    pub fn waiting(&self) -> impl Iterator<Item = &CheckedRule> {
        self.checked.iter().filter(|checked| super::waits_for_its_command(checked))
    }

    /// Rules that depend on facts that only a session has.
    pub fn undecided(&self) -> impl Iterator<Item = (&CheckedRule, &[String])> {
        self.checked.iter().filter_map(|checked| Some((checked, checked.missing_facts()?)))
    }

    /// Rules that a commit acknowledges, each with the reason.
    fn answered(&self) -> impl Iterator<Item = (&CheckedRule, &str)> {
        let answered = self.checked.iter().filter(|checked| checked.outcome == RuleOutcome::Acknowledged);
        answered.filter_map(|checked| {
            let trailer = self.acknowledged.iter().find(|trailer| super::is_called(&checked.rule, &trailer.name))?;
            Some((checked, trailer.reason.as_str()))
        })
    }

    /// Returns additional remarks, one per line.
    pub fn remarks(&self) -> Vec<String> {
        let waiting = self.waiting().map(|checked| {
            let files = counted(checked.found.triggers.len(), "file");
            format!("`{}` was not judged: `linchpin check --fix` runs its command ({files})", checked.rule.id)
        });
        let ran = self.checked.iter().filter(|checked| !checked.is_unmet()).filter_map(|checked| {
            let result = checked.command.as_ref()?;
            Some(format!("`{}` {}", checked.rule.id, result.output.as_deref().unwrap_or_default()))
        });
        let answered = self.answered().map(|(checked, reason)| match reason {
            "" => format!("`{}` is acknowledged by a commit", checked.rule.id),
            _ => format!("`{}` is acknowledged by a commit: {reason}", checked.rule.id),
        });
        let undecided = self.undecided().map(|(checked, facts)| undecided(&checked.rule.id, facts));
        let silenced = self.checked.iter().filter(|checked| !checked.silenced_by.is_empty()).map(silenced);
        waiting.chain(ran).chain(undecided).chain(silenced).chain(answered).chain(self.notes.iter().cloned()).collect()
    }

    /// Explains how to acknowledge the unmet rules; none if there is nothing to acknowledge.
    pub fn how_to_answer(&self) -> Option<String> {
        let is_open = |checked: &&CheckedRule| self.can_be_answered && !super::is_broken(checked);
        let open: Vec<&CheckedRule> = self.unmet().filter(is_open).collect();
        let name = match open.as_slice() {
            [] => return None,
            [only] => &only.rule.id,
            _ => "NAME",
        };
        Some(format!(
            "If a rule does not apply, run `linchpin ack {name} --reason \"…\"`: agents and `check --staged` respect it. For CI, \
             add `--trailer`, and put the printed line into the commit message."
        ))
    }

    pub fn to_json(&self) -> Value {
        let rules: Vec<Value> = self.checked.iter().map(to_json).collect();
        let problems: Vec<Value> = self.problems.iter().map(crate::commands::validate::to_json).collect();
        json!({
            "unmet": self.unmet().next().is_some(),
            "baseline": self.baseline,
            "changed": self.changed,
            "rules": rules,
            "problems": problems,
            "notes": self.notes,
        })
    }
}

fn to_json(checked: &CheckedRule) -> Value {
    let CheckedRule { rule, found, outcome, command, silenced_by: _ } = checked;
    json!({
        "rule": rule.id,
        "title": rule.display_title(),
        "source": rule.source,
        "unmet": checked.is_unmet() && !super::waits_for_its_command(checked),
        "outcome": outcome_name(checked),
        "level": level(outcome).map(Level::name),
        "trigger_files": found.trigger_files().collect::<Vec<_>>(),
        "expected_files": found.expected_files(),
        "matched_files": found.matched,
        "pairs": found.pairs().collect::<Vec<_>>(),
        "command": command,
        "lacks": checked.missing_facts(),
        "reason": checked.is_unmet().then(|| reason(checked)),
    })
}

fn undecided(rule: &str, facts: &[String]) -> String {
    if facts.iter().any(|fact| fact == STORED_STATE) {
        return format!("`{rule}` was not judged: its `when` needs {STORED_STATE}, which cannot be read");
    }
    let needs = facts.join(" and ");
    let is_variable = facts.iter().any(|fact| fact.starts_with("`variables."));
    let help = if is_variable { ". `check` uses the default under `variables:` in `.linchpin/config.yml`" } else { "" };
    format!("`{rule}` was not judged: its `when` needs {needs}, and `check` runs outside a session{help}")
}

fn silenced(checked: &CheckedRule) -> String {
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

/// Returns the text that an agent would be shown.
pub fn reason(checked: &CheckedRule) -> String {
    match &checked.outcome {
        RuleOutcome::Fault(_, why) => {
            format!("## {}\nThis rule failed: {why}", checked.rule.display_title())
        }
        _ => match &checked.command {
            Some(result) => failed_command_text(&checked.rule, &checked.found, result),
            None => section(&checked.rule, &checked.found),
        },
    }
}
