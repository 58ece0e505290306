//! The installed hook, called as the agent would call it, with an event that it must refuse.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use agents::install::Scope;
use agents::{Agent, Forged};
use guard::Project;
use serde_json::Value;

use super::agents::install_command;
use super::check::Check;

/// A locked rule refuses this, whatever else the policy says.
const COMMAND: &str = "linchpin trust";

/// Without a policy there is nothing that it must refuse.
pub fn check(agent: Agent, scope: Scope, program: &str, project: &Project) -> Option<Check> {
    if !project.has_policy() {
        return None;
    }
    // Whose project it is says what that program does, and a look at a project must not run it.
    if lies_in(program, &project.root) {
        return Some(Check::bad(
            format!("{}: it calls `{program}`, which lies in the project, so it was not tried", agent.title()),
            format!("who changes the project changes the guard; run `{}` again", install_command(agent, scope)),
        ));
    }
    let cwd = project.root.to_string_lossy();
    let forged = Forged { session: guard::TRIAL_SESSION, cwd: &cwd, command: COMMAND };
    let (named, event) = forged.payload(agent);
    let title = agent.title();
    Some(match call(program, agent, named, &event, project) {
        Err(error) => Check::bad(
            format!("{title}: `{program}` cannot be run from here: {error}"),
            format!("the agent runs every call unguarded; run `{}` again", install_command(agent, scope)),
        ),
        Ok(answer) if agents::is_refusal(&answer) => Check::fine(format!("{title}: a forged `{COMMAND}` was refused")),
        Ok(answer) => Check::bad(
            format!("{title}: a forged `{COMMAND}` was not refused; the hook answered {answer}"),
            format!("is `{program}` this Linchpin?"),
        ),
    })
}

fn lies_in(program: &str, root: &Path) -> bool {
    let found = program.contains('/').then(|| root.join(program).canonicalize().ok()).flatten();
    let root = root.canonicalize();
    found.zip(root.ok()).is_some_and(|(program, root)| program.starts_with(root))
}

fn call(program: &str, agent: Agent, named: Option<&str>, event: &Value, project: &Project) -> std::io::Result<Value> {
    let mut command = Command::new(program);
    command.args(["hook", agent.name()]).args(named).current_dir(&project.root);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    // One that does not read it says so by its answer.
    if let Some(mut input) = child.stdin.take() {
        let _ = input.write_all(event.to_string().as_bytes());
    }
    let answer = child.wait_with_output()?;
    Ok(serde_json::from_slice(&answer.stdout).unwrap_or(Value::Null))
}
