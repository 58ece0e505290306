//! `explain`: shows how a verdict came about, or how a pattern, an expression or a command is interpreted.

mod command;

use engine::decide::{ConsideredRule, RuleOutcome as Judged};
use engine::rules::Truth;
use engine::{Finding, Level, expr};
use guard::Project;
use guard::replay::{Replay, ReplayError, RuleChange};
use guard::workflow::ExpressionNames;
use path::pattern::Pattern;
use serde_json::{Map, Value, json};
use store::{JournalEntry, JournalFilter};

use super::replay::since_text;
use super::{Context, journal, moves};
use crate::arguments::ExplainArguments;
use crate::exit_code::ExitCode;
use crate::problem::{CommandOutcome, Problem};

pub fn run(what: &ExplainArguments, context: &Context) -> CommandOutcome {
    match what {
        ExplainArguments::Event { id } => explain_entry(WantedEntry::Number(*id), context),
        ExplainArguments::Last => explain_entry(WantedEntry::LastFinding, context),
        ExplainArguments::Command { command } => command::run(command, context),
        ExplainArguments::Pattern { pattern, path } => explain_pattern(pattern, path, context),
        ExplainArguments::When { expression, with } => explain_when(expression, with.as_deref(), context),
    }
}

fn explain_pattern(pattern: &str, path: &str, context: &Context) -> CommandOutcome {
    let pattern = Pattern::parse_relative_or_absolute(pattern).map_err(|error| {
        let problem = Problem::new("PatternError", error.message()).at("pattern", Some((1, error.span().start + 1)));
        error.help().into_iter().fold(problem, Problem::help)
    })?;
    // A leading `./` is ignored, as it is in patterns.
    let captures = pattern.captures(path.trim_start_matches("./"));
    let matches = captures.is_some();
    let values: Map<String, Value> = captures
        .iter()
        .flat_map(path::pattern::Captures::iter)
        .map(|(name, value)| (name.to_owned(), json!(value)))
        .collect();
    if context.output.json {
        context.output.value(&json!({ "matches": matches, "captures": values }));
        return Ok(ExitCode::Done);
    }
    context.output.line(if matches { "matches" } else { "does not match" });
    for (name, value) in &values {
        context.output.line(format!("  {{{name}}} = {}", value.as_str().unwrap_or_default()));
    }
    for warning in pattern.warnings() {
        context.output.line(format!("warning: {warning}"));
    }
    Ok(ExitCode::Done)
}

fn explain_when(expression: &str, with: Option<&str>, context: &Context) -> CommandOutcome {
    // With `--with`, an unknown name is undefined instead of an error.
    let has_given_values = with.is_some();
    let with: Map<String, Value> = serde_json::from_str(with.unwrap_or("{}")).map_err(|error| {
        Problem::new("InvalidValue", format!("`--with` is not a JSON object: {error}"))
            .help("for example `--with '{\"variables\": {\"hotfix\": true}}'`")
    })?;
    let ExpressionNames { names, situation, scope } = moves::known_names(context);
    let names = with_names(names, with);
    let scope = (!has_given_values).then_some(&scope);
    let found = expr::evaluate_with_names(expression, &names, Some(&situation), scope).map_err(|error| {
        let column = expression.get(..error.span.start).map_or(1, |before| before.chars().count() + 1);
        let position = if column > 1 { format!(" (column {column})") } else { String::new() };
        let message = error.message + &position;
        let problem = Problem::new("InvalidExpression", message).at("expression", Some((1, column)));
        let is_misspelled = error.help.as_deref().is_some_and(|help| help.starts_with("did you mean"));
        // Without the scope, an unknown name is no error: then `--with` can give it a value.
        let scope = scope.filter(|_| !is_misspelled);
        let unscoped = scope.and_then(|_| expr::evaluate_with_names(expression, &names, Some(&situation), None).ok());
        let unknown = unscoped.and_then(|found| found.unknown.into_iter().next());
        let with = unknown.map(|name| format!("`--with '{{\"{name}\": 1}}'` gives it a value for this command"));
        let help: Vec<String> = error.help.into_iter().chain(with).collect();
        if help.is_empty() { problem } else { problem.help(help.join("; ")) }
    })?;
    if context.output.json {
        context.output.value(&json!({ "value": found.value, "truthy": found.truthy, "unknown": found.unknown }));
        return Ok(ExitCode::Done);
    }
    context.output.line(format!(
        "{} ({})",
        found.value,
        if found.truthy { "true in a condition" } else { "false in a condition" }
    ));
    if !found.unknown.is_empty() {
        context.output.line(format!("undefined: {}", found.unknown.join(", ")));
    }
    if found.missing.is_some() {
        context.output.line("unknown: what a session did or set, because the journal has no session yet");
    }
    Ok(ExitCode::Done)
}

/// Overrides known values with those from `--with`. Objects such as `phase` are merged field by field.
fn with_names(mut known: Map<String, Value>, with: Map<String, Value>) -> Map<String, Value> {
    for (name, given) in with {
        match (known.get_mut(&name), given) {
            (Some(Value::Object(fields)), Value::Object(given)) => fields.extend(given),
            (_, given) => {
                known.insert(name, given);
            }
        }
    }
    known
}

/// The journal entry to explain.
#[derive(Clone, Copy)]
enum WantedEntry {
    Number(i64),
    /// The last entry with a warning, a question or a block.
    LastFinding,
}

fn explain_entry(wanted: WantedEntry, context: &Context) -> CommandOutcome {
    let project = Project::of_sessions(&context.environment);
    let store = journal::open(&project, context)?;
    let filter = match wanted {
        WantedEntry::Number(id) => {
            JournalFilter { after: Some(store::EntryId(id.saturating_sub(1))), limit: 1, ..JournalFilter::default() }
        }
        WantedEntry::LastFinding => JournalFilter { level: Some(Level::Warn), limit: 1, ..JournalFilter::default() },
    };
    let is_wanted = |entry: &JournalEntry| match wanted {
        WantedEntry::Number(id) => entry.id.0 == id,
        WantedEntry::LastFinding => true,
    };
    let entry = store.entries(&filter)?.into_iter().find(is_wanted).ok_or_else(|| {
        let message = match wanted {
            WantedEntry::Number(id) => format!("the journal has no event {id}"),
            WantedEntry::LastFinding => {
                "nothing to explain: the journal has no event with a warning, a question or a block".to_owned()
            }
        };
        Problem::new("NotFound", message).help("`linchpin log` lists the events")
    })?;
    let policy = project.compiled_policy_read_only(&context.environment);
    let mut replay = Replay::new(&project, policy, journal::open(&project, context)?, &context.environment);
    let considered = replay.explain(&store, &entry)?;
    let mut findings = Vec::new();
    for finding in &entry.verdict.findings {
        findings.push((finding, replay.rule_change(finding).map_err(ReplayError::from)?));
    }
    if context.output.json {
        let rules: Vec<Value> = considered.iter().map(consideration_json).collect();
        let findings: Vec<Value> = findings
            .iter()
            .map(|(finding, since)| json!({ "rule": finding.rule, "digest": finding.digest, "since": since.name() }))
            .collect();
        context.output.value(&json!({ "event": entry, "spoken": findings, "rules": rules }));
        return Ok(ExitCode::Done);
    }
    show(&entry, &findings, &considered, context);
    Ok(ExitCode::Done)
}

pub fn consideration_json(considered: &ConsideredRule) -> Value {
    let clauses: Vec<Value> = considered
        .clauses
        .iter()
        .map(|clause| json!({ "key": clause.key, "truth": clause.truth.name(), "compared": clause.shown }))
        .collect();
    json!({
        "rule": considered.rule.id,
        "tier": considered.rule.tier.name(),
        "source": considered.rule.source,
        "outcome": outcome_text(considered),
        "clauses": clauses,
    })
}

fn outcome_text(considered: &ConsideredRule) -> String {
    match &considered.outcome {
        Judged::Acknowledged if considered.rule.as_file_rule().is_some() => "acknowledged before".to_owned(),
        Judged::NotApplied => "does not apply".to_owned(),
        Judged::Acknowledged => "acknowledged in this session".to_owned(),
        Judged::GivenUp => "unmet, and held as often as `max_holds` allows".to_owned(),
        _ if considered.released => {
            format!("{} (held as often as `max_holds` allows, so the agent may stop)", Level::Warn.name())
        }
        Judged::Matched(level) => level.name().to_owned(),
        Judged::Incomplete(level) => format!("{} (known only at run time)", level.name()),
        Judged::Undecidable(facts) => format!("undecidable: {} was not recorded", facts.join(", ")),
        Judged::Fault(level, why) => format!("{} (the rule failed: {why})", level.name()),
    }
}

fn show(entry: &JournalEntry, findings: &[(&Finding, RuleChange)], considered: &[ConsideredRule], context: &Context) {
    let output = &context.output;
    output.line(output.bold(&super::log::headline(entry)));
    for (finding, since) in findings {
        let origin = if finding.is_of_guard() { "Linchpin itself".to_owned() } else { since_text(*since, finding) };
        let unapproved = super::log::unapproved(finding);
        output.line(format!("  {} by {}{unapproved}; {origin}", output.level(finding.level), finding.rule));
    }
    if let Some(not_enforced) = entry.verdict.not_enforced {
        output.line(format!("  not enforced: {not_enforced}"));
    }
    output.blank();
    output.line("Today's rules, with the facts recorded at that time:");
    let (applying, passed): (Vec<_>, Vec<_>) =
        considered.iter().partition(|considered| considered.outcome != Judged::NotApplied);
    for considered in applying.iter().chain(&passed) {
        output.blank();
        show_consideration(considered, "", context);
    }
}

/// Shows how one rule was judged, condition by condition.
pub fn show_consideration(considered: &ConsideredRule, indent: &str, context: &Context) {
    let output = &context.output;
    output.line(format!("{indent}{}: {}", output.bold(&considered.rule.id), outcome_text(considered)));
    output.line(output.dim(&format!("{indent}  {} ({})", considered.rule.source, considered.rule.tier.name())));
    for clause in &considered.clauses {
        let compared = if clause.shows_code() { format!("`{}`", clause.shown) } else { clause.shown.clone() };
        // A false regex makes `command_not_pattern` true.
        let found = match clause.truth {
            Truth::True if clause.key == "command_not_pattern" => " (not found)",
            Truth::False if clause.key == "command_not_pattern" => " (found)",
            _ => "",
        };
        let compared = compared + found;
        let mut lines = compared.lines();
        let first = lines.next().unwrap_or_default();
        output.line(format!("{indent}  {:<20} {:<8} {first}", clause.key, clause.truth.name()));
        for line in lines {
            output.line(format!("{indent}  {:<29} {line}", ""));
        }
    }
}
