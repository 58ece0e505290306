//! Processes that a run of the loop left behind.
//!
//! A process that left its process group is not ended with the agent, and a driver that is killed cannot end anything.
//! Processes of a run are recognised by [`STARTED_BY`](crate::STARTED_BY) in their environment, or by the process group
//! of the run's agent. The process group also finds processes whose environment was cleared. The environment of another
//! process can be read only on Linux; on other systems, no processes are found.

use crate::process_group_id::ProcessGroupId;

/// The processes of one run that are still alive. A process belongs to the run if one of these fields matches it.
#[derive(Debug, Clone)]
pub struct LeftoverProcesses {
    /// The value of [`STARTED_BY`](crate::STARTED_BY), which only processes of the run have.
    pub started_by: String,
    /// The process group of the agent that was started last.
    pub group: Option<ProcessGroupId>,
}

#[cfg(not(target_os = "linux"))]
impl LeftoverProcesses {
    pub fn count(&self) -> usize {
        0
    }

    /// Ends all leftover processes, and returns how many there were.
    pub fn end(&self) -> usize {
        0
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::os::fd::OwnedFd;
    use std::time::Duration;

    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    use super::LeftoverProcesses;
    use crate::environment::STARTED_BY;
    use crate::process_group::{deadline_after, wait_until};

    /// How long processes may take to end after a signal.
    const END_TIMEOUT: Duration = Duration::from_secs(1);
    /// The maximum number of searches. Processes may start others while they are being ended.
    const MAX_ROUNDS: usize = 20;

    impl LeftoverProcesses {
        pub fn count(&self) -> usize {
            self.find().len()
        }

        /// Ends all leftover processes, and returns how many there were.
        pub fn end(&self) -> usize {
            let processes = self.find();
            for process in &processes {
                process.send_signal(Signal::TERM);
            }
            if !processes.is_empty() {
                wait_until(deadline_after(END_TIMEOUT), || processes.iter().all(|process| !self.includes(process)));
            }
            for _ in 0..MAX_ROUNDS {
                let remaining = self.find();
                if remaining.is_empty() {
                    break;
                }
                for process in &remaining {
                    process.send_signal(Signal::KILL);
                }
                wait_until(deadline_after(END_TIMEOUT), || remaining.iter().all(|process| !self.includes(process)));
            }
            processes.len()
        }

        /// Returns all leftover processes except this process.
        fn find(&self) -> Vec<Process> {
            let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
            let ids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
            let others = ids.filter(|id| u32::try_from(*id).is_ok_and(|id| id != std::process::id()));
            others.filter_map(Process::open).filter(|process| self.includes(process)).collect()
        }

        fn includes(&self, process: &Process) -> bool {
            process.has_variable(STARTED_BY, &self.started_by)
                || self.group.as_ref().is_some_and(|group| group.includes(process.id))
        }
    }

    /// A process with an open handle. Its id is not reused while the handle exists, so no other process gets the
    /// signals.
    struct Process {
        id: i32,
        handle: OwnedFd,
    }

    impl Process {
        /// Returns `None` if the process no longer exists.
        fn open(id: i32) -> Option<Self> {
            let handle = pidfd_open(Pid::from_raw(id)?, PidfdFlags::empty()).ok()?;
            Some(Self { id, handle })
        }

        /// Returns false for processes that have ended, or that belong to another user: their environment cannot be
        /// read.
        fn has_variable(&self, name: &str, value: &str) -> bool {
            let environment = std::fs::read(format!("/proc/{}/environ", self.id)).unwrap_or_default();
            let variable = format!("{name}={value}");
            environment.split(|byte| *byte == 0).any(|entry| entry == variable.as_bytes())
        }

        fn send_signal(&self, signal: Signal) {
            // A process that has ended cannot receive a signal.
            let _ = pidfd_send_signal(&self.handle, signal);
        }
    }
}
