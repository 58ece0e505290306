//! `approve`: a person says yes to a gate, or to a task.

use engine::hats::Loop;
use guard::workflow::Approvable;
use serde_json::json;

use super::{Mover, approve_task, refused};
use crate::arguments::Approve;
use crate::commands::Context;
use crate::exit_code::ExitCode;
use crate::person;
use crate::problem::{Outcome, Problem};

/// So much of a tree's digest tells it from others.
const SHOWN: usize = 12;

pub fn run(arguments: &Approve, context: &Context) -> Outcome {
    person::required("approve", &context.environment)?;
    let whoever = Mover::of("approve", context).or_of_last_run(context);
    person::says_yes_in_person(&whoever.project, &context.environment)?;
    let moves = whoever.moves(context);
    let approvable = match (moves.approvable(arguments.gate.as_deref()), &arguments.gate) {
        // A gate goes before a task of the same name.
        (Err(refusal), Some(name)) => match approve_task::named(name, &whoever.project, context)? {
            Some((work, task)) => return approve_task::run(&work, &task, arguments, context),
            None => return Err(refused::problem(refusal)),
        },
        (approvable, _) => approvable.map_err(refused::problem)?,
    };
    if !context.output.json {
        show(&approvable, context);
    }
    if !arguments.yes && !person::confirmed("Approve?", "what is asked", &context.output)? {
        return Err(Problem::new("Untrusted", "nothing was approved"));
    }
    moves.approve(&approvable).map_err(refused::problem)?;
    let gates: Vec<&str> = approvable.asked.iter().map(|asked| asked.gate.as_str()).collect();
    let Approvable { workflow, node, tree, .. } = &approvable;
    context.output.line_or(
        format!("Approved {} for the tree as it is now.", gates.join(", ")),
        &json!({ "approved": gates, "workflow": workflow, "node": node, "tree": tree }),
    );
    Ok(ExitCode::Done)
}

fn show(approvable: &Approvable, context: &Context) {
    let output = &context.output;
    let Approvable { workflow, node, asked, tree, .. } = approvable;
    let tree = tree.as_ref().and_then(|tree| tree.get(..SHOWN)).map_or(String::new(), |tree| format!(", tree {tree}"));
    let what = if workflow == Loop::NAME {
        format!("The loop, under the hat {node}")
    } else {
        format!("Workflow {workflow} at {node}")
    };
    output.line(output.bold(&format!("{what}{tree}")));
    for asked in asked {
        output.line(format!("{}:", asked.gate));
        for line in asked.text.trim_end().lines() {
            output.line(format!("    {line}"));
        }
    }
    output.blank();
}
