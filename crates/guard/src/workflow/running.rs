//! A gate's command while it runs: what it is, since when, and the last line that it printed.
//!
//! The process that runs the command writes this beside the receipt. The file counts only while that process holds the
//! lock, so a process that was killed leaves nothing behind that anybody would believe. Whoever wants the command to end
//! leaves another file there.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use runner::OutputSoFar;
use serde::{Deserialize, Serialize};
use store::{Masked, mask};

use super::receipt::Receipts;
use crate::plain_text;

/// How often the last line is written anew at most.
const REFRESH: Duration = Duration::from_millis(200);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Running {
    pub command: Masked<'static>,
    /// Milliseconds since 1970.
    pub started: i64,
    /// The last line of its output so far. Empty before the first line.
    pub last_line: Masked<'static>,
}

/// What there is to show of a gate's command.
#[derive(Debug, Clone, Copy)]
pub enum GateProgress<'a> {
    Started {
        command: &'a str,
    },
    Running(&'a Running),
    /// It has ended, or is not waited for any longer.
    Ended,
}

impl Running {
    /// What runs now for this receipt.
    pub fn of(receipts: &Receipts) -> Option<Self> {
        let lock = File::open(receipts.lock()).ok()?;
        if lock.try_lock_shared().is_ok() {
            return None;
        }
        serde_json::from_slice(&fs::read(receipts.running()).ok()?).ok()
    }

    /// Asks the process that runs the command, whoever started it, to end it.
    pub fn stop(receipts: &Receipts) {
        if Self::of(receipts).is_some() {
            let _ = policy::write_private_file(&receipts.stop(), "");
        }
    }
}

/// Writes down how far a command is. The file is deleted when this is dropped.
pub struct Announcement {
    file: PathBuf,
    stop: PathBuf,
    running: Running,
    length: u64,
    written: Instant,
}

impl Announcement {
    pub fn new(receipts: &Receipts, command: Masked<'static>) -> io::Result<Self> {
        let running =
            Running { command, started: jiff::Timestamp::now().as_millisecond(), last_line: Masked::default() };
        let (file, stop) = (receipts.running(), receipts.stop());
        // One that was left for another run.
        let _ = fs::remove_file(&stop);
        let announcement = Self { file, stop, running, length: 0, written: Instant::now() };
        announcement.write()?;
        Ok(announcement)
    }

    /// Called again and again while the command runs.
    pub fn update(&mut self, output: &OutputSoFar<'_>) {
        if self.written.elapsed() < REFRESH || self.length == output.length() {
            return;
        }
        self.length = output.length();
        self.written = Instant::now();
        self.running.last_line = mask(&plain_text::line(&plain_text::end(&output.latest(), 1, 400))).into_static();
        // Only the view of a running gate suffers where it cannot be written.
        let _ = self.write();
    }

    /// Whether somebody wants the command to end.
    pub fn is_to_stop(&self) -> bool {
        self.stop.exists()
    }

    fn write(&self) -> io::Result<()> {
        policy::write_private_file(&self.file, serde_json::to_vec(&self.running)?)
    }
}

impl Drop for Announcement {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.file);
        let _ = fs::remove_file(&self.stop);
    }
}
