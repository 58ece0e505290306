//! Calls the installed hook as the agent would, with a made-up event that it must refuse.

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

/// A locked rule refuses this command under every policy.
const COMMAND: &str = "linchpin trust";
/// The time that a program may need in addition to Linchpin's deadline.
const PATIENCE: Duration = Duration::from_secs(8);
/// The maximum size of an answer, in bytes. Real answers are far shorter.
const ANSWER_LIMIT: usize = 1024 * 1024;

/// The self-test of one hook.
pub struct Trial<'a> {
    pub agent: Agent,
    pub scope: SettingsScope,
    /// The program that the settings call.
    pub program: &'a str,
    pub project: &'a Project,
    pub environment: &'a Environment,
    /// The maximum time that Linchpin takes for an answer.
    pub deadline: Duration,
}

impl Trial<'_> {
    /// Returns none without a policy: the hook then does not have to refuse anything.
    pub fn check(&self) -> Option<DoctorCheck> {
        if !self.project.has_policy() {
            return None;
        }
        let (title, program) = (self.agent.title(), self.program);
        let again = format!("run `{}` again", install_command(self.agent, self.scope));
        match self.self_test_permission() {
            SelfTestPermission::Yes => {}
            SelfTestPermission::LiesInProject => {
                return Some(DoctorCheck::bad(
                    format!("{title}: its hook calls `{program}`, which is in the project, so it was not tested"),
                    format!("anyone who can change the project can change the hook; {again}"),
                ));
            }
            SelfTestPermission::NamedByProject => {
                return Some(DoctorCheck::note(format!(
                    "{title}: its hook was not tested, because its path `{program}` comes from the project's settings, which could \
                     name any program"
                )));
            }
        }
        let limit = self.deadline + PATIENCE;
        Some(match self.answer(limit) {
            Err(NotStarted { why }) => DoctorCheck::bad(
                format!("{title}: {why}"),
                format!("the agent runs every call unchecked, or refuses every call if its hooks fail closed; {again}"),
            ),
            Ok(None) => DoctorCheck::bad(
                format!("{title}: `{program}` did not answer within {} s", limit.as_secs_f64()),
                format!("the agent gets no answer from its hook; {again}"),
            ),
            Ok(Some(answer)) if agents::is_refusal(&answer) => {
                DoctorCheck::fine(format!("{title}: self-test passed: the hook blocked a test command (`{COMMAND}`)"))
            }
            Ok(Some(answer)) => DoctorCheck::bad(
                format!(
                    "{title}: self-test failed: the hook did not block a test command (`{COMMAND}`) and answered {answer}"
                ),
                format!("is `{program}` this Linchpin?"),
            ),
        })
    }

    /// Returns the hook's answer; none if it does not end in time.
    fn answer(&self, limit: Duration) -> Result<Option<Value>, NotStarted> {
        let cwd = self.project.root.to_string_lossy();
        let forged = SelfTestCall { session: guard::judge::SELF_TEST_SESSION, cwd: &cwd, command: COMMAND };
        let (named, event) = forged.payload(self.agent);
        let words = [self.program, "hook", self.agent.name()].into_iter().chain(named);
        let process = StreamedProcess {
            argv: words.map(OsString::from).collect(),
            working_directory: self.project.root.clone(),
            variables: Vec::new(),
            stdin: Some(event.to_string().into_bytes()),
            get_variable: &|name| self.environment.get(name).map(OsString::from),
            idle_timeout: None,
            is_busy: &|| false,
            timeout: Some(limit),
            shim: shim::shim_command(),
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

    /// Decides whether the program may be run. The author of a repository controls the programs in it and which of them
    /// its settings call, so `doctor` must not run those. This binary may be run, and so may a program named `linchpin`
    /// that the person has installed.
    fn self_test_permission(&self) -> SelfTestPermission {
        let Self { program, project, environment, .. } = *self;
        if is_another(program, &project.root, environment) == Some(false) {
            return SelfTestPermission::Yes;
        }
        let repository = project.root.ancestors().find(|folder| folder.join(".git").exists());
        let repository_root = repository.unwrap_or(&project.root);
        let repository_root = repository_root.canonicalize().unwrap_or_else(|_| repository_root.to_owned());
        let found = located(program, &project.root, environment).filter(|found| found.exists());
        if found.is_none() {
            return SelfTestPermission::Yes;
        }
        let is_inside = |path: &Path| path.canonicalize().is_ok_and(|real| real.starts_with(&repository_root));
        // A symlink counts as inside if the link itself is inside, wherever its target is.
        let lies_inside = found.is_some_and(|path| is_inside(&path) || path.parent().is_some_and(is_inside));
        if lies_inside {
            return SelfTestPermission::LiesInProject;
        }
        let is_persons = self.scope == SettingsScope::User || !program.contains(['/', '\\']);
        if is_persons && is_linchpin(program) { SelfTestPermission::Yes } else { SelfTestPermission::NamedByProject }
    }
}

/// Whether a hook's program may be run for the self-test.
enum SelfTestPermission {
    Yes,
    LiesInProject,
    NamedByProject,
}
