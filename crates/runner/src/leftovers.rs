//! Processes that a run of the loop left behind.
//!
//! A process that left its process group outlives its agent, and a driver that is killed ends nothing. Processes of a run are
//! known by [`STARTED_BY`](crate::STARTED_BY) in their environment, or by the process group of the run's agent, so that one that
//! was started with a cleared environment is found too. Only Linux shows the environment of a process.

use crate::group_id::GroupId;

/// How the processes of a run are known.
#[derive(Debug, Clone)]
pub struct Leftovers {
    /// Their value of [`STARTED_BY`](crate::STARTED_BY). Only processes of the run have it.
    pub started_by: String,
    /// The process group of the agent that was started last.
    pub group: Option<GroupId>,
}

#[cfg(not(target_os = "linux"))]
impl Leftovers {
    pub fn count(&self) -> usize {
        0
    }

    /// Ends them all, and says how many there were.
    pub fn end(&self) -> usize {
        0
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::os::fd::OwnedFd;
    use std::time::Duration;

    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    use super::Leftovers;
    use crate::environment::STARTED_BY;
    use crate::group::{after, wait_until};

    /// How long processes may take to end after they were asked to.
    const MOMENT: Duration = Duration::from_secs(1);
    /// Processes that start others while they are ended are looked for again, so often at most.
    const ROUNDS: usize = 20;

    impl Leftovers {
        pub fn count(&self) -> usize {
            self.found().len()
        }

        /// Ends them all, and says how many there were.
        pub fn end(&self) -> usize {
            let found = self.found();
            for process in &found {
                process.signal(Signal::TERM);
            }
            if !found.is_empty() {
                wait_until(after(MOMENT), || found.iter().all(|process| !self.includes(process)));
            }
            for _ in 0..ROUNDS {
                let rest = self.found();
                if rest.is_empty() {
                    break;
                }
                for process in &rest {
                    process.signal(Signal::KILL);
                }
                wait_until(after(MOMENT), || rest.iter().all(|process| !self.includes(process)));
            }
            found.len()
        }

        /// Without this process.
        fn found(&self) -> Vec<Process> {
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

    /// A process that is held on to: its id is not given to another one that would then get our signals.
    struct Process {
        id: i32,
        handle: OwnedFd,
    }

    impl Process {
        /// None where there is no such process any more.
        fn open(id: i32) -> Option<Self> {
            let handle = pidfd_open(Pid::from_raw(id)?, PidfdFlags::empty()).ok()?;
            Some(Self { id, handle })
        }

        /// One that has ended, or that is another user's, has no environment.
        fn has_variable(&self, name: &str, value: &str) -> bool {
            let environment = std::fs::read(format!("/proc/{}/environ", self.id)).unwrap_or_default();
            let variable = format!("{name}={value}");
            environment.split(|byte| *byte == 0).any(|found| found == variable.as_bytes())
        }

        fn signal(&self, signal: Signal) {
            // One that has ended needs no signal.
            let _ = pidfd_send_signal(&self.handle, signal);
        }
    }
}
