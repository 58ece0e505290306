//! Tests how replays derive variables that observers set, also from a journal whose beginning was pruned.

use std::time::Duration;

use engine::EventKind;
use serde_json::Map;
use store::{EventRecord, JournalDetail, RecordOutcome, StateChanges};
use tempfile::TempDir;

use super::*;

struct Scene {
    /// The directory of the project. When this value is dropped, the directory is deleted.
    _directory: TempDir,
    project: Project,
    environment: Environment,
}

/// A project in which prompts are blocked while the variable `release` is set.
fn scene() -> Scene {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let root = directory.path().join("project");
    let rules = root.join(".linchpin/rules");
    std::fs::create_dir_all(&rules).expect("a directory");
    std::fs::write(root.join(".linchpin/config.yml"), "variables: {release: false}\n").expect("a file");
    let rule = "---\non: prompt\nwhen: release\naction: block\n---\nFrozen.\n";
    std::fs::write(rules.join("frozen.md"), rule).expect("a file");
    // The environment ignores the configuration of this machine, and its home directory does not exist.
    let environment = Environment::new(|_| None, directory.path().join("temp"), root.clone());
    let project = Project::at(&root, &environment);
    Scene { _directory: directory, project, environment }
}

impl Scene {
    fn store(&self) -> Store {
        let options = store::StoreOptions { busy_timeout: Duration::from_secs(10), now: 0, run: None };
        Store::open(&self.project.journal_path(&self.environment), options).expect("a journal")
    }

    fn record(&self, time: i64, changes: &StateChanges) {
        let event = Event {
            kind: EventKind::Prompt,
            name: "UserPromptSubmit".to_owned(),
            session: "s".to_owned(),
            cwd: self.project.root.to_string_lossy().into_owned(),
            ..Event::unknown("claude", time)
        };
        let (none, verdict) = (Map::new(), Verdict::empty());
        let record = EventRecord {
            event: &event,
            root: "/",
            verdict: &verdict,
            facts: &none,
            fields: &none,
            changes,
            detail: JournalDetail::Lean,
        };
        let mut store = self.store();
        let judgement = store.begin(SessionKey { agent: "claude", session: "s" }).expect("a session");
        assert!(matches!(judgement.record(&record), Ok(RecordOutcome::Stored(_))));
    }

    /// The ids of the events whose verdict changed, and the number of events with each outcome.
    fn replay(&self, scope: &ReplayScope) -> (Vec<i64>, ReplayTally) {
        let policy = policy_of_project(&self.project, &self.environment);
        assert_eq!(policy.broken, []);
        let mut replay = Replay::new(&self.project, policy, self.store(), &self.environment);
        let mut changed = Vec::new();
        let report = |entry: &JournalEntry, outcome: &ReplayOutcome| {
            changed.extend(matches!(outcome, ReplayOutcome::Changed(_)).then_some(entry.id.0));
        };
        let tally = replay.run(&self.store(), scope, report).expect("a replay");
        (changed, tally)
    }
}

fn setting(value: bool) -> StateChanges {
    let mut changes = StateChanges::default();
    changes.set("release", value);
    changes
}

#[test]
fn variables_are_replayed_from_the_events_that_set_them() {
    let scene = scene();
    scene.record(10, &StateChanges::default());
    scene.record(20, &setting(true));
    scene.record(30, &StateChanges::default());
    let mut unset = StateChanges::default();
    unset.unset("release");
    scene.record(40, &unset);
    scene.record(50, &StateChanges::default());
    let (changed, tally) = scene.replay(&ReplayScope::default());
    assert_eq!(changed, [2, 3]);
    assert_eq!(tally, ReplayTally { events: 5, same: 3, stricter: 2, milder: 0, undecidable: 0 });
    // Events before `since` are not reported, but the variables that they set are derived all the same.
    let (changed, tally) = scene.replay(&ReplayScope { since: Some(30), ..ReplayScope::default() });
    assert_eq!((changed, tally.events), (vec![3], 3));
}

#[test]
fn variables_of_pruned_events_are_unknown() {
    let scene = scene();
    scene.record(10, &setting(true));
    scene.record(20, &StateChanges::default());
    scene.record(30, &setting(false));
    scene.store().prune(20).expect("a journal");
    let (changed, tally) = scene.replay(&ReplayScope::default());
    assert_eq!(changed, [0; 0]);
    assert_eq!(tally, ReplayTally { events: 2, same: 1, stricter: 0, milder: 0, undecidable: 1 });
}
