//! A process and all processes that it starts, as long as they stay in its process group.

use std::io;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

/// How long a group may take to end after SIGTERM, and after SIGKILL.
const END_TIMEOUT: Duration = Duration::from_secs(1);

/// The process group of a started process.
///
/// INVARIANT: the leader is not reaped before [`ProcessGroup::into_exit_status`], so that its id, which is the group's
/// id, is not reused while signals are sent to it.
pub struct ProcessGroup {
    /// The first process of the group.
    leader: Child,
}

impl ProcessGroup {
    /// Takes ownership of the command, so that this process's copies of the child's pipe ends are closed.
    pub fn start(mut command: Command) -> io::Result<Self> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        Ok(Self { leader: command.spawn()? })
    }

    pub fn id(&self) -> u32 {
        self.leader.id()
    }

    /// Ends the group with SIGTERM, then with SIGKILL. After each signal, waits for a limited time until the leader
    /// has ended and `is_over` returns true.
    pub fn end(&mut self, is_over: impl Fn() -> bool) {
        self.terminate();
        wait_until(deadline_after(END_TIMEOUT), || self.leader_has_ended() && is_over());
        self.kill();
        wait_until(deadline_after(END_TIMEOUT), || self.leader_has_ended() && is_over());
    }

    /// Kills the processes that the leader left behind.
    pub fn kill_remaining(&mut self) {
        self.kill();
    }

    /// The exit status of the leader, if it has ended.
    pub fn into_exit_status(mut self) -> Option<ExitStatus> {
        self.leader.try_wait().ok().flatten()
    }
}

#[cfg(unix)]
impl ProcessGroup {
    /// True if the leader has ended.
    pub fn leader_has_ended(&mut self) -> bool {
        use rustix::process::{WaitId, WaitIdOptions, waitid};
        let Some(pid) = self.pid() else { return true };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        // An error means that the child no longer exists.
        !matches!(waitid(WaitId::Pid(pid), options), Ok(None))
    }

    fn terminate(&self) {
        self.send_signal(rustix::process::Signal::TERM);
    }

    fn kill(&mut self) {
        self.send_signal(rustix::process::Signal::KILL);
    }

    fn send_signal(&self, signal: rustix::process::Signal) {
        // A group that has ended cannot receive a signal.
        let _ = self.pid().map(|pid| rustix::process::kill_process_group(pid, signal));
    }

    fn pid(&self) -> Option<rustix::process::Pid> {
        i32::try_from(self.leader.id()).ok().and_then(rustix::process::Pid::from_raw)
    }
}

#[cfg(not(unix))]
impl ProcessGroup {
    /// True if the leader has ended.
    pub fn leader_has_ended(&mut self) -> bool {
        !matches!(self.leader.try_wait(), Ok(None))
    }

    #[expect(clippy::unused_self, reason = "there is no SIGTERM on this system")]
    fn terminate(&self) {}

    fn kill(&mut self) {
        let _ = self.leader.kill();
    }
}

/// Returns the time after this duration; `None` if it is too far in the future.
pub fn deadline_after(duration: Duration) -> Option<Instant> {
    Instant::now().checked_add(duration)
}

/// Waits until the condition is true. Returns false if it was not true in time.
pub fn wait_until(deadline: Option<Instant>, mut condition: impl FnMut() -> bool) -> bool {
    let mut delay = Duration::from_micros(200);
    loop {
        if condition() {
            return true;
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return false;
        }
        thread::sleep(delay);
        delay = (delay * 2).min(Duration::from_millis(5));
    }
}

/// The signal that ended a process, if one did.
#[cfg(unix)]
pub(crate) fn terminating_signal(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
pub(crate) fn terminating_signal(_status: ExitStatus) -> Option<i32> {
    None
}
