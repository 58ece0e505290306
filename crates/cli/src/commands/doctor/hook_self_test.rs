//! Calls an installed hook as the agent would, with an invented event that the hook must refuse.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use agents::install::{SettingsScope, is_linchpin};
use agents::{Agent, SelfTestCall};
use guard::{Environment, Project};
use runner::{NotStarted, ProcessEnd, Stream, StreamedProcess, WatchAction, shim};
use serde_json::Value;

use super::doctor_check::DoctorCheck;
use crate::commands::install::{install_command, is_other_program, program_path};

/// A locked rule refuses this command under every policy.
const COMMAND: &str = "linchpin trust";
/// The time that the program may need in addition to Linchpin's deadline.
const EXTRA_TIME: Duration = Duration::from_secs(8);
/// The maximum size of an answer. Real answers are far shorter.
const MAX_ANSWER_BYTES: usize = 1024 * 1024;

/// The self-test of one hook.
pub struct HookSelfTest<'a> {
    pub agent: Agent,
    pub scope: SettingsScope,
    /// The program that the settings call.
    pub program: &'a str,
    pub project: &'a Project,
    pub environment: &'a Environment,
    /// The maximum time that Linchpin takes for an answer.
    pub deadline: Duration,
    /// True if the policy is in `mode: observe`, which the self-test ignores.
    pub is_observing: bool,
}

impl HookSelfTest<'_> {
    /// Runs the test. Returns `None` if there is no policy, because the hook then does not have to refuse anything.
    pub fn check(&self) -> Option<DoctorCheck> {
        if !self.project.has_policy() {
            return None;
        }
        let (title, program) = (self.agent.title(), self.program);
        let reinstall = format!("run `{}` again", install_command(self.agent, self.scope));
        match self.self_test_permission() {
            SelfTestPermission::Yes => {}
            SelfTestPermission::LiesInProject => {
                return Some(DoctorCheck::bad(
                    format!("{title}: its hook calls `{program}`, which is in the project, so it was not tested"),
                    format!("anyone who can change the project can change the hook; {reinstall}"),
                ));
            }
            SelfTestPermission::NamedByProject => {
                return Some(DoctorCheck::note(format!(
                    "{title}: its hook was not tested, because its path `{program}` comes from the project's settings, which could \
                     name any program"
                )));
            }
        }
        let limit = self.deadline + EXTRA_TIME;
        Some(match self.answer(limit) {
            Err(NotStarted { why }) => DoctorCheck::bad(
                format!("{title}: {why}"),
                format!(
                    "the agent runs every call unchecked, or refuses every call if its hooks fail closed; {reinstall}"
                ),
            ),
            Ok(None) => DoctorCheck::bad(
                format!("{title}: `{program}` did not answer within {} s", limit.as_secs_f64()),
                format!("the agent gets no answer from its hook; {reinstall}"),
            ),
            Ok(Some(answer)) if agents::is_refusal(&answer) => {
                let condition = if self.is_observing { "without `mode: observe`, " } else { "" };
                DoctorCheck::fine(format!(
                    "{title}: self-test passed: the program answers; {condition}it would refuse `{COMMAND}`"
                ))
            }
            Ok(Some(answer)) => DoctorCheck::bad(
                format!("{title}: self-test failed: the program would not refuse `{COMMAND}`, and answered {answer}"),
                format!("check that `{program}` is this Linchpin, or {reinstall}"),
            ),
        })
    }

    /// Returns the hook's answer, or `None` if the hook's process does not end within `limit`.
    fn answer(&self, limit: Duration) -> Result<Option<Value>, NotStarted> {
        let cwd = self.project.root.to_string_lossy();
        let call = SelfTestCall { session: guard::judge::SELF_TEST_SESSION, cwd: &cwd, command: COMMAND };
        let (event_argument, event) = call.payload(self.agent);
        let argv = [self.program, "hook", self.agent.name()].into_iter().chain(event_argument);
        let process = StreamedProcess {
            argv: argv.map(OsString::from).collect(),
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
        let mut stdout = Vec::new();
        let collect = |stream: Stream, piece: &[u8]| {
            if stream == Stream::Stdout && stdout.len() < MAX_ANSWER_BYTES {
                stdout.extend_from_slice(piece);
            }
        };
        let end = process.run(collect, || WatchAction::Continue)?;
        Ok((end != ProcessEnd::Timeout).then(|| serde_json::from_slice(&stdout).unwrap_or(Value::Null)))
    }

    /// Decides whether `doctor` may run the program. The author of a repository controls the programs in the
    /// repository, and the settings that say which program is called. Therefore `doctor` runs only this binary, and a
    /// program named `linchpin` that the person has installed.
    fn self_test_permission(&self) -> SelfTestPermission {
        let Self { program, project, environment, .. } = *self;
        if is_other_program(program, &project.root, environment) == Some(false) {
            return SelfTestPermission::Yes;
        }
        let repository = project.root.ancestors().find(|directory| directory.join(".git").exists());
        let repository_root = repository.unwrap_or(&project.root);
        let repository_root = repository_root.canonicalize().unwrap_or_else(|_| repository_root.to_owned());
        let found = program_path(program, &project.root, environment).filter(|found| found.exists());
        if found.is_none() {
            return SelfTestPermission::Yes;
        }
        let is_inside = |path: &Path| path.canonicalize().is_ok_and(|real| real.starts_with(&repository_root));
        // A program that is a symlink in the repository counts as lying in it, wherever the symlink's target is.
        let lies_inside = found.is_some_and(|path| is_inside(&path) || path.parent().is_some_and(is_inside));
        if lies_inside {
            return SelfTestPermission::LiesInProject;
        }
        let is_installed_by_person = self.scope == SettingsScope::User || !program.contains(['/', '\\']);
        if is_installed_by_person && is_linchpin(program) {
            SelfTestPermission::Yes
        } else {
            SelfTestPermission::NamedByProject
        }
    }
}

/// Whether a hook's program may be run for the self-test.
enum SelfTestPermission {
    Yes,
    /// The program must not be run, because it is in the project.
    LiesInProject,
    /// The program must not be run, because the project's settings name it, and they could name any program.
    NamedByProject,
}
