//! Tests that gates fail if their files have changed.

use std::path::PathBuf;

use super::*;
use crate::tests::{Scratch, write_loop};
use crate::workflow::gates::Approval;

/// A gate that runs a script, one that only tests for a file, and one without protection.
const LOOP: &str = "
agent: {command: [sh, agent.sh]}
gates:
  checked: {command: [sh, check.sh]}
  built: {command: [test, -f, built]}
  free: {command: [sh, free.sh], protect: false}
topics:
  again: {requires: [checked, built, free]}
hats:
  worker: {triggers: [task.start, again], publishes: [loop.complete, again]}
";

struct Scene {
    scratch: Scratch,
    the_loop: Loop,
    project: Project,
}

const RUN: RunId = RunId(1);

impl Scene {
    fn new() -> Self {
        let scratch = Scratch::new();
        let the_loop = write_loop(&scratch, LOOP);
        let project = scratch.project();
        Self { scratch, the_loop, project }
    }

    fn with_script() -> Self {
        let scene = Self::new();
        scene.scratch.file("check.sh", "exit 1").file("free.sh", "exit 1");
        scene
    }

    fn files(&self, run: RunId) -> GateFiles {
        gate_files_of_run(&self.the_loop, run, &self.project, &self.scratch.environment).expect("written")
    }

    fn hat_phase(&self) -> HatPhase {
        let hat = self.the_loop.hat("worker").expect("a hat");
        let mut hat_phase = HatPhase::new(&self.the_loop, hat, (RUN, 1), 1, &self.project, &self.scratch.environment);
        hat_phase.protect(&self.files(RUN));
        hat_phase
    }

    fn changed_gates(&self, hat_phase: &HatPhase) -> Vec<FailedGate> {
        let required = self.the_loop.requires("again");
        hat_phase.changed_gates(
            required,
            &Position::of_hat_phase(hat_phase, 1000),
            &self.project,
            &self.scratch.environment,
        )
    }

    fn approve(&self, hat_phase: &HatPhase, gate: &str) {
        let changes = hat_phase.approvable_changes(&self.scratch.root);
        let (_, text) = changes.into_iter().find(|(id, _)| id == gate).expect("a change");
        let position = Position::of_hat_phase(hat_phase, 1000);
        let approval = Approval {
            workflow: position.workflow_name.clone(),
            gate: gate.to_owned(),
            text,
            phase: position.phase_key(),
            tree_digest: None,
            who: None,
            time: 0,
        };
        Approvals::of(&self.scratch.root, &self.scratch.environment).store(&approval, &position).expect("written");
    }
}

#[test]
fn digests_of_gate_files_are_taken_when_the_run_begins() {
    let scene = Scene::with_script();
    let at_start = scene.files(RUN);
    assert_eq!(at_start.get("check.sh"), Some(&Some(policy::digest("exit 1"))));
    scene.scratch.file("check.sh", "exit 0");
    assert_eq!(scene.files(RUN), at_start);
    // Another run begins with the files as they are now.
    assert_eq!(scene.files(RunId(2)).get("check.sh"), Some(&Some(policy::digest("exit 0"))));
}

#[test]
fn a_missing_file_is_protected_only_if_a_gate_runs_it() {
    let scene = Scene::new();
    let files = scene.files(RUN);
    assert_eq!(files.get("check.sh"), Some(&None));
    // `test -f built` tests for a file that agents are meant to create.
    assert_eq!(files.get("built"), None);
    assert_eq!(files.get("free.sh"), None);
}

#[test]
fn a_damaged_record_is_replaced() {
    let scene = Scene::with_script();
    let at_start = scene.files(RUN);
    let file: PathBuf = scene.scratch.state(&format!("runs/{RUN}.gates.json"));
    crate::tests::write(&file, "{");
    assert_eq!(scene.files(RUN), at_start);
    let stored: GateFiles = serde_json::from_slice(&fs::read(&file).expect("a file")).expect("JSON");
    assert_eq!(stored.get("check.sh"), at_start.get("check.sh"));
}

#[test]
fn a_hat_has_a_rule_against_writing_the_files_of_gates() {
    let scene = Scene::with_script();
    let hat = scene.the_loop.hat("worker").expect("a hat");
    let bare = HatPhase::new(&scene.the_loop, hat, (RUN, 1), 1, &scene.project, &scene.scratch.environment);
    let rules = |hat_phase: &HatPhase| hat_phase.workflow.rules_at("worker").count();
    assert_eq!(rules(&scene.hat_phase()), rules(&bare) + 1);
    let mut without_files = bare.clone();
    without_files.protect(&GateFiles::new());
    assert_eq!(rules(&without_files), rules(&bare));
}

#[test]
fn a_gate_whose_script_was_changed_fails() {
    let scene = Scene::with_script();
    let hat_phase = scene.hat_phase();
    assert_eq!(scene.changed_gates(&hat_phase), []);
    scene.scratch.file("check.sh", "exit 0").file("free.sh", "exit 0").file("built", "");
    let failed_gates = scene.changed_gates(&hat_phase);
    assert_eq!(failed_gates.iter().map(|failed_gate| failed_gate.gate.as_str()).collect::<Vec<_>>(), ["checked"]);
    let short = policy::digest("exit 0").chars().take(12).collect::<String>();
    assert_eq!(
        failed_gates[0].why,
        format!(
            "this gate's command runs files that changed since the run began: `check.sh` (now {short})\nRestore the files, for \
             example with `git checkout -- check.sh`, or ask a person to accept the change: `linchpin approve checked`"
        )
    );
    scene.scratch.file("check.sh", "exit 1");
    assert_eq!(scene.changed_gates(&hat_phase), []);
}

#[test]
fn a_gate_whose_script_was_created_or_deleted_fails() {
    let created = Scene::new();
    let hat_phase = created.hat_phase();
    created.scratch.file("check.sh", "exit 0");
    let why = created.changed_gates(&hat_phase).remove(0).why;
    assert!(why.contains("`check.sh` (did not exist, now ") && why.contains("\nDelete `check.sh`, or"), "{why}");

    let deleted = Scene::with_script();
    let hat_phase = deleted.hat_phase();
    fs::remove_file(deleted.scratch.root.join("check.sh")).expect("removed");
    let why = deleted.changed_gates(&hat_phase).remove(0).why;
    assert!(why.contains("`check.sh` (gone)\nRestore"), "{why}");
}

#[test]
fn an_approval_is_for_the_current_contents_of_the_files() {
    let scene = Scene::with_script();
    let hat_phase = scene.hat_phase();
    scene.scratch.file("check.sh", "exit 0");
    scene.approve(&hat_phase, "checked");
    assert_eq!(scene.changed_gates(&hat_phase), []);
    // The approval counts even if other files change.
    scene.scratch.file("other", "text");
    assert_eq!(scene.changed_gates(&hat_phase), []);
    scene.scratch.file("check.sh", "true");
    assert_eq!(scene.changed_gates(&hat_phase).len(), 1);
}
