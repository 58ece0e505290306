//! Whether the command of a gate passes: a receipt says so, or a holder is started and waited for.

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

/// How long to wait between looks at a command that runs.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// How often it is shown how far a command is.
const SHOW_INTERVAL: Duration = Duration::from_millis(250);
/// How long a command that is called off may take to end.
const STOP_TIMEOUT: Duration = Duration::from_secs(3);

/// How a command is run that outlives whoever asks.
#[derive(Debug, Clone)]
pub struct GateRunOptions {
    /// The words that call this binary as the holder.
    pub call: Vec<OsString>,
    /// How long a move waits for its commands, all of them together.
    pub wait_limit: Duration,
    /// The command that is to be repeated where it was not waited for.
    pub repeat_with: &'static str,
    /// Set once whoever waits is interrupted. The command is ended then.
    pub is_interrupted: Option<Arc<AtomicBool>>,
    /// Shows how far the command is.
    pub show: fn(GateProgress<'_>),
}

impl GateRunOptions {
    /// Below what agents give a shell command: 120 s is Claude Code's own limit.
    const WAIT_LIMIT: Duration = Duration::from_secs(90);

    pub fn is_interrupted(&self) -> bool {
        self.is_interrupted.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// By this very binary, whose `main` has to know [`GATE_ARGUMENT`].
    pub fn by_this_binary(repeat_with: &'static str) -> Self {
        let binary = if cfg!(target_os = "linux") {
            // Even where another version has been put in its place.
            OsString::from("/proc/self/exe")
        } else {
            std::env::current_exe().map_or_else(|_| "linchpin".into(), Into::into)
        };
        let call = vec![binary, GATE_ARGUMENT.into()];
        Self { call, wait_limit: Self::WAIT_LIMIT, repeat_with, is_interrupted: None, show: |_| {} }
    }
}

/// The command of a gate, in a project.
pub struct CommandGate<'a> {
    pub text: &'a str,
    pub words: &'a [String],
    pub timeout: Duration,
    pub project: &'a Project,
    pub config: &'a Config,
    pub environment: &'a Environment,
    /// Variables that whoever asks does not decide.
    pub variables: &'a [(&'static str, String)],
}

impl CommandGate<'_> {
    /// Why it does not hold for what is in the tree. `end`: until when it is waited for.
    pub fn problem(&self, tree: Option<&str>, command_options: &GateRunOptions, end: Instant) -> Option<String> {
        let receipt_file = ReceiptFile::of(self.words, &self.project.root, self.environment);
        let known = receipt_file.last();
        let receipt = match known.as_ref().filter(|known| known.answers(tree)) {
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

    /// Has it run, by us or by whoever came first.
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
            // Looked at before the receipt is: a holder that has ended has written it.
            let has_ended = !matches!(gate_process.try_wait(), Ok(None));
            if let Some(receipt) = receipt_file.last().filter(|last| Some(last.run.as_str()) != known) {
                break Ok(receipt);
            }
            if has_ended {
                break Err(format!("the run of `{command}` ended without a result; repeat `{repeat_with}`"));
            }
            if command_options.is_interrupted() {
                break Err(if stop_command(&mut gate_process, receipt_file) {
                    format!("`{command}` was interrupted and has been ended; `{repeat_with}` starts it again")
                } else {
                    format!("`{command}` was interrupted, but has not ended yet")
                });
            }
            if Instant::now() >= end {
                break Err(format!(
                    "`{command}` is still running, repeat `{repeat_with}`: its result is kept for the tree as it is now"
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

/// It holds nothing of ours: an agent's shell waits until the last who could write to it is gone.
fn start(job: &GateJob, call: &[OsString], variables: &[(&str, String)]) -> io::Result<Child> {
    let [program, words @ ..] = call else { return Err(io::Error::other("there is nothing to hold it")) };
    let mut command = Command::new(program);
    command.args(words).arg(serde_json::to_string(job)?).current_dir(&job.root);
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    // It outlives the iteration that asked for it, and does not speak for it.
    command.env_remove(HatPhase::TICKET);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
}

/// Ends the command, whether our own holder runs it or that of an earlier attempt. Returns whether it has ended.
fn stop_command(gate_process: &mut Child, receipt_file: &ReceiptFile) -> bool {
    // Our own holder runs nothing more from now on.
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
