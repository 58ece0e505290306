//! `trust`: a person accepts what a repository's policy approves or switches off.

use guard::acceptance::Acceptance;
use guard::trust::Trust as Kept;
use guard::{Project, session_policy};
use policy::{Before, Diagnostic, ErrorKind};
use serde_json::json;

use super::Context;
use crate::arguments::Trust;
use crate::exit_code::ExitCode;
use crate::person;
use crate::problem::{Outcome, Problem};

pub fn run(arguments: &Trust, context: &Context) -> Outcome {
    person::required("trust", &context.environment)?;
    let project = Project::of_person(&context.environment);
    let kept = Kept::of(&project.root, &context.environment);
    let loaded = policy::load(&project.tiers, &Before::default(), |weakening| kept.accepts(weakening));
    let waiting: Vec<_> = loaded.diagnostics.iter().filter(|problem| problem.kind == ErrorKind::Untrusted).collect();
    let acceptance = Acceptance::of(&project.root, &context.environment);
    let mut changes = session_policy::kept_by_any(&project, &context.environment);
    changes.retain(|change| !acceptance.includes(change));
    if waiting.is_empty() && changes.is_empty() {
        let said = if loaded.weakening.is_empty() { "nothing in this policy needs trust" } else { "already trusted" };
        context.output.line_or(said, &json!({ "trusted": true, "accepted": [], "changes": [] }));
        return Ok(ExitCode::Done);
    }
    if !context.output.json {
        for problem in &waiting {
            show(problem, context);
        }
        for change in &changes {
            let rule = context.output.bold(&change.rule);
            context.output.line(format!("{rule} {} while a session ran, which keeps it as it was", change.what()));
        }
    }
    if !arguments.yes && !person::confirmed("Accept?", "the rules", &context.output)? {
        return Err(Problem::new("Untrusted", "nothing was accepted"));
    }
    if !loaded.weakening.is_empty() {
        kept.accept(&loaded.weakening)?;
    }
    // What is accepted now may itself replace or switch off a rule that sessions are held to.
    let accepted = policy::load(&project.tiers, &Before::default(), |_| true);
    let (before, now) = (loaded.in_force_rules(), accepted.in_force_rules());
    changes.extend(policy::weakened(&before, &now).into_iter().map(|(change, _)| change));
    acceptance.add(&changes)?;
    let files: Vec<&str> = waiting.iter().map(|problem| problem.source.name.as_str()).collect();
    context.output.line_or(
        "Accepted. It holds until one of these parts changes.",
        &json!({ "trusted": true, "accepted": files, "changes": changes.iter().map(|change| &change.rule).collect::<Vec<_>>() }),
    );
    Ok(ExitCode::Done)
}

/// What is to be accepted: a whole rule file, or the line of a configuration.
fn show(problem: &Diagnostic, context: &Context) {
    let output = &context.output;
    let place = problem.position().map_or(String::new(), |position| format!(":{position}"));
    output.line(output.bold(&format!("{}{place}: {}", problem.source.name, problem.message)));
    let text = problem.part.as_ref().and_then(|part| problem.source.text.get(part.clone()));
    for line in text.unwrap_or(&problem.source.text).lines() {
        output.line(format!("    {line}"));
    }
    output.blank();
}
