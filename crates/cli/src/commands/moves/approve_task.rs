//! `approve TASK`: a person has reviewed a task.

use guard::Project;
use serde_json::json;
use work::{Task, TaskId, WorkDatabase};

use crate::arguments::ApproveArguments;
use crate::commands::Context;
use crate::exit_code::ExitCode;
use crate::person::Confirmation;
use crate::problem::{CommandOutcome, Problem};

/// Returns the task with this id; `None` if the name is not a task id, or if there is no task database.
pub fn find(name: &str, project: &Project, context: &Context) -> Result<Option<(WorkDatabase, Task)>, Problem> {
    // A bare number is not accepted, because it probably means something else.
    let Some(id) = TaskId::parse(name).filter(|_| name.starts_with(['t', 'T'])) else { return Ok(None) };
    let Some(work) = WorkDatabase::open_existing(&project.work_database_path(&context.environment))? else {
        return Ok(None);
    };
    let task = work.tasks().get(id)?;
    Ok(Some((work, task)))
}

pub fn run(work: &WorkDatabase, task: &Task, arguments: &ApproveArguments, context: &Context) -> CommandOutcome {
    let output = &context.output;
    if !task.needs_review {
        let text = format!("{} is not marked for review.", task.id);
        output.line_or(text, &json!({ "task": task, "changed": false }));
        return Ok(ExitCode::Done);
    }
    if !output.json {
        output.line(output.bold(&format!("Task {} {}", task.id, task.title)));
        for line in task.description.lines() {
            output.line(format!("    {line}"));
        }
        output.blank();
    }
    let confirmation = Confirmation {
        question: "Approve?",
        subject: "the task",
        without_asking: &format!("linchpin approve {} --yes", task.id),
    };
    if !arguments.yes && !confirmation.ask(output)? {
        return Err(Problem::new("Untrusted", "nothing was approved"));
    }
    let moved = work.tasks().set_needs_review(task.id, false, crate::commands::now())?;
    let value = json!({ "task": moved.task, "changed": !moved.is_unchanged });
    output.line_or(format!("Approved {}.", task.id), &value);
    Ok(ExitCode::Done)
}
