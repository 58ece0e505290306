//! The running command of a gate: its text, its start time, and the last line of its output.
//!
//! The gate process writes these to a file beside the receipt. The file counts only while the gate process holds its
//! lock, so the file of a killed process is ignored. Another file asks the gate process to cancel the command.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use runner::OutputSoFar;
use serde::{Deserialize, Serialize};
use store::{Masked, mask};

use super::receipt::ReceiptFiles;
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

/// A step in the progress of a gate's command, for display by the process that waits for it.
#[derive(Debug, Clone, Copy)]
pub enum GateProgress<'a> {
    Started {
        command: &'a str,
    },
    Running(&'a RunningCommand),
    /// The command has ended, or the caller no longer waits for it.
    Ended,
}

impl RunningCommand {
    /// The running command, if there is one.
    pub fn of(receipt_files: &ReceiptFiles) -> Option<Self> {
        let lock = File::open(receipt_files.lock_path()).ok()?;
        if lock.try_lock_shared().is_ok() {
            return None;
        }
        serde_json::from_slice(&fs::read(receipt_files.running_path()).ok()?).ok()
    }

    /// Asks the gate process to cancel the command, no matter which process started it.
    pub fn cancel(receipt_files: &ReceiptFiles) {
        if Self::of(receipt_files).is_some() {
            let _ = policy::write_private_file(&receipt_files.cancel_request_path(), "");
        }
    }
}

/// The file that shows other processes the running command. Dropping this value deletes the file.
pub struct ProgressFile {
    path: PathBuf,
    cancel_request: PathBuf,
    running: RunningCommand,
    output_length: u64,
    last_write: Instant,
}

impl ProgressFile {
    pub fn new(receipt_files: &ReceiptFiles, command: Masked<'static>) -> io::Result<Self> {
        let running =
            RunningCommand { command, started: jiff::Timestamp::now().as_millisecond(), last_line: Masked::default() };
        let (path, cancel_request) = (receipt_files.running_path(), receipt_files.cancel_request_path());
        // An earlier execution of the command may have left a request to cancel it. It is not for this execution.
        let _ = fs::remove_file(&cancel_request);
        let progress_file = Self { path, cancel_request, running, output_length: 0, last_write: Instant::now() };
        progress_file.write()?;
        Ok(progress_file)
    }

    /// Writes the last line of output, but not too often. Called repeatedly while the command runs.
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

    /// True if another process asked for the command to be cancelled.
    pub fn is_cancel_requested(&self) -> bool {
        self.cancel_request.exists()
    }

    fn write(&self) -> io::Result<()> {
        policy::write_private_file(&self.path, serde_json::to_vec(&self.running)?)
    }
}

impl Drop for ProgressFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
        let _ = fs::remove_file(&self.cancel_request);
    }
}
