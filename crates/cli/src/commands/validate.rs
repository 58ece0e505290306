//! `validate`: checks every policy file.

mod shortfalls;

use engine::rules::Tier;
use guard::Project;
use guard::grants::{Trust, untrusted_workflow_notice};
use policy::{Cases, Diagnostic, DiagnosticKind, LoadedPolicy, PolicyFolder, Severity, WorkflowFile};
use serde_json::{Map, Value, json};

use super::{Context, change_detection};
use crate::arguments::ValidateArguments;
use crate::exit_code::ExitCode;
use crate::output::Output;
use crate::plural::counted;
use crate::problem::{CommandOutcome, Problem};
use shortfalls::Shortfalls;

pub fn run(arguments: &ValidateArguments, context: &Context) -> CommandOutcome {
    let project = project(arguments, context)?;
    require_policy(&project)?;
    let validation = Validation::of(&project, context);
    if context.output.json {
        context.output.value(&validation.to_json());
    } else {
        validation.print(&context.output);
    }
    Ok(if validation.errors() > 0 { ExitCode::Usage } else { ExitCode::Done })
}

/// Returns the project from the arguments, or the one that contains the working directory.
fn project(arguments: &ValidateArguments, context: &Context) -> Result<Project, Problem> {
    let Some(directory) = &arguments.project else { return Ok(Project::of_person(&context.environment)) };
    let directory = directory
        .canonicalize()
        .map_err(|error| Problem::new("NotFound", format!("`{}` cannot be read: {error}", directory.display())))?;
    if !directory.is_dir() {
        return Err(Problem::new("InvalidValue", format!("`{}` is not a directory", directory.display()))
            .help("name the project, or the directory of a nested policy"));
    }
    let root = guard::nearest_root(&directory).unwrap_or(directory);
    Ok(Project::at(&root, &context.environment))
}

/// The results for all policy files of a project.
struct Validation {
    /// The policy. Its diagnostics include those of test cases, workflows and the loop.
    loaded: LoadedPolicy,
    /// The number of workflows of the user and of the project.
    workflows: usize,
    shortfalls: Shortfalls,
    /// Notes about what is not in force: configurations with errors, parts that a person has to accept, and changes
    /// that file rules may miss.
    notes: Vec<String>,
}

impl Validation {
    fn of(project: &Project, context: &Context) -> Self {
        let mut loaded = project.load(&context.environment);
        let cases = loaded
            .definitions
            .iter()
            .map(policy::RuleDefinition::cases)
            .chain(project.tiers.folders().map(Cases::of_folder));
        let problems: Vec<Diagnostic> = cases.flat_map(|cases| cases.problems).collect();
        let workflows = policy::workflows(&project.tiers, &loaded);
        loaded.diagnostics.extend(problems);
        let loop_file = policy::loop_file(&project.tiers, &loaded);
        loaded.diagnostics.extend(workflows.diagnostics);
        loaded.diagnostics.extend(loop_file.into_iter().flat_map(|file| file.diagnostics));
        let notes = notes(project, &loaded, &workflows.files, context);
        let own: Vec<_> = workflows.files.iter().filter(|file| file.tier != Tier::Bundled).collect();
        let of_workflows = own
            .iter()
            .filter_map(|file| file.workflow.as_ref())
            .flat_map(|workflow| workflow.rules.iter().chain(workflow.nodes.iter().flat_map(|node| &node.rules)));
        let rules = loaded.rules.iter().map(|in_force| &in_force.definition.rule).chain(of_workflows);
        let shortfalls = Shortfalls::of(project, rules, context);
        Self { workflows: own.len(), loaded, shortfalls, notes }
    }

    fn errors(&self) -> usize {
        self.loaded.errors().count()
    }

    fn warnings(&self) -> usize {
        self.loaded.diagnostics.len() - self.errors() + self.shortfalls.warnings()
    }

    fn to_json(&self) -> Value {
        let problems: Vec<Value> = self.loaded.diagnostics.iter().map(to_json).collect();
        json!({
            "sound": self.errors() == 0,
            "files": self.loaded.rule_file_count,
            "rules": self.loaded.rules.len(),
            "workflows": self.workflows,
            "problems": problems,
            "shortfalls": self.shortfalls.to_json(),
            "notes": self.notes,
        })
    }

    fn print(&self, output: &Output) {
        for diagnostic in &self.loaded.diagnostics {
            output.rendered(&diagnostic.render(output.style()));
            output.blank();
        }
        self.shortfalls.print(output);
        for note in &self.notes {
            output.line(format!("note: {note}"));
            output.blank();
        }
        output.line(self.summary());
    }

    fn summary(&self) -> String {
        let rules = format!("{} in force", counted(self.loaded.rules.len(), "rule"));
        let rules = match self.workflows {
            0 => rules,
            workflows => format!("{rules}, {}", counted(workflows, "workflow")),
        };
        let found = [(self.errors(), "error"), (self.warnings(), "warning")];
        let found: Vec<String> =
            found.into_iter().filter(|(count, _)| *count > 0).map(|(count, noun)| counted(count, noun)).collect();
        if found.is_empty() { format!("{rules}, no errors.") } else { format!("{rules}; {}.", found.join(" and ")) }
    }
}

fn notes(project: &Project, loaded: &LoadedPolicy, workflows: &[WorkflowFile], context: &Context) -> Vec<String> {
    let trust = Trust::of(&project.root, &context.environment);
    let sound = workflows.iter().filter_map(|file| file.workflow.as_ref());
    let mut notes: Vec<String> =
        project.tiers.folders().filter_map(|folder| unused_config_note(folder, loaded)).collect();
    notes.extend(sound.filter(|workflow| !trust.accepts_workflow(workflow)).map(untrusted_workflow_notice));
    let in_force = || loaded.rules.iter().map(|in_force| &in_force.definition.rule);
    notes.extend(change_detection::missing_repository(project, in_force()));
    if let Some(unknown) = change_detection::unknown_default_branch(project, &loaded.config, in_force()) {
        notes.push(format!(
            "Linchpin can't tell where the branch left the default branch, so file rules may miss changes: {}; {}",
            unknown.why, unknown.help
        ));
    }
    notes
}

/// Explains what applies instead of a configuration with errors, if not its valid parts.
fn unused_config_note(folder: &PolicyFolder, loaded: &LoadedPolicy) -> Option<String> {
    let name = folder.display_name(&folder.config());
    if loaded.replaced_configs.contains(&name) {
        return Some(format!("{name} has errors, so its last valid version stays in force"));
    }
    let is_unusable = |problem: &Diagnostic| {
        let is_read = loaded.current_configs.contains(&name);
        problem.source.name == name && (!is_read || problem.kind == DiagnosticKind::InvalidYaml)
    };
    loaded.errors().any(is_unusable).then(|| {
        format!("{name} is ignored: the rules that it names, its observers, triggers and settings are not in force")
    })
}

pub fn require_policy(project: &Project) -> Result<(), Problem> {
    if project.has_policy() {
        return Ok(());
    }
    let message = format!("there is no policy in `{}` or above it", project.root.display());
    Err(Problem::new("NoPolicy", message).help(how_to_begin(project)))
}

/// Suggests how to create a policy.
pub fn how_to_begin(project: &Project) -> String {
    let folder = PolicyFolder::of_project(&project.root);
    let misnamed = folder.misnamed_file_errors().into_iter().next();
    let from_deepwork = policy::deepwork_warnings(&folder).into_iter().find_map(|problem| problem.help);
    match (misnamed, from_deepwork) {
        (Some(problem), _) => format!("{}: {}", problem.message, problem.help.unwrap_or_default()),
        (None, Some(help)) => format!("run `linchpin init` to write one; then {help}"),
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
