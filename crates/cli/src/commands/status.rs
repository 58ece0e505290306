//! `status`: what is in force, and where the session stands.

mod metrics;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use engine::rules::{Rule, Tier};
use guard::Project;
use guard::facts::token_count;
use guard::file_rules::{Queue, QueueEntry, QueueStatus, open_demands};
use guard::grants::{Acknowledgement, OBSERVING, Pause, paused};
use guard::session::{CommandRun, SessionOwner, policy as session_policy, project_of_command};
use policy::{BrokenFile, Mode};
use serde_json::{Map, Value, json};
use store::{SessionKey, SessionState, Store};

use self::metrics::Metrics;
use super::{Context, loops, work};
use crate::arguments::StatusArguments;
use crate::exit_code::ExitCode;
use crate::output::Output;
use crate::person;
use crate::plural::counted;
use crate::problem::{CommandOutcome, Problem};

/// The journal, or why it cannot be used.
fn journal(project: &Project, context: &Context) -> (Option<Store>, Option<Problem>) {
    match super::log::open(project, context) {
        Ok(store) => (Some(store), None),
        Err(problem) => (None, Some(problem).filter(|_| project.store(&context.environment).exists())),
    }
}

pub fn run(arguments: &StatusArguments, context: &Context) -> CommandOutcome {
    let project = project_of_command(&context.environment);
    let compiled = Arc::new(project.looked_at(&context.environment));
    let rules = if project.has_policy() {
        compiled.rules.all().map_err(|error| Problem::new("Unreadable", error.to_string()))?
    } else {
        Vec::new()
    };
    let nested = Nested::all(&project, context)?;
    let (store, unusable) = journal(&project, context);
    let now = super::now();
    let command = CommandRun {
        words: &["status"],
        session: arguments.session.as_deref(),
        environment: &context.environment,
        now,
    };
    let session = store.as_ref().and_then(|store| command.session(store).ok().flatten());
    let state = session
        .as_ref()
        .zip(store.as_ref())
        .and_then(|(whose, store)| store.session(SessionKey { agent: &whose.agent, session: &whose.session }).ok());
    // Whose variables decide a move is not guessed, here as little as by `next`.
    let is_agents = person::required("status", &context.environment).is_err();
    let known = store.as_ref().and_then(|store| command.known_session(store, is_agents).ok().flatten());
    let workflow = work::report(&project, &compiled, now, known, context);
    let run = loops::unfinished(&project, context);
    let holds = state.as_ref().map(holds).unwrap_or_default();
    let kept = session.as_ref().map_or_else(Vec::new, |whose| {
        session_policy::kept(&project, &compiled, &whose.agent, &whose.session, &context.environment)
    });
    let acknowledged = state.as_ref().map(|state| acknowledged(state, &rules)).unwrap_or_default();
    let queue = Queue::of(&project, &context.environment);
    let demands = state.as_ref().map(|state| open_demands(&queue, &state.variables)).unwrap_or_default();
    let pause = Pause::of(&project.root, &context.environment, now);
    let (mode, variables) = (compiled.config.mode, own_variables(state));
    let metrics = arguments.metrics.then(|| Metrics::read(store.as_ref())).transpose()?;
    if context.output.json {
        let in_force: Vec<Value> = rules.iter().map(rule_json).collect();
        let (agent, id) = session.map(|whose| (whose.agent, whose.session)).unzip();
        let acknowledgements: Vec<Value> = acknowledged.iter().map(acknowledgement_json).collect();
        let mut told = json!({
            "workflow": workflow.as_ref().map(|report| work::report_json(report, now)),
            "root": project.root,
            "nested": nested.iter().map(nested_json).collect::<Vec<_>>(),
            "mode": mode.name(),
            "paused": pause.map(|pause| json!({ "until": pause.until, "reason": pause.reason })),
            "session": {
                "agent": agent,
                "id": id,
                "rules": in_force,
                "queue": demands.iter().map(demand_json).collect::<Map<_, _>>(),
                "acknowledgements": acknowledgements,
                "holds": holds,
                "kept": kept.iter().map(|change| &change.rule).collect::<Vec<_>>(),
                "variables": variables,
                "broken": compiled.broken.iter().map(|file| &file.problem).collect::<Vec<_>>(),
            },
        });
        if let (Some((_, run)), Some(told)) = (run, told.as_object_mut()) {
            told.insert("run".to_owned(), run);
        }
        if let (Some(metrics), Some(told)) = (&metrics, told.as_object_mut()) {
            told.insert("metrics".to_owned(), metrics.json());
        }
        context.output.value(&told);
        return Ok(ExitCode::Done);
    }
    let output = &context.output;
    show_project(&project, unusable.as_ref(), output);
    if let Some(report) = &workflow {
        work::show_report(report, now, output);
    }
    show_run(run.as_ref().map(|(told, _)| told.as_str()), output);
    show_session(session.as_ref(), output);
    if !project.has_policy() {
        output.line(format!("{} none: there is no policy, so every event is allowed", output.bold("Rules  ")));
        return Ok(ExitCode::Done);
    }
    show_lifting(mode, pause.as_ref(), now, output);
    output.line(format!("{} {} in force", output.bold("Rules  "), counted(rules.len(), "rule")));
    for rule in &rules {
        output.line(format!("  {:<28} {:<6} {}", rule.id, rule.action.name(), rule.tier.name()));
    }
    show_nested(&nested, output);
    for change in &kept {
        let what = change.what();
        output.line(format!("{} {what}; for this session it stays until `linchpin trust`", output.bold("Kept   ")));
    }
    for (rule, count) in &holds {
        output.line(format!("{} {rule} held this session's stop {}", output.bold("Holds  "), counted(*count, "time")));
    }
    show_demands(&demands, output);
    show_tokens(&project, now, context);
    show_known(&variables, &acknowledged, output);
    for file in &compiled.broken {
        output.line(format!("{} {}: {}", output.bold("Broken "), file.consequence(), file.problem));
    }
    if let Some(metrics) = &metrics {
        metrics.show(output);
    }
    Ok(ExitCode::Done)
}

/// The policy of a folder above the working directory: it adds to the project's.
struct Nested {
    root: PathBuf,
    rules: Vec<Rule>,
    broken: Vec<BrokenFile>,
}

impl Nested {
    fn all(project: &Project, context: &Context) -> Result<Vec<Self>, Problem> {
        let nested = project.nested_above(&context.environment.cwd).into_iter();
        let read = nested.map(|nested| {
            let compiled = nested.looked_at(&context.environment);
            let rules = compiled.rules.all().map_err(|error| Problem::new("Unreadable", error.to_string()))?;
            // Those in the box are in force already.
            let rules = rules.into_iter().filter(|rule| rule.tier == Tier::Project).collect();
            Ok(Self { root: nested.root, rules, broken: compiled.broken })
        });
        read.collect()
    }
}

fn nested_json(nested: &Nested) -> Value {
    json!({
        "root": nested.root,
        "rules": nested.rules.iter().map(rule_json).collect::<Vec<_>>(),
        "broken": nested.broken.iter().map(|file| &file.problem).collect::<Vec<_>>(),
    })
}

fn show_nested(nested: &[Nested], output: &Output) {
    for Nested { root, rules, broken } in nested {
        let count = counted(rules.len(), "rule");
        output.line(format!("{} {count} in force in {}", output.bold("Nested "), root.display()));
        for rule in rules {
            output.line(format!("  {:<28} {:<6} {}", rule.id, rule.action.name(), rule.tier.name()));
        }
        for file in broken {
            output.line(format!("  broken, {}: {}", file.consequence(), file.problem));
        }
    }
}

fn rule_json(rule: &Rule) -> Value {
    json!({ "rule": rule.id, "tier": rule.tier.name(), "action": rule.action.name(), "source": rule.source })
}

fn show_project(project: &Project, unusable: Option<&Problem>, output: &Output) {
    output.line(format!("{} {}", output.bold("Project"), project.root.display()));
    if let Some(problem) = unusable {
        output.line(format!("{} {}; `linchpin doctor`", output.bold("Journal"), problem.message()));
    }
}

/// What the session knows, and what was acknowledged in it.
fn show_known(variables: &Map<String, Value>, acknowledged: &[Acknowledgement], output: &Output) {
    for (name, value) in variables {
        output.line(format!("{} {name} = {value}", output.bold("Knows  ")));
    }
    for ack in acknowledged {
        output.line(format!("{} {}, by the {}: {}", output.bold("Ack    "), ack.rule, ack.by.name(), ack.reason));
    }
}

fn show_run(told: Option<&str>, output: &Output) {
    if let Some(told) = told {
        output.line(format!("{} {told}", output.bold("Run    ")));
    }
}

fn show_session(session: Option<&SessionOwner>, output: &Output) {
    match session {
        Some(SessionOwner { agent, session }) => output.line(format!("{} {agent} {session}", output.bold("Session"))),
        None => output.line(format!("{} none yet", output.bold("Session"))),
    }
}

/// Why nothing is enforced, where that is so.
fn show_lifting(mode: Mode, pause: Option<&Pause>, now: i64, output: &Output) {
    if mode == Mode::Observe {
        output.line(format!("{} {}", output.bold("Mode   "), OBSERVING));
    }
    if let Some(pause) = pause {
        output.line(format!("{} {}", output.bold("Pause  "), paused(pause, now)));
    }
}

/// Without those that are Linchpin's own.
fn own_variables(state: Option<SessionState>) -> Map<String, Value> {
    let variables = state.map(|state| state.variables).unwrap_or_default();
    variables.into_iter().filter(|(name, _)| !name.starts_with('_')).collect()
}

/// Those that count: of rules as they are now.
fn acknowledged(state: &SessionState, rules: &[Rule]) -> Vec<Acknowledgement> {
    let mut acknowledged = Acknowledgement::of_session(state);
    acknowledged.retain(|ack| rules.iter().any(|rule| rule.id == ack.rule && rule.digest == ack.digest));
    acknowledged
}

const FILES_NAMED: usize = 5;

fn show_demands(demands: &[QueueEntry], output: &Output) {
    for QueueEntry { rule_name, trigger_files, shown, status, .. } in demands {
        let mut files = trigger_files
            .iter()
            .take(FILES_NAMED)
            .map(|file| engine::file_rules::shown(file))
            .collect::<Vec<_>>()
            .join(", ");
        if trigger_files.len() > FILES_NAMED {
            let _ = write!(files, " and {} more", trigger_files.len() - FILES_NAMED);
        }
        let said = match status {
            QueueStatus::Failed => "was not met at the last stop and let go".to_owned(),
            _ => format!(
                "was not met at the last stop, asked {}",
                counted(usize::try_from(*shown).unwrap_or(usize::MAX), "time")
            ),
        };
        output.line(format!("{} {rule_name} {said}: {files}", output.bold("Asks   ")));
    }
}

/// Where a workflow is active.
fn show_tokens(project: &Project, now: i64, context: &Context) {
    let options = store::Options { busy: Duration::from_secs(2), now, run: None };
    let Some(spent) = token_count::of_current_phase(project, &context.environment, options) else { return };
    let output = &context.output;
    let said = match spent.known() {
        Some(tokens) => format!("{} input, {} output", tokens.input, tokens.output),
        None => "unknown".to_owned(),
    };
    output.line(format!("{} {said} in this phase", output.bold("Tokens ")));
}

fn acknowledgement_json(ack: &Acknowledgement) -> Value {
    json!({ "rule": ack.rule, "reason": ack.reason, "by": ack.by.name(), "time": ack.time })
}

/// By rule.
fn demand_json(entry: &QueueEntry) -> (String, Value) {
    let QueueEntry { rule_name, status, shown, trigger_files, expected_files, .. } = entry;
    let value = json!({
        "status": status.name(), "shown": shown, "trigger_files": trigger_files, "expected_files": expected_files,
    });
    (rule_name.clone(), value)
}

fn holds(state: &SessionState) -> BTreeMap<String, usize> {
    let holds = state.counters.iter().filter_map(|(name, count)| {
        let rule = guard::facts::held_rule(name)?;
        Some((rule.to_owned(), usize::try_from(*count).ok().filter(|count| *count > 0)?))
    });
    holds.collect()
}
