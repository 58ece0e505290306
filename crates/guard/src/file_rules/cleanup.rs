//! Deletes old queue entries and tree snapshots.
//!
//! Open demands are kept, however old they are. Unreadable entries are deleted.

use std::fs;
use std::time::Duration;

use policy::{delete_old_files, delete_old_files_except, write_private_file};

use super::queue::{Queue, QueueStatus};
use crate::Environment;
use crate::project::Project;

/// There may be very many files, so this is not worth doing more often.
const CLEANUP_INTERVAL: Duration = Duration::from_hours(24);

/// Deletes old files, at most once a day. Returns notices for the person.
pub fn delete_old(project: &Project, environment: &Environment) -> Vec<String> {
    let demands = environment.project_state(&project.root).join("demands");
    let stamp = demands.join("last-forgotten");
    let last = stamp.metadata().and_then(|metadata| metadata.modified());
    if last.ok().and_then(|time| time.elapsed().ok()).is_some_and(|age| age < CLEANUP_INTERVAL) {
        return Vec::new();
    }
    // Without the time stamp, this would run at every stop.
    if write_private_file(&stamp, "").is_err() {
        return Vec::new();
    }
    let rules = project.tmp(environment).join("rules");
    let queue = rules.join("queue");
    let closed = [QueueStatus::Passed, QueueStatus::Failed, QueueStatus::Skipped].map(QueueStatus::ending);
    let open = QueueStatus::Queued.ending();
    delete_old_files(&rules.join("baselines"));
    // Files that Linchpin did not write are kept.
    let is_ours = |name: &str| name.starts_with(".tmp") || closed.iter().any(|end| name.ends_with(end));
    delete_old_files_except(&queue, |name| !is_ours(name));
    for own in fs::read_dir(demands).into_iter().flatten().flatten().map(|entry| entry.path()) {
        // An entry without its mark would count as not written by Linchpin.
        delete_old_files_except(&own, |hash| queue.join(format!("{hash}{open}")).exists());
        delete_old_files(&own.join("settled"));
        // `remove_dir` fails on directories that are not empty.
        let _ = fs::remove_dir(own.join("settled"));
        let _ = fs::remove_dir(own);
    }
    Queue::of(project, environment).remove_unreadable()
}
