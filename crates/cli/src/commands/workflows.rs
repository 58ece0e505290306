//! `workflows`: lists the workflows, and shows or draws one of them.

use engine::suggest;
use engine::workflow::{Requirement, Workflow, diagram};
use guard::Project;
use guard::grants::{Trust, untrusted_workflow_notice};
use policy::{WorkflowFile, Workflows as Found};
use serde_json::{Value, json};

use super::{Context, workflow_path};
use crate::arguments::{DrawingFormat, WorkflowsAction, WorkflowsArguments};
use crate::exit_code::ExitCode;
use crate::plural::code_list;
use crate::problem::{CommandOutcome, Problem};

pub fn run(arguments: &WorkflowsArguments, context: &Context) -> CommandOutcome {
    let project = Project::of_person(&context.environment);
    let found = policy::workflows(&project.tiers, &project.load(&context.environment));
    match &arguments.action {
        None => list(&found, context),
        Some(WorkflowsAction::Show { name, format }) => {
            let name = workflow_path::name_of(name, &project, context)?;
            show(&name, *format, &found, &project, context)?;
        }
    }
    Ok(ExitCode::Done)
}

fn list(found: &Found, context: &Context) {
    let output = &context.output;
    // For each name, the definition that is in effect.
    let effective: Vec<&WorkflowFile> = found.names().iter().filter_map(|name| found.named(name)).collect();
    if output.json {
        let listed: Vec<Value> = effective.iter().map(|file| file_to_json(file, found)).collect();
        output.value(&json!({ "workflows": listed }));
        return;
    }
    if effective.is_empty() {
        output.line("There are no workflows.");
    }
    let width = effective.iter().map(|file| file.name.len()).max().unwrap_or(0);
    for file in effective {
        let nodes = match &file.workflow {
            Some(workflow) => nodes(workflow).join(", "),
            None => "broken: `linchpin validate` shows the errors".to_owned(),
        };
        let hidden: Vec<&str> = found.hidden_by(file).map(|other| other.tier.name()).collect();
        let hides = if hidden.is_empty() { String::new() } else { format!("; replaces that of {}", hidden.join(", ")) };
        output.line(format!("{:<width$}  {:<7}  {nodes} ({}{hides})", file.name, file.tier.name(), file.source));
    }
}

fn file_to_json(file: &WorkflowFile, found: &Found) -> Value {
    let hides: Vec<Value> =
        found.hidden_by(file).map(|other| json!({ "tier": other.tier.name(), "source": other.source })).collect();
    json!({
        "name": file.name,
        "tier": file.tier.name(),
        "source": file.source,
        "sound": file.workflow.is_some(),
        "digest": file.workflow.as_ref().map(|workflow| &workflow.digest),
        "nodes": file.workflow.as_ref().map(nodes),
        "hides": hides,
    })
}

fn nodes(workflow: &Workflow) -> Vec<&str> {
    workflow.nodes.iter().map(|node| node.name.as_str()).collect()
}

fn show(name: &str, format: DrawingFormat, found: &Found, project: &Project, context: &Context) -> Result<(), Problem> {
    let Some(file) = found.named(name) else { return Err(unknown(name, found)) };
    let Some(workflow) = &file.workflow else {
        let problem = Problem::new("BrokenPolicy", format!("the workflow `{name}` has errors"));
        return Err(problem.at(&file.source, None).help("`linchpin validate` shows the errors"));
    };
    let drawn = match format {
        DrawingFormat::Text => diagram::text(workflow),
        DrawingFormat::Mermaid => diagram::graph(workflow).mermaid(),
        DrawingFormat::Dot => diagram::graph(workflow).dot(),
        DrawingFormat::Yaml => file.text.to_string(),
    };
    let is_trusted = Trust::of(&project.root, &context.environment).accepts_workflow(workflow);
    context.output.line_or(drawn.trim_end(), &to_json(workflow, &drawn, is_trusted));
    if !is_trusted {
        context.output.aside(format!("note: {}", untrusted_workflow_notice(workflow)));
    }
    Ok(())
}

fn unknown(name: &str, found: &Found) -> Problem {
    let known = found.names();
    let help = suggest::closest(name, known.iter().copied()).map_or_else(
        || match known.as_slice() {
            [] => "a workflow is a file `NAME.yml` in `.linchpin/workflows`; there is none".to_owned(),
            known => format!("workflows: {}", code_list(known)),
        },
        suggest::did_you_mean,
    );
    Problem::new("NotFound", format!("there is no workflow `{name}`")).help(help)
}

fn to_json(workflow: &Workflow, drawn: &str, is_trusted: bool) -> Value {
    let requires = |requires: &[Requirement]| -> Vec<Value> {
        requires.iter().map(|required| json!({ "id": required.id, "gate": required.gate.to_string() })).collect()
    };
    let ids = |rules: &[engine::rules::Rule]| -> Vec<String> { rules.iter().map(|rule| rule.id.clone()).collect() };
    let nodes: Vec<Value> = workflow
        .nodes
        .iter()
        .map(|node| {
            let transitions = node.transitions.iter().map(|transition| {
                json!({
                    "when": transition.when, "to": transition.to, "requires": requires(&transition.requires),
                })
            });
            json!({
                "name": node.name,
                "rules": ids(&node.rules),
                "requires": requires(&node.requires),
                "transitions": transitions.collect::<Vec<_>>(),
            })
        })
        .collect();
    json!({
        "name": workflow.name,
        "tier": workflow.tier.name(),
        "source": workflow.source,
        "digest": workflow.digest,
        "start": workflow.start,
        "claims": workflow.all_claims().collect::<Vec<_>>(),
        "rules": ids(&workflow.rules),
        "nodes": nodes,
        "needs_trust": workflow.parts_to_trust(),
        "trusted": is_trusted,
        "drawing": drawn,
    })
}
