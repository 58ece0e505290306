//! `rules propose` and `rules accept`: an agent proposes a rule, and a person accepts or rejects it.

use guard::Project;
use policy::edit::{Editor, Proposal, Proposals};
use policy::{Diagnostic, RenderStyle};
use serde_json::{Value, json};

use super::report::report;
use super::{Context, Target, draft_text, project_folder};
use crate::arguments::{AcceptRuleArguments, ProposeRuleArguments};
use crate::commands::validate;
use crate::exit_code::ExitCode;
use crate::person::{self, Confirmation};
use crate::problem::{CommandOutcome, Problem};

pub fn propose(arguments: &ProposeRuleArguments, context: &Context) -> CommandOutcome {
    let project = Project::of_person(&context.environment);
    let folder = project_folder(&project)?;
    let proposals = Proposals::of(folder);
    let proposal = Proposal { id: arguments.id.clone(), text: draft_text::read(&arguments.file)? };
    let warnings = Editor::open(&project.tiers, folder).check_proposal(&proposal)?;
    proposals.save(&proposal)?;
    let id = &proposal.id;
    let command = format!("linchpin rules accept {id}");
    if context.output.json {
        let warnings: Vec<Value> = warnings.iter().map(validate::to_json).collect();
        let file = proposals.display_name(id);
        context.output.value(&json!({ "proposed": id, "file": file, "accept": command, "warnings": warnings }));
        return Ok(ExitCode::Done);
    }
    for warning in &warnings {
        context.output.rendered(&warning.render(RenderStyle::Plain));
        context.output.blank();
    }
    context.output.line(format!("`{id}` is proposed, in {}.", proposals.display_name(id)));
    context.output.line(format!("It becomes a rule when a person runs `{command}`."));
    Ok(ExitCode::Done)
}

pub fn accept(arguments: &AcceptRuleArguments, context: &Context) -> CommandOutcome {
    person::required("rules accept", &context.environment)?;
    let target = Target::open(false, context)?;
    let proposals = Proposals::of(project_folder(&target.project)?);
    let Some(id) = &arguments.id else {
        list(&proposals, &target, context);
        return Ok(ExitCode::Done);
    };
    let proposal = proposals.get(id)?;
    if !context.output.json {
        context.output.line(context.output.bold(&proposals.display_name(id)));
        for line in proposal.text.lines() {
            context.output.line(format!("    {line}"));
        }
        context.output.blank();
    }
    for warning in target.editor.check_proposal(&proposal)?.iter().filter(|_| !context.output.json) {
        context.output.rendered(&warning.render(context.output.style()));
        context.output.blank();
    }
    let confirmation = Confirmation {
        question: "Make it a rule of this project?",
        subject: "the rule",
        without_asking: &format!("linchpin rules accept {id} --yes"),
    };
    if !arguments.yes && !confirmation.ask(&context.output)? {
        return Err(Problem::new("Untrusted", "nothing was accepted"));
    }
    let changed = target.editor.accept(&proposal, &proposals)?;
    report(&target, &changed, &[id], context)
}

fn list(proposals: &Proposals, target: &Target, context: &Context) {
    let ids = proposals.ids();
    // Broken proposals are listed too, because a person may want to delete them.
    let problem = |id: &str| {
        let checked = proposals.get(id).and_then(|proposal| target.editor.check_proposal(&proposal));
        checked.err().map(|refusal| refusal.problems.first().map_or(refusal.message.clone(), Diagnostic::line))
    };
    if context.output.json {
        let listed =
            ids.iter().map(|id| json!({ "id": id, "file": proposals.display_name(id), "problem": problem(id) }));
        context.output.value(&json!({ "proposals": listed.collect::<Vec<_>>() }));
        return;
    }
    for id in &ids {
        match problem(id) {
            None => context.output.line(id),
            Some(problem) => context.output.line(format!("{id}  cannot be accepted: {problem}")),
        }
    }
    context.output.line(match ids.as_slice() {
        [] => "There are no proposals.",
        _ => "\n`linchpin rules accept ID` shows a proposal and makes it a rule.",
    });
}
