//! Writes the reason of a finding: what happened, and what the rule wants instead.

use shell::Gap;

use super::RuleOutcome;
use super::rule_judgement::RuleJudgement;
use crate::file_rules::{self, FileMatch, Placeholders};
use crate::rules::{BranchClause, Clause, Detector, PathKey, PathPattern, Rule, Truth};
use crate::situation::Situation;

/// The maximum number of rules whose ids are listed in a reason.
const MAX_RULES_NAMED: usize = 5;

pub(super) fn of(rule: &Rule, judged: &RuleJudgement, situation: &Situation) -> String {
    let reason = match &judged.outcome {
        RuleOutcome::Fault(_, why) => {
            let fault = format!("Linchpin could not evaluate this rule, so the rule counts as matched: {why}.");
            [rule.reason.trim_end(), &fault].join("\n\n").trim_start().to_owned()
        }
        RuleOutcome::Incomplete(_) => {
            let unknown = describe_unknown(&judged.clauses, situation);
            let unsure = format!("{unknown} {}", describe_possible_effect(rule, &judged.clauses));
            [unsure.as_str(), &rule.reason].join(" ").trim_end().to_owned()
        }
        RuleOutcome::Matched(_)
        | RuleOutcome::NotApplied
        | RuleOutcome::Acknowledged
        | RuleOutcome::GivenUp
        | RuleOutcome::Undecidable(_) => match (&judged.file_match, &judged.pace) {
            (Some(file_match), _) => section(rule, file_match),
            (None, Some(judgement)) => judgement.interrupt(rule),
            (None, _) => rule.reason.clone(),
        },
    };
    with_match(reason, judged.matched_text(situation))
}

/// The reason of the single finding for a script with a part that cannot be parsed. `rules` has the ids of the
/// strictest rules that the script could break.
pub(super) fn of_unparsable(gap: &Gap, rules: &[&str]) -> String {
    let named: Vec<String> = rules.iter().take(MAX_RULES_NAMED).map(|rule| format!("`{rule}`")).collect();
    let rest = rules.len().saturating_sub(MAX_RULES_NAMED);
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    let plural = if rules.len() == 1 { "" } else { "s" };
    let gap = gap.to_string();
    let gap: String = gap.chars().take(1).flat_map(char::to_uppercase).chain(gap.chars().skip(1)).collect();
    format!(
        "{gap}. Linchpin can't tell whether this breaks the rule{plural} {}{more}. Write the commands out in full, or split them into simpler ones.",
        named.join(", ")
    )
}

/// The section of a message that reports a demand: the rule's title as the heading, the missing files, and the rule's
/// reason.
pub fn section(rule: &Rule, file_match: &FileMatch) -> String {
    let body = Placeholders(file_match).fill(&rule.reason);
    format!("## {}\n{}\n\n{}", rule.display_title(), file_rules::list_missing(file_match), body.trim())
}

/// Says what Linchpin does not know about the call.
fn describe_unknown(clauses: &[Clause], situation: &Situation) -> String {
    let path = clauses.iter().find(|clause| clause.truth == Truth::Unknown && clause.matches_paths());
    match path {
        Some(clause) => format!("Linchpin can't tell what this does to `{}`.", clause.shown),
        None if situation.script().is_some() => "Linchpin can't tell what this command does.".to_owned(),
        None => "Linchpin can't tell what this call does.".to_owned(),
    }
}

/// Describes the effect because of which the call may break the rule. The effect is derived from the rule's last
/// unknown clause.
fn describe_possible_effect(rule: &Rule, clauses: &[Clause]) -> String {
    let unknown = clauses.iter().rev().find(|clause| clause.truth == Truth::Unknown).map(|clause| clause.key);
    if unknown == Some(BranchClause::KEY) {
        return "It might rewrite or delete a protected branch.".to_owned();
    }
    let path_clauses = match &rule.detect {
        Detector::Tool(tool) => tool.paths.as_slice(),
        Detector::Files(_) | Detector::Pace(_) | Detector::Event => &[],
    };
    let Some(clause) = path_clauses.iter().find(|clause| unknown == Some(clause.key.name())) else {
        return "It might break this rule.".to_owned();
    };
    let verb = match clause.key {
        PathKey::Deletes => "delete",
        PathKey::Writes => "change",
        PathKey::Reads => "read",
        PathKey::Paths => "use",
    };
    let which = match clause.patterns.as_slice() {
        [PathPattern::OutsideProject] => "outside the project",
        _ => "that this rule protects",
    };
    format!("It might {verb} files {which}.")
}

fn with_match(reason: String, matched: Option<String>) -> String {
    let is_one_paragraph = !reason.contains("\n\n");
    match matched {
        None => reason,
        Some(matched) if reason.is_empty() => matched,
        Some(matched) if is_one_paragraph => {
            let stop = if reason.ends_with(|last: char| last.is_alphanumeric() || last == '`') { "." } else { "" };
            format!("{reason}{stop} {matched}")
        }
        Some(matched) => format!("{reason}\n\n{matched}"),
    }
}
