//! The installed hook, called as the agent would call it, with an event that it must refuse.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use agents::install::{SettingsScope, is_linchpin};
use agents::{Agent, SelfTestCall};
use guard::{Environment, Project};
use runner::{NotStarted, ProcessEnd, Stream, StreamedProcess, WatchAction, shim};
use serde_json::Value;

use super::doctor_check::DoctorCheck;
use crate::commands::install::{install_command, is_another, located};

/// A locked rule refuses this, whatever else the policy says.
const COMMAND: &str = "linchpin trust";
/// What a program may need besides the time that Linchpin takes to judge.
const PATIENCE: Duration = Duration::from_secs(8);
/// An answer is far shorter.
const ANSWER_LIMIT: usize = 1024 * 1024;

/// A hook to be tried.
pub struct Trial<'a> {
    pub agent: Agent,
    pub scope: SettingsScope,
    /// What the settings call.
    pub program: &'a str,
    pub project: &'a Project,
    pub environment: &'a Environment,
    /// How long Linchpin may take for an answer.
    pub deadline: Duration,
}

impl Trial<'_> {
    /// Without a policy there is nothing that it must refuse.
    pub fn check(&self) -> Option<DoctorCheck> {
        if !self.project.has_policy() {
            return None;
        }
        let (title, program) = (self.agent.title(), self.program);
        let again = format!("run `{}` again", install_command(self.agent, self.scope));
        match self.may_be_run() {
            MayRun::Yes => {}
            MayRun::LiesInProject => {
                return Some(DoctorCheck::bad(
                    format!("{title}: it calls `{program}`, which lies in the project, so it was not tried"),
                    format!("who changes the project changes the guard; {again}"),
                ));
            }
            MayRun::NamedByProject => {
                return Some(DoctorCheck::note(format!(
                    "{title}: it was not tried, because the project alone names `{program}`"
                )));
            }
        }
        let limit = self.deadline + PATIENCE;
        Some(match self.answer(limit) {
            Err(NotStarted { why }) => DoctorCheck::bad(
                format!("{title}: {why}"),
                format!("the agent runs every call unguarded, or refuses it where its hooks fail closed; {again}"),
            ),
            Ok(None) => DoctorCheck::bad(
                format!("{title}: `{program}` did not answer within {} s", limit.as_secs_f64()),
                format!("the agent waits for it in vain; {again}"),
            ),
            Ok(Some(answer)) if agents::is_refusal(&answer) => {
                DoctorCheck::fine(format!("{title}: a forged `{COMMAND}` was refused"))
            }
            Ok(Some(answer)) => DoctorCheck::bad(
                format!("{title}: a forged `{COMMAND}` was not refused; the hook answered {answer}"),
                format!("is `{program}` this Linchpin?"),
            ),
        })
    }

    /// What the hook says, `None` where it does not come back.
    fn answer(&self, limit: Duration) -> Result<Option<Value>, NotStarted> {
        let cwd = self.project.root.to_string_lossy();
        let forged = SelfTestCall { session: guard::judge::SELF_TEST_SESSION, cwd: &cwd, command: COMMAND };
        let (named, event) = forged.payload(self.agent);
        let words = [self.program, "hook", self.agent.name()].into_iter().chain(named);
        let process = StreamedProcess {
            argv: words.map(OsString::from).collect(),
            folder: self.project.root.clone(),
            variables: Vec::new(),
            stdin: Some(event.to_string().into_bytes()),
            get_variable: &|name| self.environment.get(name).map(OsString::from),
            idle_timeout: None,
            is_busy: &|| false,
            timeout: Some(limit),
            shim: shim::own_call(),
            on_start: &|_| (),
        };
        let mut said = Vec::new();
        let hear = |stream: Stream, piece: &[u8]| {
            if stream == Stream::Stdout && said.len() < ANSWER_LIMIT {
                said.extend_from_slice(piece);
            }
        };
        let end = process.run(hear, || WatchAction::Continue)?;
        Ok((end != ProcessEnd::Timeout).then(|| serde_json::from_slice(&said).unwrap_or(Value::Null)))
    }

    /// Whose project it is says what a program in it does, and which one its settings call: a look at a project must not run
    /// that. This Linchpin, and what a person has under its name, may be run.
    fn may_be_run(&self) -> MayRun {
        let Self { program, project, environment, .. } = *self;
        if is_another(program, &project.root, environment) == Some(false) {
            return MayRun::Yes;
        }
        let repository = project.root.ancestors().find(|folder| folder.join(".git").exists());
        let top = repository.unwrap_or(&project.root);
        let top = top.canonicalize().unwrap_or_else(|_| top.to_owned());
        let found = located(program, &project.root, environment).filter(|found| found.exists());
        if found.is_none() {
            return MayRun::Yes;
        }
        let is_inside = |path: &Path| path.canonicalize().is_ok_and(|real| real.starts_with(&top));
        // A link lies where it lies, wherever it leads.
        let lies_inside = found.is_some_and(|path| is_inside(&path) || path.parent().is_some_and(is_inside));
        if lies_inside {
            return MayRun::LiesInProject;
        }
        let is_persons = self.scope == SettingsScope::User || !program.contains(['/', '\\']);
        if is_persons && is_linchpin(program) { MayRun::Yes } else { MayRun::NamedByProject }
    }
}

/// Whether a hook's program may be run to see what it does.
enum MayRun {
    Yes,
    LiesInProject,
    NamedByProject,
}
