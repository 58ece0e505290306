//! Runs a process and passes its output on immediately. The process is ended after its timeout, after its idle timeout
//! without output, or when the caller stops it. It inherits the whole environment of this process.

use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{self, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::environment::GetVariable;
use crate::not_started::{NotStarted, not_started, start_error};
use crate::process_group::{ProcessGroup, terminating_signal};
use crate::program::resolve_program;
use crate::shim;
use crate::watch_action::WatchAction;

/// How often the conditions for ending the process are checked.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// How long output may still arrive after the process has ended.
const OUTPUT_GRACE_PERIOD: Duration = Duration::from_secs(1);
/// The maximum number of queued pieces of output. Beyond that, the process has to wait.
const MAX_QUEUED_PIECES: usize = 16;
const PIECE_SIZE: usize = 16 * 1024;

pub struct StreamedProcess<'a> {
    /// The program and its arguments.
    pub argv: Vec<OsString>,
    /// The working directory. The path of a program may be relative to it.
    pub working_directory: PathBuf,
    /// Variables that are added to the environment of this process, or override it.
    pub variables: Vec<(&'static str, OsString)>,
    /// The stdin of the process; `None` for an empty one.
    pub stdin: Option<Vec<u8>>,
    /// Looks up an environment variable, to find the program.
    pub get_variable: GetVariable<'a>,
    /// The process is ended if it prints nothing for this long, unless `is_busy` returns true.
    pub idle_timeout: Option<Duration>,
    /// Called after the idle timeout. True restarts the timeout.
    pub is_busy: &'a dyn Fn() -> bool,
    /// After this time, the process is ended.
    pub timeout: Option<Duration>,
    /// The command that calls this binary as the shim.
    pub shim: Vec<OsString>,
    /// Called when the process has started, with the id of its process group.
    pub on_start: &'a dyn Fn(u32),
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessEnd {
    /// The process ended by itself, with this exit code.
    Exited(i32),
    /// A signal that this crate did not send ended the process.
    Signal(i32),
    /// The process was ended after its idle timeout.
    IdleTimeout,
    /// The process was ended after its timeout.
    Timeout,
    /// The process was ended because of [`WatchAction::Stop`].
    Stopped,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    Stdout,
    Stderr,
}

impl StreamedProcess<'_> {
    /// Runs the process until it ends. `on_output` gets its output; `watch` is called regularly.
    pub fn run(
        mut self,
        mut on_output: impl FnMut(Stream, &[u8]),
        mut watch: impl FnMut() -> WatchAction,
    ) -> Result<ProcessEnd, NotStarted> {
        let name = self.argv.first().ok_or_else(|| not_started("the command is empty"))?.to_string_lossy().into_owned();
        let mut running = self.start(&name)?;
        let ended_early = running.wait(&self, &mut on_output, &mut watch);
        if ended_early.is_some() {
            running.group.end(|| true);
        }
        running.drain(&mut on_output);
        running.group.kill_remaining();
        let exit_status = running.group.into_exit_status();
        if let Some(end) = ended_early {
            return Ok(end);
        }
        let exit_code = exit_status.and_then(|status| status.code());
        if let Some(why) = shim::failure_reason(exit_code, &String::from_utf8_lossy(&running.stderr_start)) {
            return Err(not_started(format!("`{name}` cannot be started: {why}")));
        }
        let by_signal = exit_status.and_then(terminating_signal).map(ProcessEnd::Signal);
        Ok(by_signal.unwrap_or(ProcessEnd::Exited(exit_code.unwrap_or(-1))))
    }

    /// Starts the process, and threads that read its output and write its stdin.
    fn start(&mut self, name: &str) -> Result<Running, NotStarted> {
        let failed = |error: io::Error| not_started(format!("`{name}` cannot be started: {error}"));
        let failed_to_start = |error: io::Error| {
            not_started(format!("`{name}` cannot be started: {}", start_error(OsStr::new(&*name), &error)))
        };
        let mut command =
            self.build_command().map_err(|why| not_started(format!("`{name}` was not started: {why}")))?;
        let (sender, receiver) = sync_channel(MAX_QUEUED_PIECES);
        let (stdout, stdout_writer) = io::pipe().map_err(failed)?;
        let (stderr, stderr_writer) = io::pipe().map_err(failed)?;
        spawn_reader(stdout, Stream::Stdout, sender.clone()).map_err(failed)?;
        spawn_reader(stderr, Stream::Stderr, sender).map_err(failed)?;
        command.stdout(stdout_writer).stderr(stderr_writer);
        match self.stdin.take() {
            None => {
                command.stdin(Stdio::null());
            }
            Some(stdin) => {
                let (stdin_reader, mut stdin_writer) = io::pipe().map_err(failed)?;
                command.stdin(stdin_reader);
                // The process may end without reading all of its stdin.
                thread::Builder::new().spawn(move || drop(stdin_writer.write_all(&stdin))).map_err(failed)?;
            }
        }
        let started = Instant::now();
        let group = ProcessGroup::start(command).map_err(failed_to_start)?;
        (self.on_start)(group.id());
        Ok(Running { group, receiver, started, last_activity: started, stderr_start: Vec::new() })
    }

    fn build_command(&self) -> Result<Command, String> {
        let [program, arguments @ ..] = self.argv.as_slice() else { return Err("the command is empty".to_owned()) };
        let working_directory = path::absolute(&self.working_directory).map_err(|error| error.to_string())?;
        let program = resolve_program(program, &working_directory, self.get_variable);
        let mut command = match self.shim.as_slice() {
            // Only Linux can end the program together with this process.
            [shim, shim_call @ ..] if cfg!(target_os = "linux") => {
                let mut command = Command::new(shim);
                command.args(shim_call).args(shim::shim_arguments(None, program, arguments));
                command
            }
            _ => {
                let mut command = Command::new(program);
                command.args(arguments);
                command
            }
        };
        command.current_dir(working_directory).envs(self.variables.iter().map(|(name, value)| (name, value)));
        Ok(command)
    }
}

/// A started process and its output.
struct Running {
    group: ProcessGroup,
    receiver: Receiver<(Stream, Vec<u8>)>,
    started: Instant,
    /// The time at which the process last showed activity.
    last_activity: Instant,
    /// The start of its stderr, where the shim reports that it failed.
    stderr_start: Vec<u8>,
}

impl Running {
    /// Waits until the process ends. If it has to be ended before that, returns the reason.
    fn wait(
        &mut self,
        process: &StreamedProcess<'_>,
        on_output: &mut impl FnMut(Stream, &[u8]),
        watch: &mut impl FnMut() -> WatchAction,
    ) -> Option<ProcessEnd> {
        let has_elapsed = |limit: Option<Duration>, since: Instant| limit.is_some_and(|limit| since.elapsed() >= limit);
        loop {
            match self.receiver.recv_timeout(POLL_INTERVAL) {
                Ok((stream, piece)) => self.forward(stream, &piece, on_output),
                Err(RecvTimeoutError::Timeout) => {}
                // Both streams are closed. The process itself may still run.
                Err(RecvTimeoutError::Disconnected) => thread::sleep(POLL_INTERVAL.min(Duration::from_millis(2))),
            }
            if self.group.leader_has_ended() {
                return None;
            }
            match watch() {
                WatchAction::Continue => {}
                WatchAction::KeepAlive => self.last_activity = Instant::now(),
                WatchAction::Stop => return Some(ProcessEnd::Stopped),
            }
            if has_elapsed(process.timeout, self.started) {
                return Some(ProcessEnd::Timeout);
            }
            if has_elapsed(process.idle_timeout, self.last_activity) {
                if !(process.is_busy)() {
                    return Some(ProcessEnd::IdleTimeout);
                }
                self.last_activity = Instant::now();
            }
        }
    }

    /// Forwards the output that arrives after the process has ended. A process that still holds the pipe afterwards
    /// was left behind.
    fn drain(&mut self, on_output: &mut impl FnMut(Stream, &[u8])) {
        let deadline = Instant::now() + OUTPUT_GRACE_PERIOD;
        while let Ok((stream, piece)) = self.receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            self.forward(stream, &piece, on_output);
            if Instant::now() >= deadline {
                return;
            }
        }
    }

    fn forward(&mut self, stream: Stream, piece: &[u8], on_output: &mut impl FnMut(Stream, &[u8])) {
        self.last_activity = Instant::now();
        if self.stderr_start.len() < PIECE_SIZE && stream == Stream::Stderr {
            self.stderr_start.extend_from_slice(piece);
        }
        on_output(stream, piece);
    }
}

/// Starts a thread that sends the output of a pipe to a channel.
fn spawn_reader(
    mut pipe: impl Read + Send + 'static,
    stream: Stream,
    sender: SyncSender<(Stream, Vec<u8>)>,
) -> io::Result<()> {
    thread::Builder::new()
        .spawn(move || {
            let mut buffer = vec![0; PIECE_SIZE];
            loop {
                match pipe.read(&mut buffer) {
                    Ok(0) => return,
                    Ok(length) => {
                        let piece = buffer.get(..length).unwrap_or_default().to_vec();
                        if sender.send((stream, piece)).is_err() {
                            return;
                        }
                    }
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(_) => return,
                }
            }
        })
        .map(drop)
}
