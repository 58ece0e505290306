//! Shows the driver of a run that its agent is not idle, even while the agent prints nothing. Every Linchpin process of
//! the run (hook, command, gate process) touches the file of the hat phase, and the driver checks the file's
//! modification time.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use super::hat_phase::{HatPhase, hat_phase_file, touch};
use crate::Environment;
use crate::project::Project;

/// The interval at which a long-running process touches the file.
const TOUCH_INTERVAL: Duration = Duration::from_millis(500);

impl HatPhase {
    /// Sets the modification time of the hat phase's file to now, and again every [`TOUCH_INTERVAL`] until the process
    /// ends. Does nothing outside of runs.
    pub fn keep_alive(environment: &Environment) {
        let Some(path) = file_of_process(environment) else { return };
        let touch_file = move || {
            if let Ok(file) = File::open(&path) {
                touch(&file);
            }
        };
        // The first touch is not left to the thread, because a short command may end before the thread starts.
        touch_file();
        let keep_touching = move || {
            loop {
                thread::sleep(TOUCH_INTERVAL);
                touch_file();
            }
        };
        // If the thread cannot be started, only the agent's own output shows the driver that it is not idle.
        drop(thread::Builder::new().spawn(keep_touching));
    }

    /// The last time that a process of this run touched the file.
    pub fn last_activity(&self, project: &Project, environment: &Environment) -> Option<SystemTime> {
        let file = hat_phase_file(self.run_id(), &project.root, environment);
        fs::metadata(file).and_then(|metadata| metadata.modified()).ok()
    }
}

/// The hat phase's file of the run that this process belongs to.
fn file_of_process(environment: &Environment) -> Option<PathBuf> {
    let run = environment.get(HatPhase::RUN)?.parse().ok()?;
    let root = environment.get(HatPhase::ROOT)?;
    Some(hat_phase_file(run, Path::new(&root), environment))
}
