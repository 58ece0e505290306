//! `task`: the tasks of a project, for people and agents.

use std::time::Duration;

use guard::Project;
use guard::loops::ClosingRefused;
use guard::session::{CommandRun, HatPhase, TaskEvent, project_of_command};
use serde_json::{Value, json};
use store::Store;
use work::{
    Blocker, TITLE_LABEL, Task, TaskChange, TaskDraft, TaskError, TaskId, TaskState, Tasks, TextError, WorkDatabase,
};

use super::caller::{Caller, Verb};
use super::moves::refused;
use super::{Context, loops, validate};
use crate::arguments::{NamedTaskArguments, TaskAction, TaskArguments, TaskTextArguments};
use crate::exit_code::ExitCode;
use crate::problem::{CommandOutcome, Problem};

/// How long to wait for the journal's lock.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

pub fn run(arguments: &TaskArguments, context: &Context) -> CommandOutcome {
    let project = project_of_command(&context.environment);
    validate::require_policy(&project)?;
    let work = WorkDatabase::open(&project.work_database_path(&context.environment))?;
    let tasks = work.tasks();
    let now = super::now();
    match &arguments.action {
        TaskAction::Add { key, text } => add(key.as_deref(), text, tasks, context)?,
        TaskAction::Ensure { key, text } => ensure(key, text, tasks, context)?,
        TaskAction::Start(NamedTaskArguments { task }) => {
            let run = HatPhase::of_process(&project, &context.environment).map(|hat_phase| hat_phase.starter());
            let moved = tasks.start(tasks.find(task)?.id, run.as_deref(), now)?;
            note_claim(&moved.task, "start", &project, context);
            print_change(&moved, "Started", "is already in progress", context);
        }
        TaskAction::Close(NamedTaskArguments { task }) => return close(&tasks.find(task)?, tasks, &project, context),
        TaskAction::Reopen(NamedTaskArguments { task }) => {
            let moved = tasks.reopen(tasks.find(task)?.id, now)?;
            note_claim(&moved.task, "reopen", &project, context);
            print_change(&moved, "Reopened", "is already open", context);
        }
        TaskAction::Fail(NamedTaskArguments { task }) => {
            let moved = tasks.fail(tasks.find(task)?.id, now)?;
            note_claim(&moved.task, "fail", &project, context);
            print_change(&moved, "Marked as failed", "is already marked as failed", context);
        }
        TaskAction::Review(NamedTaskArguments { task }) => {
            let moved = tasks.set_needs_review(tasks.find(task)?.id, true, now)?;
            print_change(&moved, "Marked for review", "is already marked for review", context);
        }
        TaskAction::List { all } => list(*all, tasks, context)?,
        TaskAction::Ready => ready(tasks, context)?,
        TaskAction::Show(NamedTaskArguments { task }) => show(&tasks.find(task)?, tasks, context)?,
    }
    Ok(ExitCode::Done)
}

fn add(key: Option<&str>, arguments: &TaskTextArguments, tasks: Tasks<'_>, context: &Context) -> Result<(), Problem> {
    let related = RelatedTasks::of(arguments, tasks)?;
    let task = tasks.add(key, &related.draft(arguments), super::now())?;
    context.output.line_or(format!("Added {}: {}", task.id, task.title), &json!({ "task": task, "added": true }));
    Ok(())
}

fn ensure(key: &str, arguments: &TaskTextArguments, tasks: Tasks<'_>, context: &Context) -> Result<(), Problem> {
    let related = RelatedTasks::of(arguments, tasks)?;
    let ensured = tasks.ensure(key, &related.draft(arguments), super::now())?;
    let task = &ensured.task;
    let text = if ensured.is_new {
        format!("Added {}: {}", task.id, task.title)
    } else if ensured.is_updated {
        format!("Updated {} ({}): {}", task.id, state_text(task.state), task.title)
    } else {
        format!("{} already exists ({}): {}", task.id, state_text(task.state), task.title)
    };
    context.output.line_or(text, &json!({ "task": task, "added": ensured.is_new }));
    Ok(())
}

/// Records in the journal that the session claimed or released a task, for rules that depend on the session's tasks. If
/// that fails, a warning is printed, and the change of the task remains.
fn note_claim(task: &Task, verb: &str, project: &Project, context: &Context) {
    let environment = &context.environment;
    if !project.journal_path(environment).exists() {
        return;
    }
    let command = CommandRun { words: &["task", verb], session: None, environment, now: super::now() };
    let options = store::StoreOptions {
        busy_timeout: BUSY_TIMEOUT,
        now: command.now,
        run: HatPhase::of_process(project, environment).map(|hat_phase| hat_phase.run),
    };
    let config = project.compiled_policy_read_only(environment).config;
    let (id, root) = (task.id.to_string(), project.root.to_string_lossy());
    let task_event = if verb == "start" { TaskEvent::Started } else { TaskEvent::Ended };
    let noted = Store::open(&project.journal_path(environment), options)
        .and_then(|mut store| guard::session::record_task_event(&id, task_event, &command, &config, &root, &mut store));
    if let Err(error) = noted {
        context.output.aside(format!("warning: rules cannot see this change: {error}"));
    }
}

fn close(task: &Task, tasks: Tasks<'_>, project: &Project, context: &Context) -> CommandOutcome {
    if let Some(caller) =
        Caller::of(Verb::Task, context).in_enclosing_run(context).filter(|_| task.state != TaskState::Closed)
    {
        match caller.workflow_commands(context).check_closing_gates() {
            Ok(()) => {}
            Err(ClosingRefused::GatesFailed(failed_gates)) => {
                loops::print_failed_gates(
                    &format!("{} was not closed: the gates in `tasks.close_requires` are not met.", task.id),
                    &failed_gates,
                    context,
                );
                if !context.output.json {
                    context.output.blank();
                    context.output.line(format!("Once they are met, run `linchpin task close {}` again.", task.id));
                }
                return Ok(ExitCode::No);
            }
            Err(ClosingRefused::WorkflowError(refusal)) => return Err(refused::problem(refusal)),
        }
    }
    let moved = tasks.close(task.id, super::now())?;
    note_claim(&moved.task, "close", project, context);
    print_change(&moved, "Closed", "is already closed", context);
    Ok(ExitCode::Done)
}

/// The parent and the blockers from the arguments of a task.
struct RelatedTasks {
    parent: Option<TaskId>,
    blockers: Vec<TaskId>,
}

impl RelatedTasks {
    fn of(arguments: &TaskTextArguments, tasks: Tasks<'_>) -> Result<Self, TaskError> {
        let id = |word: &String| tasks.find(word).map(|task| task.id);
        Ok(Self {
            parent: arguments.parent.as_ref().map(id).transpose()?,
            blockers: arguments.blocked_by.iter().map(id).collect::<Result<_, _>>()?,
        })
    }

    fn draft<'a>(&'a self, arguments: &'a TaskTextArguments) -> TaskDraft<'a> {
        TaskDraft {
            title: &arguments.title,
            description: arguments.description.as_deref(),
            parent: self.parent,
            blockers: &self.blockers,
            priority: arguments.priority,
        }
    }
}

/// Prints a change of a task: `changed` if there was one, or else `already`, which is not an error.
fn print_change(change: &TaskChange, changed: &str, already: &str, context: &Context) {
    let TaskChange { task, is_unchanged } = change;
    let text = if *is_unchanged {
        format!("{} {already}.", task.id)
    } else {
        format!("{changed}: {} {}", task.id, task.title)
    };
    context.output.line_or(text, &json!({ "task": task, "changed": !is_unchanged }));
}

fn list(all: bool, tasks: Tasks<'_>, context: &Context) -> Result<(), Problem> {
    let (shown, rest): (Vec<Task>, Vec<Task>) =
        tasks.all()?.into_iter().partition(|task| all || task.state.is_unfinished());
    if context.output.json {
        context.output.value(&json!({ "tasks": shown }));
        return Ok(());
    }
    lines(&shown, context);
    match (shown.len(), rest.len()) {
        (0, 0) => context.output.line("There are no tasks yet. `linchpin task add TITLE` adds one."),
        (_, 0) => {}
        (0, ended) => {
            context.output.line(format!("No task is open; {ended} ended: `linchpin task list --all` shows them."));
        }
        (_, ended) => context.output.line(format!("{ended} more ended: `linchpin task list --all` shows them.")),
    }
    Ok(())
}

fn ready(tasks: Tasks<'_>, context: &Context) -> Result<(), Problem> {
    let (ready, _) = tasks.ready(usize::MAX)?;
    if context.output.json {
        context.output.value(&json!({ "tasks": ready }));
        return Ok(());
    }
    lines(&ready, context);
    if ready.is_empty() {
        let counts = tasks.counts(None)?;
        context.output.line(match counts.open {
            0 => "No task is ready, because none is open.".to_owned(),
            1 => "No task is ready: the open task is blocked by others. See `linchpin task list`.".to_owned(),
            open => format!("No task is ready: all {open} open tasks are blocked by others. See `linchpin task list`."),
        });
    }
    Ok(())
}

fn lines(tasks: &[Task], context: &Context) {
    let width = tasks.iter().map(|task| task.id.to_string().len()).max().unwrap_or(0);
    let state_width = tasks.iter().map(|task| state_text(task.state).len()).max().unwrap_or(0);
    for task in tasks {
        let remarks = remarks(task);
        let remarks = if remarks.is_empty() { remarks } else { format!("  ({remarks})") };
        let (id, state) = (task.id.to_string(), state_text(task.state));
        context.output.line(format!("{id:<width$}  {state:<state_width$}  {}  {}{remarks}", task.priority, task.title));
    }
}

/// Returns remarks about the task's blockers and its review, for people.
fn remarks(task: &Task) -> String {
    let mut remarks = Vec::new();
    if task.state.is_unfinished() {
        let waited: Vec<String> = task.unfinished_blockers().iter().map(ToString::to_string).collect();
        if !waited.is_empty() {
            remarks.push(format!("waits for {}", waited.join(", ")));
        }
        remarks.extend(task.failed_or_missing_blockers().map(|Blocker { id, state }| match state {
            None => format!("its blocker {id} is missing"),
            Some(_) => format!("its blocker {id} failed"),
        }));
    }
    if task.needs_review {
        remarks.push("needs a person's review".to_owned());
    }
    remarks.join("; ")
}

fn show(task: &Task, tasks: Tasks<'_>, context: &Context) -> Result<(), Problem> {
    let children = tasks.children(task.id)?;
    if context.output.json {
        let children: Vec<Value> =
            children.iter().map(|child| json!({ "id": child.id, "state": child.state })).collect();
        let is_complete = tasks.trees_are_complete(&[task.id])?;
        context.output.value(&json!({ "task": task, "children": children, "tree_complete": is_complete }));
        return Ok(());
    }
    let output = &context.output;
    output.line(output.bold(&format!("{} {}", task.id, task.title)));
    let part = |name: &str, text: String| {
        if !text.is_empty() {
            output.line(format!("  {name:<9} {text}"));
        }
    };
    part("state", state_text(task.state).to_owned());
    part("priority", task.priority.to_string());
    part("key", task.key.clone().unwrap_or_default());
    part("parent", task.parent.map(|parent| parent.to_string()).unwrap_or_default());
    let with_state = |id: TaskId, state: Option<TaskState>| format!("{id} ({})", state.map_or("missing", state_text));
    part(
        "children",
        children.iter().map(|child| with_state(child.id, Some(child.state))).collect::<Vec<_>>().join(", "),
    );
    part(
        "blockers",
        task.blockers.iter().map(|other| with_state(other.id, other.state)).collect::<Vec<_>>().join(", "),
    );
    part("started", task.started_by.as_deref().map(work::starter_text).unwrap_or_default());
    part("review", if task.needs_review { "needs a person's review".to_owned() } else { String::new() });
    if !task.description.is_empty() {
        output.blank();
        output.line(&task.description);
    }
    Ok(())
}

fn state_text(state: TaskState) -> &'static str {
    match state {
        TaskState::InProgress => "in progress",
        other => other.name(),
    }
}

impl From<TaskError> for Problem {
    fn from(error: TaskError) -> Self {
        let message = error.to_string();
        let refused = |help: String| {
            let mut problem = Self::new("TaskState", message.clone()).help(help);
            problem.code = ExitCode::No;
            problem
        };
        match error {
            TaskError::Work(error) => error.into(),
            TaskError::Text(
                TextError::LineTooLong { what: TITLE_LABEL, .. } | TextError::NotOneLine { what: TITLE_LABEL },
            ) => Self::new("InvalidValue", message).help("put the rest into `--description`"),
            TaskError::Text(_) | TaskError::InvalidPriority(_) => Self::new("InvalidValue", message),
            TaskError::NotFound(_) => Self::new("NotFound", message).help("`linchpin task list --all` lists the tasks"),
            TaskError::DuplicateKey { .. } => {
                Self::new("Exists", message).help("`linchpin task ensure` uses the existing task")
            }
            TaskError::ParentCycle(_) | TaskError::BlockerCycle(_) => {
                Self::new("TaskCycle", message).help("nothing was changed")
            }
            TaskError::Blocked { .. } => {
                refused("`linchpin task ready` lists the tasks that can be started".to_owned())
            }
            TaskError::InProgress { id, .. } => {
                refused(format!("if nobody is working on it any more, run `linchpin task reopen {id}`"))
            }
            TaskError::InvalidTransition { id, .. } => refused(format!("run `linchpin task reopen {id}` first")),
        }
    }
}
