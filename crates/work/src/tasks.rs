//! Adds, changes and finds the tasks of a project.

use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::task::{DEFAULT_PRIORITY, PRIORITIES};
use crate::task_graph::{blocker_cycle, parent_cycle};
use crate::text_checks::{MAX_KEY, MAX_TITLE, check_line, check_name, check_text};
use crate::{Blocker, Result, Task, TaskDraft, TaskError, TaskId, TaskState, WorkDatabase};

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

/// How error messages call the title of a task.
pub const TITLE_LABEL: &str = "the title";

/// The columns of a task. The last column has the task's blockers with their states, as JSON.
const COLUMNS: &str =
    "id, key, title, description, state, priority, parent, needs_review, started_by, created, changed,
    (SELECT json_group_array(json_array(link.blocker, blocker.state)) FROM task_blockers link
     LEFT JOIN tasks blocker ON blocker.id = link.blocker WHERE link.task = tasks.id)";

/// The SQL condition of a task that is open and has no unfinished blocker.
const IS_READY: &str = "tasks.state = 'open' AND NOT EXISTS (
    SELECT 1 FROM task_blockers link JOIN tasks blocker ON blocker.id = link.blocker
    WHERE link.task = tasks.id AND blocker.state IN ('open', 'in_progress'))";

/// The number of tasks in each state. `claimed` counts tasks in progress that one run has started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TaskCounts {
    pub open: u64,
    pub ready: u64,
    pub in_progress: u64,
    pub closed: u64,
    pub failed: u64,
    pub claimed: u64,
}

/// The result of [`Tasks::ensure`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnsuredTask {
    pub task: Task,
    pub is_new: bool,
    /// True if the task existed, and the call changed it.
    pub is_updated: bool,
}

#[derive(Clone, Copy)]
pub struct Tasks<'w> {
    pub(crate) work: &'w WorkDatabase,
}

impl WorkDatabase {
    pub fn tasks(&self) -> Tasks<'_> {
        Tasks { work: self }
    }
}

impl Tasks<'_> {
    pub fn add(self, key: Option<&str>, draft: &TaskDraft<'_>, now: i64) -> Result<Task, TaskError> {
        let transaction = self.work.write_transaction()?;
        let key = key.map(check_key).transpose()?;
        if let Some(key) = key
            && let Some(id) = id_by_key(&transaction, key)?
        {
            return Err(TaskError::DuplicateKey { key: key.to_owned(), id });
        }
        let id = insert(&transaction, key, draft, now)?;
        let task = read_task(&transaction, id)?;
        transaction.commit()?;
        Ok(task)
    }

    /// Adds a task with this key, or changes the one that has it: sets its title and the properties that the draft has,
    /// and adds the blockers, but leaves its state unchanged.
    pub fn ensure(self, key: &str, draft: &TaskDraft<'_>, now: i64) -> Result<EnsuredTask, TaskError> {
        let transaction = self.work.write_transaction()?;
        let key = check_key(key)?;
        let existing = id_by_key(&transaction, key)?.map(|id| read_task(&transaction, id)).transpose()?;
        let id = match &existing {
            Some(existing) => {
                update(&transaction, existing.id, draft, now)?;
                existing.id
            }
            None => insert(&transaction, Some(key), draft, now)?,
        };
        let task = read_task(&transaction, id)?;
        transaction.commit()?;
        let is_updated =
            existing.as_ref().is_some_and(|before| Task { changed: task.changed, ..before.clone() } != task);
        Ok(EnsuredTask { task, is_new: existing.is_none(), is_updated })
    }

    pub fn get(self, id: TaskId) -> Result<Task, TaskError> {
        read_task(&self.work.connection, id)
    }

    /// Returns the task with the id that a person typed.
    pub fn find(self, word: &str) -> Result<Task, TaskError> {
        match TaskId::parse(word) {
            Some(id) => self.get(id),
            None => Err(TaskError::NotFound(word.to_owned())),
        }
    }

    /// Returns all tasks, oldest first.
    pub fn all(self) -> Result<Vec<Task>> {
        self.select("TRUE ORDER BY id", [])
    }

    /// True if all of these tasks and their descendants are complete. A task without children is complete if it is
    /// closed, a parent if its children are complete. A task that does not exist is not complete. True if `ids` is
    /// empty.
    pub fn trees_are_complete(self, ids: &[TaskId]) -> Result<bool> {
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

    /// Returns up to `limit` tasks that can be started, most urgent first, and the number of all of them.
    pub fn ready(self, limit: usize) -> Result<(Vec<Task>, usize)> {
        // One transaction, so that both queries see the same state.
        let transaction = self.work.connection.unchecked_transaction()?;
        let count = format!("SELECT count(*) FROM tasks WHERE {IS_READY}");
        let total: i64 = transaction.query_row(&count, [], |row| row.get(0))?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let ready = self.select(&format!("{IS_READY} ORDER BY priority, id LIMIT ?1"), [limit])?;
        Ok((ready, usize::try_from(total).unwrap_or(usize::MAX)))
    }

    /// Returns the tasks in progress that were started by this [`starter_id`](crate::starter_id).
    pub fn started_by(self, started_by: &str) -> Result<Vec<Task>> {
        self.select("state = 'in_progress' AND started_by = ?1 ORDER BY id", [started_by])
    }

    /// Returns all counts, from one consistent state. `run`: the run whose tasks count as claimed.
    pub fn counts(self, run: Option<&str>) -> Result<TaskCounts> {
        let counts = format!(
            "SELECT count(*) FILTER (WHERE state = 'open'), count(*) FILTER (WHERE {IS_READY}),
                count(*) FILTER (WHERE state = 'in_progress'), count(*) FILTER (WHERE state = 'closed'),
                count(*) FILTER (WHERE state = 'failed'),
                count(*) FILTER (WHERE state = 'in_progress' AND
                    (started_by = ?1 OR substr(started_by, 1, length(?1) + 1) = ?1 || '/'))
             FROM tasks"
        );
        let count_at =
            |row: &Row<'_>, column: usize| row.get(column).map(|count: i64| u64::try_from(count).unwrap_or(0));
        Ok(self.work.connection.query_row(&counts, [run], |row| {
            Ok(TaskCounts {
                open: count_at(row, 0)?,
                ready: count_at(row, 1)?,
                in_progress: count_at(row, 2)?,
                closed: count_at(row, 3)?,
                failed: count_at(row, 4)?,
                claimed: count_at(row, 5)?,
            })
        })?)
    }

    /// Returns the number of tasks in progress that this run has started.
    pub fn count_claimed(self, run: &str) -> Result<u64> {
        Ok(self.counts(Some(run))?.claimed)
    }

    /// True if a person has to review the task; false if it does not exist.
    pub fn needs_review(self, id: TaskId) -> Result<bool> {
        let found =
            self.work.connection.query_row("SELECT needs_review FROM tasks WHERE id = ?1", [id], |row| row.get(0));
        Ok(found.optional()?.unwrap_or(false))
    }

    fn select(self, condition: &str, parameters: impl rusqlite::Params) -> Result<Vec<Task>> {
        let mut statement = self.work.connection.prepare(&format!("SELECT {COLUMNS} FROM tasks WHERE {condition}"))?;
        let tasks = statement.query_map(parameters, task_from_row)?;
        Ok(tasks.collect::<rusqlite::Result<_>>()?)
    }
}

pub(crate) fn read_task(connection: &Connection, id: TaskId) -> Result<Task, TaskError> {
    let found =
        connection.query_row(&format!("SELECT {COLUMNS} FROM tasks WHERE id = ?1"), [id], task_from_row).optional()?;
    found.ok_or_else(|| TaskError::NotFound(id.to_string()))
}

fn task_from_row(row: &Row<'_>) -> rusqlite::Result<Task> {
    let blockers: String = row.get(11)?;
    Ok(Task {
        id: row.get(0)?,
        key: row.get(1)?,
        title: row.get(2)?,
        description: row.get(3)?,
        state: row.get(4)?,
        priority: row.get(5)?,
        parent: row.get(6)?,
        blockers: parse_blockers(&blockers),
        needs_review: row.get(7)?,
        started_by: row.get(8)?,
        created: row.get(9)?,
        changed: row.get(10)?,
    })
}

/// Parses blockers from a JSON list of pairs: id and state.
fn parse_blockers(pairs: &str) -> Vec<Blocker> {
    let pairs: Vec<(i64, Option<String>)> = serde_json::from_str(pairs).unwrap_or_default();
    let state = |name: String| TaskState::ALL.into_iter().find(|state| state.name() == name);
    let blocker = |(number, name): (i64, Option<String>)| {
        Some(Blocker { id: TaskId::parse(&number.to_string())?, state: name.and_then(state) })
    };
    let mut blockers: Vec<Blocker> = pairs.into_iter().filter_map(blocker).collect();
    blockers.sort_by_key(|blocker| blocker.id);
    blockers
}

fn check_key(key: &str) -> Result<&str, TaskError> {
    Ok(check_name("the key", key, MAX_KEY)?)
}

fn id_by_key(connection: &Connection, key: &str) -> Result<Option<TaskId>, TaskError> {
    Ok(connection.query_row("SELECT id FROM tasks WHERE key = ?1", [key], |row| row.get(0)).optional()?)
}

fn insert(connection: &Connection, key: Option<&str>, draft: &TaskDraft<'_>, now: i64) -> Result<TaskId, TaskError> {
    let title = check_line(TITLE_LABEL, draft.title, MAX_TITLE)?;
    let description = check_text("the description", draft.description.unwrap_or_default())?;
    check_priority(draft.priority)?;
    for id in draft.blockers.iter().chain(&draft.parent) {
        read_task(connection, *id)?;
    }
    let id = connection.query_row(
        "INSERT INTO tasks (key, title, description, state, priority, parent, created, changed)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7) RETURNING id",
        params![
            key,
            title,
            description,
            TaskState::Open,
            draft.priority.unwrap_or(DEFAULT_PRIORITY),
            draft.parent,
            now
        ],
        |row| row.get(0),
    )?;
    add_blockers(connection, id, draft.blockers)?;
    Ok(id)
}

fn update(connection: &Connection, id: TaskId, draft: &TaskDraft<'_>, now: i64) -> Result<(), TaskError> {
    let title = check_line(TITLE_LABEL, draft.title, MAX_TITLE)?;
    let description = draft.description.map(|text| check_text("the description", text)).transpose()?;
    check_priority(draft.priority)?;
    if let Some(parent) = draft.parent {
        read_task(connection, parent)?;
        if let Some(cycle) = parent_cycle(connection, id, parent)? {
            return Err(TaskError::ParentCycle(cycle));
        }
    }
    for blocker in draft.blockers {
        read_task(connection, *blocker)?;
        if let Some(cycle) = blocker_cycle(connection, id, *blocker)? {
            return Err(TaskError::BlockerCycle(cycle));
        }
    }
    add_blockers(connection, id, draft.blockers)?;
    connection.execute(
        "UPDATE tasks SET title = ?2, description = coalesce(?3, description), priority = coalesce(?4, priority),
            parent = coalesce(?5, parent), changed = ?6
         WHERE id = ?1",
        params![id, title, description, draft.priority, draft.parent, now],
    )?;
    Ok(())
}

fn add_blockers(connection: &Connection, id: TaskId, blockers: &[TaskId]) -> Result<(), TaskError> {
    for blocker in blockers {
        connection.execute("INSERT OR IGNORE INTO task_blockers (task, blocker) VALUES (?1, ?2)", [id, *blocker])?;
    }
    Ok(())
}

fn check_priority(priority: Option<u8>) -> Result<(), TaskError> {
    match priority {
        Some(priority) if !PRIORITIES.contains(&priority) => Err(TaskError::InvalidPriority(priority)),
        _ => Ok(()),
    }
}
