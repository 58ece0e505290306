//! A process with all that it starts, as long as that stays in its group.

use std::io;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

/// How long a group may take to end after it was asked to, and after it was made to.
const MOMENT: Duration = Duration::from_secs(1);

/// INVARIANT: the first process is not reaped before [`Group::status`], so that its number, which is the group's, is not
/// given to anybody else while signals are sent to it.
pub struct Group {
    first: Child,
}

impl Group {
    /// Takes the command, and with it our own ends of its pipes.
    pub fn start(mut command: Command) -> io::Result<Self> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        Ok(Self { first: command.spawn()? })
    }

    pub fn id(&self) -> u32 {
        self.first.id()
    }

    /// Ends what is left of the group: asks first. Waits until the first process has ended and `is_over`, or for a moment.
    pub fn end(&mut self, is_over: impl Fn() -> bool) {
        self.ask_to_end();
        wait_until(after(MOMENT), || self.has_ended() && is_over());
        self.kill();
        wait_until(after(MOMENT), || self.has_ended() && is_over());
    }

    /// Ends what the first process left behind.
    pub fn end_rest(&mut self) {
        self.kill();
    }

    /// How the first process ended, if it has.
    pub fn status(mut self) -> Option<ExitStatus> {
        self.first.try_wait().ok().flatten()
    }
}

#[cfg(unix)]
impl Group {
    /// Whether the first process has ended.
    pub fn has_ended(&mut self) -> bool {
        use rustix::process::{WaitId, WaitIdOptions, waitid};
        let Some(pid) = self.pid() else { return true };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        // An error means that there is no such child any more.
        !matches!(waitid(WaitId::Pid(pid), options), Ok(None))
    }

    fn ask_to_end(&self) {
        self.signal(rustix::process::Signal::TERM);
    }

    fn kill(&mut self) {
        self.signal(rustix::process::Signal::KILL);
    }

    fn signal(&self, signal: rustix::process::Signal) {
        // A group that has ended needs no signal.
        let _ = self.pid().map(|pid| rustix::process::kill_process_group(pid, signal));
    }

    fn pid(&self) -> Option<rustix::process::Pid> {
        i32::try_from(self.first.id()).ok().and_then(rustix::process::Pid::from_raw)
    }
}

#[cfg(not(unix))]
impl Group {
    /// Whether the first process has ended.
    pub fn has_ended(&mut self) -> bool {
        !matches!(self.first.try_wait(), Ok(None))
    }

    #[expect(clippy::unused_self, reason = "there is no way to ask here")]
    fn ask_to_end(&self) {}

    fn kill(&mut self) {
        let _ = self.first.kill();
    }
}

/// A time that never comes is none.
pub fn after(duration: Duration) -> Option<Instant> {
    Instant::now().checked_add(duration)
}

/// Whether it came to hold before the time was over.
pub fn wait_until(end: Option<Instant>, mut holds: impl FnMut() -> bool) -> bool {
    let mut pause = Duration::from_micros(200);
    loop {
        if holds() {
            return true;
        }
        if end.is_some_and(|end| Instant::now() >= end) {
            return false;
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(5));
    }
}

/// The signal that ended a process, if one did.
#[cfg(unix)]
pub(crate) fn signal(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
pub(crate) fn signal(_status: ExitStatus) -> Option<i32> {
    None
}
