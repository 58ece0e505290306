//! Tests under which conditions a hat may hand the work over.

use std::ffi::OsString;

use engine::hats::Loop;
use work::{IterationEnd, RunId, RunOutcome};

use super::*;
use crate::Project;
use crate::tests::{Scratch, person_commands, write_loop};
use crate::workflow::ApprovalRequest;

const LOOP: &str = "
agent: {command: [sh, agent.sh]}
completion: {topic: loop.complete, after: [build.done]}
gates:
  late: 'phase.elapsed > 3600'
  reviewed: {approval: 'Is it any good?'}
topics:
  held: {requires: [late]}
  waits: {requires: [reviewed]}
  both: {requires: [late, reviewed]}
hats:
  builder: {triggers: [task.start, build.done, held, waits, both], publishes: [build.done, held, waits, both, loop.complete]}
";

const NOW: i64 = 1_000_000;

/// An iteration of a run, under the hat `builder`.
struct Iteration {
    scratch: Scratch,
    project: Project,
    hat_phase: HatPhase,
}

impl Iteration {
    fn new() -> Self {
        Self::of(Scratch::new(), LOOP)
    }

    fn of(scratch: Scratch, text: &str) -> Self {
        let the_loop = write_loop(&scratch, text);
        let project = scratch.project();
        let work = WorkDatabase::open(&project.work_database_path(&scratch.environment)).expect("work");
        let run = work.begin_run(Some("Do it"), "task.start", NOW).expect("a run");
        Self::begin(scratch, project, &the_loop, run)
    }

    fn begin(scratch: Scratch, project: Project, the_loop: &Loop, run: RunId) -> Self {
        let work = WorkDatabase::open(&project.work_database_path(&scratch.environment)).expect("work");
        let waiting = work.oldest_waiting_topic(run).expect("work").expect("a topic");
        let hat = the_loop.hat_for(&waiting.topic).expect("a hat");
        let number = work.begin_iteration(run, &waiting, &hat.id, NOW).expect("an iteration");
        let mut hat_phase = HatPhase::new(the_loop, hat, (run, number), number.into(), &project, &scratch.environment);
        let of_hat_phase = Some(Arc::new(hat_phase.clone()));
        let commands =
            WorkflowCommands { hat_phase: of_hat_phase, ..person_commands(&project, &scratch.environment, NOW) };
        commands.enter_iteration(&mut hat_phase, &waiting.topic).expect("written");
        Self { scratch, project, hat_phase }
    }

    /// The next iteration of the same run.
    fn next(self) -> Self {
        let Self { scratch, project, hat_phase } = self;
        let end = IterationEnd { outcome: Some(work::IterationOutcome::HandedOver), ..IterationEnd::default() };
        let work = WorkDatabase::open(&hat_phase.work_path).expect("work");
        work.end_iteration(hat_phase.run_id(), hat_phase.iteration, &end, NOW).expect("ended");
        let the_loop = write_loop(&scratch, LOOP);
        Self::begin(scratch, project, &the_loop, hat_phase.run_id())
    }

    fn work(&self) -> WorkDatabase {
        WorkDatabase::open(&self.hat_phase.work_path).expect("work")
    }

    fn emit(&self, topic: &str) -> Result<(), EmitRefused> {
        self.emit_at(topic, NOW + 1000)
    }

    fn emit_at(&self, topic: &str, now: i64) -> Result<(), EmitRefused> {
        let hat_phase = Some(Arc::new(self.hat_phase.clone()));
        let commands = WorkflowCommands {
            hat_phase,
            is_by_agent: true,
            ..person_commands(&self.project, &self.scratch.environment, now)
        };
        commands.emit(&self.hat_phase, Emission { topic, summary: "Done.", payload: None })
    }

    /// The text of the last refusal for the agent of the next iteration, and the gate that waits for an approval.
    fn refusal(&self) -> (Option<String>, Option<String>) {
        let (work, run, number) = (self.work(), self.hat_phase.run_id(), self.hat_phase.iteration);
        (work.refusal(run, number).expect("work"), work.awaited_gate(run, number).expect("work"))
    }
}

#[test]
fn a_topic_of_the_hat_is_handed_over_once() {
    let iteration = Iteration::new();
    iteration.emit("build.done").expect("accepted");
    assert_eq!(
        iteration.work().handed_over_topic(iteration.hat_phase.run_id(), 1).expect("work").as_deref(),
        Some("build.done")
    );
    for topic in ["build.done", "waits"] {
        assert!(matches!(iteration.emit(topic), Err(EmitRefused::Already(first)) if first == "build.done"));
    }
    assert_eq!(
        iteration.work().accepted_topics(iteration.hat_phase.run_id()).expect("work"),
        ["task.start", "build.done"]
    );
}

#[test]
fn a_topic_that_the_hat_does_not_publish_is_refused_with_the_nearest_one() {
    let iteration = Iteration::new();
    match iteration.emit("build.dine") {
        Err(EmitRefused::NotItsTopic { hat, close, known, .. }) => {
            assert_eq!((hat.as_str(), close.as_deref()), ("builder", Some("build.done")));
            assert_eq!(known, ["build.done", "held", "waits", "both", "loop.complete"]);
        }
        other => panic!("{other:?}"),
    }
    let expected = "the hat `builder` does not publish `build.dine`";
    assert_eq!(iteration.refusal(), (Some(expected.to_owned()), None));
    assert!(iteration.emit("build.done").is_ok(), "a refusal uses nothing up");
}

#[test]
fn completion_requires_earlier_topics() {
    let iteration = Iteration::new();
    match iteration.emit("loop.complete") {
        Err(EmitRefused::TooEarly { missing, .. }) => assert_eq!(missing, ["build.done"]),
        other => panic!("{other:?}"),
    }
    iteration.emit("build.done").expect("accepted");
    let next = iteration.next();
    next.emit("loop.complete").expect("accepted");
    assert_eq!(
        next.work().oldest_waiting_topic(next.hat_phase.run_id()).expect("work"),
        None,
        "no hat handles the completion topic"
    );
}

#[test]
fn a_finished_iteration_cannot_hand_over() {
    let iteration = Iteration::new();
    let (work, run) = (iteration.work(), iteration.hat_phase.run_id());
    work.end_iteration(run, 1, &IterationEnd::default(), NOW).expect("ended");
    assert!(matches!(iteration.emit("build.done"), Err(EmitRefused::Over)));
    assert_eq!(iteration.refusal(), (None, None), "the refusal is not stored");

    let stopped = Iteration::new();
    stopped.work().end_run(stopped.hat_phase.run_id(), RunOutcome::Stopped, "asked", NOW).expect("ended");
    assert!(matches!(stopped.emit("build.done"), Err(EmitRefused::Over)));
}

#[test]
fn a_leftover_process_of_an_earlier_iteration_cannot_hand_over() {
    fn in_run(name: &str) -> Option<OsString> {
        match name {
            "LINCHPIN_RUN" => Some("1".into()),
            "LINCHPIN_TICKET" => Some("secret".into()),
            _ => None,
        }
    }
    let mut iteration = Iteration::of(Scratch::new().with_variables(in_run), LOOP);
    assert!(matches!(iteration.emit("build.done"), Err(EmitRefused::Over)));
    iteration.hat_phase.secret = "secret".to_owned();
    assert!(iteration.emit("build.done").is_ok());
}

#[test]
fn a_failed_gate_refuses_and_the_next_agent_gets_the_reason() {
    let iteration = Iteration::new();
    match iteration.emit("held") {
        Err(EmitRefused::GatesFailed { topic, failed_gates }) => {
            assert_eq!((topic.as_str(), failed_gates[0].gate.as_str(), failed_gates.len()), ("held", "late", 1));
        }
        other => panic!("{other:?}"),
    }
    let expected = "`held` was refused, because a gate is not met: `late`\n- late: `phase.elapsed > 3600` is not true";
    assert_eq!(iteration.refusal(), (Some(expected.to_owned()), None));
    assert!(iteration.emit_at("held", NOW + 3_601_000).is_ok());
}

#[test]
fn a_run_waits_for_a_person_only_if_nothing_else_is_missing() {
    let iteration = Iteration::new();
    assert!(matches!(iteration.emit("waits"), Err(EmitRefused::GatesFailed { .. })));
    assert_eq!(iteration.refusal().1.as_deref(), Some("reviewed"));
    assert!(matches!(iteration.emit("both"), Err(EmitRefused::GatesFailed { .. })));
    assert_eq!(iteration.refusal().1, None);
}

#[test]
fn an_approval_passes_the_waiting_gate() {
    let iteration = Iteration::new();
    assert!(iteration.emit("waits").is_err());
    let hat_phase = Some(Arc::new(iteration.hat_phase.clone()));
    let person = WorkflowCommands {
        hat_phase,
        ..person_commands(&iteration.project, &iteration.scratch.environment, NOW + 1000)
    };
    let pending = person.pending_approvals(None).expect("a pending approval");
    let expected = ApprovalRequest { gate: "reviewed".to_owned(), text: "Is it any good?".to_owned() };
    assert_eq!(pending.requests, [expected]);
    person.approve(&pending).expect("written");
    assert!(iteration.emit("waits").is_ok());
}

#[test]
fn a_pace_rule_of_the_hat_interrupts_before_gates_are_checked() {
    let text = LOOP.replace(
        "publishes: [build.done,",
        "rules: [{phase_timeout: {max_duration: 60}, reason: Think.}], publishes: [build.done,",
    );
    let iteration = Iteration::of(Scratch::new(), &text);
    let late = NOW + 120_000;
    match iteration.emit_at("held", late) {
        Err(EmitRefused::Interrupted { text, .. }) => assert!(text.contains("Think."), "{text}"),
        other => panic!("{other:?}"),
    }
    let hat_phase = Some(Arc::new(iteration.hat_phase.clone()));
    let agent = WorkflowCommands {
        hat_phase,
        is_by_agent: true,
        ..person_commands(&iteration.project, &iteration.scratch.environment, late)
    };
    agent.continue_past_rules().expect("the phase continues");
    assert!(iteration.emit_at("build.done", late).is_ok());
}

#[test]
fn a_gate_whose_script_the_hat_changed_fails() {
    let text = LOOP.replace("  late: 'phase.elapsed > 3600'", "  late: {command: [sh, check.sh]}");
    let scratch = Scratch::new();
    scratch.file("check.sh", "exit 1");
    let mut iteration = Iteration::of(scratch, &text);
    let the_loop = write_loop(&iteration.scratch, &text);
    let run = iteration.hat_phase.run_id();
    let files = crate::workflow::gate_files_of_run(&the_loop, run, &iteration.project, &iteration.scratch.environment);
    iteration.hat_phase.protect(&files.expect("written"));
    iteration.scratch.file("check.sh", "exit 0");
    match iteration.emit("held") {
        Err(EmitRefused::GatesFailed { failed_gates, .. }) => {
            assert!(failed_gates[0].why.contains("`check.sh` (now "), "{}", failed_gates[0].why);
        }
        other => panic!("{other:?}"),
    }
}
