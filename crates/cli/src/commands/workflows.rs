//! `workflows`: lists the workflows, shows or draws one of them, and copies a bundled one into the project.

use std::fs;

use engine::rules::Tier;
use engine::suggest;
use engine::workflow::{Requirement, Workflow, diagram};
use guard::Project;
use guard::grants::{Trust, untrusted_workflow_notice};
use policy::{PolicyFolder, WorkflowFile, Workflows as Found};
use serde_json::{Value, json};

use super::{Context, init, validate, workflow_path};
use crate::arguments::{DrawingFormat, WorkflowsAction, WorkflowsArguments};
use crate::exit_code::ExitCode;
use crate::person;
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
        Some(WorkflowsAction::New { name }) => copy_bundled(name, &found, &project, context)?,
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
    let Some(mut file) = found.named(name) else { return Err(unknown(name, found)) };
    if format == DrawingFormat::Yaml && file.text.trim().is_empty() {
        // With `> .linchpin/workflows/NAME.yml`, the shell creates an empty file before this command starts.
        file = found.hidden_by(file).next().unwrap_or(file);
    }
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

fn copy_bundled(name: &str, found: &Found, project: &Project, context: &Context) -> Result<(), Problem> {
    person::required("workflows new", &context.environment)?;
    let bundled: Vec<&WorkflowFile> = found.files.iter().filter(|file| file.tier == Tier::Bundled).collect();
    let Some(file) = bundled.iter().find(|file| file.name == name) else {
        let names: Vec<&str> = bundled.iter().map(|file| file.name.as_str()).collect();
        let help = suggest::closest(name, names.iter().copied())
            .map_or_else(|| format!("bundled workflows: {}", code_list(&names)), suggest::did_you_mean);
        return Err(Problem::new("NotFound", format!("there is no bundled workflow `{name}`")).help(help));
    };
    validate::require_policy(project)?;
    let folder = PolicyFolder::of_project(&project.root);
    fs::create_dir_all(folder.workflows())?;
    let path = folder.workflows().join(format!("{name}.yml"));
    let shown = folder.display_name(&path);
    let other_spelling = path.with_extension("yaml");
    if other_spelling.exists() || !init::write_new(&path, &file.text)? {
        let existing = if other_spelling.exists() { folder.display_name(&other_spelling) } else { shown };
        return Err(Problem::new("Exists", format!("`{existing}` already exists"))
            .help("move it away first: Linchpin does not overwrite your files"));
    }
    let text = format!("Wrote {shown}. It replaces the bundled workflow. Change it, then run `linchpin validate`.");
    context.output.line_or(&text, &json!({ "file": shown, "workflow": name }));
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
