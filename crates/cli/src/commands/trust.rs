//! `trust`: a person accepts what a repository's policy approves or switches off.

use std::io;

use guard::acceptance::Acceptance;
use guard::trust::Trust as Accepted;
use guard::{Project, session_policy};
use policy::{Before, Diagnostic, Loaded, Mode, Weakened};
use serde_json::json;

use super::Context;
use crate::arguments::Trust;
use crate::exit_code::ExitCode;
use crate::person;
use crate::problem::{Outcome, Problem};

pub fn run(arguments: &Trust, context: &Context) -> Outcome {
    person::required("trust", &context.environment)?;
    let project = Project::of_person(&context.environment);
    let waiting = Waiting::of(&project, context);
    if waiting.parts().is_empty() && waiting.changes.is_empty() {
        let said =
            if waiting.loaded.weakening.is_empty() { "nothing in this policy needs trust" } else { "already trusted" };
        context.output.line_or(said, &json!({ "trusted": true, "accepted": [], "changes": [] }));
        return Ok(ExitCode::Done);
    }
    if !context.output.json {
        for part in waiting.parts() {
            show(part, context);
        }
        for change in &waiting.changes {
            context.output.line(format!("{} while a session ran, which keeps it as it was", change.what()));
        }
    }
    if !arguments.yes && !person::confirmed("Accept?", "the rules", &context.output)? {
        return Err(Problem::new("Untrusted", "nothing was accepted"));
    }
    if !waiting.is_same(&Waiting::of(&project, context)) {
        let message = "the policy changed while you were reading it; nothing was accepted";
        return Err(Problem::new("Untrusted", message).help("look at it again: `linchpin trust`"));
    }
    accept(&project, &waiting, context)?;
    let files: Vec<&str> = waiting.parts().iter().map(|part| part.source.name.as_str()).collect();
    let rules: Vec<&String> = waiting.changes.iter().map(|change| &change.rule).collect();
    context.output.line_or(
        "Accepted. It holds until one of these parts changes.",
        &json!({ "trusted": true, "accepted": files, "changes": rules }),
    );
    Ok(ExitCode::Done)
}

/// What a person has not said yes to.
struct Waiting {
    loaded: Loaded,
    /// What sessions keep.
    changes: Vec<Weakened>,
}

impl Waiting {
    fn of(project: &Project, context: &Context) -> Self {
        let loaded = project.load(&context.environment);
        let acceptance = Acceptance::of(&project.root, &context.environment);
        let kept = session_policy::kept_by_any(project, &context.environment);
        let kept = kept.into_iter().filter(|kept| !acceptance.includes(&kept.change, kept.since));
        let mut changes: Vec<Weakened> = kept.map(|kept| kept.change).collect();
        changes.dedup();
        Self { loaded, changes }
    }

    fn parts(&self) -> Vec<&Diagnostic> {
        self.loaded.untrusted_parts().collect()
    }

    fn is_same(&self, other: &Self) -> bool {
        self.loaded.weakening == other.loaded.weakening && self.changes == other.changes
    }
}

fn accept(project: &Project, waiting: &Waiting, context: &Context) -> io::Result<()> {
    if !waiting.loaded.weakening.is_empty() {
        Accepted::of(&project.root, &context.environment).accept(&waiting.loaded.weakening)?;
    }
    // What is accepted now may itself replace or switch off what sessions are held to.
    let accepted = policy::load(&project.tiers, &Before::default(), |weakening| *weakening == waiting.loaded.weakening);
    let (before, now) = (waiting.loaded.in_force_rules(), accepted.in_force_rules());
    let mut changes = waiting.changes.clone();
    changes.extend(policy::weakened(&before, &now).into_iter().map(|(change, _)| change));
    if accepted.config.mode == Mode::Observe {
        changes.push(Weakened::observing());
    }
    Acceptance::of(&project.root, &context.environment).add(&changes, super::now())
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
