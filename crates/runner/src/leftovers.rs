//! Processes that whoever started them left behind: found by a mark in their environment, and ended.
//!
//! A driver that is killed cannot end what its agent started. The mark is a variable that only those processes have, so no
//! other process is ended, whatever happened to process ids in between. Only Linux shows the environment of a process.

#[cfg(target_os = "linux")]
use std::time::Duration;

#[cfg(target_os = "linux")]
use crate::group::{after, wait_until};

/// How long processes may take to end after they were asked to.
#[cfg(target_os = "linux")]
const MOMENT: Duration = Duration::from_secs(1);
/// Processes that start others while they are ended are looked for again, so often at most.
#[cfg(target_os = "linux")]
const ROUNDS: usize = 20;

/// Ends every process of ours that has this variable with this value in its environment, and says how many there were.
#[cfg(target_os = "linux")]
pub fn end_marked(name: &str, value: &str) -> usize {
    use rustix::process::Signal;
    let mark = format!("{name}={value}").into_bytes();
    let found = marked(&mark);
    for process in &found {
        process.signal(Signal::TERM);
    }
    let count = found.len();
    if count > 0 {
        wait_until(after(MOMENT), || found.iter().all(|process| !process.is_marked(&mark)));
    }
    for _ in 0..ROUNDS {
        let rest = marked(&mark);
        if rest.is_empty() {
            break;
        }
        for process in &rest {
            process.signal(Signal::KILL);
        }
        wait_until(after(MOMENT), || rest.iter().all(|process| !process.is_marked(&mark)));
    }
    count
}

#[cfg(not(target_os = "linux"))]
pub fn end_marked(_name: &str, _value: &str) -> usize {
    0
}

/// A process that is held on to: its id is not given to another one that would then get our signals.
#[cfg(target_os = "linux")]
struct Process {
    id: i32,
    handle: std::os::fd::OwnedFd,
}

#[cfg(target_os = "linux")]
impl Process {
    /// None where there is no such process any more.
    fn open(id: i32) -> Option<Self> {
        let pid = rustix::process::Pid::from_raw(id)?;
        let handle = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()?;
        Some(Self { id, handle })
    }

    /// One that has ended, or that is another user's, has no environment.
    fn is_marked(&self, mark: &[u8]) -> bool {
        let environment = std::fs::read(format!("/proc/{}/environ", self.id)).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == mark)
    }

    fn signal(&self, signal: rustix::process::Signal) {
        // One that has ended needs no signal.
        let _ = rustix::process::pidfd_send_signal(&self.handle, signal);
    }
}

/// This process is not among them.
#[cfg(target_os = "linux")]
fn marked(mark: &[u8]) -> Vec<Process> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let ids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let others = ids.filter(|id| u32::try_from(*id).is_ok_and(|id| id != std::process::id()));
    others.filter_map(Process::open).filter(|process| process.is_marked(mark)).collect()
}
