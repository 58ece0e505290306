//! The running command of a gate: its text, its start time, and the last line of its output.
//!
//! The gate process writes this to a file beside the receipt. The file only counts while the gate process holds the
//! lock, so a killed process leaves no misleading information behind. With another file, the gate process is asked to
//! end the command.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use runner::OutputSoFar;
use serde::{Deserialize, Serialize};
use store::{Masked, mask};

use super::receipt::ReceiptFile;
use crate::plain_text;

/// The minimum time between two writes of the file.
const WRITE_INTERVAL: Duration = Duration::from_millis(200);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunningCommand {
    pub command: Masked<'static>,
    /// Milliseconds since 1970.
    pub started: i64,
    /// The last line of output so far; empty before the first line.
    pub last_line: Masked<'static>,
}

/// The progress that the waiting caller displays.
#[derive(Debug, Clone, Copy)]
pub enum GateProgress<'a> {
    Started {
        command: &'a str,
    },
    Running(&'a RunningCommand),
    /// The command ended, or the caller stopped waiting.
    Ended,
}

impl RunningCommand {
    /// The running command, if there is one.
    pub fn of(receipt_file: &ReceiptFile) -> Option<Self> {
        let lock = File::open(receipt_file.lock_path()).ok()?;
        if lock.try_lock_shared().is_ok() {
            return None;
        }
        serde_json::from_slice(&fs::read(receipt_file.running_path()).ok()?).ok()
    }

    /// Asks the gate process to end the command, no matter which process started it.
    pub fn stop(receipt_file: &ReceiptFile) {
        if Self::of(receipt_file).is_some() {
            let _ = policy::write_private_file(&receipt_file.stop_request_path(), "");
        }
    }
}

/// The file that publishes the progress of the command. Dropping this value deletes the file.
pub struct Announcement {
    file: PathBuf,
    stop_request: PathBuf,
    running: RunningCommand,
    output_length: u64,
    last_write: Instant,
}

impl Announcement {
    pub fn new(receipt_file: &ReceiptFile, command: Masked<'static>) -> io::Result<Self> {
        let running =
            RunningCommand { command, started: jiff::Timestamp::now().as_millisecond(), last_line: Masked::default() };
        let (file, stop_request) = (receipt_file.running_path(), receipt_file.stop_request_path());
        // Deletes a request that may be left from an earlier run.
        let _ = fs::remove_file(&stop_request);
        let announcement = Self { file, stop_request, running, output_length: 0, last_write: Instant::now() };
        announcement.write()?;
        Ok(announcement)
    }

    /// Called repeatedly while the command runs.
    pub fn update(&mut self, output: &OutputSoFar<'_>) {
        if self.last_write.elapsed() < WRITE_INTERVAL || self.output_length == output.length() {
            return;
        }
        self.output_length = output.length();
        self.last_write = Instant::now();
        self.running.last_line =
            mask(&plain_text::single_line(&plain_text::last_lines(&output.latest(), 1, 400))).into_static();
        // A failed write only affects the display.
        let _ = self.write();
    }

    /// True if the command must end.
    pub fn is_stop_requested(&self) -> bool {
        self.stop_request.exists()
    }

    fn write(&self) -> io::Result<()> {
        policy::write_private_file(&self.file, serde_json::to_vec(&self.running)?)
    }
}

impl Drop for Announcement {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.file);
        let _ = fs::remove_file(&self.stop_request);
    }
}
