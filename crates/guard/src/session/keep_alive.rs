//! Keeps an agent in a run from being taken for idle while it prints nothing. Every Linchpin process of the run (hook,
//! command, gate) touches the file of the hat phase, and the driver checks its modification time.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use super::hat_phase::{HatPhase, hat_phase_file, touch};
use crate::Environment;
use crate::project::Project;

/// The interval at which a long-running process touches the file.
const BEAT: Duration = Duration::from_millis(500);

impl HatPhase {
    /// Sets the modification time of the hat phase's file to now, and again every [`BEAT`] until the process ends. Does
    /// nothing outside of runs.
    pub fn keep_alive(environment: &Environment) {
        let Some(path) = file_of_process(environment) else { return };
        let touch_file = move || {
            if let Ok(file) = File::open(&path) {
                touch(&file);
            }
        };
        // The file is touched at once, because a short command ends before its thread touches it.
        touch_file();
        let keep_touching = move || {
            loop {
                thread::sleep(BEAT);
                touch_file();
            }
        };
        // If the thread cannot be started, the driver still sees the agent's own output.
        drop(thread::Builder::new().spawn(keep_touching));
    }

    /// The last time that a process of this run touched the file.
    pub fn last_activity(&self, project: &Project, environment: &Environment) -> Option<SystemTime> {
        let file = hat_phase_file(self.run_id(), &project.root, environment);
        fs::metadata(file).and_then(|metadata| metadata.modified()).ok()
    }
}

fn file_of_process(environment: &Environment) -> Option<PathBuf> {
    let run = environment.get(HatPhase::RUN)?.parse().ok()?;
    let root = environment.get(HatPhase::ROOT)?;
    Some(hat_phase_file(run, Path::new(&root), environment))
}
