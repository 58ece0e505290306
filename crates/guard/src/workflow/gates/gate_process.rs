//! The gate process runs the command of a gate. It is this binary, started again; it outlives the process that started
//! it, and leaves a receipt.
//!
//! The binary's `main` calls [`run_gate`] if its first argument is [`GATE_ARGUMENT`]. If a gate process for the same
//! command is already running, a second one waits for its lock, finds the receipt, and exits.

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

use super::receipt::{Receipt, ReceiptFile};
use super::running_command::Announcement;
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
    /// The directory of receipts.
    pub folder: PathBuf,
    pub root: PathBuf,
    /// The command as written in the workflow, for messages.
    pub text: String,
    pub words: Vec<String>,
    pub timeout: Duration,
    pub sandbox: Sandbox,
    /// Additional environment variables that the command sees.
    pub variables: Vec<String>,
    /// The run whose receipt the caller has already seen. A receipt of any other run is its answer.
    pub seen_run: Option<String>,
}

/// The main function of a gate process. Runs the command, unless another gate process has run it meanwhile. `words` are
/// the arguments after [`GATE_ARGUMENT`].
pub fn run_gate(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    let job = words.into_iter().next().and_then(|word| word.into_string().ok());
    let Some(job) = job.and_then(|job| serde_json::from_str::<GateJob>(&job).ok()) else { return ExitCode::from(2) };
    leave_session();
    let environment = Environment::of_process();
    // Prevents the agent from being considered idle while the command runs.
    HatPhase::keep_alive(&environment);
    let is_stop_requested = stop_requested_by_parent();
    // The error is not reported: the waiting process sees that there is no receipt.
    if job.run_once(&environment, &is_stop_requested).is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Returns a flag that is set when the parent writes a byte to stdin: the parent was interrupted, and the command must
/// end. EOF does not set it, because this process outlives its parent.
fn stop_requested_by_parent() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&flag);
    thread::spawn(move || {
        let is_requested = matches!(io::stdin().read(&mut [0]), Ok(1));
        set.store(is_requested, Ordering::Relaxed);
    });
    flag
}

/// Leaves the session, so that closing the terminal or the agent's shell does not end the command.
fn leave_session() {
    #[cfg(unix)]
    let _ = rustix::process::setsid();
}

impl GateJob {
    fn run_once(&self, environment: &Environment, is_stop_requested: &AtomicBool) -> io::Result<()> {
        let receipt_file = ReceiptFile::at(self.folder.clone(), &self.words);
        policy::create_private_folder(&self.folder)?;
        let lock = File::options().create(true).truncate(false).write(true).open(receipt_file.lock_path())?;
        lock.lock()?;
        let has_new_receipt = receipt_file.last().is_some_and(|last| Some(last.run) != self.seen_run);
        if has_new_receipt || is_stop_requested.load(Ordering::Relaxed) {
            return Ok(());
        }
        let mut announcement = Announcement::new(&receipt_file, mask(&self.text).into_static())?;
        let mut is_stopped = false;
        let receipt = self.run_for_receipt(environment, &mut |output| {
            announcement.update(output);
            is_stopped |= is_stop_requested.load(Ordering::Relaxed) || announcement.is_stop_requested();
            if is_stopped { WatchAction::Stop } else { WatchAction::Continue }
        });
        // The result of a killed command says nothing about the tree, so it is not stored.
        if is_stopped { Ok(()) } else { receipt_file.store(&receipt) }
    }

    /// Runs the command and returns its result.
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
            run: format!("{}-{}", now.as_nanosecond(), std::process::id()),
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
        let run = BoundedProcess {
            argv: self.words.iter().map(OsString::from).collect(),
            working_directory: root.clone(),
            extra_variables: &self.variables,
            get_variable: &|name| environment.get(name).map(OsString::from),
            timeout: self.timeout,
            sandbox: match self.sandbox {
                Sandbox::Off => SandboxMode::Off,
                Sandbox::Repo => SandboxMode::Repo { root },
                Sandbox::Require => SandboxMode::Require { root },
            },
            shim: shim::shim_command(),
        };
        run.run_watched(watch).map_err(|error| error.to_string())
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

/// The last lines of stdout and stderr, where most programs print errors.
fn last_output(outcome: &ProcessOutcome) -> String {
    let streams = [&outcome.stdout, &outcome.stderr]
        .map(|stream| plain_text::last_lines(stream, MAX_OUTPUT_LINES, MAX_OUTPUT_BYTES));
    let [stdout, stderr] = &streams;
    if stdout.is_empty() || stderr.is_empty() { streams.concat() } else { streams.join("\n") }
}
