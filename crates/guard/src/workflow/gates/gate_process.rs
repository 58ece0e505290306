//! The gate process: a process of this binary that runs the command of a gate. It outlives the process that started it,
//! and writes the result as a receipt.
//!
//! The binary's `main` calls [`run_gate`] if its first argument is [`GATE_ARGUMENT`]. If a gate process for the same
//! command is already running, the new one waits for the lock, finds the receipt of the other one, and exits.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use policy::Sandbox;
use runner::{BoundedProcess, OutputSoFar, ProcessOutcome, SandboxMode, WatchAction, shim};
use serde::{Deserialize, Serialize};
use store::{Masked, mask};

use super::receipt::{Receipt, ReceiptFiles};
use super::running_command::ProgressFile;
use crate::session::HatPhase;
use crate::tree_digest::tree_contents;
use crate::{Environment, plain_text};

/// The first argument of a gate process.
pub const GATE_ARGUMENT: &str = "__gate";

/// The maximum number of lines and bytes of the command's output that are stored.
const MAX_OUTPUT_LINES: usize = 30;
const MAX_OUTPUT_BYTES: usize = 4 * 1024;

/// The job of a gate process, passed as JSON in one argument.
#[derive(Debug, Serialize, Deserialize)]
pub struct GateJob {
    /// The directory in which receipts are stored.
    #[serde(rename = "folder")]
    pub receipts_directory: PathBuf,
    pub root: PathBuf,
    /// The command as written in the workflow, for messages.
    pub text: String,
    pub words: Vec<String>,
    pub timeout: Duration,
    pub sandbox: Sandbox,
    /// The names of additional environment variables that the command inherits.
    #[serde(rename = "variables")]
    pub inherited_variables: Vec<String>,
    /// The id of the receipt that the caller has already seen. The caller waits for any other receipt.
    #[serde(rename = "seen_run")]
    pub seen_receipt: Option<String>,
}

/// The main function of a gate process. Runs the command, unless another gate process ran it while this one waited for
/// the lock. `arguments` are the arguments after [`GATE_ARGUMENT`].
pub fn run_gate(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let job = arguments.into_iter().next().and_then(|argument| argument.into_string().ok());
    let Some(job) = job.and_then(|job| serde_json::from_str::<GateJob>(&job).ok()) else { return ExitCode::from(2) };
    leave_terminal_session();
    let environment = Environment::of_process();
    // Prevents the agent from being considered idle while the command runs.
    HatPhase::keep_alive(&environment);
    let cancel_flag = cancel_flag_set_by_parent();
    // An error message would have no reader. The waiting process notices the failure because there is no receipt.
    if job.run_once(&environment, &cancel_flag).is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Returns a flag that becomes true when the parent writes a byte to stdin, which asks this process to cancel the
/// command. The end of stdin does not set the flag, because this process outlives its parent.
fn cancel_flag_set_by_parent() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&flag);
    thread::spawn(move || {
        let is_cancelled = matches!(io::stdin().read(&mut [0]), Ok(1));
        set.store(is_cancelled, Ordering::Relaxed);
    });
    flag
}

/// Leaves the terminal's session, so that closing the terminal or the agent's shell does not kill the command.
fn leave_terminal_session() {
    #[cfg(unix)]
    let _ = rustix::process::setsid();
}

impl GateJob {
    /// Runs the command, unless there is a new receipt or the command was cancelled. Writes the receipt, unless the
    /// command is cancelled while it runs.
    fn run_once(&self, environment: &Environment, cancel_flag: &AtomicBool) -> io::Result<()> {
        let receipt_files = ReceiptFiles::at(self.receipts_directory.clone(), &self.words);
        policy::create_private_directory(&self.receipts_directory)?;
        let lock = File::options().create(true).truncate(false).write(true).open(receipt_files.lock_path())?;
        lock.lock()?;
        let has_new_receipt = receipt_files.last().is_some_and(|last| Some(last.id) != self.seen_receipt);
        if has_new_receipt || cancel_flag.load(Ordering::Relaxed) {
            return Ok(());
        }
        let mut progress_file = ProgressFile::new(&receipt_files, mask(&self.text).into_static())?;
        let mut is_cancelled = false;
        let receipt = self.run_for_receipt(environment, &mut |output| {
            progress_file.update(output);
            is_cancelled |= cancel_flag.load(Ordering::Relaxed) || progress_file.is_cancel_requested();
            if is_cancelled { WatchAction::Stop } else { WatchAction::Continue }
        });
        // The result of a killed command says nothing about the tree, so it is not stored.
        if is_cancelled { Ok(()) } else { receipt_files.store(&receipt) }
    }

    /// Runs the command and returns the receipt.
    fn run_for_receipt(
        &self,
        environment: &Environment,
        watch: &mut dyn FnMut(&OutputSoFar<'_>) -> WatchAction,
    ) -> Receipt {
        let started = Instant::now();
        let before = tree_contents(&self.root);
        let outcome = self.run_command(environment, watch);
        let after = tree_contents(&self.root);
        let duration = started.elapsed();
        let changed = match (&before, &after) {
            (Ok(Some(before)), Ok(Some(after))) => before.changed_files(after),
            _ => Vec::new(),
        };
        let (passed, exit_code, ending, output) = match (&before, &after, outcome) {
            (Err(error), ..) | (_, Err(error), _) => (
                false,
                None,
                format!("does not count, because the state of the tree cannot be read: {error}"),
                Masked::default(),
            ),
            (.., Err(why)) => (false, None, format!("did not run: {why}"), Masked::default()),
            (.., Ok(outcome)) => {
                let output = mask(&last_output(&outcome)).into_static();
                (outcome.is_success(), outcome.exit_code, self.ending_text(&outcome, duration), output)
            }
        };
        let now = jiff::Timestamp::now();
        Receipt {
            id: format!("{}-{}", now.as_nanosecond(), std::process::id()),
            command: mask(&self.text).into_static(),
            exit_code,
            passed,
            ending,
            duration,
            is_tree_unchanged: before.is_ok() && before == after,
            tree_digest: before.ok().flatten().map(|before| before.digest()),
            changed,
            output,
            ended: now.as_millisecond(),
            is_reported: false,
        }
    }

    fn run_command(
        &self,
        environment: &Environment,
        watch: &mut dyn FnMut(&OutputSoFar<'_>) -> WatchAction,
    ) -> Result<ProcessOutcome, String> {
        let root = self.root.clone();
        let process = BoundedProcess {
            argv: self.words.iter().map(OsString::from).collect(),
            working_directory: root.clone(),
            extra_variables: &self.inherited_variables,
            get_variable: &|name| environment.get(name).map(OsString::from),
            timeout: self.timeout,
            sandbox: match self.sandbox {
                Sandbox::Off => SandboxMode::Off,
                Sandbox::Repo => SandboxMode::Repo { root },
                Sandbox::Require => SandboxMode::Require { root },
            },
            shim: shim::shim_command(),
        };
        process.run_watched(watch).map_err(|error| error.to_string())
    }

    fn ending_text(&self, outcome: &ProcessOutcome, duration: Duration) -> String {
        let seconds = duration.as_secs_f64();
        let ending = match outcome.exit_code {
            _ if outcome.timed_out => format!("was killed after its time limit of {:?}", self.timeout),
            Some(0) => format!("passed in {seconds:.1} s"),
            Some(code) => format!("failed with exit code {code} after {seconds:.1} s"),
            None => "was killed by a signal".to_owned(),
        };
        outcome.notes.iter().fold(ending, |ending, note| format!("{ending}; {note}"))
    }
}

/// The last lines of stdout and stderr. Most programs print their errors at the end.
fn last_output(outcome: &ProcessOutcome) -> String {
    let streams = [&outcome.stdout, &outcome.stderr]
        .map(|stream| plain_text::last_lines(stream, MAX_OUTPUT_LINES, MAX_OUTPUT_BYTES));
    let [stdout, stderr] = &streams;
    if stdout.is_empty() || stderr.is_empty() { streams.concat() } else { streams.join("\n") }
}
