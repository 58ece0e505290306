//! The tasks of a project: writing them down, and finding them.

use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::task::{PRIORITIES, USUAL_PRIORITY};
use crate::task_graph::{blocker_cycle, parent_cycle};
use crate::text::{self, LONGEST_KEY, LONGEST_TITLE};
use crate::{Blocker, Result, Task, TaskError, TaskId, TaskState, TaskText, Work};

pub(crate) const TABLES: &str = "
    CREATE TABLE tasks (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        key TEXT UNIQUE,
        title TEXT NOT NULL,
        description TEXT NOT NULL,
        state TEXT NOT NULL,
        priority INTEGER NOT NULL,
        parent INTEGER,
        needs_review INTEGER NOT NULL DEFAULT 0,
        started_by TEXT,
        created INTEGER NOT NULL,
        changed INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX tasks_by_state ON tasks (state, priority, id);
    CREATE INDEX tasks_by_parent ON tasks (parent);
    CREATE TABLE task_blockers (
        task INTEGER NOT NULL,
        blocker INTEGER NOT NULL,
        PRIMARY KEY (task, blocker)
    ) STRICT, WITHOUT ROWID;
";

/// What a title is called in an error.
pub const TITLE: &str = "the title";

/// The columns of a task, its blockers last, each with its state.
const COLUMNS: &str =
    "id, key, title, description, state, priority, parent, needs_review, started_by, created, changed,
    (SELECT json_group_array(json_array(waited.blocker, other.state)) FROM task_blockers waited
     LEFT JOIN tasks other ON other.id = waited.blocker WHERE waited.task = tasks.id)";

/// An open task that no unfinished one stands before.
const IS_READY: &str = "tasks.state = 'open' AND NOT EXISTS (
    SELECT 1 FROM task_blockers waited JOIN tasks other ON other.id = waited.blocker
    WHERE waited.task = tasks.id AND other.state IN ('open', 'in_progress'))";

/// How many there are; `claimed` are those in progress that a run has started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TaskCounts {
    pub open: u64,
    pub ready: u64,
    pub in_progress: u64,
    pub closed: u64,
    pub failed: u64,
    pub claimed: u64,
}

/// What became of a task that had to be there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ensured {
    pub task: Task,
    pub is_new: bool,
}

/// The tasks of an open database.
#[derive(Clone, Copy)]
pub struct Tasks<'w> {
    pub(crate) work: &'w Work,
}

impl Work {
    pub fn tasks(&self) -> Tasks<'_> {
        Tasks { work: self }
    }
}

impl Tasks<'_> {
    /// A new task.
    pub fn add(self, key: Option<&str>, said: &TaskText<'_>, now: i64) -> Result<Task, TaskError> {
        let step = self.work.step()?;
        let key = key.map(read_key).transpose()?;
        if let Some(key) = key
            && let Some(id) = with_key(&step, key)?
        {
            return Err(TaskError::KeyTaken { key: key.to_owned(), id });
        }
        let id = insert(&step, key, said, now)?;
        let task = read(&step, id)?;
        step.commit()?;
        Ok(task)
    }

    /// The task with this key. If there is one already, what is said of it now is so: its title, and of the rest what is
    /// said at all; blockers are added to those that it has. How far it is stays as it was.
    pub fn ensure(self, key: &str, said: &TaskText<'_>, now: i64) -> Result<Ensured, TaskError> {
        let step = self.work.step()?;
        let key = read_key(key)?;
        let known = with_key(&step, key)?;
        let id = match known {
            Some(id) => {
                amend(&step, id, said, now)?;
                id
            }
            None => insert(&step, Some(key), said, now)?,
        };
        let task = read(&step, id)?;
        step.commit()?;
        Ok(Ensured { task, is_new: known.is_none() })
    }

    pub fn get(self, id: TaskId) -> Result<Task, TaskError> {
        read(&self.work.connection, id)
    }

    /// The task that a person means by a word.
    pub fn find(self, word: &str) -> Result<Task, TaskError> {
        match TaskId::parse(word) {
            Some(id) => self.get(id),
            None => Err(TaskError::NotFound(word.to_owned())),
        }
    }

    /// All of them, oldest first.
    pub fn all(self) -> Result<Vec<Task>> {
        self.select("TRUE ORDER BY id", [])
    }

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

    pub fn children(self, id: TaskId) -> Result<Vec<Task>> {
        self.select("parent = ?1 ORDER BY id", [id])
    }

    /// So many of those that somebody may start, the most urgent first, and how many there are.
    pub fn ready(self, limit: usize) -> Result<(Vec<Task>, usize)> {
        // One moment for both.
        let step = self.work.connection.unchecked_transaction()?;
        let count = format!("SELECT count(*) FROM tasks WHERE {IS_READY}");
        let total: i64 = step.query_row(&count, [], |row| row.get(0))?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let ready = self.select(&format!("{IS_READY} ORDER BY priority, id LIMIT ?1"), [limit])?;
        Ok((ready, usize::try_from(total).unwrap_or(usize::MAX)))
    }

    /// What somebody has started, as [`starter`](crate::starter) names them, and not ended.
    pub fn started_in(self, started_by: &str) -> Result<Vec<Task>> {
        self.select("state = 'in_progress' AND started_by = ?1 ORDER BY id", [started_by])
    }

    /// All counts at one moment.
    pub fn counts(self, run: Option<&str>) -> Result<TaskCounts> {
        let counts = format!(
            "SELECT count(*) FILTER (WHERE state = 'open'), count(*) FILTER (WHERE {IS_READY}),
                count(*) FILTER (WHERE state = 'in_progress'), count(*) FILTER (WHERE state = 'closed'),
                count(*) FILTER (WHERE state = 'failed'),
                count(*) FILTER (WHERE state = 'in_progress' AND
                    (started_by = ?1 OR substr(started_by, 1, length(?1) + 1) = ?1 || '/'))
             FROM tasks"
        );
        let number = |row: &Row<'_>, at: usize| row.get(at).map(|count: i64| u64::try_from(count).unwrap_or(0));
        Ok(self.work.connection.query_row(&counts, [run], |row| {
            Ok(TaskCounts {
                open: number(row, 0)?,
                ready: number(row, 1)?,
                in_progress: number(row, 2)?,
                closed: number(row, 3)?,
                failed: number(row, 4)?,
                claimed: number(row, 5)?,
            })
        })?)
    }

    /// How many tasks in progress this run holds.
    pub fn claimed(self, run: &str) -> Result<u64> {
        Ok(self.counts(Some(run))?.claimed)
    }

    /// Whether a person has to look at it; not where there is no such task.
    pub fn needs_review(self, id: TaskId) -> Result<bool> {
        let found =
            self.work.connection.query_row("SELECT needs_review FROM tasks WHERE id = ?1", [id], |row| row.get(0));
        Ok(found.optional()?.unwrap_or(false))
    }

    fn select(self, which: &str, parameters: impl rusqlite::Params) -> Result<Vec<Task>> {
        let mut statement = self.work.connection.prepare(&format!("SELECT {COLUMNS} FROM tasks WHERE {which}"))?;
        let tasks = statement.query_map(parameters, task)?;
        Ok(tasks.collect::<rusqlite::Result<_>>()?)
    }
}

pub(crate) fn read(connection: &Connection, id: TaskId) -> Result<Task, TaskError> {
    let found = connection.query_row(&format!("SELECT {COLUMNS} FROM tasks WHERE id = ?1"), [id], task).optional()?;
    found.ok_or_else(|| TaskError::NotFound(id.to_string()))
}

fn task(row: &Row<'_>) -> rusqlite::Result<Task> {
    let blockers: String = row.get(11)?;
    Ok(Task {
        id: row.get(0)?,
        key: row.get(1)?,
        title: row.get(2)?,
        description: row.get(3)?,
        state: row.get(4)?,
        priority: row.get(5)?,
        parent: row.get(6)?,
        blockers: read_blockers(&blockers),
        needs_review: row.get(7)?,
        started_by: row.get(8)?,
        created: row.get(9)?,
        changed: row.get(10)?,
    })
}

/// Pairs of a number and a state, as JSON.
fn read_blockers(pairs: &str) -> Vec<Blocker> {
    let pairs: Vec<(i64, Option<String>)> = serde_json::from_str(pairs).unwrap_or_default();
    let state = |name: String| TaskState::ALL.into_iter().find(|state| state.name() == name);
    let blocker = |(number, name): (i64, Option<String>)| {
        Some(Blocker { id: TaskId::parse(&number.to_string())?, state: name.and_then(state) })
    };
    let mut blockers: Vec<Blocker> = pairs.into_iter().filter_map(blocker).collect();
    blockers.sort_by_key(|blocker| blocker.id);
    blockers
}

fn read_key(key: &str) -> Result<&str, TaskError> {
    Ok(text::name("the key", key, LONGEST_KEY)?)
}

fn with_key(connection: &Connection, key: &str) -> Result<Option<TaskId>, TaskError> {
    Ok(connection.query_row("SELECT id FROM tasks WHERE key = ?1", [key], |row| row.get(0)).optional()?)
}

fn insert(connection: &Connection, key: Option<&str>, said: &TaskText<'_>, now: i64) -> Result<TaskId, TaskError> {
    let title = text::line(TITLE, said.title, LONGEST_TITLE)?;
    let description = text::text("the description", said.description.unwrap_or_default())?;
    check_priority(said.priority)?;
    for other in said.blockers.iter().chain(&said.parent) {
        read(connection, *other)?;
    }
    let id = connection.query_row(
        "INSERT INTO tasks (key, title, description, state, priority, parent, created, changed)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7) RETURNING id",
        params![key, title, description, TaskState::Open, said.priority.unwrap_or(USUAL_PRIORITY), said.parent, now],
        |row| row.get(0),
    )?;
    block(connection, id, said.blockers)?;
    Ok(id)
}

fn amend(connection: &Connection, id: TaskId, said: &TaskText<'_>, now: i64) -> Result<(), TaskError> {
    let title = text::line(TITLE, said.title, LONGEST_TITLE)?;
    let description = said.description.map(|said| text::text("the description", said)).transpose()?;
    check_priority(said.priority)?;
    if let Some(parent) = said.parent {
        read(connection, parent)?;
        if let Some(cycle) = parent_cycle(connection, id, parent)? {
            return Err(TaskError::ParentCycle(cycle));
        }
    }
    for blocker in said.blockers {
        read(connection, *blocker)?;
        if let Some(cycle) = blocker_cycle(connection, id, *blocker)? {
            return Err(TaskError::BlockerCycle(cycle));
        }
    }
    block(connection, id, said.blockers)?;
    connection.execute(
        "UPDATE tasks SET title = ?2, description = coalesce(?3, description), priority = coalesce(?4, priority),
            parent = coalesce(?5, parent), changed = ?6
         WHERE id = ?1",
        params![id, title, description, said.priority, said.parent, now],
    )?;
    Ok(())
}

fn block(connection: &Connection, id: TaskId, blockers: &[TaskId]) -> Result<(), TaskError> {
    for blocker in blockers {
        connection.execute("INSERT OR IGNORE INTO task_blockers (task, blocker) VALUES (?1, ?2)", [id, *blocker])?;
    }
    Ok(())
}

fn check_priority(priority: Option<u8>) -> Result<(), TaskError> {
    match priority {
        Some(priority) if !PRIORITIES.contains(&priority) => Err(TaskError::Priority(priority)),
        _ => Ok(()),
    }
}
