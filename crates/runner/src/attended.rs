//! A process that is attended to while it runs: what it says is passed on as it comes, and it is ended where it falls silent
//! for too long, where its time is over, or where whoever attends to it says so. It sees our whole environment.

use std::ffi::OsString;
use std::io::{self, ErrorKind, Read, Write};
use std::path::{self, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::group::{Group, signal};
use crate::heed::Heed;
use crate::not_started::{NotStarted, not_started};
use crate::program::located;
use crate::shim;

/// How often it is looked whether the process is to be ended.
const LOOK: Duration = Duration::from_millis(50);
/// How long output may still come after the process ended.
const GRACE: Duration = Duration::from_secs(1);
/// So many pieces may wait to be passed on; then the process waits.
const PIECES: usize = 16;
const PIECE: usize = 16 * 1024;

pub struct Attended<'a> {
    /// The program and its arguments.
    pub words: Vec<OsString>,
    pub folder: PathBuf,
    /// Variables that it sees besides ours, or in their place.
    pub set: Vec<(&'static str, OsString)>,
    /// What it reads; none: nothing.
    pub input: Option<Vec<u8>>,
    /// How variables are looked up, to find the program.
    pub get: &'a dyn Fn(&str) -> Option<OsString>,
    /// After so long without a word it is ended, unless it is known to be busy.
    pub idle: Option<Duration>,
    pub is_busy: &'a dyn Fn() -> bool,
    /// After so long it is ended.
    pub time: Option<Duration>,
    /// The words that call this binary as the shim.
    pub shim: Vec<OsString>,
    /// Is told the number of its process group.
    pub on_start: &'a dyn Fn(u32),
}

/// How it came to an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttendedEnd {
    /// By itself.
    Exited(i32),
    /// By a signal that was not ours.
    Signal(i32),
    /// It was silent for too long.
    Silent,
    /// Its time was over.
    TimeOver,
    /// Whoever attended to it said so.
    Told,
}

/// Where something was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    Output,
    Error,
}

impl Attended<'_> {
    /// Runs it to its end. `hear` gets its output; `heed` is asked again and again.
    pub fn run(
        mut self,
        mut hear: impl FnMut(Stream, &[u8]),
        mut heed: impl FnMut() -> Heed,
    ) -> Result<AttendedEnd, NotStarted> {
        let name = self.words.first().ok_or_else(|| not_started("it names no program"))?.to_string_lossy().into_owned();
        let mut running = self.start(&name)?;
        let cut_short = running.attend(&self, &mut hear, &mut heed);
        if cut_short.is_some() {
            running.group.end(|| true);
        }
        running.drain(&mut hear);
        running.group.end_rest();
        let status = running.group.status();
        if let Some(end) = cut_short {
            return Ok(end);
        }
        let exit_code = status.and_then(|status| status.code());
        if let Some(why) = shim::failure(exit_code, &String::from_utf8_lossy(&running.first_errors)) {
            return Err(not_started(format!("`{name}` cannot be started: {why}")));
        }
        let by_signal = status.and_then(signal).map(AttendedEnd::Signal);
        Ok(by_signal.unwrap_or(AttendedEnd::Exited(exit_code.unwrap_or(-1))))
    }

    /// Starts it, with threads that read its output and write its input.
    fn start(&mut self, name: &str) -> Result<Running, NotStarted> {
        let failed = |error: io::Error| not_started(format!("`{name}` cannot be started: {error}"));
        let mut command = self.command().map_err(|why| not_started(format!("`{name}` was not started: {why}")))?;
        let (said, heard) = sync_channel(PIECES);
        let (output, its_output) = io::pipe().map_err(failed)?;
        let (error, its_error) = io::pipe().map_err(failed)?;
        follow(output, Stream::Output, said.clone()).map_err(failed)?;
        follow(error, Stream::Error, said).map_err(failed)?;
        command.stdout(its_output).stderr(its_error);
        match self.input.take() {
            None => {
                command.stdin(Stdio::null());
            }
            Some(input) => {
                let (its_input, mut feed) = io::pipe().map_err(failed)?;
                command.stdin(its_input);
                // A process that does not read it all does not want it all.
                thread::Builder::new().spawn(move || drop(feed.write_all(&input))).map_err(failed)?;
            }
        }
        let started = Instant::now();
        let group = Group::start(command).map_err(failed)?;
        (self.on_start)(group.id());
        Ok(Running { group, heard, started, last_word: started, first_errors: Vec::new() })
    }

    fn command(&self) -> Result<Command, String> {
        let [program, arguments @ ..] = self.words.as_slice() else { return Err("it names no program".to_owned()) };
        let folder = path::absolute(&self.folder).map_err(|error| error.to_string())?;
        let program = located(program, &folder, self.get);
        let mut command = match self.shim.as_slice() {
            // Only Linux can end it with us.
            [shim, call @ ..] if cfg!(target_os = "linux") => {
                let mut command = Command::new(shim);
                command.args(call).args(shim::words(None, program, arguments));
                command
            }
            _ => {
                let mut command = Command::new(program);
                command.args(arguments);
                command
            }
        };
        command.current_dir(folder).envs(self.set.iter().map(|(name, value)| (name, value)));
        Ok(command)
    }
}

/// A process that was started.
struct Running {
    group: Group,
    heard: Receiver<(Stream, Vec<u8>)>,
    started: Instant,
    /// When it last gave a sign of life.
    last_word: Instant,
    /// The beginning of its stderr, where the shim says that it failed.
    first_errors: Vec<u8>,
}

impl Running {
    /// Waits for its end. Says why it is to be ended before, where it is.
    fn attend(
        &mut self,
        limits: &Attended<'_>,
        hear: &mut impl FnMut(Stream, &[u8]),
        heed: &mut impl FnMut() -> Heed,
    ) -> Option<AttendedEnd> {
        let is_over = |limit: Option<Duration>, since: Instant| limit.is_some_and(|limit| since.elapsed() >= limit);
        loop {
            match self.heard.recv_timeout(LOOK) {
                Ok((stream, piece)) => self.pass_on(stream, &piece, hear),
                Err(RecvTimeoutError::Timeout) => {}
                // Both streams are closed: nothing is left to wait for but its end.
                Err(RecvTimeoutError::Disconnected) => thread::sleep(LOOK.min(Duration::from_millis(2))),
            }
            if self.group.has_ended() {
                return None;
            }
            match heed() {
                Heed::GoOn => {}
                Heed::SignOfLife => self.last_word = Instant::now(),
                Heed::End => return Some(AttendedEnd::Told),
            }
            if is_over(limits.time, self.started) {
                return Some(AttendedEnd::TimeOver);
            }
            if is_over(limits.idle, self.last_word) {
                if !(limits.is_busy)() {
                    return Some(AttendedEnd::Silent);
                }
                self.last_word = Instant::now();
            }
        }
    }

    /// Passes on what still comes after its end. A process that holds the pipe for longer was left behind.
    fn drain(&mut self, hear: &mut impl FnMut(Stream, &[u8])) {
        let end = Instant::now() + GRACE;
        while let Ok((stream, piece)) = self.heard.recv_timeout(end.saturating_duration_since(Instant::now())) {
            self.pass_on(stream, &piece, hear);
            if Instant::now() >= end {
                return;
            }
        }
    }

    fn pass_on(&mut self, stream: Stream, piece: &[u8], hear: &mut impl FnMut(Stream, &[u8])) {
        self.last_word = Instant::now();
        if self.first_errors.len() < PIECE && stream == Stream::Error {
            self.first_errors.extend_from_slice(piece);
        }
        hear(stream, piece);
    }
}

fn follow(mut pipe: impl Read + Send + 'static, stream: Stream, said: SyncSender<(Stream, Vec<u8>)>) -> io::Result<()> {
    thread::Builder::new()
        .spawn(move || {
            let mut buffer = vec![0; PIECE];
            loop {
                match pipe.read(&mut buffer) {
                    Ok(0) => return,
                    Ok(length) => {
                        let piece = buffer.get(..length).unwrap_or_default().to_vec();
                        if said.send((stream, piece)).is_err() {
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
