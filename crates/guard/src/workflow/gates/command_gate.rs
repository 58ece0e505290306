//! Checks a gate with a command: by its receipt, or by starting a gate process and waiting for it.

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use policy::Config;

use super::gate_process::{GATE_ARGUMENT, GateJob};
use super::receipt::{Receipt, ReceiptFile};
use super::running_command::{GateProgress, RunningCommand};
use crate::project::Project;
use crate::session::HatPhase;
use crate::{Environment, plain_text};

/// The polling interval while a command runs.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// The interval between two progress displays.
const SHOW_INTERVAL: Duration = Duration::from_millis(250);
/// How long to wait for a command to end after it was told to.
const STOP_TIMEOUT: Duration = Duration::from_secs(3);

/// Options for starting a gate process and waiting for it. A gate process outlives the process that started it.
#[derive(Debug, Clone)]
pub struct GateRunOptions {
    /// The program and arguments that start this binary as a gate process.
    pub call: Vec<OsString>,
    /// How long a move waits for the commands of all its gates together.
    pub wait_limit: Duration,
    /// The command that the agent repeats if the move did not wait long enough.
    pub repeat_with: &'static str,
    /// Set when a person cancels the move with Ctrl-C. The gate's command is then ended.
    pub is_cancelled: Option<Arc<AtomicBool>>,
    /// Displays the progress of the command.
    pub show: fn(GateProgress<'_>),
}

impl GateRunOptions {
    /// Shorter than the limit of agents' shell commands, which is 120 s in Claude Code.
    const WAIT_LIMIT: Duration = Duration::from_secs(90);

    pub fn is_cancelled(&self) -> bool {
        self.is_cancelled.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// Starts gate processes with this binary, whose `main` must handle [`GATE_ARGUMENT`].
    pub fn by_this_binary(repeat_with: &'static str) -> Self {
        let binary = if cfg!(target_os = "linux") {
            // Works even if the file was replaced by another version.
            OsString::from("/proc/self/exe")
        } else {
            std::env::current_exe().map_or_else(|_| "linchpin".into(), Into::into)
        };
        let call = vec![binary, GATE_ARGUMENT.into()];
        Self { call, wait_limit: Self::WAIT_LIMIT, repeat_with, is_cancelled: None, show: |_| {} }
    }
}

/// A gate's command in a project.
pub struct CommandGate<'a> {
    pub text: &'a str,
    pub words: &'a [String],
    pub timeout: Duration,
    pub project: &'a Project,
    pub config: &'a Config,
    pub environment: &'a Environment,
    /// Environment variables that the caller cannot override.
    pub variables: &'a [(&'static str, String)],
}

impl CommandGate<'_> {
    /// Checks the gate for the current tree. If no receipt decides it, runs the command and waits for it until `deadline`.
    /// Returns the reason why the gate does not pass; `None` if it passes.
    pub fn check(&self, tree_digest: Option<&str>, options: &GateRunOptions, deadline: Instant) -> Option<String> {
        let receipt_file = ReceiptFile::of(self.words, &self.project.root, self.environment);
        let last = receipt_file.last();
        let receipt = match last.as_ref().filter(|last| last.is_valid_for(tree_digest)) {
            Some(last) => last.clone(),
            None => match self.run_and_wait(&receipt_file, last.map(|last| last.run), options, deadline) {
                Ok(receipt) => receipt,
                Err(why) => return Some(why),
            },
        };
        receipt_file.mark_reported(&receipt);
        receipt.problem(tree_digest, options.repeat_with)
    }

    /// Starts a gate process, which runs the command or waits for the gate process that already runs it.
    fn run_and_wait(
        &self,
        receipt_file: &ReceiptFile,
        seen_run: Option<String>,
        options: &GateRunOptions,
        deadline: Instant,
    ) -> Result<Receipt, String> {
        let repeat_with = options.repeat_with;
        let command = plain_text::single_line(&store::mask(self.text));
        let job = GateJob {
            folder: receipt_file.folder().to_owned(),
            root: self.project.root.clone(),
            text: self.text.to_owned(),
            words: self.words.to_owned(),
            timeout: self.timeout,
            sandbox: self.config.commands.sandbox,
            variables: self.config.commands.env.clone(),
            seen_run,
        };
        let mut gate_process = start(&job, &options.call, self.variables)
            .map_err(|error| format!("`{command}` cannot be started: {error}"))?;
        (options.show)(GateProgress::Started { command: &command });
        let mut last_shown = Instant::now();
        let result = loop {
            // This is checked before the receipt, because the gate process writes the receipt before it ends.
            let has_ended = !matches!(gate_process.try_wait(), Ok(None));
            if let Some(receipt) = receipt_file.last().filter(|last| Some(&last.run) != job.seen_run.as_ref()) {
                break Ok(receipt);
            }
            if has_ended {
                break Err(format!("the run of `{command}` ended without a result; run `{repeat_with}` again"));
            }
            if options.is_cancelled() {
                break Err(if stop_command(&mut gate_process, receipt_file) {
                    format!("`{command}` was interrupted and killed; `{repeat_with}` starts it again")
                } else {
                    format!("`{command}` was interrupted, but has not ended yet")
                });
            }
            if Instant::now() >= deadline {
                break Err(format!(
                    "`{command}` is still running; run `{repeat_with}` again later: its result counts for the tree as it is now"
                ));
            }
            if last_shown.elapsed() >= SHOW_INTERVAL {
                last_shown = Instant::now();
                if let Some(running) = RunningCommand::of(receipt_file) {
                    (options.show)(GateProgress::Running(&running));
                }
            }
            thread::sleep(POLL_INTERVAL);
        };
        (options.show)(GateProgress::Ended);
        result
    }
}

/// Starts the gate process. It inherits no pipe of this process: an agent's shell waits until all writers of its pipes
/// have exited.
fn start(job: &GateJob, call: &[OsString], variables: &[(&str, String)]) -> io::Result<Child> {
    let [program, words @ ..] = call else { return Err(io::Error::other("there is no process to hold it")) };
    let mut command = Command::new(program);
    command.args(words).arg(serde_json::to_string(job)?).current_dir(&job.root);
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    // The gate process outlives the iteration and must not act for it.
    command.env_remove(HatPhase::SECRET);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
}

/// Ends the command, whether our own gate process runs it or an earlier one. Returns true if it has ended.
fn stop_command(gate_process: &mut Child, receipt_file: &ReceiptFile) -> bool {
    // Prevents our own gate process from starting the command later.
    let _ = gate_process.stdin.take().map(|mut stdin| stdin.write_all(b"x"));
    RunningCommand::stop(receipt_file);
    let deadline = Instant::now() + STOP_TIMEOUT;
    while RunningCommand::of(receipt_file).is_some() {
        if Instant::now() >= deadline {
            return false;
        }
        thread::sleep(POLL_INTERVAL);
    }
    true
}
