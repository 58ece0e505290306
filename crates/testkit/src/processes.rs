//! Processes that a test started, by their number.

use std::time::{Duration, Instant};
use std::{fs, thread};

/// How long a killed process may take to go on a busy machine.
const LIMIT: Duration = Duration::from_mins(1);

pub fn is_alive(process: &str) -> bool {
    // A process that ended stays listed as a zombie until its parent waits for it.
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    !status.is_empty() && !status.contains("State:\tZ")
}

/// Whether a process ends. The kernel delivers a signal some time after it was sent, so one look is not enough.
pub fn ends(process: &str) -> bool {
    let end = Instant::now() + LIMIT;
    while is_alive(process) {
        if Instant::now() > end {
            return false;
        }
        thread::sleep(Duration::from_millis(5));
    }
    true
}
