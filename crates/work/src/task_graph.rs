//! Detects cycles of parents and of blockers.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension};

use crate::{Result, TaskId};

/// Returns the cycle that would arise if `parent` became the parent of `id`.
pub(crate) fn parent_cycle(connection: &Connection, id: TaskId, parent: TaskId) -> Result<Option<Vec<TaskId>>> {
    let mut parent_query = connection.prepare("SELECT parent FROM tasks WHERE id = ?1")?;
    find_cycle(id, parent, |task| {
        Ok(parent_query.query_row([task], |row| row.get(0)).optional()?.flatten().into_iter().collect())
    })
}

/// Returns the cycle that would arise if `blocker` became a blocker of `id`.
pub(crate) fn blocker_cycle(connection: &Connection, id: TaskId, blocker: TaskId) -> Result<Option<Vec<TaskId>>> {
    let mut blockers_query =
        connection.prepare("SELECT blocker FROM task_blockers WHERE task = ?1 ORDER BY blocker")?;
    find_cycle(id, blocker, |task| {
        Ok(blockers_query.query_map([task], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?)
    })
}

/// Searches for a path from `id` through `first` back to `id`. `next` returns the tasks one step from a task.
fn find_cycle(
    id: TaskId,
    first: TaskId,
    mut next: impl FnMut(TaskId) -> Result<Vec<TaskId>>,
) -> Result<Option<Vec<TaskId>>> {
    // For each task that the search has reached, the task from which it was reached.
    let mut predecessors = BTreeMap::from([(first, id)]);
    let mut stack = vec![first];
    while let Some(task) = stack.pop() {
        if task == id {
            return Ok(Some(cycle_of(id, &predecessors)));
        }
        for other in next(task)? {
            predecessors.entry(other).or_insert_with(|| {
                stack.push(other);
                task
            });
        }
    }
    Ok(None)
}

/// Returns the cycle from `id` back to `id`.
fn cycle_of(id: TaskId, predecessors: &BTreeMap<TaskId, TaskId>) -> Vec<TaskId> {
    let mut path = vec![id];
    let mut last = id;
    while let Some(before) = predecessors.get(&last) {
        path.push(*before);
        last = *before;
        if last == id {
            break;
        }
    }
    path.reverse();
    path
}
