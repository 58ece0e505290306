//! Parents and blockers of tasks: whether one would lead from a task back to itself.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension};

use crate::{Result, TaskId};

/// The way from a task back to itself, if this were its parent.
pub(crate) fn parent_cycle(connection: &Connection, id: TaskId, parent: TaskId) -> Result<Option<Vec<TaskId>>> {
    let mut above = connection.prepare("SELECT parent FROM tasks WHERE id = ?1")?;
    way_back(id, parent, |task| {
        Ok(above.query_row([task], |row| row.get(0)).optional()?.flatten().into_iter().collect())
    })
}

/// The way from a task back to itself, if it waited for this one.
pub(crate) fn blocker_cycle(connection: &Connection, id: TaskId, blocker: TaskId) -> Result<Option<Vec<TaskId>>> {
    let mut waited_for = connection.prepare("SELECT blocker FROM task_blockers WHERE task = ?1 ORDER BY blocker")?;
    way_back(id, blocker, |task| {
        Ok(waited_for.query_map([task], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?)
    })
}

/// From `id` by way of `first` to `id`.
fn way_back(
    id: TaskId,
    first: TaskId,
    mut next: impl FnMut(TaskId) -> Result<Vec<TaskId>>,
) -> Result<Option<Vec<TaskId>>> {
    // Each with the one that led to it.
    let mut reached = BTreeMap::from([(first, id)]);
    let mut waiting = vec![first];
    while let Some(task) = waiting.pop() {
        if task == id {
            return Ok(Some(way_to(id, &reached)));
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

fn way_to(id: TaskId, reached: &BTreeMap<TaskId, TaskId>) -> Vec<TaskId> {
    let mut way = vec![id];
    let mut last = id;
    while let Some(before) = reached.get(&last) {
        way.push(*before);
        last = *before;
        if last == id {
            break;
        }
    }
    way.reverse();
    way
}
