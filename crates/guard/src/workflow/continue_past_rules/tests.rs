//! Tests which limits `linchpin continue` restarts, in the phase and in the session.

use engine::EventKind;
use store::{JournalFilter, SessionKey};

use super::*;
use crate::session::AgentSession;
use crate::tests::{Scratch, person_commands};
use crate::workflow::Force;

const BEGAN: i64 = 1_000_000;
/// Ten minutes after [`BEGAN`].
const LATE: i64 = BEGAN + 600_000;

fn session() -> AgentSession {
    AgentSession { agent: "claude".to_owned(), id: "s".to_owned() }
}

/// A project with a session that a rule about time has interrupted.
fn interrupted(ack: &str) -> Scratch {
    let scratch = Scratch::new();
    let rule = format!("---\nphase_timeout: {{max_duration: 60}}\nlive: block\nack: {ack}\n---\nToo slow.\n");
    scratch.file(".linchpin/rules/slow.md", &rule);
    let rules = scratch.project().compiled_policy_read_only(&scratch.environment).rules;
    let digest = rules.get("slow").expect("rules").expect("a rule").digest;
    let mut changes = StateChanges::default();
    changes.set(format!("_pace:{digest}"), json!({"told": true}));
    let prompt = scratch.event(EventKind::Prompt, BEGAN);
    scratch.record_judged(&prompt, &engine::Verdict::empty(), &changes);
    scratch
}

fn fired_rule_count(scratch: &Scratch) -> usize {
    let state = scratch.store(LATE).session_state(SessionKey { agent: "claude", session: "s" }).expect("a session");
    pace_facts::digests_of_fired_rules(&state.variables).count()
}

/// Runs `linchpin continue` in session `s`.
fn continue_past_rules(scratch: &Scratch, is_by_agent: bool) -> Result<Step, WorkflowError> {
    let project = scratch.project();
    WorkflowCommands {
        agent_session: Some(session()),
        is_by_agent,
        ..person_commands(&project, &scratch.environment, LATE)
    }
    .continue_past_rules()
}

#[test]
fn without_an_interrupt_there_is_nothing_to_continue_past() {
    let scratch = Scratch::new();
    scratch.record(&scratch.event(EventKind::Prompt, BEGAN));
    assert!(matches!(continue_past_rules(&scratch, true), Err(WorkflowError::NothingToContinue)));
}

#[test]
fn a_session_continues_past_the_rule_that_interrupted_it() {
    for is_by_agent in [true, false] {
        let scratch = interrupted("agent");
        let step = continue_past_rules(&scratch, is_by_agent).expect("a step");
        assert_eq!(step.outcome, StepOutcome::LimitsRestarted(vec!["slow".to_owned()]));
        assert!(!step.has_moved);
        assert_eq!(fired_rule_count(&scratch), 0);
        assert!(matches!(continue_past_rules(&scratch, is_by_agent), Err(WorkflowError::NothingToContinue)));
        let notes = scratch
            .store(LATE)
            .entries(&JournalFilter { kind: Some("continue".to_owned()), ..JournalFilter::default() });
        let notes = notes.expect("entries");
        assert_eq!(notes.len(), 1);
        assert_eq!(notes[0].fields["by"], if is_by_agent { "agent" } else { "person" });
    }
}

#[test]
fn only_a_person_can_continue_past_a_rule_for_people() {
    let scratch = interrupted("human");
    assert!(matches!(continue_past_rules(&scratch, true), Err(WorkflowError::OnlyAPerson(rule)) if rule == "slow"));
    assert_eq!(fired_rule_count(&scratch), 1);
    assert!(continue_past_rules(&scratch, false).is_ok());
    assert_eq!(fired_rule_count(&scratch), 0);
}

#[test]
fn without_a_session_its_rules_are_not_restarted() {
    let scratch = interrupted("agent");
    let project = scratch.project();
    assert!(matches!(
        person_commands(&project, &scratch.environment, LATE).continue_past_rules(),
        Err(WorkflowError::NothingToContinue)
    ));
    assert_eq!(fired_rule_count(&scratch), 1);
}

/// A project with a workflow at its first node. The node has a time limit of one minute.
fn started(ack: &str) -> Scratch {
    let scratch = Scratch::new();
    let text = format!(
        "start_node: code\nnodes:\n  code:\n    prompt: Code.\n    rules: [{{phase_timeout: {{max_duration: 60}}, ack: \
         {ack}}}]\n    transitions: [{{when: code_complete, to: done}}]\n"
    );
    scratch.file(".linchpin/workflows/work.yml", &text);
    person_commands(&scratch.project(), &scratch.environment, BEGAN).start("work", None).expect("a workflow");
    scratch
}

/// Runs `linchpin continue` in the phase.
fn continue_in_phase(scratch: &Scratch, is_by_agent: bool) -> Result<Step, WorkflowError> {
    let project = scratch.project();
    WorkflowCommands { is_by_agent, ..person_commands(&project, &scratch.environment, LATE) }.continue_past_rules()
}

fn next(scratch: &Scratch) -> Step {
    let project = scratch.project();
    let agent = WorkflowCommands { is_by_agent: true, ..person_commands(&project, &scratch.environment, LATE) };
    agent.next(&[], &Force::None).expect("a step")
}

#[test]
fn a_phase_continues_past_the_rule_that_refused_the_move() {
    let scratch = started("agent");
    assert!(matches!(next(&scratch).outcome, StepOutcome::PaceInterrupt { .. }));
    let step = continue_in_phase(&scratch, true).expect("a step");
    assert_eq!((step.outcome, step.has_moved), (StepOutcome::Prompt("Code.".to_owned()), false));
    assert_eq!(next(&scratch).outcome, StepOutcome::Ended);
}

#[test]
fn continue_reports_that_no_rule_of_the_phase_has_fired() {
    let scratch = started("agent");
    let step = continue_in_phase(&scratch, true).expect("a prompt");
    assert_eq!(step.notices, ["No pace rule has fired at `code`, so there is nothing to continue past."]);
    // No limit was restarted.
    assert!(matches!(next(&scratch).outcome, StepOutcome::PaceInterrupt { .. }));
}

#[test]
fn an_agent_cannot_continue_past_a_phases_rule_for_people() {
    let scratch = started("human");
    next(&scratch);
    assert!(matches!(continue_in_phase(&scratch, true), Err(WorkflowError::OnlyAPerson(_))));
    assert!(matches!(next(&scratch).outcome, StepOutcome::PaceInterrupt { .. }));
    assert!(continue_in_phase(&scratch, false).is_ok());
    assert_eq!(next(&scratch).outcome, StepOutcome::Ended);
}
