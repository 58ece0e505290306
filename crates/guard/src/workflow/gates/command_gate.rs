//! Checks a gate with a command: by the receipt of an earlier execution, or by starting a gate process and waiting for
//! its receipt.

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use policy::Config;

use super::gate_process::{GATE_ARGUMENT, GateJob};
use super::receipt::{Receipt, ReceiptFiles};
use super::running_command::{GateProgress, RunningCommand};
use crate::project::Project;
use crate::session::HatPhase;
use crate::{Environment, plain_text};

/// The polling interval while a command runs.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// The interval between two displays of the progress.
const SHOW_INTERVAL: Duration = Duration::from_millis(250);
/// How long to wait until a cancelled command has ended.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(3);

/// Options for starting a gate process and waiting for it. A gate process outlives the process that started it.
#[derive(Debug, Clone)]
pub struct GateRunOptions {
    /// The program and arguments that start this binary as a gate process.
    pub call: Vec<OsString>,
    /// How long a move waits for the commands of all its gates together.
    pub wait_limit: Duration,
    /// The `linchpin` command that the agent must run again if the move did not wait long enough.
    pub repeat_with: &'static str,
    /// The flag becomes true when a person cancels the move with Ctrl-C. Then the gate's command is killed.
    pub cancel_flag: Option<Arc<AtomicBool>>,
    /// Displays the progress of the command.
    pub show: fn(GateProgress<'_>),
}

impl GateRunOptions {
    /// The default limit. It is shorter than the time limit of agents' shell commands, which is 120 s in Claude Code.
    const WAIT_LIMIT: Duration = Duration::from_secs(90);

    /// True if a person has cancelled the move.
    pub fn is_cancelled(&self) -> bool {
        self.cancel_flag.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// Options that start this binary as the gate process. Its `main` must handle [`GATE_ARGUMENT`].
    pub fn by_this_binary(repeat_with: &'static str) -> Self {
        let binary = if cfg!(target_os = "linux") {
            // This path works even if the file of the running binary was replaced by another version.
            OsString::from("/proc/self/exe")
        } else {
            std::env::current_exe().map_or_else(|_| "linchpin".into(), Into::into)
        };
        let call = vec![binary, GATE_ARGUMENT.into()];
        Self { call, wait_limit: Self::WAIT_LIMIT, repeat_with, cancel_flag: None, show: |_| {} }
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
    /// Environment variables of the command. They override those of the caller.
    pub environment_overrides: &'a [(&'static str, String)],
}

impl CommandGate<'_> {
    /// Checks the gate for the current tree. If the last receipt does not decide the gate, runs the command and waits
    /// for a receipt until `deadline`. Returns the reason why the gate does not pass; `None` if it passes.
    pub fn check(&self, tree_digest: Option<&str>, options: &GateRunOptions, deadline: Instant) -> Option<String> {
        let receipt_files = ReceiptFiles::of(self.words, &self.project.root, self.environment);
        let last = receipt_files.last();
        let receipt = match last.as_ref().filter(|last| last.can_replace_a_run(tree_digest)) {
            Some(last) => last.clone(),
            None => match self.run_and_wait(&receipt_files, last.map(|last| last.id), options, deadline) {
                Ok(receipt) => receipt,
                Err(why) => return Some(why),
            },
        };
        receipt_files.mark_reported(&receipt);
        receipt.problem(tree_digest, options.repeat_with)
    }

    /// Starts a gate process and waits for a receipt. If another gate process is already running the command, the new
    /// one waits for the other one. `seen_receipt` is the id of the last receipt, which does not decide the gate.
    fn run_and_wait(
        &self,
        receipt_files: &ReceiptFiles,
        seen_receipt: Option<String>,
        options: &GateRunOptions,
        deadline: Instant,
    ) -> Result<Receipt, String> {
        let repeat_with = options.repeat_with;
        let command = plain_text::single_line(&store::mask(self.text));
        let job = GateJob {
            receipts_directory: receipt_files.directory().to_owned(),
            root: self.project.root.clone(),
            text: self.text.to_owned(),
            words: self.words.to_owned(),
            timeout: self.timeout,
            sandbox: self.config.commands.sandbox,
            inherited_variables: self.config.commands.env.clone(),
            seen_receipt,
        };
        let mut gate_process = start(&job, &options.call, self.environment_overrides)
            .map_err(|error| format!("`{command}` cannot be started: {error}"))?;
        (options.show)(GateProgress::Started { command: &command });
        let mut last_shown = Instant::now();
        let result = loop {
            // Checked before the receipt is read: if the gate process has ended, it has already written its receipt.
            let has_ended = !matches!(gate_process.try_wait(), Ok(None));
            if let Some(receipt) = receipt_files.last().filter(|last| Some(&last.id) != job.seen_receipt.as_ref()) {
                break Ok(receipt);
            }
            if has_ended {
                break Err(format!("the run of `{command}` ended without a result; run `{repeat_with}` again"));
            }
            if options.is_cancelled() {
                break Err(if cancel_command(&mut gate_process, receipt_files) {
                    format!("`{command}` was cancelled and killed; `{repeat_with}` starts it again")
                } else {
                    format!("`{command}` was cancelled, but has not ended yet")
                });
            }
            if Instant::now() >= deadline {
                break Err(format!(
                    "`{command}` is still running; run `{repeat_with}` again later: its result counts for the tree as it is now"
                ));
            }
            if last_shown.elapsed() >= SHOW_INTERVAL {
                last_shown = Instant::now();
                if let Some(running) = RunningCommand::of(receipt_files) {
                    (options.show)(GateProgress::Running(&running));
                }
            }
            thread::sleep(POLL_INTERVAL);
        };
        (options.show)(GateProgress::Ended);
        result
    }
}

/// Starts the gate process. It inherits no pipe of this process, because an agent's shell waits until all processes
/// that can write to its pipes have exited.
fn start(job: &GateJob, call: &[OsString], overrides: &[(&str, String)]) -> io::Result<Child> {
    let [program, words @ ..] = call else { return Err(io::Error::other("no program is configured to run it")) };
    let mut command = Command::new(program);
    command.args(words).arg(serde_json::to_string(job)?).current_dir(&job.root);
    command.envs(overrides.iter().map(|(name, value)| (name, value)));
    // The gate process outlives the iteration and must not act for it.
    command.env_remove(HatPhase::SECRET);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
}

/// Cancels the command. Returns true if the command has ended.
///
/// It is cancelled in two ways, because our own gate process or an earlier one may be running it. A byte on stdin
/// reaches only our own gate process: if it is still waiting for the lock, it will not start the command later. A
/// request file ([`ReceiptFiles::cancel_request_path`]) reaches the gate process that is running the command.
fn cancel_command(gate_process: &mut Child, receipt_files: &ReceiptFiles) -> bool {
    let _ = gate_process.stdin.take().map(|mut stdin| stdin.write_all(b"x"));
    RunningCommand::cancel(receipt_files);
    let deadline = Instant::now() + CANCEL_TIMEOUT;
    while RunningCommand::of(receipt_files).is_some() {
        if Instant::now() >= deadline {
            return false;
        }
        thread::sleep(POLL_INTERVAL);
    }
    true
}
