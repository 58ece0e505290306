//! `approve`: a person approves a gate or a task.

use engine::hats::Loop;
use guard::Project;
use guard::workflow::{PendingApprovals, WorkflowError};
use serde_json::json;

use super::{approve_task, refused};
use crate::arguments::ApproveArguments;
use crate::commands::Context;
use crate::commands::caller::Caller;
use crate::exit_code::ExitCode;
use crate::person;
use crate::problem::{CommandOutcome, Problem};

/// The number of digits of a tree's digest to show; enough to identify it.
const SHOWN: usize = 12;

pub fn run(arguments: &ApproveArguments, context: &Context) -> CommandOutcome {
    person::required("approve", &context.environment)?;
    let caller = Caller::of("approve", context).or_of_last_run(context);
    person::require_terminal_during_run(&caller.project, &context.environment)?;
    let commands = caller.workflow_commands(context);
    let pending = match (commands.pending_approvals(arguments.gate.as_deref()), &arguments.gate) {
        // If a gate and a task have the same name, the gate is meant.
        (Err(refusal), Some(name)) => match approve_task::named(name, &caller.project, context)? {
            Some((work, task)) => return approve_task::run(&work, &task, arguments, context),
            None => return Err(nothing_waits(refusal, &caller.project)),
        },
        (pending, _) => pending.map_err(|refusal| nothing_waits(refusal, &caller.project))?,
    };
    if !context.output.json {
        show(&pending, context);
    }
    if !arguments.yes && !person::confirmed("Approve?", "the question", &context.output)? {
        return Err(Problem::new("Untrusted", "nothing was approved"));
    }
    commands.approve(&pending).map_err(refused::problem)?;
    let gates: Vec<&str> = pending.requests.iter().map(|asked| asked.gate.as_str()).collect();
    let PendingApprovals { workflow, node, tree_digest, .. } = &pending;
    context.output.line_or(
        format!("Approved {}, for the tree as it is now.", named(&gates)),
        &json!({ "approved": gates, "workflow": workflow, "node": node, "tree": tree_digest }),
    );
    Ok(ExitCode::Done)
}

fn named(gates: &[&str]) -> String {
    let names: Vec<String> = gates.iter().map(|gate| format!("`{gate}`")).collect();
    format!("gate{} {}", if gates.len() == 1 { "" } else { "s" }, names.join(", "))
}

/// In a project with a loop, the person probably means a run, so the error says that.
fn nothing_waits(refusal: WorkflowError, project: &Project) -> Problem {
    let has_loop = project.tiers.project.as_ref().is_some_and(|folder| folder.loop_file().exists());
    match refusal {
        WorkflowError::NoWorkflow if has_loop => {
            Problem::new("NoRun", "no approval is pending: no run is unfinished, and no workflow is active")
                .help("a run that needs an approval ends and names the gate; `linchpin runs` lists the runs")
        }
        refusal => refused::problem(refusal),
    }
}

fn show(pending: &PendingApprovals, context: &Context) {
    let output = &context.output;
    let PendingApprovals { workflow, node, requests, tree_digest, .. } = pending;
    let tree = tree_digest
        .as_ref()
        .and_then(|digest| digest.get(..SHOWN))
        .map_or(String::new(), |digest| format!(" (tree {digest})"));
    let what = if workflow == Loop::NAME {
        format!("The loop at hat `{node}`")
    } else {
        format!("Workflow `{workflow}` at `{node}`")
    };
    let approvals = if requests.len() == 1 { "this approval" } else { "these approvals" };
    output.line(output.bold(&format!("{what}{tree} waits for {approvals}:")));
    for asked in requests {
        output.line(format!("{}:", asked.gate));
        for line in asked.text.trim_end().lines() {
            output.line(format!("    {line}"));
        }
    }
    output.blank();
}
