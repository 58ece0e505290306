//! Tests which requirements of a move do not pass.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use engine::Level;
use engine::event::{Event, EventKind};
use engine::file_rules::{AttributionMode, Baseline, ChangeScope, FilePattern, FileRule, FileRuleKind, Refire};
use engine::rules::{Detector, Rule};
use engine::workflow::{ExpectedResponse, Gate, Requirement, Workflow};
use serde_json::json;
use store::StoredState;

use super::receipt::Receipt;
use super::*;
use crate::facts::{ActiveWorkflow, SituationBuilder};
use crate::grants::Trust;
use crate::tests::{Scratch, active, gate_runners, workflow};
use crate::tree_digest::tree_digest;

thread_local! {
    /// The webhooks that were called.
    static CALLED_WEBHOOKS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// The gates of one move.
struct Scene {
    scratch: Scratch,
    active: ActiveWorkflow,
    is_session_known: bool,
    is_in_run: bool,
}

fn required(id: &str, gate: Gate) -> Requirement {
    Requirement { id: id.to_owned(), gate }
}

fn expression(text: &str) -> Requirement {
    required(text, Gate::Expression(text.to_owned()))
}

fn approval(id: &str) -> Requirement {
    required(id, Gate::Approval("Is it any good?".to_owned()))
}

fn command(id: &str) -> Requirement {
    let gate = Gate::Command {
        text: format!("make {id}"),
        words: vec!["make".to_owned(), id.to_owned()],
        timeout: Duration::from_secs(1),
        protect: true,
    };
    required(id, gate)
}

/// A webhook that passes unless its id is `no`.
fn webhook(id: &str) -> Requirement {
    let expect = ExpectedResponse { status: 200, json: None };
    let webhook =
        Webhook { url: format!("https://example.com/{id}"), method: "POST".to_owned(), headers: Vec::new(), expect };
    required(id, Gate::Webhook(Box::new(webhook)))
}

fn call_webhook(webhook: &Webhook, question: &Value, _: &Environment) -> Result<(), String> {
    CALLED_WEBHOOKS.with_borrow_mut(|called| called.push(format!("{} at {}", webhook.url, question["node"])));
    if webhook.url.ends_with("/no") { Err("it answered 500".to_owned()) } else { Ok(()) }
}

fn take_called_webhooks() -> Vec<String> {
    CALLED_WEBHOOKS.with_borrow_mut(std::mem::take)
}

impl Scene {
    fn new() -> Self {
        Self::in_project(Scratch::new(), workflow("work"))
    }

    fn in_project(scratch: Scratch, workflow: Workflow) -> Self {
        Self { scratch, active: active(workflow), is_session_known: true, is_in_run: false }
    }

    fn failed_gates(&self, required: &[Requirement]) -> Vec<FailedGate> {
        let Scratch { environment, .. } = &self.scratch;
        let project = self.scratch.project();
        let policy = Arc::new(project.compiled_policy_read_only(environment));
        let situation_builder = SituationBuilder::for_command(&project, Arc::clone(&policy), None, environment);
        let event = Arc::new(Event { kind: EventKind::Other, ..self.scratch.event(EventKind::Other, 1000) });
        let state = self.is_session_known.then(StoredState::default);
        let active = Arc::new(self.active.clone());
        let (situation, _) = situation_builder.situation_in_workflow(&active, &policy, &event, state.as_ref());
        let gate_runners = GateRunners { webhook: call_webhook, ..gate_runners() };
        let checker = GateChecker {
            active: &active,
            situation: &situation,
            project: &project,
            environment,
            config: &policy.config,
            gate_runners: &gate_runners,
            environment_overrides: Vec::new(),
            is_in_run: self.is_in_run,
            compares_with_activation: false,
        };
        checker.check_gates(required.iter())
    }

    /// The gates that do not pass.
    fn names(&self, required: &[Requirement]) -> Vec<String> {
        self.failed_gates(required).into_iter().map(|failed_gate| failed_gate.gate).collect()
    }

    fn why(&self, required: Requirement) -> String {
        self.failed_gates(&[required]).into_iter().map(|failed_gate| failed_gate.why).collect()
    }

    fn approve(&self, gate: &str, tree_digest: Option<String>) {
        let approval = Approval {
            workflow: "work".to_owned(),
            gate: gate.to_owned(),
            text: "Is it any good?".to_owned(),
            phase: self.active.position.phase_key(),
            tree_digest,
            who: Some("Ada".to_owned()),
            time: 0,
        };
        let approvals = Approvals::of(&self.scratch.root, &self.scratch.environment);
        approvals.store(&approval, &self.active.position).expect("written");
    }
}

// Expressions.

#[test]
fn an_expression_gate_passes_only_if_it_is_true() {
    let scene = Scene::new();
    assert_eq!(scene.failed_gates(&[expression("phase.visit == 1")]), []);
    assert_eq!(scene.why(expression("phase.visit == 2")), "`phase.visit == 2` is not true");
    let why = scene.why(expression("1 +"));
    assert!(why.starts_with("`1 +` cannot be evaluated: "), "{why}");
}

#[test]
fn a_variable_of_an_unknown_session_has_no_initial_value() {
    let mut scene = Scene::new();
    scene.scratch.file(".linchpin/config.yml", "variables: {tested: true}\n");
    assert_eq!(scene.failed_gates(&[expression("tested")]), []);
    scene.is_session_known = false;
    let why = scene.why(expression("tested"));
    assert!(why.ends_with("Name it: `linchpin next --session ID`"), "{why}");
    // `linchpin emit` has no `--session`, so the message in a run does not mention it.
    scene.is_in_run = true;
    let why = scene.why(expression("tested"));
    assert!(why.contains("which session belongs to this hat") && !why.contains("--session"), "{why}");
}

// The order in which gates are checked.

#[test]
fn all_failed_cheap_gates_are_reported_at_once() {
    let scene = Scene::new();
    let required = [expression("false"), expression("true"), approval("review"), expression("1 == 2")];
    assert_eq!(scene.names(&required), ["false", "review", "1 == 2"]);
}

#[test]
fn no_webhook_is_called_while_a_cheap_gate_fails() {
    let scene = Scene::in_project(Scratch::new(), Workflow { tier: engine::rules::Tier::User, ..workflow("work") });
    assert_eq!(scene.names(&[webhook("first"), expression("false")]), ["false"]);
    assert_eq!(take_called_webhooks(), [""; 0]);
}

#[test]
fn expensive_gates_are_checked_in_order_up_to_the_first_failure() {
    let scene = Scene::in_project(Scratch::new(), Workflow { tier: engine::rules::Tier::User, ..workflow("work") });
    let required = [webhook("yes"), webhook("no"), webhook("later"), command("tests")];
    let failed_gates = scene.failed_gates(&required);
    assert_eq!(failed_gates.len(), 1);
    assert_eq!(failed_gates[0].why, "https://example.com/no did not approve: it answered 500");
    assert_eq!(take_called_webhooks(), ["https://example.com/yes at \"code\"", "https://example.com/no at \"code\""]);
}

#[test]
fn an_untrusted_workflow_starts_no_process_and_calls_no_webhook() {
    let mut of_project = workflow("work");
    of_project.gates = [("hook".to_owned(), webhook("hook").gate)].into();
    let scene = Scene::in_project(Scratch::new(), of_project.clone());
    for required in [webhook("hook"), command("tests")] {
        let why = scene.why(required);
        assert!(why.ends_with(" is not trusted yet: run `linchpin trust`"), "{why}");
    }
    assert_eq!(take_called_webhooks(), [""; 0]);
    // A gate that only evaluates an expression needs no trust.
    assert_eq!(scene.failed_gates(&[expression("true")]), []);
    Trust::of(&scene.scratch.root, &scene.scratch.environment).accept_workflow(&of_project).expect("written");
    assert_eq!(scene.failed_gates(&[webhook("hook")]), []);
    assert_eq!(take_called_webhooks().len(), 1);
}

// Approvals.

#[test]
fn an_approval_gate_passes_once_a_person_approved_the_current_tree() {
    let scene = Scene::in_project(Scratch::new().committed(), workflow("work"));
    let expected = "a person must approve: Is it any good?\n(ask a person to run `linchpin approve review`; the approval is valid until the tree changes)";
    assert_eq!(scene.why(approval("review")), expected);
    scene.approve("review", tree_digest(&scene.scratch.root).expect("git answers"));
    assert_eq!(scene.failed_gates(&[approval("review")]), []);
    assert_eq!(scene.names(&[approval("other")]), ["other"], "each gate needs its own approval");
    scene.scratch.file("later", "text");
    let why = scene.why(approval("review"));
    assert!(why.contains("\nAda approved on ") && why.contains("but the tree has changed since\n"), "{why}");
}

#[test]
fn outside_of_git_an_approval_counts_for_the_whole_phase() {
    let mut scene = Scene::new();
    scene.approve("review", None);
    scene.scratch.file("later", "text");
    assert_eq!(scene.failed_gates(&[approval("review")]), []);
    scene.active.position = scene.active.position.after_move("code", "d", 2000);
    assert_eq!(scene.names(&[approval("review")]), ["review"]);
}

// Commands.

#[test]
fn a_command_that_passed_on_this_tree_is_not_run_again() {
    let of_user = Workflow { tier: engine::rules::Tier::User, ..workflow("work") };
    let scene = Scene::in_project(Scratch::new().committed(), of_user);
    // These tests have no gate process that could run the command.
    let why = scene.why(command("tests"));
    assert!(why.starts_with("`make tests` cannot be started: "), "{why}");
    let words = ["make".to_owned(), "tests".to_owned()];
    let receipt_files = ReceiptFiles::of(&words, &scene.scratch.root, &scene.scratch.environment);
    let receipt = Receipt {
        id: "1".to_owned(),
        command: store::mask("make tests").into_static(),
        exit_code: Some(0),
        passed: true,
        ending: "passed".to_owned(),
        duration: Duration::from_secs(1),
        tree_digest: tree_digest(&scene.scratch.root).expect("git answers"),
        is_tree_unchanged: true,
        changed: Vec::new(),
        output: store::mask("").into_static(),
        ended: 0,
        is_reported: false,
    };
    receipt_files.store(&receipt).expect("written");
    assert_eq!(scene.failed_gates(&[command("tests")]), []);
    assert_eq!(scene.names(&[command("lint")]), ["lint"], "another command has another receipt");
    scene.scratch.file("later", "text");
    assert_eq!(scene.names(&[command("tests")]), ["tests"]);
}

#[test]
fn a_failed_command_is_reported_once_and_then_run_again() {
    let of_user = Workflow { tier: engine::rules::Tier::User, ..workflow("work") };
    let scene = Scene::in_project(Scratch::new().committed(), of_user);
    let words = ["make".to_owned(), "tests".to_owned()];
    let receipt = Receipt {
        id: "1".to_owned(),
        command: store::mask("make tests").into_static(),
        exit_code: Some(2),
        passed: false,
        ending: "failed with exit code 2".to_owned(),
        duration: Duration::from_secs(1),
        tree_digest: tree_digest(&scene.scratch.root).expect("git answers"),
        is_tree_unchanged: true,
        changed: Vec::new(),
        output: store::mask("one failed").into_static(),
        ended: 0,
        is_reported: false,
    };
    ReceiptFiles::of(&words, &scene.scratch.root, &scene.scratch.environment).store(&receipt).expect("written");
    assert_eq!(scene.why(command("tests")), "`make tests` failed with exit code 2\none failed");
    let why_again = scene.why(command("tests"));
    assert!(why_again.starts_with("`make tests` cannot be started: "), "it would be run: {why_again}");
}

// File rules.

/// A rule that demands a review of every changed file below `src`.
fn review_rule(action: Level) -> Requirement {
    let pattern = FilePattern::new(&path::pattern::Pattern::parse("src/**").expect("a pattern"));
    let file = FileRule {
        kind: FileRuleKind::Trigger { trigger: vec![pattern], safety: Vec::new() },
        exclude: Vec::new(),
        scope: ChangeScope { compare_to: Baseline::Base, attribute: AttributionMode::Tree },
        refire: Refire::Files,
        command: None,
    };
    let rule = Rule {
        action,
        max_holds: Some(0),
        ..Rule::synthetic("look".to_owned(), "look.md", Detector::Files(Box::new(file)), "Look at it.".to_owned())
    };
    required("reviewed", Gate::FileRules(vec![rule]))
}

#[test]
fn a_file_rules_gate_passes_only_if_they_are_met_and_never_gives_up() {
    for action in [Level::Warn, Level::Block] {
        let scene = Scene::in_project(Scratch::new().committed(), workflow("work"));
        assert_eq!(scene.failed_gates(&[review_rule(action)]), []);
        scene.scratch.file("src/a", "text");
        for times in 0..3 {
            let failed_gates = scene.failed_gates(&[review_rule(action)]);
            write_times_asked(&scene.scratch, times + 1);
            assert_eq!(failed_gates.len(), 1, "{action:?}");
            assert_eq!(
                (failed_gates[0].gate.as_str(), failed_gates[0].rules.as_slice()),
                ("reviewed", &["look".to_owned()][..])
            );
            let expected = "If `look` does not apply, run `linchpin ack look --reason \"…\"`.";
            assert!(failed_gates[0].why.ends_with(expected), "{}", failed_gates[0].why);
        }
        remove_file(&scene.scratch, "src/a");
        assert_eq!(scene.failed_gates(&[review_rule(action)]), []);
    }
}

/// Writes the queue entry as it is after this many stops: session `s` got the demand for `src/a` and changed nothing.
fn write_times_asked(scratch: &Scratch, times: u32) {
    let queue = scratch.root.join(".linchpin/tmp/rules/queue");
    let entry = std::fs::read_dir(queue).expect("a queue").next().expect("an entry").expect("an entry").path();
    let mut entry_json: Value = serde_json::from_slice(&std::fs::read(&entry).expect("a file")).expect("JSON");
    let state = policy::digest(format!("{}\0", tree::Fingerprints::of_files_in(&scratch.root).combined(["src/a"])));
    entry_json["asked"]["s"] = json!({ "times": times, "state": state });
    crate::tests::write(&entry, &entry_json.to_string());
}

fn remove_file(scratch: &Scratch, path: &str) {
    std::fs::remove_file(scratch.root.join(path)).expect("removed");
}

#[test]
fn a_gate_fails_if_git_cannot_list_the_changes() {
    let scene = Scene::new();
    assert_eq!(
        scene.why(review_rule(Level::Block)),
        "`look` cannot be judged, because git cannot list what changed: `linchpin check` shows why"
    );
}

#[test]
fn a_gate_fails_if_its_demand_cannot_be_queued() {
    let scene = Scene::in_project(Scratch::new().committed(), workflow("work"));
    scene.scratch.file("src/a", "text");
    crate::tests::write(&scene.scratch.root.join(".linchpin/tmp/rules/queue"), "no directory");
    crate::tests::write(&scene.scratch.state("tmp/rules/queue"), "no directory");
    let why = scene.why(review_rule(Level::Block));
    assert_eq!(why, "`look` cannot be judged: its demand cannot be written to the queue; `linchpin doctor` shows why");
}
