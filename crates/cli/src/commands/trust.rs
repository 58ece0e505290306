//! `trust`: a person accepts the parts of a repository's policy that approve calls, switch rules off or start programs.

use std::io;
use std::path::Path;

use engine::hats::Loop;
use engine::workflow::Workflow;
use guard::Project;
use guard::grants::{AcceptedWeakenings, Trust as Accepted};
use guard::session::policy as session_policy;
use policy::edit::EditRefusal;
use policy::{
    Diagnostic, DiagnosticKind, IGNORED_UNTIL_TRUSTED, LastGoodPolicy, LoadedPolicy, PolicyMode, Severity, Weakening,
};
use serde_json::json;

use super::Context;
use crate::arguments::TrustArguments;
use crate::exit_code::ExitCode;
use crate::person::{self, Confirmation};
use crate::problem::{CommandOutcome, Problem};

pub fn run(arguments: &TrustArguments, context: &Context) -> CommandOutcome {
    person::required("trust", &context.environment)?;
    let project = Project::of_person(&context.environment);
    person::require_terminal_during_run(&project, &context.environment)?;
    let pending = PendingAcceptance::of(&project, context);
    if !pending.broken.is_empty() {
        return Err(refuse_broken(&pending.broken).into());
    }
    if pending.is_nothing() {
        let text = if pending.needs_none { "nothing in this policy needs trust" } else { "already trusted" };
        context.output.line_or(text, &json!({ "trusted": true, "accepted": [], "changes": [] }));
        return Ok(ExitCode::Done);
    }
    if !context.output.json {
        for part in pending.parts() {
            show(part, context);
        }
        for workflow in &pending.workflows {
            show_workflow(workflow, context);
        }
        if let Some(the_loop) = &pending.the_loop {
            show_loop(the_loop, context);
        }
        for change in &pending.changes {
            context
                .output
                .line(format!("{}; running sessions keep the stricter version until you accept", change.describe()));
        }
    }
    let question = match pending.count() {
        1 => "Accept this part?".to_owned(),
        count => format!("Accept these {count} parts?"),
    };
    let confirmation =
        Confirmation { question: &question, subject: "the files", without_asking: "linchpin trust --yes" };
    if !arguments.yes && !confirmation.ask(&context.output)? {
        return Err(Problem::new("Untrusted", "nothing was accepted"));
    }
    if !pending.is_same(&PendingAcceptance::of(&project, context)) {
        let message = "the policy changed while you were reading it; nothing was accepted";
        return Err(Problem::new("Untrusted", message).help("run `linchpin trust` again"));
    }
    accept(&project, &pending, context)?;
    let files: Vec<&str> = pending.parts().iter().map(|part| part.source.name.as_str()).collect();
    let workflows = pending.workflows.iter().map(|workflow| workflow.source.as_str());
    let the_loop = pending.the_loop.iter().map(|the_loop| the_loop.source.as_str());
    let files: Vec<&str> = files.into_iter().chain(workflows).chain(the_loop).collect();
    let mut rules: Vec<&String> = pending.changes.iter().map(|change| &change.rule).collect();
    rules.dedup();
    context.output.line_or(
        accepted_text(!files.is_empty(), &rules),
        &json!({ "trusted": true, "accepted": files, "changes": rules }),
    );
    Ok(ExitCode::Done)
}

/// Describes what was accepted. `has_parts`: parts of policy files were accepted. `rules`: the rules whose weakening
/// was accepted, so that sessions no longer keep the stricter version.
fn accepted_text(has_parts: bool, rules: &[&String]) -> String {
    let parts = "The acceptance is valid until one of these parts changes.";
    let rules: Vec<String> = rules.iter().map(|rule| format!("`{rule}`")).collect();
    let rules = rules.join(", ");
    match (has_parts, rules.is_empty()) {
        (_, true) => format!("Accepted. {parts}"),
        (false, false) => format!("Accepted: the changes to {rules} now apply to running sessions too."),
        (true, false) => format!("Accepted. {parts} The changes to {rules} now apply to running sessions too."),
    }
}

/// Returns the error for broken files: their parts cannot be shown to the person, so the person cannot accept them.
fn refuse_broken(broken: &[Diagnostic]) -> EditRefusal {
    let mut files: Vec<String> = broken.iter().map(|problem| format!("`{}`", problem.source.name)).collect();
    files.dedup();
    let are = if files.len() == 1 { "is" } else { "are" };
    let kind = broken.first().map_or(DiagnosticKind::InvalidValue, |problem| problem.kind);
    EditRefusal::new(kind, format!("{} {are} broken, so nothing was accepted", files.join(", ")))
        .help("fix the errors above (`linchpin validate` shows all of them), then run `linchpin trust` again")
        .with_problems(broken.to_vec())
}

/// Everything that a person has not accepted yet.
struct PendingAcceptance {
    loaded: LoadedPolicy,
    /// Weakenings of rules of which running sessions keep the stricter version.
    changes: Vec<Weakening>,
    /// The workflows with parts that are ignored until a person accepts them.
    workflows: Vec<Workflow>,
    /// The project's loop, if it has not been accepted.
    the_loop: Option<Loop>,
    /// True if the policy contains no part that needs acceptance. False if it contains such parts and all are accepted.
    needs_none: bool,
    /// Errors in the project's files. It is unknown which parts of these files need acceptance.
    broken: Vec<Diagnostic>,
}

impl PendingAcceptance {
    fn of(project: &Project, context: &Context) -> Self {
        let loaded = project.load(&context.environment);
        let policy = project.compiled_policy_read_only(&context.environment);
        let changes = session_policy::weakenings_ignored_by_any_session(project, &policy, &context.environment);
        let found = policy::workflows(&project.tiers, &loaded);
        let loop_file = policy::loop_file(&project.tiers, &loaded);
        let of_loop = loop_file.iter().flat_map(|file| &file.diagnostics);
        let users = project.tiers.user.as_ref().map(|folder| folder.path.as_path());
        let is_project =
            |problem: &&Diagnostic| users.is_none_or(|users| !Path::new(&problem.source.name).starts_with(users));
        let broken = loaded.diagnostics.iter().chain(&found.diagnostics).chain(of_loop);
        let broken = broken.filter(|problem| problem.severity == Severity::Error).filter(is_project).cloned().collect();
        let with_parts = found.files.into_iter().filter_map(|file| file.workflow);
        let with_parts: Vec<Workflow> = with_parts.filter(|workflow| !workflow.text_to_trust().is_empty()).collect();
        let the_loop = loop_file.and_then(|file| file.the_loop);
        let needs_none = loaded.text_to_trust.is_empty() && with_parts.is_empty() && the_loop.is_none();
        let trust = Accepted::of(&project.root, &context.environment);
        let the_loop = the_loop.filter(|the_loop| !trust.accepts_loop(the_loop));
        let workflows = with_parts.into_iter().filter(|workflow| !trust.accepts_workflow(workflow)).collect();
        Self { loaded, changes, workflows, the_loop, needs_none, broken }
    }

    fn is_nothing(&self) -> bool {
        self.parts().is_empty() && self.changes.is_empty() && self.workflows.is_empty() && self.the_loop.is_none()
    }

    fn count(&self) -> usize {
        self.parts().len() + self.workflows.len() + usize::from(self.the_loop.is_some()) + self.changes.len()
    }

    fn parts(&self) -> Vec<&Diagnostic> {
        self.loaded.untrusted_parts().collect()
    }

    fn is_same(&self, other: &Self) -> bool {
        self.loaded.text_to_trust == other.loaded.text_to_trust
            && self.changes == other.changes
            && self.workflows == other.workflows
            && self.the_loop == other.the_loop
            && self.broken == other.broken
    }
}

fn accept(project: &Project, pending: &PendingAcceptance, context: &Context) -> io::Result<()> {
    let trust = Accepted::of(&project.root, &context.environment);
    if !pending.loaded.text_to_trust.is_empty() {
        trust.accept(&pending.loaded.text_to_trust)?;
    }
    for workflow in &pending.workflows {
        trust.accept_workflow(workflow)?;
    }
    if let Some(the_loop) = &pending.the_loop {
        trust.accept_loop(the_loop)?;
    }
    // The parts that were just accepted may override or switch off rules that running sessions keep.
    let accepted =
        policy::load(&project.tiers, &LastGoodPolicy::default(), |text| *text == pending.loaded.text_to_trust);
    let (before, now) = (pending.loaded.in_force_rules(), accepted.in_force_rules());
    let mut changes = pending.changes.clone();
    changes.extend(policy::weakenings(&before, &now).into_iter().map(|(change, _)| change));
    if accepted.config.mode == PolicyMode::Observe {
        changes.push(Weakening::mode_to_observe());
    }
    AcceptedWeakenings::of(&project.root, &context.environment).add(&changes, super::now())?;
    if project.tiers.project.is_none() {
        // Replaces the last compiled version of a deleted policy, by which running sessions are judged.
        let _ = project.compiled_policy(&context.environment);
    }
    Ok(())
}

/// Shows a part of the policy that needs acceptance: a whole rule file, or lines of the configuration.
fn show(problem: &Diagnostic, context: &Context) {
    let output = &context.output;
    let place = problem.position().map_or(String::new(), |position| format!(":{position}"));
    let message = problem.message.replace(&format!("{IGNORED_UNTIL_TRUSTED} "), "");
    output.line(output.bold(&format!("{}{place}: {message}", problem.source.name)));
    let text = problem.full_span.as_ref().and_then(|span| problem.source.text.get(span.clone()));
    for line in text.unwrap_or(&problem.source.text).lines() {
        output.line(format!("    {line}"));
    }
    output.blank();
}

/// Shows what a workflow would do. The acceptance is valid for the current contents of the workflow's file.
fn show_workflow(workflow: &Workflow, context: &Context) {
    let output = &context.output;
    let message = "it starts programs or approves calls";
    output.line(output.bold(&format!("{}: {message}", workflow.source)));
    for part in workflow.parts_to_trust() {
        output.line(format!("    {}", part.replace('\n', "\n    ")));
    }
    output.blank();
}

/// Shows what a loop would start.
fn show_loop(the_loop: &Loop, context: &Context) {
    let output = &context.output;
    output.line(
        output.bold(&format!("{}: `linchpin run` would start its programs without supervision", the_loop.source)),
    );
    for part in the_loop.parts_to_trust() {
        output.line(format!("    {}", part.replace('\n', "\n    ")));
    }
    output.blank();
}
