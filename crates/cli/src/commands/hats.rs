//! `hats`: validates, lists, shows and draws the hats of a project's loop.

use std::fs;

use engine::hats::prompt::{IncomingEvent, Prompt, PromptContext};
use engine::hats::{Completion, Hat, Loop, diagram};
use engine::suggest;
use guard::Project;
use policy::{LoopFile, PRESETS, Preset};
use serde_json::{Value, json};

use super::validate;
use super::{Context, init, loop_file, loops};
use crate::arguments::{GraphFormat, HatsAction, HatsArguments};
use crate::exit_code::ExitCode;
use crate::person;
use crate::plural::{code_list, counted};
use crate::problem::{CommandOutcome, Problem};

pub fn run(arguments: &HatsArguments, context: &Context) -> CommandOutcome {
    let project = Project::of_person(&context.environment);
    match &arguments.action {
        HatsAction::New { preset: None } => list_presets(context),
        HatsAction::New { preset: Some(name) } => write_preset(name, &project, context)?,
        HatsAction::Validate => return Ok(validate_loop(&loop_file::read(&project, context)?, &project, context)),
        HatsAction::List => list(&loop_file::valid_loop(&project, context)?, context),
        HatsAction::Show { hat } => show(hat, &loop_file::valid_loop(&project, context)?, context)?,
        HatsAction::Graph { format } => draw(*format, &loop_file::valid_loop(&project, context)?, context),
    }
    Ok(ExitCode::Done)
}

fn validate_loop(file: &LoopFile, project: &Project, context: &Context) -> ExitCode {
    let unguarded = file.the_loop.as_ref().map(|the_loop| loops::unguarded_agents(the_loop, project, context));
    let unguarded = unguarded.unwrap_or_default();
    let errors = file.errors().count();
    let warnings = file.diagnostics.len() - errors + unguarded.iter().filter(|agent| agent.is_warning()).count();
    let code = if errors > 0 { ExitCode::Usage } else { ExitCode::Done };
    let output = &context.output;
    if output.json {
        let problems: Vec<Value> = file.diagnostics.iter().map(validate::to_json).collect();
        let agents: Vec<Value> = unguarded.iter().map(loops::UnguardedAgent::to_json).collect();
        output.value(&json!({ "sound": errors == 0, "file": file.source, "problems": problems, "unguarded": agents }));
        return code;
    }
    for diagnostic in &file.diagnostics {
        output.rendered(&diagnostic.render(output.style()));
        output.blank();
    }
    for agent in &unguarded {
        agent.print(output);
    }
    let hats = file.the_loop.as_ref().map(|the_loop| counted(the_loop.hats.len(), "hat"));
    output.line(match (hats, warnings) {
        (Some(hats), 0) => format!("{}: {hats}, no errors.", file.source),
        (Some(hats), _) => format!("{}: {hats}; {}.", file.source, counted(warnings, "warning")),
        (None, _) => format!("{}: {}.", file.source, counted(errors, "error")),
    });
    code
}

fn list(the_loop: &Loop, context: &Context) {
    let hats: Vec<Value> = the_loop.hats.iter().map(to_json).collect();
    let Completion { topic, after, .. } = &the_loop.completion;
    let value = json!({ "start": the_loop.start, "completion": topic, "after": after, "hats": hats });
    context.output.line_or(diagram::text(the_loop).trim_end(), &value);
}

fn to_json(hat: &Hat) -> Value {
    json!({
        "id": hat.id,
        "name": hat.name,
        "description": hat.description,
        "triggers": hat.triggers.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "publishes": hat.publishes,
        "default_publishes": hat.default_publishes,
        "max_activations": hat.max_activations,
        "rules": hat.rules.iter().map(|rule| &rule.id).collect::<Vec<_>>(),
    })
}

/// Shows the prompt of a hat for the first topic that triggers it.
fn show(id: &str, the_loop: &Loop, context: &Context) -> Result<(), Problem> {
    let Some(hat) = the_loop.hat(id) else {
        let ids: Vec<&str> = the_loop.hats.iter().map(|hat| hat.id.as_str()).collect();
        let help = suggest::closest(id, ids.iter().copied())
            .map_or_else(|| format!("hats of the loop: {}", code_list(&ids)), suggest::did_you_mean);
        return Err(Problem::new("NotFound", format!("there is no hat `{id}`")).help(help));
    };
    let topic = hat.triggers.first().map(ToString::to_string).unwrap_or_default();
    let event = IncomingEvent { topic, from: None, summary: "(the summary of the event)".to_owned(), payload: None };
    let prompt_context = PromptContext::default();
    let prompt = Prompt { the_loop, hat, events: &[event], context: &prompt_context }.to_string();
    context.output.line_or(prompt.trim_end(), &json!({ "hat": to_json(hat), "prompt": prompt }));
    Ok(())
}

fn draw(format: GraphFormat, the_loop: &Loop, context: &Context) {
    let graph = diagram::graph(the_loop);
    let drawn = match format {
        GraphFormat::Mermaid => graph.mermaid(),
        GraphFormat::Dot => graph.dot(),
    };
    context.output.line_or(drawn.trim_end(), &json!({ "drawing": drawn }));
}

fn list_presets(context: &Context) {
    let output = &context.output;
    if output.json {
        let presets: Vec<Value> =
            PRESETS.iter().map(|preset| json!({ "name": preset.name, "about": preset.about })).collect();
        output.value(&json!({ "presets": presets }));
        return;
    }
    let width = PRESETS.iter().map(|preset| preset.name.len()).max().unwrap_or(0);
    for preset in PRESETS {
        output.line(format!("{:<width$}  {}", preset.name, preset.about));
    }
    output.blank();
    output.line("`linchpin hats new NAME` writes one to `.linchpin/loop.yml`.");
}

fn write_preset(name: &str, project: &Project, context: &Context) -> Result<(), Problem> {
    person::required("hats new", &context.environment)?;
    let Some(preset) = Preset::named(name) else {
        let names = PRESETS.iter().map(|preset| preset.name);
        let help = suggest::closest(name, names)
            .map_or_else(|| "`linchpin hats new` lists them".to_owned(), suggest::did_you_mean);
        return Err(Problem::new("NotFound", format!("there is no bundled loop `{name}`")).help(help));
    };
    validate::require_policy(project)?;
    let folder = policy::PolicyFolder::of_project(&project.root);
    let path = folder.loop_file();
    fs::create_dir_all(&folder.path)?;
    let shown = folder.display_name(&path);
    if !init::write_new(&path, &preset.text_for(&project.root))? {
        return Err(Problem::new("Exists", format!("`{shown}` already exists"))
            .help("move it away first: Linchpin does not overwrite your files"));
    }
    let guessed = if preset.needs_test_command(&project.root) {
        " No file here shows how the tests run, so `make test` in it is a guess: replace it with your test command."
    } else {
        ""
    };
    let text = format!(
        "Wrote {shown}.{guessed} Adapt it, above all its commands. Then run `linchpin hats validate` and `linchpin hats show HAT`."
    );
    context.output.line_or(&text, &json!({ "file": shown, "preset": preset.name }));
    Ok(())
}
