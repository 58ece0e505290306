//! `approve`: a person approves a gate or a task.

use engine::hats::Loop;
use guard::Project;
use guard::workflow::{PendingApprovals, WorkflowError};
use serde_json::json;

use super::{approve_task, refused};
use crate::arguments::ApproveArguments;
use crate::commands::Context;
use crate::commands::caller::{Caller, Verb};
use crate::exit_code::ExitCode;
use crate::person::{self, Confirmation};
use crate::plural::code_list;
use crate::problem::{CommandOutcome, Problem};

/// The number of digits to show of the working tree's digest.
const SHOWN_DIGITS: usize = 12;

pub fn run(arguments: &ApproveArguments, context: &Context) -> CommandOutcome {
    person::required("approve", &context.environment)?;
    let caller = Caller::of(Verb::Approve, context).or_of_last_run(context);
    caller.require_no_open_call("approve")?;
    person::require_terminal_during_run(&caller.project, &context.environment)?;
    let commands = caller.workflow_commands(context);
    let pending = match (commands.pending_approvals(arguments.gate.as_deref()), &arguments.gate) {
        // If a gate and a task have the same name, the gate is approved.
        (Err(refusal), Some(name)) => match approve_task::find(name, &caller.project, context)? {
            Some((work, task)) => return approve_task::run(&work, &task, arguments, context),
            None => return Err(problem_of(refusal, &caller.project)),
        },
        (pending, _) => pending.map_err(|refusal| problem_of(refusal, &caller.project))?,
    };
    if !context.output.json {
        show(&pending, context);
    }
    let gate = arguments.gate.as_ref().map_or_else(String::new, |gate| format!(" {gate}"));
    let confirmation = Confirmation {
        question: "Approve?",
        subject: "what the gate asks",
        without_asking: &format!("linchpin approve{gate} --yes"),
    };
    if !arguments.yes && !confirmation.ask(&context.output)? {
        return Err(Problem::new("Untrusted", "nothing was approved"));
    }
    commands.approve(&pending).map_err(refused::problem)?;
    let gates: Vec<&str> = pending.requests.iter().map(|asked| asked.gate.as_str()).collect();
    let PendingApprovals { workflow, node, tree_digest, .. } = &pending;
    context.output.line_or(
        format!("Approved {}, for the tree as it is now.", gates_text(&gates)),
        &json!({ "approved": gates, "workflow": workflow, "node": node, "tree": tree_digest }),
    );
    Ok(ExitCode::Done)
}

fn gates_text(gates: &[&str]) -> String {
    format!("gate{} {}", if gates.len() == 1 { "" } else { "s" }, code_list(gates))
}

/// Converts a workflow error to the problem to print. If no workflow is active and the project has a loop, the person
/// probably wanted to approve a gate of a run, so the problem also mentions runs.
fn problem_of(refusal: WorkflowError, project: &Project) -> Problem {
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
        .and_then(|digest| digest.get(..SHOWN_DIGITS))
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
