//! How tasks hang together: what is below a task, and what would lead back to itself.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension};

use crate::{Result, TaskId, Tasks};

impl Tasks<'_> {
    /// Whether nothing is left to do of any of these and of all that is below them: a task without children is complete when
    /// it is closed, another when its children are. One that is not there is not complete; none at all are.
    pub fn tree_is_complete(self, ids: &[TaskId]) -> Result<bool> {
        let mut statement = self.work.connection.prepare(
            "WITH RECURSIVE tree (id) AS (
                SELECT id FROM tasks WHERE id = ?1 UNION SELECT tasks.id FROM tasks JOIN tree ON tasks.parent = tree.id)
             SELECT EXISTS (SELECT 1 FROM tree) AND NOT EXISTS (
                SELECT 1 FROM tree JOIN tasks USING (id) WHERE tasks.state <> 'closed'
                AND NOT EXISTS (SELECT 1 FROM tasks below WHERE below.parent = tasks.id))",
        )?;
        for id in ids {
            if !statement.query_row([id], |row| row.get(0))? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

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
