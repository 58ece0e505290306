//! How whoever drives a run sees that its agent is at work though it prints nothing: every process of the run that Linchpin
//! takes part in (hooks, commands, gates) touches the file of the stage, and the driver looks at its modification time.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use super::stage::{Stage, file, touch};
use crate::Environment;
use crate::project::Project;

/// How often a process that lasts says that it is there.
const BEAT: Duration = Duration::from_millis(500);

impl Stage {
    /// Says again and again that this process is at work for its run, until it ends. Outside of runs it does nothing.
    pub fn keep_alive(environment: &Environment) {
        let Some(path) = file_of_process(environment) else { return };
        let sign = move || {
            if let Ok(file) = File::open(&path) {
                touch(&file);
            }
        };
        // At once: a short command ends before its thread begins.
        sign();
        let beat = move || {
            loop {
                thread::sleep(BEAT);
                sign();
            }
        };
        // Where there can be no thread, the run sees what its agent prints.
        drop(thread::Builder::new().spawn(beat));
    }

    /// When a process of this run last said that it is at work.
    pub fn last_sign_of_life(&self, project: &Project, environment: &Environment) -> Option<SystemTime> {
        let file = file(self.id(), &project.root, environment);
        fs::metadata(file).and_then(|metadata| metadata.modified()).ok()
    }
}

fn file_of_process(environment: &Environment) -> Option<PathBuf> {
    let run = environment.get(Stage::RUN)?.parse().ok()?;
    let root = environment.get(Stage::ROOT)?;
    Some(file(run, Path::new(&root), environment))
}
