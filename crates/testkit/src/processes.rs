//! Checks on processes that a test started, by process id.

use std::time::{Duration, Instant};
use std::{fs, thread};

/// How long a killed process may take to end on a busy machine.
const END_TIMEOUT: Duration = Duration::from_mins(1);

pub fn is_alive(process: &str) -> bool {
    // A process that ended stays listed as a zombie until its parent waits for it.
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    !status.is_empty() && !status.contains("State:\tZ")
}

/// Waits for a process to end; false if it is still alive after [`END_TIMEOUT`]. The kernel delivers a signal with a
/// delay, so checking once is not enough.
pub fn wait_for_end(process: &str) -> bool {
    let deadline = Instant::now() + END_TIMEOUT;
    while is_alive(process) {
        if Instant::now() > deadline {
            return false;
        }
        thread::sleep(Duration::from_millis(5));
    }
    true
}
