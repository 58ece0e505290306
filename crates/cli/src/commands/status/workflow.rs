//! The state of the active workflow in `status`.

use std::sync::Arc;

use guard::Project;
use guard::session::AgentSession;
use guard::workflow::{GatePreview, GateState, NextMove, NextMoves, WorkflowReport};
use policy::CompiledPolicy;
use serde_json::{Value, json};

use crate::commands::Context;
use crate::commands::caller::Caller;
use crate::commands::gate_progress;
use crate::output::Output;
use crate::plural::counted;

/// Returns the state of the active workflow. Returns `None` if no workflow is active, or if the journal cannot be read.
pub fn report(
    project: &Project,
    policy: &Arc<CompiledPolicy>,
    now: i64,
    session: Option<AgentSession>,
    context: &Context,
) -> Option<WorkflowReport> {
    // A query must not create a journal.
    if !project.journal_path(&context.environment).exists() {
        return None;
    }
    let caller = Caller::viewer(project, policy, now, session);
    caller.workflow_commands(context).report().ok().flatten()
}

pub fn show(report: &WorkflowReport, now: i64, output: &Output) {
    let WorkflowReport { position, is_changed, problem, pace, rules, next_moves } = report;
    let name = output.bold("Work   ");
    output.line(format!("{name} {}, at {} for {}", position.workflow_name, position.node(), elapsed(report, now)));
    let visited: Vec<&str> = position.history.iter().map(|phase| phase.node.as_str()).collect();
    if visited.len() > 1 {
        output.line(format!("  by way of {}", visited.join(" → ")));
    }
    if position.continues > 0 {
        output.line(format!("  continued past an interrupt {}", counted(times(report), "time")));
    }
    match problem {
        Some(problem) => output.line(format!("  {problem}")),
        None if *is_changed => {
            output.line("  the workflow file has changed since this node was entered; the new version is used");
        }
        None => {}
    }
    for (rule, progress) in pace {
        output.line(format!("  {rule:<28} {progress}"));
    }
    if !rules.is_empty() {
        output.line(format!("  rules: {}", rules.join(", ")));
    }
    show_next_moves(next_moves, now, output);
}

/// Shows the gates and the possible moves from the current node.
fn show_next_moves(NextMoves { gates, moves }: &NextMoves, now: i64, output: &Output) {
    let show_gates = |gates: &[GatePreview]| {
        for GatePreview { id, condition, state, running } in gates {
            output.line(match running {
                Some(running) => format!("      {id}, {}", gate_progress::line(running, now)),
                None => format!("      {id}, {}: {condition}", state.name()),
            });
        }
    };
    if !gates.is_empty() {
        output.line("  gates:");
        show_gates(gates);
    }
    for NextMove { to, when, claims, depends_on_session, gates } in moves {
        output.line(match claims.as_slice() {
            [] if *depends_on_session => format!("  → {to} when {when}: {}", GateState::NoSession.name()),
            [] => format!("  → {to} when {when}: no single claim leads there now"),
            claims => format!("  → {to} by {}", claims.join(" or ")),
        });
        show_gates(gates);
    }
}

pub fn to_json(report: &WorkflowReport, now: i64) -> Value {
    let WorkflowReport { position, is_changed, problem, pace, rules, next_moves } = report;
    let history: Vec<Value> =
        position.history.iter().map(|phase| json!({ "node": phase.node, "started": phase.started })).collect();
    json!({
        "name": position.workflow_name,
        "node": position.node(),
        "visit": position.visit_count(),
        "started": position.phase().started,
        "elapsed": seconds(report, now),
        "history": history,
        "continues": position.continues,
        "changed": is_changed,
        "problem": problem,
        "rules": pace.iter().map(|(rule, progress)| json!({ "rule": rule, "progress": progress })).collect::<Vec<_>>(),
        "in_force": rules,
        "gates": gates_json(&next_moves.gates),
        "moves": next_moves.moves.iter().map(move_json).collect::<Vec<_>>(),
    })
}

fn move_json(next: &NextMove) -> Value {
    let NextMove { to, when, claims, depends_on_session, gates } = next;
    json!({
        "to": to, "when": when, "claims": claims, "depends_on_session": depends_on_session, "gates": gates_json(gates),
    })
}

fn gates_json(gates: &[GatePreview]) -> Vec<Value> {
    let gate = |gate: &GatePreview| {
        let running = gate.running.as_ref();
        let running = running.map(|running| json!({ "started": running.started, "last_line": running.last_line }));
        json!({ "id": gate.id, "gate": gate.condition, "state": gate.state.name(), "running": running })
    };
    gates.iter().map(gate).collect()
}

fn times(report: &WorkflowReport) -> usize {
    usize::try_from(report.position.continues).unwrap_or(usize::MAX)
}

fn seconds(report: &WorkflowReport, now: i64) -> u64 {
    u64::try_from(now.saturating_sub(report.position.phase().started) / 1000).unwrap_or(0)
}

fn elapsed(report: &WorkflowReport, now: i64) -> String {
    engine::pace::format_duration(seconds(report, now))
}
