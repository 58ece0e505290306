//! Deletes old tree snapshots, old queue entries, and old marks of the queue.
//!
//! Queued demands are kept, no matter how old they are. Entries that cannot be read are deleted.

use std::fs;

use policy::{delete_old_files, delete_old_files_except, start_daily_cleanup};

use super::queue::{ANSWERS_FOLDER, Queue, QueueStatus, marks_directory};
use crate::Environment;
use crate::project::{Project, TmpLayout};

/// Deletes old files, at most once a day. Returns notices for the person.
pub fn clean_up_daily(project: &Project, environment: &Environment) -> Vec<String> {
    let marks = marks_directory(&environment.project_state(&project.root));
    if !start_daily_cleanup(&marks.join("last-forgotten")) {
        return Vec::new();
    }
    let layout = TmpLayout::of(project.tmp(environment));
    let queue = layout.queue();
    let deletable = QueueStatus::ALL.into_iter().filter(|status| status.may_be_deleted());
    let deletable: Vec<String> = deletable.map(QueueStatus::ending).collect();
    let queued = QueueStatus::Queued.ending();
    delete_old_files(&layout.baselines());
    // Files with other names are kept, because Linchpin did not write them.
    let is_deletable = |name: &str| name.starts_with(".tmp") || deletable.iter().any(|end| name.ends_with(end));
    delete_old_files_except(&queue, |name| !is_deletable(name));
    for project_marks in fs::read_dir(marks).into_iter().flatten().flatten().map(|entry| entry.path()) {
        // The mark of a queued demand is kept: without the mark, the entry would count as not written by Linchpin.
        delete_old_files_except(&project_marks, |hash| queue.join(format!("{hash}{queued}")).exists());
        delete_old_files(&project_marks.join(ANSWERS_FOLDER));
        // `remove_dir` fails on directories that are not empty.
        let _ = fs::remove_dir(project_marks.join(ANSWERS_FOLDER));
        let _ = fs::remove_dir(project_marks);
    }
    Queue::of(project, environment).remove_unreadable()
}
