//! `install` and `uninstall`: add Linchpin's entries to an agent's settings, or remove them, and change nothing else.

use std::path::{Path, PathBuf};

use agents::Agent;
use agents::install::{self as settings, SettingsScope};
use guard::{Environment, Project, nearest_root};
use serde_json::json;

use super::Context;
use crate::arguments::InstallArguments;
use crate::exit_code::ExitCode;
use crate::person;
use crate::problem::{CommandOutcome, Problem};

pub fn install(arguments: &InstallArguments, context: &Context) -> CommandOutcome {
    person::required("install", &context.environment)?;
    let (agent, scope) = target(arguments)?;
    let root = root(&context.environment.cwd);
    let done = write_hooks(agent, scope, &root, &context.environment)?;
    context.output.line_or(done.text(agent), &done.to_json(agent, "installed"));
    if !context.output.json {
        done.print_hints(agent, context);
        if !Project::of_person(&context.environment).has_policy() {
            context
                .output
                .line("  There is no policy here, so nothing is checked yet: run `linchpin init` to write one.");
        }
    }
    Ok(ExitCode::Done)
}

pub fn uninstall(arguments: &InstallArguments, context: &Context) -> CommandOutcome {
    person::required("uninstall", &context.environment)?;
    let (agent, scope) = target(arguments)?;
    let root = root(&context.environment.cwd);
    let file = settings_file(agent, scope, &root, &context.environment)?;
    stays_inside(scope, &file, &root)?;
    let before = read(&file)?;
    let after = match &before {
        None => None,
        Some(text) => settings::uninstall(agent, text).map_err(|error| broken_settings(&file, &error))?,
    };
    let changed = before != after;
    match &after {
        Some(text) if changed => settings::write(&file, text)?,
        None if changed => {
            settings::remove(&file)?;
            settings::remove_empty_directories(&file, &settings_root(agent, scope, &root, &context.environment));
        }
        _ => {}
    }
    let done = InstallOutcome { scope, file, changed };
    let text = if changed {
        format!("{}: Linchpin's hooks were removed from {}", agent.title(), done.file.display())
    } else {
        format!("{}: {} has no hooks of Linchpin", agent.title(), done.file.display())
    };
    context.output.line_or(text, &done.to_json(agent, "uninstalled"));
    Ok(ExitCode::Done)
}

/// The result of an installation.
pub struct InstallOutcome {
    pub scope: SettingsScope,
    pub file: PathBuf,
    pub changed: bool,
}

impl InstallOutcome {
    pub fn text(&self, agent: Agent) -> String {
        let state = if self.changed { "hooks installed in" } else { "hooks are already in" };
        format!("{}: {state} {}", agent.title(), self.file.display())
    }

    fn to_json(&self, agent: Agent, action: &str) -> serde_json::Value {
        json!({ "agent": agent.name(), "action": action, "file": self.file, "changed": self.changed })
    }

    /// Prints what the person still has to do or should know.
    pub fn print_hints(&self, agent: Agent, context: &Context) {
        if self.scope == SettingsScope::Local && self.changed {
            context.output.line("  That file is only for you: keep it out of git.");
        }
        if let Some(afterwards) = settings::next_steps(agent, self.scope).filter(|_| self.changed) {
            let first = afterwards.chars().take(1).flat_map(char::to_uppercase);
            let sentence: String = first.chain(afterwards.chars().skip(1)).collect();
            context.output.line(format!("  {sentence}."));
        }
    }
}

pub fn write_hooks(
    agent: Agent,
    scope: SettingsScope,
    root: &Path,
    environment: &Environment,
) -> Result<InstallOutcome, Problem> {
    let file = settings_file(agent, scope, root, environment)?;
    stays_inside(scope, &file, root)?;
    let before = read(&file)?;
    let program = program(scope, root, environment)?;
    let after =
        settings::install(agent, scope, before.as_deref(), &program).map_err(|error| broken_settings(&file, &error))?;
    let changed = before.as_deref() != Some(after.as_str());
    if changed {
        settings::write(&file, &after)?;
    }
    Ok(InstallOutcome { scope, file, changed })
}

/// Returns the directory of the nearest policy, or else the root of the repository, or else the working directory.
pub fn root(cwd: &Path) -> PathBuf {
    let repository = || cwd.ancestors().find(|directory| directory.join(".git").exists()).map(Path::to_owned);
    nearest_root(cwd).or_else(repository).unwrap_or_else(|| cwd.to_owned())
}

/// Fails if the settings file is outside of the project. The author of a repository may have committed symlinks, and
/// settings for one project must not apply to others.
fn stays_inside(scope: SettingsScope, file: &Path, root: &Path) -> Result<(), Problem> {
    let real = settings::real_path(file)?;
    if scope == SettingsScope::User || real.starts_with(root.canonicalize()?) {
        return Ok(());
    }
    let message =
        format!("{} leads through a symlink to {}, which is outside the project", file.display(), real.display());
    Err(Problem::new("InvalidValue", message)
        .help("nothing was changed; replace the symlink with a regular file, or use `--user`"))
}

/// Returns the command that writes the agent's entries again.
pub fn install_command(agent: Agent, scope: SettingsScope) -> String {
    let flag = match scope {
        SettingsScope::Project => "",
        SettingsScope::Local => " --local",
        SettingsScope::User => " --user",
    };
    format!("linchpin install {}{flag}", agent.name())
}

pub fn agent_named(name: &str) -> Result<Agent, Problem> {
    Agent::from_name(name).ok_or_else(|| {
        let known: Vec<&str> = Agent::ALL.into_iter().map(Agent::name).collect();
        Problem::new("UnknownAgent", format!("unknown agent `{name}`"))
            .help(format!("Linchpin knows {}", known.join(", ")))
    })
}

fn target(arguments: &InstallArguments) -> Result<(Agent, SettingsScope), Problem> {
    let agent = agent_named(&arguments.agent)?;
    let scope = match (arguments.user, arguments.local) {
        (true, _) => SettingsScope::User,
        (_, true) => SettingsScope::Local,
        _ => SettingsScope::Project,
    };
    Ok((agent, scope))
}

pub fn settings_file(
    agent: Agent,
    scope: SettingsScope,
    root: &Path,
    environment: &Environment,
) -> Result<PathBuf, Problem> {
    let home = home(root, environment);
    settings::settings_path(agent, scope, root, &home, |name| environment.get(name)).ok_or_else(|| {
        Problem::new("InvalidValue", format!("{} has no {} settings", agent.title(), scope.name()))
            .help("install it for the project, or with `--user`")
    })
}

/// Returns a directory above the agent's settings file. `uninstall` deletes empty directories below it, but not it.
fn settings_root(agent: Agent, scope: SettingsScope, root: &Path, environment: &Environment) -> PathBuf {
    settings::settings_root(agent, scope, root, &home(root, environment), |name| environment.get(name))
}

fn home(root: &Path, environment: &Environment) -> PathBuf {
    environment.home.clone().unwrap_or_else(|| root.to_owned())
}

/// True if the agent calls Linchpin in this project, or in all projects.
pub fn is_installed(agent: Agent, root: &Path, environment: &Environment) -> bool {
    let has_entries = |scope: SettingsScope| {
        let text = settings_file(agent, scope, root, environment).and_then(|file| read(&file)).ok().flatten();
        text.is_some_and(|text| settings::calls_linchpin(agent, &text))
    };
    SettingsScope::ALL.into_iter().any(has_entries)
}

pub fn read(file: &Path) -> Result<Option<String>, Problem> {
    if file.exists() && !file.is_file() {
        return Err(Problem::new("Unreadable", format!("{} is not a file", file.display())));
    }
    if file.metadata().is_ok_and(|metadata| metadata.len() > MAX_SETTINGS_BYTES) {
        let limit = MAX_SETTINGS_BYTES / (1024 * 1024);
        return Err(Problem::new("Unreadable", format!("{} has more than {limit} MiB", file.display())));
    }
    match std::fs::read_to_string(file) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Problem::new("Unreadable", format!("{} cannot be read: {error}", file.display()))),
    }
}

/// The maximum size of a settings file. Real files are far smaller.
const MAX_SETTINGS_BYTES: u64 = 4 * 1024 * 1024;

pub fn broken_settings(file: &Path, error: &settings::SettingsError) -> Problem {
    Problem::new("InvalidSettings", format!("{}:{error}", file.display()))
        .help("nothing was written; fix the file and run the command again")
}

/// Returns the program that the settings will call. Shared settings must work on other machines, so they contain only
/// the name of the program, if this binary is found under that name on this machine.
fn program(scope: SettingsScope, root: &Path, environment: &Environment) -> Result<String, Problem> {
    if scope == SettingsScope::Project && is_other_program("linchpin", root, environment) == Some(false) {
        return Ok("linchpin".to_owned());
    }
    let own = std::env::current_exe()?.to_string_lossy().into_owned();
    if settings::is_linchpin(&own) {
        return Ok(own);
    }
    // Entries that call a program with another name would not be recognized: a second `install` would add duplicates,
    // and `uninstall` would not find the entries.
    Err(Problem::new(
        "InvalidValue",
        format!("this Linchpin is `{own}`, and Linchpin recognizes only hooks that call a program named `linchpin`"),
    )
    .help("rename that file to `linchpin`, and run the command again"))
}

/// True if `program`, which an agent's settings call, is not this binary. `None` if the program is not found.
pub fn is_other_program(program: &str, root: &Path, environment: &Environment) -> Option<bool> {
    let own = std::env::current_exe().ok()?.canonicalize().ok()?;
    Some(program_path(program, root, environment)?.canonicalize().ok()? != own)
}

/// Returns the path of a program that settings call.
pub fn program_path(program: &str, root: &Path, environment: &Environment) -> Option<PathBuf> {
    let on_path = || {
        let path = environment.get("PATH")?;
        std::env::split_paths(&path).map(|directory| directory.join(program)).find(|program| program.is_file())
    };
    if program.contains(['/', '\\']) { Some(root.join(program)) } else { on_path() }
}
