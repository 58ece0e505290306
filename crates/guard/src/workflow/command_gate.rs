//! Whether the command of a gate passes: a receipt says so, or a holder is started and waited for.

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use policy::Config;

use super::holder::{HOLDER, Job};
use super::receipt::{Receipt, Receipts};
use super::running::{GateProgress, Running};
use crate::project::Project;
use crate::session::Stage;
use crate::{Environment, plain_text};

/// How long to wait between looks at a command that runs.
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// How often it is shown how far a command is.
const SHOW_AGAIN: Duration = Duration::from_millis(250);
/// How long a command that is called off may take to end.
const CALL_OFF: Duration = Duration::from_secs(3);

/// How a command is run that outlives whoever asks.
#[derive(Debug, Clone)]
pub struct HolderOptions {
    /// The words that call this binary as the holder.
    pub call: Vec<OsString>,
    /// How long a move waits for its commands, all of them together.
    pub patience: Duration,
    /// The command that is to be repeated where it was not waited for.
    pub again: &'static str,
    /// Set once whoever waits is interrupted. The command is ended then.
    pub is_interrupted: Option<Arc<AtomicBool>>,
    /// Shows how far the command is.
    pub show: fn(GateProgress<'_>),
}

impl HolderOptions {
    /// Below what agents give a shell command: 120 s is Claude Code's own limit.
    const PATIENCE: Duration = Duration::from_secs(90);

    pub fn is_interrupted(&self) -> bool {
        self.is_interrupted.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// By this very binary, whose `main` has to know [`HOLDER`].
    pub fn by_this_binary(again: &'static str) -> Self {
        let binary = if cfg!(target_os = "linux") {
            // Even where another version has been put in its place.
            OsString::from("/proc/self/exe")
        } else {
            std::env::current_exe().map_or_else(|_| "linchpin".into(), Into::into)
        };
        let call = vec![binary, HOLDER.into()];
        Self { call, patience: Self::PATIENCE, again, is_interrupted: None, show: |_| {} }
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
    pub fn lack(&self, tree: Option<&str>, holding: &HolderOptions, end: Instant) -> Option<String> {
        let receipts = Receipts::of(self.words, &self.project.root, self.environment);
        let known = receipts.last();
        let receipt = match known.as_ref().filter(|known| known.answers(tree)) {
            Some(known) => known.clone(),
            None => match self.ran(&receipts, known.as_ref().map(|known| known.run.as_str()), holding, end) {
                Ok(receipt) => receipt,
                Err(why) => return Some(why),
            },
        };
        receipts.note_told(&receipt);
        receipt.lack(tree, holding.again)
    }

    /// Has it run, by us or by whoever came first.
    fn ran(
        &self,
        receipts: &Receipts,
        known: Option<&str>,
        holding: &HolderOptions,
        end: Instant,
    ) -> Result<Receipt, String> {
        let again = holding.again;
        let command = plain_text::line(&store::mask(self.text));
        let job = Job {
            folder: receipts.folder().to_owned(),
            root: self.project.root.clone(),
            text: self.text.to_owned(),
            words: self.words.to_owned(),
            timeout: self.timeout,
            sandbox: self.config.commands.sandbox,
            variables: self.config.commands.env.clone(),
            known: known.map(str::to_owned),
        };
        let mut holder = start(&job, &holding.call, self.variables)
            .map_err(|error| format!("`{command}` cannot be started: {error}"))?;
        (holding.show)(GateProgress::Started { command: &command });
        let mut shown = Instant::now();
        let result = loop {
            // Looked at before the receipt is: a holder that has ended has written it.
            let has_ended = !matches!(holder.try_wait(), Ok(None));
            if let Some(receipt) = receipts.last().filter(|last| Some(last.run.as_str()) != known) {
                break Ok(receipt);
            }
            if has_ended {
                break Err(format!("the run of `{command}` ended without a result; repeat `{again}`"));
            }
            if holding.is_interrupted() {
                break Err(if call_off(&mut holder, receipts) {
                    format!("`{command}` was interrupted and has been ended; `{again}` starts it again")
                } else {
                    format!("`{command}` was interrupted, but has not ended yet")
                });
            }
            if Instant::now() >= end {
                break Err(format!(
                    "`{command}` is still running, repeat `{again}`: its result is kept for the tree as it is now"
                ));
            }
            if shown.elapsed() >= SHOW_AGAIN {
                shown = Instant::now();
                if let Some(running) = Running::of(receipts) {
                    (holding.show)(GateProgress::Running(&running));
                }
            }
            thread::sleep(LOOK_AGAIN);
        };
        (holding.show)(GateProgress::Ended);
        result
    }
}

/// It holds nothing of ours: an agent's shell waits until the last who could write to it is gone.
fn start(job: &Job, call: &[OsString], variables: &[(&str, String)]) -> io::Result<Child> {
    let [program, words @ ..] = call else { return Err(io::Error::other("there is nothing to hold it")) };
    let mut command = Command::new(program);
    command.args(words).arg(serde_json::to_string(job)?).current_dir(&job.root);
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    // It outlives the iteration that asked for it, and does not speak for it.
    command.env_remove(Stage::TICKET);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
}

/// Ends the command, whether our own holder runs it or that of an earlier attempt. Returns whether it has ended.
fn call_off(holder: &mut Child, receipts: &Receipts) -> bool {
    // Our own holder runs nothing more from now on.
    let _ = holder.stdin.take().map(|mut stdin| stdin.write_all(b"x"));
    Running::stop(receipts);
    let end = Instant::now() + CALL_OFF;
    while Running::of(receipts).is_some() {
        if Instant::now() >= end {
            return false;
        }
        thread::sleep(LOOK_AGAIN);
    }
    true
}
