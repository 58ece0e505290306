//! A process that is attended to while it runs: what it says is passed on as it comes, and it is ended where it falls silent
//! for too long, where its time is over, or where whoever attends to it says so. It sees our whole environment.

use std::ffi::OsString;
use std::io::{self, ErrorKind, Read, Write};
use std::path::{self, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::group::Group;
use crate::process::{NotStarted, not_started, signal};
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
    /// After so long without a word it is ended.
    pub idle: Option<Duration>,
    /// After so long it is ended.
    pub time: Option<Duration>,
    /// The words that call this binary as the shim.
    pub shim: Vec<OsString>,
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

/// What whoever attends to it has to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heed {
    GoOn,
    /// It gave a sign of life by another way than its output.
    SignOfLife,
    End,
}

/// Where something was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    Output,
    Error,
}

impl Attended<'_> {
    /// Runs it to its end. `hear` gets what it says; `heed` is asked again and again.
    pub fn run(
        self,
        mut hear: impl FnMut(Stream, &[u8]),
        mut heed: impl FnMut() -> Heed,
    ) -> Result<AttendedEnd, NotStarted> {
        let name = self.words.first().ok_or_else(|| not_started("it names no program"))?.to_string_lossy().into_owned();
        let failed = |error: io::Error| not_started(format!("`{name}` cannot be started: {error}"));
        let mut command = self.command().map_err(|why| not_started(format!("`{name}` was not started: {why}")))?;
        let (said, heard) = sync_channel(PIECES);
        let (output, its_output) = io::pipe().map_err(failed)?;
        let (error, its_error) = io::pipe().map_err(failed)?;
        follow(output, Stream::Output, said.clone()).map_err(failed)?;
        follow(error, Stream::Error, said).map_err(failed)?;
        command.stdout(its_output).stderr(its_error);
        match self.input {
            None => {
                command.stdin(Stdio::null());
            }
            Some(input) => {
                let (its_input, mut feed) = io::pipe().map_err(failed)?;
                command.stdin(its_input);
                // Who does not read it all does not want it all.
                thread::Builder::new().spawn(move || drop(feed.write_all(&input))).map_err(failed)?;
            }
        }
        let started = Instant::now();
        let mut group = Group::start(command).map_err(failed)?;
        let mut last_word = started;
        let mut first_words = Vec::new();
        let mut pass_on = |stream: Stream, piece: &[u8], last_word: &mut Instant| {
            *last_word = Instant::now();
            if first_words.len() < PIECE && stream == Stream::Error {
                first_words.extend_from_slice(piece);
            }
            hear(stream, piece);
        };
        let cut_short = loop {
            match heard.recv_timeout(LOOK) {
                Ok((stream, piece)) => pass_on(stream, &piece, &mut last_word),
                Err(RecvTimeoutError::Timeout) => {}
                // Both streams are closed: nothing is left to wait for but its end.
                Err(RecvTimeoutError::Disconnected) => thread::sleep(LOOK.min(Duration::from_millis(2))),
            }
            if group.has_ended() {
                break None;
            }
            let is_over = |limit: Option<Duration>, since: Instant| limit.is_some_and(|limit| since.elapsed() >= limit);
            match heed() {
                Heed::GoOn => {}
                Heed::SignOfLife => last_word = Instant::now(),
                Heed::End => break Some(AttendedEnd::Told),
            }
            if is_over(self.time, started) {
                break Some(AttendedEnd::TimeOver);
            }
            if is_over(self.idle, last_word) {
                break Some(AttendedEnd::Silent);
            }
        };
        if cut_short.is_some() {
            group.end(|| true);
        }
        drain(&heard, |stream, piece| pass_on(stream, piece, &mut last_word));
        group.end_rest();
        let status = group.status();
        if let Some(end) = cut_short {
            return Ok(end);
        }
        let exit_code = status.and_then(|status| status.code());
        if let Some(why) = shim::failure(exit_code, &String::from_utf8_lossy(&first_words)) {
            return Err(not_started(format!("`{name}` cannot be started: {why}")));
        }
        let by_signal = status.and_then(signal).map(AttendedEnd::Signal);
        Ok(by_signal.unwrap_or(AttendedEnd::Exited(exit_code.unwrap_or(-1))))
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

/// What still comes after its end; what holds the pipe for longer was left behind.
fn drain(heard: &Receiver<(Stream, Vec<u8>)>, mut hear: impl FnMut(Stream, &[u8])) {
    let end = Instant::now() + GRACE;
    while let Ok((stream, piece)) = heard.recv_timeout(end.saturating_duration_since(Instant::now())) {
        hear(stream, &piece);
        if Instant::now() >= end {
            return;
        }
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
