//! `validate`: is every policy file sound?

mod shortfalls;

use engine::rules::Tier;
use guard::Project;
use guard::grants::{Trust, workflow_notice};
use policy::{Cases, Diagnostic, PolicyFolder, Severity};
use serde_json::{Map, Value, json};

use super::{Context, default_branch};
use crate::arguments::ValidateArguments;
use crate::exit_code::ExitCode;
use crate::plural::counted;
use crate::problem::{CommandResult, Problem};
use shortfalls::Shortfalls;

pub fn run(arguments: &ValidateArguments, context: &Context) -> CommandResult {
    let project = match &arguments.project {
        None => Project::of_person(&context.environment),
        Some(folder) => {
            let folder = folder.canonicalize().map_err(|error| {
                Problem::new("NotFound", format!("`{}` cannot be looked at: {error}", folder.display()))
            })?;
            if !folder.is_dir() {
                return Err(Problem::new("InvalidValue", format!("`{}` is not a folder", folder.display()))
                    .help("name the project, or the folder of a nested policy"));
            }
            let root = guard::nearest_root(&folder).unwrap_or(folder);
            Project::at(&root, &context.environment)
        }
    };
    require_policy(&project)?;
    let mut loaded = project.load(&context.environment);
    let of_rules = loaded.definitions.iter().map(policy::Definition::cases);
    let cases = of_rules.chain(project.tiers.folders().map(Cases::of_folder));
    let problems: Vec<Diagnostic> = cases.flat_map(|cases| cases.problems).collect();
    let workflows = policy::workflows(&project.tiers, &loaded);
    loaded.diagnostics.extend(problems);
    let looped = policy::loop_file(&project.tiers, &loaded);
    loaded.diagnostics.extend(workflows.diagnostics);
    loaded.diagnostics.extend(looped.into_iter().flat_map(|file| file.diagnostics));
    let trust = Trust::of(&project.root, &context.environment);
    let sound = workflows.files.iter().filter_map(|file| file.workflow.as_ref());
    // What waits for a person is no fault of a file.
    let mut notes: Vec<String> =
        sound.filter(|workflow| !trust.accepts_workflow(workflow)).map(workflow_notice).collect();
    let in_force = loaded.rules.iter().map(|in_force| &in_force.definition.rule);
    if let Some(unknown) = default_branch::unknown(&project, &loaded.config, in_force) {
        notes.push(format!("file rules cannot tell where a branch began: {}; {}", unknown.why, unknown.help));
    }
    let own: Vec<_> = workflows.files.iter().filter(|file| file.tier != Tier::Bundled).collect();
    let of_workflows = own
        .iter()
        .filter_map(|file| file.workflow.as_ref())
        .flat_map(|workflow| workflow.rules.iter().chain(workflow.nodes.iter().flat_map(|node| &node.rules)));
    let rules = loaded.rules.iter().map(|in_force| &in_force.definition.rule).chain(of_workflows);
    let shortfalls = Shortfalls::of(&project, rules, context);
    let own = own.len();
    let errors = loaded.errors().count();
    let warnings = loaded.diagnostics.len() - errors + shortfalls.warnings();
    let code = if errors > 0 { ExitCode::Usage } else { ExitCode::Done };
    if context.output.json {
        let problems: Vec<Value> = loaded.diagnostics.iter().map(to_json).collect();
        context.output.value(&json!({
            "sound": errors == 0,
            "files": loaded.files,
            "rules": loaded.rules.len(),
            "workflows": own,
            "problems": problems,
            "shortfalls": shortfalls.to_json(),
            "notes": notes,
        }));
        return Ok(code);
    }
    for diagnostic in &loaded.diagnostics {
        context.output.rendered(&diagnostic.render(context.output.style()));
        context.output.blank();
    }
    shortfalls.print(&context.output);
    for note in &notes {
        context.output.line(format!("note: {note}"));
        context.output.blank();
    }
    let rules = format!("{} in force", counted(loaded.rules.len(), "rule"));
    let rules = if own == 0 { rules } else { format!("{rules}, {}", counted(own, "workflow")) };
    if errors == 0 && warnings == 0 {
        context.output.line(format!("{rules}, everything is sound."));
    } else {
        let found = [(errors, "error"), (warnings, "warning")];
        let found: Vec<String> =
            found.into_iter().filter(|(count, _)| *count > 0).map(|(count, noun)| counted(count, noun)).collect();
        context.output.line(format!("{rules}; {}.", found.join(" and ")));
    }
    Ok(code)
}

pub fn require_policy(project: &Project) -> Result<(), Problem> {
    if project.has_policy() {
        return Ok(());
    }
    let message = format!("there is no policy in `{}` or above it", project.root.display());
    Err(Problem::new("NoPolicy", message).help(how_to_begin(project)))
}

/// What to do where there is no policy.
pub fn how_to_begin(project: &Project) -> String {
    let folder = PolicyFolder::of_project(&project.root);
    let misnamed = folder.misnamed().into_iter().next();
    let from_deepwork = policy::deepwork_warnings(&folder).into_iter().find_map(|problem| problem.help);
    match (misnamed, from_deepwork) {
        (Some(problem), _) => format!("{}: {}", problem.message, problem.help.unwrap_or_default()),
        (None, Some(help)) => format!("`linchpin init` writes one; then {help}"),
        (None, None) => "`linchpin init` writes one".to_owned(),
    }
}

pub fn to_json(diagnostic: &Diagnostic) -> Value {
    let mut fields = Map::new();
    let mut put = |key: &str, value: Value| {
        if !value.is_null() {
            fields.insert(key.to_owned(), value);
        }
    };
    put("severity", json!(if diagnostic.severity == Severity::Error { "error" } else { "warning" }));
    put("kind", json!(diagnostic.kind));
    put("message", json!(diagnostic.message));
    put("file", json!(diagnostic.source.name));
    put("line", json!(diagnostic.position().map(|position| position.line)));
    put("column", json!(diagnostic.position().map(|position| position.column)));
    put("node", json!(diagnostic.node));
    put("rule", json!(diagnostic.rule));
    put("help", json!(diagnostic.help));
    Value::Object(fields)
}
