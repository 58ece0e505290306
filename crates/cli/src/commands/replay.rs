//! `replay`: judges the recorded history by the current rules.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::path::Path;

use engine::{Finding, Verdict};
use guard::Project;
use guard::replay::{
    LostFinding, Replay, ReplayError, ReplayOutcome as Replayed, ReplayScope, ReplayTally, RuleChange, VerdictChange,
};
use policy::CompiledPolicy;
use serde_json::{Value, json};
use store::JournalEntry;

use super::{Context, journal};
use crate::arguments::ReplayArguments;
use crate::exit_code::ExitCode;
use crate::output::Output;
use crate::plural::counted;
use crate::problem::{CommandOutcome, Problem};

pub fn run(arguments: &ReplayArguments, context: &Context) -> CommandOutcome {
    let project = Project::of_sessions(&context.environment);
    let scope = ReplayScope {
        since: arguments.since.as_deref().map(super::log::parse_since).transpose()?,
        session: arguments.session.clone(),
    };
    let entries = journal::open(&project, context)?;
    if let Some(session) = &arguments.session {
        journal::require_session(session, &entries)?;
    }
    let policy = match &arguments.rules {
        Some(directory) => other_policy(directory, &project)?,
        None => guard::replay::policy_of_project(&project, &context.environment),
    };
    // If a policy file is broken, its rules are not judged, and a comparison with recorded verdicts would be
    // meaningless.
    if let Some(file) = policy.broken.first() {
        return Err(Problem::new("BrokenPolicy", format!("broken policy file: {}", file.problem))
            .help("`linchpin validate` shows what is wrong with it"));
    }
    for untrusted in &policy.untrusted {
        print_to_stderr(&format!("{untrusted}\n"));
    }
    let mut replay = Replay::new(&project, policy, journal::open(&project, context)?, &context.environment);
    if let Some(directory) = &arguments.rules {
        replay = replay.with_workflows_of(directory);
    }
    let mut missing_facts = MissingFacts::default();
    let mut progress = Progress::new();
    let tally = replay.run(&entries, &scope, |entry, outcome| {
        progress.step();
        match outcome {
            Replayed::Same => {}
            Replayed::Changed(change) => {
                progress.clear();
                context.output.line_or(change_text(entry, change, &context.output), &change_json(entry, change));
            }
            Replayed::Undecidable(rules) => {
                for rule in rules {
                    missing_facts.add(&rule.rule, &rule.facts, entry);
                }
                if context.output.json {
                    let rules: Vec<Value> =
                        rules.iter().map(|rule| json!({ "rule": rule.rule, "facts": rule.facts })).collect();
                    context.output.value(&json!({
                        "undecidable": { "event": entry.id, "verdict": verdict_json(&entry.verdict), "rules": rules },
                    }));
                }
            }
        }
    })?;
    progress.clear();
    if context.output.json {
        context.output.value(&summary_json(tally));
    } else {
        missing_facts.show(&context.output);
        context.output.line(summary_text(tally));
    }
    Ok(if tally.changed() > 0 { ExitCode::No } else { ExitCode::Done })
}

/// Compiles the policy in a directory other than the project's policy.
fn other_policy(directory: &Path, project: &Project) -> Result<CompiledPolicy, Problem> {
    let directory = directory
        .canonicalize()
        .map_err(|error| Problem::new("NotFound", format!("`{}` cannot be read: {error}", directory.display())))?;
    guard::replay::policy_of_directory(&directory, project).ok_or_else(|| {
        Problem::new("NoPolicy", format!("there is no policy in `{}`", directory.display()))
            .help("name a folder that contains `config.yml` or `rules/`, or a project that contains `.linchpin`")
    })
}

impl From<ReplayError> for Problem {
    fn from(error: ReplayError) -> Self {
        match error {
            ReplayError::Store(error) => error.into(),
            ReplayError::Rules(error) => {
                Self::new("Unreadable", error.to_string()).help("the next event compiles the policy again")
            }
        }
    }
}

fn verdict_name(verdict: &Verdict) -> &'static str {
    if verdict.approved { "allow without asking" } else { verdict.level.name() }
}

fn change_text(entry: &JournalEntry, change: &VerdictChange, output: &Output) -> String {
    let (then, now) = (verdict_name(&entry.verdict), verdict_name(&change.verdict));
    let mut lines = vec![super::log::headline(entry), format!("       {}", output.bold(&format!("{then} → {now}")))];
    for lost in &change.lost {
        lines.push(format!(
            "       - {}: {}; {}",
            lost.finding.rule,
            lost.finding.level.name(),
            rule_change_text(lost)
        ));
        lines.extend(lost.finding.because.iter().map(|clause| format!("           then {clause}")));
        let now = |clause: &engine::rules::Clause| {
            format!("           now  {} is {}: {}", clause.key, clause.truth.name(), clause.shown)
        };
        lines.extend(lost.clauses.iter().map(now));
    }
    for finding in &change.new {
        lines.push(format!("       + {}: {}", finding.rule, finding.level.name()));
        lines.extend(finding.because.iter().map(|clause| format!("           now  {clause}")));
    }
    lines.join("\n")
}

fn rule_change_text(lost: &LostFinding) -> String {
    since_text(lost.rule_change, &lost.finding)
}

/// Describes what happened to a rule since its finding was recorded.
pub fn since_text(since: RuleChange, finding: &Finding) -> String {
    match (since, &finding.digest) {
        (RuleChange::Gone, _) => "the rule is no longer in force".to_owned(),
        (RuleChange::Changed, Some(digest)) => format!("changed since (was {digest})"),
        (RuleChange::Changed, None) => "changed since".to_owned(),
        (RuleChange::Same, _) => "the rule has not changed".to_owned(),
    }
}

fn verdict_json(verdict: &Verdict) -> Value {
    json!({ "level": verdict.level.name(), "approved": verdict.approved })
}

fn change_json(entry: &JournalEntry, change: &VerdictChange) -> Value {
    let then: Vec<Value> = change.lost.iter().map(lost_json).collect();
    let now: Vec<Value> = change
        .new
        .iter()
        .map(|finding| json!({ "rule": finding.rule, "level": finding.level.name(), "because": finding.because }))
        .collect();
    json!({
        "changed": {
            "event": entry.id,
            "time": entry.time,
            "agent": entry.session.agent,
            "session": entry.session.id,
            "kind": entry.kind,
            "tool": entry.tool.name,
            "command": entry.tool.command,
            "then": verdict_json(&entry.verdict),
            "now": verdict_json(&change.verdict),
            "rules_then": then,
            "rules_now": now,
        },
    })
}

fn lost_json(lost: &LostFinding) -> Value {
    let finding = &lost.finding;
    let clauses: Vec<Value> = lost
        .clauses
        .iter()
        .map(|clause| json!({ "key": clause.key, "truth": clause.truth.name(), "compared": clause.shown }))
        .collect();
    json!({
        "rule": finding.rule,
        "level": finding.level.name(),
        "because": finding.because,
        "digest": finding.digest,
        "since": lost.rule_change.name(),
        "clauses_now": clauses,
    })
}

fn summary_text(tally: ReplayTally) -> String {
    format!(
        "{}: {} the same, {} changed ({} stricter, {} milder), {} undecidable",
        counted(tally.events, "event"),
        tally.same,
        tally.changed(),
        tally.stricter,
        tally.milder,
        tally.undecidable
    )
}

fn summary_json(tally: ReplayTally) -> Value {
    json!({
        "summary": {
            "events": tally.events,
            "same": tally.same,
            "changed": tally.changed(),
            "stricter": tally.stricter,
            "milder": tally.milder,
            "undecidable": tally.undecidable,
        },
    })
}

/// The undecidable events, grouped by rule and by the facts that the rule needs and the journal lacks.
#[derive(Default)]
struct MissingFacts(BTreeMap<(String, Vec<String>), UndecidableEvents>);

#[derive(Default)]
struct UndecidableEvents {
    count: usize,
    /// The ids of the first few events.
    first: Vec<String>,
}

impl MissingFacts {
    /// The maximum number of ids to show.
    const MAX_IDS: usize = 5;

    fn add(&mut self, rule: &str, facts: &[String], entry: &JournalEntry) {
        let events = self.0.entry((rule.to_owned(), facts.to_vec())).or_default();
        events.count += 1;
        if events.first.len() < Self::MAX_IDS {
            events.first.push(entry.id.0.to_string());
        }
    }

    fn show(&self, output: &Output) {
        for ((rule, facts), events) in &self.0 {
            let more = if events.count > events.first.len() { ", …" } else { "" };
            let ids = events.first.join(", ");
            let noun = if events.count == 1 { "event" } else { "events" };
            output.line(format!("undecidable: {} for {rule} ({noun} {ids}{more})", facts.join(", ")));
        }
    }
}

/// Shows the number of judged events to a person at a terminal.
struct Progress {
    events: usize,
    is_shown: bool,
    is_wanted: bool,
}

impl Progress {
    const STEP: usize = 10_000;

    fn new() -> Self {
        Self { events: 0, is_shown: false, is_wanted: std::io::stderr().is_terminal() }
    }

    fn step(&mut self) {
        self.events += 1;
        if self.is_wanted && self.events.is_multiple_of(Self::STEP) {
            print_to_stderr(&format!("\r{} events", self.events));
            self.is_shown = true;
        }
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.is_shown) {
            print_to_stderr("\r\u{1b}[K");
        }
    }
}

fn print_to_stderr(text: &str) {
    let _ = write!(std::io::stderr(), "{text}");
}
