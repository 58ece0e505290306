//! The installed hook, called as the agent would call it, with an event that it must refuse.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use agents::install::Scope;
use agents::{Agent, Forged};
use guard::{Environment, Project};
use runner::{Attended, AttendedEnd, Heed, NotStarted, Stream, shim};
use serde_json::Value;

use super::check::Check;
use crate::commands::install::install_command;

/// A locked rule refuses this, whatever else the policy says.
const COMMAND: &str = "linchpin trust";
/// What a program may need besides the time that Linchpin takes to judge.
const PATIENCE: Duration = Duration::from_secs(8);
/// An answer is far shorter.
const ANSWER_LIMIT: usize = 1024 * 1024;

/// A hook to be tried.
pub struct Trial<'a> {
    pub agent: Agent,
    pub scope: Scope,
    /// What the settings call.
    pub program: &'a str,
    pub project: &'a Project,
    pub environment: &'a Environment,
    /// How long Linchpin may take for an answer.
    pub deadline: Duration,
}

impl Trial<'_> {
    /// Without a policy there is nothing that it must refuse.
    pub fn check(&self) -> Option<Check> {
        if !self.project.has_policy() {
            return None;
        }
        let (title, program) = (self.agent.title(), self.program);
        let again = format!("run `{}` again", install_command(self.agent, self.scope));
        // Whose project it is says what that program does, and a look at a project must not run it.
        if lies_in(program, &self.project.root) {
            return Some(Check::bad(
                format!("{title}: it calls `{program}`, which lies in the project, so it was not tried"),
                format!("who changes the project changes the guard; {again}"),
            ));
        }
        let limit = self.deadline + PATIENCE;
        Some(match self.answer(limit) {
            Err(NotStarted { why }) => {
                Check::bad(format!("{title}: {why}"), format!("the agent runs every call unguarded; {again}"))
            }
            Ok(None) => Check::bad(
                format!("{title}: `{program}` did not answer within {} s", limit.as_secs_f64()),
                format!("the agent waits for it in vain; {again}"),
            ),
            Ok(Some(answer)) if agents::is_refusal(&answer) => {
                Check::fine(format!("{title}: a forged `{COMMAND}` was refused"))
            }
            Ok(Some(answer)) => Check::bad(
                format!("{title}: a forged `{COMMAND}` was not refused; the hook answered {answer}"),
                format!("is `{program}` this Linchpin?"),
            ),
        })
    }

    /// What the hook says, `None` where it does not come back.
    fn answer(&self, limit: Duration) -> Result<Option<Value>, NotStarted> {
        let cwd = self.project.root.to_string_lossy();
        let forged = Forged { session: guard::TRIAL_SESSION, cwd: &cwd, command: COMMAND };
        let (named, event) = forged.payload(self.agent);
        let words = [self.program, "hook", self.agent.name()].into_iter().chain(named);
        let attended = Attended {
            words: words.map(OsString::from).collect(),
            folder: self.project.root.clone(),
            set: Vec::new(),
            input: Some(event.to_string().into_bytes()),
            get: &|name| self.environment.get(name).map(OsString::from),
            idle: None,
            time: Some(limit),
            shim: shim::own_call(),
        };
        let mut said = Vec::new();
        let hear = |stream: Stream, piece: &[u8]| {
            if stream == Stream::Output && said.len() < ANSWER_LIMIT {
                said.extend_from_slice(piece);
            }
        };
        let end = attended.run(hear, || Heed::GoOn)?;
        Ok((end != AttendedEnd::TimeOver).then(|| serde_json::from_slice(&said).unwrap_or(Value::Null)))
    }
}

fn lies_in(program: &str, root: &Path) -> bool {
    let found = program.contains('/').then(|| root.join(program).canonicalize().ok()).flatten();
    let root = root.canonicalize();
    found.zip(root.ok()).is_some_and(|(program, root)| program.starts_with(root))
}
