//! Processes that outlive the tests that started them.
//!
//! An orphan becomes a child of its nearest ancestor that is a subreaper. The process of `cargo xtask test` makes
//! itself a subreaper, so every process that a test leaves behind becomes its child. Only Linux supports this; on other
//! systems no processes are found.

#[cfg(target_os = "linux")]
pub use linux::{become_subreaper, kill_all};

#[cfg(not(target_os = "linux"))]
pub fn become_subreaper() -> anyhow::Result<()> {
    Ok(())
}

#[cfg(not(target_os = "linux"))]
pub fn kill_all() -> anyhow::Result<Vec<String>> {
    Ok(Vec::new())
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::thread::sleep;
    use std::time::{Duration, Instant};

    use anyhow::Result;
    use rustix::process::{Pid, Signal, getpid, kill_process, set_child_subreaper};

    /// How long a leftover process may take to end by itself.
    const GRACE_PERIOD: Duration = Duration::from_secs(5);

    /// Makes this process the parent of its orphaned descendants.
    pub fn become_subreaper() -> Result<()> {
        Ok(set_child_subreaper(Some(getpid()))?)
    }

    /// Kills the orphans that still run after the grace period, and returns their command lines.
    pub fn kill_all() -> Result<Vec<String>> {
        let deadline = Instant::now() + GRACE_PERIOD;
        while !running_children()?.is_empty() && Instant::now() < deadline {
            sleep(Duration::from_millis(50));
        }
        let mut command_lines = Vec::new();
        // Repeats until no orphans are left: the children of a killed process become orphans, too.
        loop {
            let children = running_children()?;
            if children.is_empty() {
                return Ok(command_lines);
            }
            for child in children {
                let command = fs::read(format!("/proc/{child}/cmdline")).unwrap_or_default();
                command_lines.push(String::from_utf8_lossy(&command).replace('\0', " ").trim_end().to_owned());
                if let Some(pid) = Pid::from_raw(child) {
                    // Fails if the process has ended by itself in the meantime.
                    let _ = kill_process(pid, Signal::KILL);
                }
            }
            sleep(Duration::from_millis(50));
        }
    }

    /// Returns the process ids of this process's running children, without those that have ended and wait to be reaped.
    fn running_children() -> Result<Vec<i32>> {
        let own_pid = getpid().as_raw_nonzero().get();
        let mut pids = Vec::new();
        for entry in fs::read_dir("/proc")? {
            let Ok(pid) = entry?.file_name().to_string_lossy().parse::<i32>() else { continue };
            let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { continue };
            // The file contains "PID (NAME) STATE PARENT …". The name can contain any characters, even parentheses.
            let mut fields = stat.rsplit(") ").next().unwrap_or_default().split(' ');
            let (state, parent) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
            if state != "Z" && parent == own_pid.to_string() {
                pids.push(pid);
            }
        }
        Ok(pids)
    }
}
