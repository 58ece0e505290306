//! What is left of demands and of prompts that nobody will ask for any more.
//!
//! What is open stays, however old it is. What cannot be read goes.

use std::fs;
use std::time::Duration;

use policy::{forget_old_files, forget_old_files_but, write_private_file};

use super::queue::{Queue, QueueStatus};
use crate::Environment;
use crate::project::Project;

/// There may be very many files, and none of them is old an hour later.
const SELDOM: Duration = Duration::from_hours(24);

/// Deletes it, once a day. Returns what the person is to know.
pub fn forget_old(project: &Project, environment: &Environment) -> Vec<String> {
    let demands = environment.project_state(&project.root).join("demands");
    let stamp = demands.join("last-forgotten");
    let last = stamp.metadata().and_then(|metadata| metadata.modified());
    if last.ok().and_then(|time| time.elapsed().ok()).is_some_and(|age| age < SELDOM) {
        return Vec::new();
    }
    // Where it cannot be remembered, it would be done at every stop.
    if write_private_file(&stamp, "").is_err() {
        return Vec::new();
    }
    let rules = project.tmp(environment).join("rules");
    let queue = rules.join("queue");
    let closed = [QueueStatus::Passed, QueueStatus::Failed, QueueStatus::Skipped].map(QueueStatus::ending);
    let open = QueueStatus::Queued.ending();
    forget_old_files(&rules.join("baselines"));
    // Nothing is deleted that is none of ours.
    let is_ours = |name: &str| name.starts_with(".tmp") || closed.iter().any(|end| name.ends_with(end));
    forget_old_files_but(&queue, |name| !is_ours(name));
    for own in fs::read_dir(demands).into_iter().flatten().flatten().map(|entry| entry.path()) {
        // An entry without its mark would be taken for somebody else's.
        forget_old_files_but(&own, |hash| queue.join(format!("{hash}{open}")).exists());
        forget_old_files(&own.join("settled"));
        // Those that are not empty stay.
        let _ = fs::remove_dir(own.join("settled"));
        let _ = fs::remove_dir(own);
    }
    Queue::of(project, environment).remove_unreadable()
}
