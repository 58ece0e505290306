//! Detects cycles of parents and of blockers.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension};

use crate::{Result, TaskId};

/// Returns the cycle that making `parent` the parent of `id` would close.
pub(crate) fn parent_cycle(connection: &Connection, id: TaskId, parent: TaskId) -> Result<Option<Vec<TaskId>>> {
    let mut above = connection.prepare("SELECT parent FROM tasks WHERE id = ?1")?;
    find_cycle(id, parent, |task| {
        Ok(above.query_row([task], |row| row.get(0)).optional()?.flatten().into_iter().collect())
    })
}

/// Returns the cycle that making `blocker` a blocker of `id` would close.
pub(crate) fn blocker_cycle(connection: &Connection, id: TaskId, blocker: TaskId) -> Result<Option<Vec<TaskId>>> {
    let mut waited_for = connection.prepare("SELECT blocker FROM task_blockers WHERE task = ?1 ORDER BY blocker")?;
    find_cycle(id, blocker, |task| {
        Ok(waited_for.query_map([task], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?)
    })
}

/// Searches a path from `id` through `first` back to `id`.
fn find_cycle(
    id: TaskId,
    first: TaskId,
    mut next: impl FnMut(TaskId) -> Result<Vec<TaskId>>,
) -> Result<Option<Vec<TaskId>>> {
    // Each reached task with its predecessor.
    let mut reached = BTreeMap::from([(first, id)]);
    let mut waiting = vec![first];
    while let Some(task) = waiting.pop() {
        if task == id {
            return Ok(Some(path_to(id, &reached)));
        }
        for other in next(task)? {
            reached.entry(other).or_insert_with(|| {
                waiting.push(other);
                task
            });
        }
    }
    Ok(None)
}

fn path_to(id: TaskId, reached: &BTreeMap<TaskId, TaskId>) -> Vec<TaskId> {
    let mut path = vec![id];
    let mut last = id;
    while let Some(before) = reached.get(&last) {
        path.push(*before);
        last = *before;
        if last == id {
            break;
        }
    }
    path.reverse();
    path
}
