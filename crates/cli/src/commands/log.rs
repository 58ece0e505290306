//! `log`: prints journal entries, filtered.

mod note_line;

use std::time::Duration;

use engine::{EventKind, Finding, Level, suggest};
use guard::Project;
use jiff::{Timestamp, tz::TimeZone};
use serde_json::json;
use store::{JournalEntry, JournalFilter, NoteKind, Store};

use self::note_line::note_line;
use super::unknown_rule::undefined_rule;
use super::{Context, journal};
use crate::arguments::{LogAction, LogArguments};
use crate::exit_code::ExitCode;
use crate::person;
use crate::plural::counted;
use crate::problem::{CommandOutcome, Problem};

pub fn run(arguments: &LogArguments, context: &Context) -> CommandOutcome {
    let project = Project::of_sessions(&context.environment);
    if let Some(LogAction::Prune) = arguments.action {
        return prune(&project, context);
    }
    let mut filter = filter(arguments)?;
    let store = journal::open(&project, context)?;
    let mut last = None;
    let mut shown = 0_usize;
    let mut show = |entry: JournalEntry| {
        last = Some(entry.id);
        shown += 1;
        print(&entry, context);
    };
    store.for_each_entry(&filter, &mut show)?;
    if !arguments.follow {
        if shown == 0 {
            require_known_names(arguments, &store, &project, context)?;
        }
        if shown == 0 && !context.output.json {
            context.output.line("No event in the journal matches.");
        }
        return Ok(ExitCode::Done);
    }
    filter.limit = 0;
    while !context.output.is_closed() {
        filter.after = last.or(filter.after).or(Some(store::EntryId(0)));
        std::thread::sleep(Duration::from_millis(200));
        store.for_each_entry(&filter, |entry| {
            last = Some(entry.id);
            print(&entry, context);
        })?;
    }
    Ok(ExitCode::Done)
}

fn filter(arguments: &LogArguments) -> Result<JournalFilter, Problem> {
    if let Some(kind) = &arguments.kind
        && EventKind::from_name(kind).is_none()
        && NoteKind::from_name(kind).is_none()
    {
        let known = [EventKind::ALL.map(EventKind::name).as_slice(), &NoteKind::ALL.map(NoteKind::name)].concat();
        let problem = unknown("event kind", kind, &known);
        let names = NoteKind::ALL.map(NoteKind::name).join(", ");
        return Err(if kind == NOTE { problem.help(format!("the kinds of notes are {names}")) } else { problem });
    }
    let level = match &arguments.level {
        None => None,
        Some(name) => Some(Level::from_name(name).ok_or_else(|| unknown("level", name, &Level::ALL.map(Level::name)))?),
    };
    Ok(JournalFilter {
        session: arguments.session.clone(),
        kind: arguments.kind.clone(),
        level,
        rule: arguments.rule.clone(),
        since: arguments.since.as_deref().map(parse_since).transpose()?,
        limit: arguments.limit,
        ..JournalFilter::default()
    })
}

/// Fails if the journal has no session, or neither the journal nor the policy has a rule, with the name in the arguments.
fn require_known_names(
    arguments: &LogArguments,
    store: &Store,
    project: &Project,
    context: &Context,
) -> Result<(), Problem> {
    if let Some(session) = arguments.session.as_deref().filter(|session| !session.is_empty()) {
        journal::require_session(session, store)?;
    }
    let Some(rule) = &arguments.rule else { return Ok(()) };
    let loaded = project.load(&context.environment);
    let of_any_time = JournalFilter { rule: Some(rule.clone()), limit: 1, ..JournalFilter::default() };
    let of_workflows = policy::workflows(&project.tiers, &loaded).files.into_iter().filter_map(|file| file.workflow);
    let mut of_workflows = of_workflows.flat_map(|workflow| {
        workflow.nodes.into_iter().flat_map(|node| node.rules).chain(workflow.rules).collect::<Vec<_>>()
    });
    let is_known = !loaded.definitions_named(rule).is_empty()
        || of_workflows.any(|of_workflow| of_workflow.id == *rule)
        || !store.rule_versions(rule)?.is_empty()
        || !store.entries(&of_any_time)?.is_empty();
    if is_known { Ok(()) } else { Err(undefined_rule(rule, &loaded)) }
}

fn unknown(what: &str, word: &str, known: &[&str]) -> Problem {
    let help = suggest::closest(word, known.iter().copied())
        .map_or_else(|| format!("it is one of {}", known.join(", ")), suggest::did_you_mean);
    Problem::new("InvalidValue", format!("unknown {what} `{word}`")).help(help)
}

/// Parses a duration before now or a time, and returns the time in milliseconds since 1970.
pub fn parse_since(text: &str) -> Result<i64, Problem> {
    if let Ok(span) = text.parse::<jiff::SignedDuration>() {
        return Ok(super::now().saturating_sub(i64::try_from(span.as_millis()).unwrap_or(i64::MAX)));
    }
    let days = text.strip_suffix('d').and_then(|days| days.parse::<i64>().ok());
    if let Some(days) = days {
        return Ok(super::now().saturating_sub(days.saturating_mul(24 * 60 * 60 * 1000)));
    }
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(time.as_millisecond());
    }
    let local = text.parse::<jiff::civil::DateTime>().and_then(|time| time.to_zoned(TimeZone::system()));
    local.map(|zoned| zoned.timestamp().as_millisecond()).map_err(|_| {
        Problem::new("InvalidValue", format!("invalid time `{text}`"))
            .help("write a duration before now, such as `30m`, `2h` or `7d`, or a time such as `2026-03-01T12:00`")
    })
}

fn print(entry: &JournalEntry, context: &Context) {
    let output = &context.output;
    if output.json {
        if let Ok(value) = serde_json::to_value(entry) {
            output.value(&value);
        }
        return;
    }
    let level = entry.verdict.level;
    let (label, length) = match NoteKind::from_name(&entry.kind) {
        Some(_) => (output.dim(NOTE), NOTE.len()),
        None => (output.level(level), level.name().len()),
    };
    let padding = " ".repeat(5_usize.saturating_sub(length));
    output.line(format!("{label}{padding} {}", headline(entry)));
    if let Some(not_enforced) = entry.verdict.not_enforced {
        output.line(output.dim(&format!("      not enforced: {not_enforced}")));
    }
    for finding in &entry.verdict.findings {
        output.line(output.dim(&format!("      {} {}{}", finding.level.name(), finding.rule, unapproved(finding))));
    }
    for notice in &entry.verdict.notices {
        output.line(output.dim(&format!("      {notice}")));
    }
}

/// If the finding's rule is an `allow` rule that matched and still approves nothing, returns the reason; otherwise an
/// empty text.
pub fn unapproved(finding: &Finding) -> String {
    let why = finding.why_not_approved();
    why.map_or_else(String::new, |why| format!(": matched, but approves nothing: {why}"))
}

/// The label of a note, printed in the place of a level.
const NOTE: &str = "note";

/// Formats milliseconds since 1970 in the local time zone.
pub fn time(milliseconds: i64) -> String {
    Timestamp::from_millisecond(milliseconds)
        .map(|time| time.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string())
        .unwrap_or_default()
}

/// Returns a one-line summary of an entry.
pub fn headline(entry: &JournalEntry) -> String {
    let time = time(entry.time);
    let note_kind = NoteKind::from_name(&entry.kind);
    // "person held" would say that the person held a stop. It was the person's move that was held.
    let was = if note_kind == Some(NoteKind::MoveRefused) { "was " } else { "" };
    let mut line = format!("{:>5}  {time}  {} {was}{}", entry.id.0, entry.session.agent, entry.kind);
    if let Some(kind) = note_kind {
        line.push_str(&first_line(&note_line(kind, entry)));
        return line;
    }
    let paths: Vec<&str> = entry.tool.paths.iter().map(|file| file.path.as_str()).collect();
    let about = entry.tool.command.clone().unwrap_or_else(|| paths.join(" "));
    for part in [entry.tool.name.clone().unwrap_or_default(), about] {
        if !part.is_empty() {
            line.push(' ');
            line.push_str(&first_line(&part));
        }
    }
    line
}

fn first_line(text: &str) -> String {
    const MAX_CHARACTERS: usize = 120;
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    let cut: String = first.chars().take(MAX_CHARACTERS).collect();
    if cut.len() < first.len() || lines.next().is_some() { format!("{cut} …") } else { cut }
}

fn prune(project: &Project, context: &Context) -> CommandOutcome {
    person::required("log prune", &context.environment)?;
    // Opened read-only first, because `prune` must not create a journal.
    drop(journal::open(project, context)?);
    let retention = i64::try_from(project.compiled_policy_read_only(&context.environment).config.retention.as_millis())
        .unwrap_or(i64::MAX);
    let options = store::StoreOptions { busy_timeout: Duration::from_secs(5), now: super::now(), run: None };
    let mut store = Store::open(&project.journal_path(&context.environment), options)?;
    let pruned = store.prune(super::now().saturating_sub(retention))?;
    context.output.line_or(format!("{} deleted.", counted(pruned, "event")), &json!({ "deleted": pruned }));
    Ok(ExitCode::Done)
}
