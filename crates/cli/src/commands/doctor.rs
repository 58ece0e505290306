//! `doctor`: shows what is installed and in force, and what would make it ineffective.

mod doctor_check;
mod hook_self_test;
mod hooks;

use agents::without_control_characters;
use engine::rules::{Rule, Tier};
use guard::failure::Failure;
use guard::grants::{OBSERVE_NOTICE, Pause, SWITCHED_OFF_NOTICE, Trust, pause_notice, untrusted_workflow_notice};
use guard::{Project, file_size_limit};
use policy::{Diagnostic, DiagnosticKind, PolicyMode, Severity};
use serde_json::{Value, json};
use store::{Store, StoreError};
use work::WorkDatabase;

use super::validate::how_to_begin;
use super::{Context, change_detection};
use crate::exit_code::ExitCode;
use crate::plural::counted;
use crate::problem::CommandOutcome;
use doctor_check::{CheckState, DoctorCheck};

#[expect(clippy::unnecessary_wraps, reason = "every command has this shape")]
pub fn run(context: &Context) -> CommandOutcome {
    let project = Project::of_sessions(&context.environment);
    let nested = project.nested_above(&context.environment.cwd);
    let mut checks = policy_checks(&project, context);
    for nested in &nested {
        let directory = nested.root.strip_prefix(&project.root).unwrap_or(&nested.root);
        checks.extend(
            rule_checks(nested, |rule| rule.tier == Tier::Project, context)
                .into_iter()
                .map(|check| check.within(directory)),
        );
    }
    checks.extend(enforcement_checks(&project, context));
    if file_size_limit::is_too_low_after_raising() {
        // Writing to a file beyond the limit on file sizes would kill this process, so the checks that write a file are
        // skipped.
        let help = "raise it in the shell that starts the agent: `ulimit -f unlimited`";
        checks.push(DoctorCheck::bad(Failure::FileSizeLimit.to_string(), help));
    } else {
        checks.extend(state_check(context));
        checks.push(journal_check(&project, context));
        checks.extend(queue_check(&project, context));
        checks.extend(work_check(&project, context));
    }
    checks.extend(hooks::checks(&project, &nested, context));
    let is_bad = checks.iter().any(|check| check.state == CheckState::Bad);
    report(&project, &nested, &checks, context);
    Ok(if is_bad { ExitCode::No } else { ExitCode::Done })
}

fn policy_checks(project: &Project, context: &Context) -> Vec<DoctorCheck> {
    if !project.has_policy() {
        let help = how_to_begin(project);
        return vec![DoctorCheck::bad("no policy: every event is allowed", help)];
    }
    rule_checks(project, |_| true, context)
}

/// Counts the rules of one policy for which `is_counted` is true, and reports the problems of its files.
fn rule_checks(project: &Project, is_counted: impl Fn(&Rule) -> bool, context: &Context) -> Vec<DoctorCheck> {
    let compiled = project.compiled_policy_read_only(&context.environment);
    let rules = compiled.rules.all().unwrap_or_default();
    let number = rules.iter().filter(|rule| is_counted(rule)).count();
    let mut checks = vec![DoctorCheck::fine(format!("{} in force", counted(number, "rule")))];
    for file in &compiled.broken {
        let text = format!("broken, {}: {}", file.consequence(), file.problem);
        checks.push(DoctorCheck::bad(text, "`linchpin validate` shows every error"));
    }
    checks.extend(compiled.untrusted.iter().map(DoctorCheck::note));
    let loaded = project.load(&context.environment);
    let trust = Trust::of(&project.root, &context.environment);
    let workflows = policy::workflows(&project.tiers, &loaded).files.into_iter().filter_map(|file| file.workflow);
    let waiting = workflows.filter(|workflow| !trust.accepts_workflow(workflow));
    checks.extend(waiting.map(|workflow| DoctorCheck::note(untrusted_workflow_notice(&workflow))));
    checks.extend(warning_checks(&loaded.diagnostics));
    checks.extend(change_detection::missing_repository(project, &rules).map(DoctorCheck::note));
    if let Some(unknown) = change_detection::unknown_default_branch(project, &compiled.config, &rules) {
        checks.push(DoctorCheck::bad(
            format!(
                "Linchpin can't tell where the branch left the default branch, so file rules may miss changes: {}",
                unknown.why
            ),
            unknown.help,
        ));
    }
    checks
}

/// Reports warnings about policy files: each file that is not read, and the first of the other warnings.
fn warning_checks(diagnostics: &[Diagnostic]) -> Vec<DoctorCheck> {
    let is_warning =
        |problem: &&Diagnostic| problem.severity == Severity::Warning && problem.kind != DiagnosticKind::Untrusted;
    let is_unread = |problem: &&Diagnostic| problem.kind == DiagnosticKind::NotFound;
    let (unread, others): (Vec<_>, Vec<_>) = diagnostics.iter().filter(is_warning).partition(is_unread);
    let check = |problem: &Diagnostic, more: &str| {
        DoctorCheck::note(format!("{}: {}{more}; `linchpin validate` shows it", problem.source.name, problem.message))
    };
    let mut checks: Vec<DoctorCheck> = unread.into_iter().map(|problem| check(problem, "")).collect();
    if let [first, rest @ ..] = others.as_slice() {
        let more =
            if rest.is_empty() { String::new() } else { format!(" (and {})", counted(rest.len(), "more warning")) };
        checks.push(check(first, &more));
    }
    checks
}

/// Reports settings because of which rules are not enforced. Only settings of the project's root count.
fn enforcement_checks(project: &Project, context: &Context) -> Vec<DoctorCheck> {
    let mut checks = Vec::new();
    if project.has_policy() {
        let config = project.compiled_policy_read_only(&context.environment).config;
        if !config.enabled {
            checks.push(DoctorCheck::bad(SWITCHED_OFF_NOTICE, "set `enabled: true` in the configuration to end it"));
        }
        if config.mode == PolicyMode::Observe {
            checks.push(DoctorCheck::bad(OBSERVE_NOTICE, "set `mode: enforce` in the configuration to end it"));
        }
    }
    if let Some(pause) = Pause::of(&project.root, &context.environment, super::now()) {
        checks.push(DoctorCheck::bad(pause_notice(&pause, super::now()), "`linchpin resume` ends it"));
    }
    checks
}

/// Checks the user's state directory. Linchpin stores grants there, and the rules that running sessions keep.
fn state_check(context: &Context) -> Option<DoctorCheck> {
    let directory = &context.environment.state;
    let error = policy::check_writable(directory).err()?;
    let text = format!("{} cannot be written: {}", directory.display(), error.kind());
    Some(DoctorCheck::bad(
        text,
        "until it can be written, `trust`, `allow` and `pause` do not work, and a rule that is removed during a session no longer stays in force for that session",
    ))
}

fn journal_check(project: &Project, context: &Context) -> DoctorCheck {
    let path = project.journal_path(&context.environment);
    let options = store::StoreOptions { busy_timeout: std::time::Duration::from_secs(1), now: super::now(), run: None };
    let check_directory = || policy::check_writable(path.parent().unwrap_or(&path)).map_err(StoreError::from);
    let read = Store::open_read_only(&path, options).map(drop);
    let is_missing = matches!(read, Err(StoreError::Missing { .. }));
    let read = if is_missing { Ok(()) } else { read.and_then(|()| Store::check_writable(&path, options)) };
    match read.and_then(|()| check_directory()) {
        Ok(()) if is_missing => DoctorCheck::note("no journal yet: the first event creates it"),
        Ok(()) => DoctorCheck::fine(format!("journal at {}", path.display())),
        Err(error) => {
            let consequence = if matches!(error, StoreError::ReadOnly) {
                format!("nothing is recorded; make {} and its folder writable for your user", path.display())
            } else {
                "until it can be read, rules that need stored state are skipped".to_owned()
            };
            DoctorCheck::bad(error.to_string(), consequence)
        }
    }
}

/// Checks the directory in which the demands of file rules are stored: next to the policy or, if that directory cannot
/// be used, in the user's state directory.
fn queue_check(project: &Project, context: &Context) -> Option<DoctorCheck> {
    let directory = project.tmp(&context.environment);
    if let Err(error) = policy::check_writable(&directory.join("rules/queue")) {
        let text = format!("the demands of file rules cannot be written to {}: {}", directory.display(), error.kind());
        return Some(DoctorCheck::bad(text, "until it can be written, file rules are skipped when an agent stops"));
    }
    let unusable = project.unusable_tmp()?;
    let text = format!(
        "{} is not a writable folder, so the demands of file rules are kept in {}",
        unusable.display(),
        directory.display()
    );
    Some(DoctorCheck { help: Some("delete it, or make it writable".to_owned()), ..DoctorCheck::note(text) })
}

/// Checks the database of tasks, memories and runs, if it exists.
fn work_check(project: &Project, context: &Context) -> Option<DoctorCheck> {
    let path = project.work_database_path(&context.environment);
    let error = WorkDatabase::open_existing(&path)
        .and_then(|work| work.map_or(Ok(()), |work| work.tasks().counts(None).map(drop)))
        .err()?;
    let help = format!(
        "rules about tasks are skipped; if it is damaged, move {} away: a new, empty one is created",
        path.display()
    );
    Some(DoctorCheck::bad(error.to_string(), help))
}

fn report(project: &Project, nested: &[Project], checks: &[DoctorCheck], context: &Context) {
    let output = &context.output;
    let name = |state: CheckState| match state {
        CheckState::Fine => "ok",
        CheckState::Note => "note",
        CheckState::Bad => "bad",
    };
    if output.json {
        let listed: Vec<Value> = checks
            .iter()
            .map(|check| json!({ "state": name(check.state), "message": check.text, "help": check.help }))
            .collect();
        output.value(&json!({
            "version": env!("CARGO_PKG_VERSION"),
            "root": project.root,
            "nested": nested.iter().map(|nested| &nested.root).collect::<Vec<_>>(),
            "effective": checks.iter().all(|check| check.state != CheckState::Bad),
            "checks": listed,
        }));
        return;
    }
    output.line(format!("Linchpin {}, project {}", env!("CARGO_PKG_VERSION"), project.root.display()));
    for nested in nested {
        output.line(format!("with the nested policy of {}", nested.root.display()));
    }
    output.blank();
    for check in checks {
        // Texts from settings files may contain control characters.
        output.line(format!("{:<5} {}", name(check.state), without_control_characters(&check.text)));
        if let Some(help) = &check.help {
            output.line(output.dim(&format!("      {}", without_control_characters(help))));
        }
    }
}
