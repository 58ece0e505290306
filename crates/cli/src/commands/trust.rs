//! `trust`: a person accepts what a repository's policy approves or switches off.

use guard::Project;
use guard::trust::Trust as Kept;
use policy::{Before, ErrorKind};
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
    let pending: Vec<_> = loaded.diagnostics.iter().filter(|problem| problem.kind == ErrorKind::Untrusted).collect();
    if pending.is_empty() {
        let said = if loaded.weakening.is_empty() { "nothing in this policy needs trust" } else { "already trusted" };
        context.output.line_or(said, &json!({ "trusted": true, "accepted": [] }));
        return Ok(ExitCode::Done);
    }
    let files: Vec<&str> = pending.iter().map(|problem| problem.source.name.as_str()).collect();
    if !context.output.json {
        for problem in &pending {
            context.output.line(context.output.bold(&format!("{}: {}", problem.source.name, problem.message)));
            for line in problem.source.text.lines() {
                context.output.line(format!("    {line}"));
            }
            context.output.blank();
        }
    }
    if !arguments.yes && !person::confirmed("Accept?", "the rules", &context.output)? {
        return Err(Problem::new("Untrusted", "nothing was accepted"));
    }
    kept.accept(&loaded.weakening)?;
    context.output.line_or(
        "Accepted. It holds until one of these rules changes.",
        &json!({ "trusted": true, "accepted": files }),
    );
    Ok(ExitCode::Done)
}
