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
    /// The reason why the gate does not pass for the present tree; `None` if it passes. Waits for the command until
    /// `end`.
    pub fn problem(&self, tree: Option<&str>, command_options: &GateRunOptions, end: Instant) -> Option<String> {
        let receipt_file = ReceiptFile::of(self.words, &self.project.root, self.environment);
        let known = receipt_file.last();
        let receipt = match known.as_ref().filter(|known| known.is_valid_for(tree)) {
            Some(known) => known.clone(),
            None => match self.ran(&receipt_file, known.as_ref().map(|known| known.run.as_str()), command_options, end)
            {
                Ok(receipt) => receipt,
                Err(why) => return Some(why),
            },
        };
        receipt_file.mark_reported(&receipt);
        receipt.problem(tree, command_options.repeat_with)
    }

    /// Starts a gate process, which runs the command or waits for the gate process that already runs it.
    fn ran(
        &self,
        receipt_file: &ReceiptFile,
        known: Option<&str>,
        command_options: &GateRunOptions,
        end: Instant,
    ) -> Result<Receipt, String> {
        let repeat_with = command_options.repeat_with;
        let command = plain_text::single_line(&store::mask(self.text));
        let job = GateJob {
            folder: receipt_file.folder().to_owned(),
            root: self.project.root.clone(),
            text: self.text.to_owned(),
            words: self.words.to_owned(),
            timeout: self.timeout,
            sandbox: self.config.commands.sandbox,
            variables: self.config.commands.env.clone(),
            known: known.map(str::to_owned),
        };
        let mut gate_process = start(&job, &command_options.call, self.variables)
            .map_err(|error| format!("`{command}` cannot be started: {error}"))?;
        (command_options.show)(GateProgress::Started { command: &command });
        let mut shown = Instant::now();
        let result = loop {
            // This is checked before the receipt, because the gate process writes the receipt before it ends.
            let has_ended = !matches!(gate_process.try_wait(), Ok(None));
            if let Some(receipt) = receipt_file.last().filter(|last| Some(last.run.as_str()) != known) {
                break Ok(receipt);
            }
            if has_ended {
                break Err(format!("the run of `{command}` ended without a result; run `{repeat_with}` again"));
            }
            if command_options.is_cancelled() {
                break Err(if stop_command(&mut gate_process, receipt_file) {
                    format!("`{command}` was interrupted and killed; `{repeat_with}` starts it again")
                } else {
                    format!("`{command}` was interrupted, but has not ended yet")
                });
            }
            if Instant::now() >= end {
                break Err(format!(
                    "`{command}` is still running; run `{repeat_with}` again later: its result counts for the tree as it is now"
                ));
            }
            if shown.elapsed() >= SHOW_INTERVAL {
                shown = Instant::now();
                if let Some(running) = RunningCommand::of(receipt_file) {
                    (command_options.show)(GateProgress::Running(&running));
                }
            }
            thread::sleep(POLL_INTERVAL);
        };
        (command_options.show)(GateProgress::Ended);
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
    command.env_remove(HatPhase::TICKET);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
}

/// Ends the command, whether our own gate process runs it or an earlier one. Returns true if it has ended.
fn stop_command(gate_process: &mut Child, receipt_file: &ReceiptFile) -> bool {
    // Keeps our own gate process from starting the command later.
    let _ = gate_process.stdin.take().map(|mut stdin| stdin.write_all(b"x"));
    RunningCommand::stop(receipt_file);
    let end = Instant::now() + STOP_TIMEOUT;
    while RunningCommand::of(receipt_file).is_some() {
        if Instant::now() >= end {
            return false;
        }
        thread::sleep(POLL_INTERVAL);
    }
    true
}
