//! `init`: creates a policy for this project and installs hooks for the agents that are found. It can be run again
//! safely.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use agents::Agent;
use agents::install::{self as settings, SettingsScope};
use guard::Project;
use policy::PolicyFolder;
use serde_json::json;

use super::{Context, install};
use crate::arguments::InitArguments;
use crate::exit_code::ExitCode;
use crate::person;
use crate::problem::{CommandOutcome, Problem};

mod pre_commit;

const CONFIG: &str = include_str!("init/config.yml");
const STARTER_RULE: &str = include_str!("init/keep-commit-hooks.md");
const GITIGNORE: &str = "/agent/\n/state.db*\n/tmp/\n";

pub fn run(arguments: &InitArguments, context: &Context) -> CommandOutcome {
    person::required("init", &context.environment)?;
    let root = install::root(&context.environment.cwd);
    let agents = agents(arguments, &root, context)?;
    let folder = PolicyFolder::of_project(&root);
    let had_policy = folder.path.is_dir();
    // The git hook is written first, because this step fails if another tool's hook exists, and then nothing is
    // written.
    let hook = if arguments.pre_commit { pre_commit::install(&root)? } else { None };
    let mut written = write_policy(&folder, had_policy).inspect_err(|_| {
        let _ = hook.as_ref().map(fs::remove_file);
    })?;
    written.extend(hook);
    let (mut installed, mut failed) = (Vec::new(), Vec::new());
    for agent in agents {
        match install::write_hooks(agent, SettingsScope::Project, &root, &context.environment) {
            Ok(done) => installed.push((agent, done)),
            Err(problem) => failed.push((agent, problem)),
        }
    }
    // Stores the policy as the last valid version, which stays in force if somebody breaks a file before the first
    // event.
    let _ = Project::at(&root, &context.environment).compiled_policy(&context.environment);
    if failed.is_empty() || !(installed.is_empty() || context.output.json) {
        report(arguments, &root, had_policy, &written, &installed, context);
    }
    match failed_hooks(failed, &folder) {
        None => Ok(ExitCode::Done),
        Some(problem) => Err(problem),
    }
}

/// The first of these problems, with the agents whose hooks were not written; `None` if there is no problem.
fn failed_hooks(failed: Vec<(Agent, Problem)>, folder: &PolicyFolder) -> Option<Problem> {
    let titles: Vec<&str> = failed.iter().map(|(agent, _)| agent.title()).collect();
    let command = |agent| format!("`{}`", install::install_command(agent, SettingsScope::Project));
    let commands: Vec<String> = failed.iter().map(|(agent, _)| command(*agent)).collect();
    let help = format!(
        "the policy in {} was written, but the hooks of {} were not; fix that and run {}",
        folder.path.display(),
        titles.join(", "),
        commands.join(", ")
    );
    failed.into_iter().next().map(|(_, problem)| problem.help(help))
}

/// Writes all missing policy files. On failure, removes those that it wrote.
fn write_policy(folder: &PolicyFolder, had_policy: bool) -> Result<Vec<PathBuf>, Problem> {
    let mut files = vec![(folder.config(), CONFIG), (folder.path.join(".gitignore"), GITIGNORE)];
    if !had_policy {
        files.push((folder.rules().join("keep-commit-hooks.md"), STARTER_RULE));
    }
    let had_rules = folder.rules().is_dir();
    let mut written = Vec::new();
    let mut write = || -> io::Result<()> {
        fs::create_dir_all(folder.rules())?;
        for (path, text) in &files {
            if write_new(path, text)? {
                written.push(path.clone());
            }
        }
        Ok(())
    };
    let Err(error) = write() else { return Ok(written) };
    // `remove_dir` only removes empty directories.
    let directories = [(folder.rules(), had_rules), (folder.path.clone(), had_policy)];
    let is_undone = written.iter().map(fs::remove_file).all(|removed| removed.is_ok());
    for (directory, existed_before) in &directories {
        let _ = if *existed_before { Ok(()) } else { fs::remove_dir(directory) };
    }
    let message = format!("the policy cannot be written into `{}`: {error}", folder.path.display());
    let help = if is_undone {
        "nothing was left behind; free some space and run the command again"
    } else {
        "check the files in that folder"
    };
    Err(Problem::new("Io", message).help(help))
}

/// Returns the requested agents, or else those that are installed on this machine or have settings in this project.
fn agents(arguments: &InitArguments, root: &Path, context: &Context) -> Result<Vec<Agent>, Problem> {
    if arguments.no_hooks {
        return Ok(Vec::new());
    }
    if !arguments.agents.is_empty() {
        return arguments.agents.iter().map(|name| install::agent_named(name)).collect();
    }
    let path = context.environment.get("PATH").unwrap_or_default();
    let on_path =
        |agent: Agent| std::env::split_paths(&path).any(|directory| directory.join(agent.program()).is_file());
    let has_settings = |agent: Agent| {
        let home = context.environment.home.clone().unwrap_or_else(|| root.to_owned());
        settings::marker_paths(agent, root, &home, |name| context.environment.get(name))
            .iter()
            .any(|path| path.exists())
    };
    Ok(Agent::ALL.into_iter().filter(|agent| on_path(*agent) || has_settings(*agent)).collect())
}

/// Writes a file atomically. Returns false if it already exists.
pub fn write_new(path: &Path, text: &str) -> io::Result<bool> {
    if path.exists() {
        return Ok(false);
    }
    let mut file = tempfile::NamedTempFile::new_in(path.parent().unwrap_or(Path::new(".")))?;
    // Written through the file handle, so that an error does not name the temporary file.
    file.as_file_mut().write_all(text.as_bytes())?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.as_file().set_permissions(fs::Permissions::from_mode(0o644))?;
    }
    match file.persist_noclobber(path) {
        Ok(_) => Ok(true),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error.error),
    }
}

fn report(
    arguments: &InitArguments,
    root: &Path,
    had_policy: bool,
    written: &[PathBuf],
    installed: &[(Agent, install::InstallOutcome)],
    context: &Context,
) {
    let output = &context.output;
    if output.json {
        let hooks: Vec<_> = installed
            .iter()
            .map(|(agent, done)| json!({ "agent": agent.name(), "file": done.file, "changed": done.changed }))
            .collect();
        output.value(&json!({ "root": root, "written": written, "hooks": hooks }));
        return;
    }
    let shown = |path: &Path| path.strip_prefix(root).unwrap_or(path).display().to_string();
    if written.is_empty() {
        output.line(format!("The policy in {} was not changed.", root.join(PolicyFolder::NAME).display()));
    } else {
        let what = if had_policy { "Added to the policy for" } else { "A policy for" };
        output.line(format!("{what} {}:", root.display()));
        for path in written {
            output.line(format!("  {}", shown(path)));
        }
    }
    output.blank();
    for (agent, done) in installed {
        output.line(done.text(*agent));
        done.print_hints(*agent, context);
    }
    let left: Vec<&str> = Agent::ALL
        .into_iter()
        .filter(|agent| installed.is_empty() && install::is_installed(*agent, root, &context.environment))
        .map(Agent::title)
        .collect();
    if !left.is_empty() {
        output.line(format!("The hooks of {} were not changed.", left.join(", ")));
    } else if installed.is_empty() {
        if !arguments.no_hooks {
            let programs = Agent::ALL.map(|agent| format!("`{}`", agent.program())).join(", ");
            output.line(format!(
                "No agent was found: none of {programs} is on PATH, and there is no folder of an agent in this project or your home directory."
            ));
        }
        let names = Agent::ALL.map(Agent::name).join(", ");
        output.line("No hooks are installed, so nothing is checked yet: run `linchpin install AGENT`.");
        output.line(format!("Linchpin knows these agents: {names}."));
    }
    for warning in policy::deepwork_warnings(&PolicyFolder::of_project(root)) {
        output.blank();
        output.rendered(&warning.render(output.style()));
    }
    output.blank();
    output.line("Next: `linchpin doctor` tests the setup; `linchpin status` shows the rules in force.");
}
