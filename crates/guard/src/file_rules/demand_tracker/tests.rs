//! Tests how a demand is repeated, given up, promised, acknowledged, met by a command, and no longer made.

use engine::file_rules::{CommandAction, FilePattern, FileRule, FileRuleKind, Refire, RunFor, Status, TriggeringFile};
use engine::rules::{Detector, Rule};
use path::pattern::Captures;
use std::time::Duration;

use super::*;
use crate::tests::{Scratch, write};

/// A rule that demands `x.md` beside every changed file, and its project.
struct Scene {
    scratch: Scratch,
    rule: Rule,
    baseline_id: BaselineId,
}

impl Scene {
    fn new() -> Self {
        let file = FileRule {
            kind: FileRuleKind::Created(Vec::<FilePattern>::new()),
            exclude: Vec::new(),
            scope: engine::file_rules::ChangeScope::default(),
            refire: Refire::Files,
            command: None,
        };
        let rule = Rule {
            title: Some("Docs follow code".to_owned()),
            max_holds: Some(2),
            ..Rule::synthetic("docs".to_owned(), "docs.md", Detector::Files(Box::new(file)), String::new())
        };
        let scratch = Scratch::new();
        scratch.file("a.rs", "one").file("b.rs", "one");
        Self { scratch, rule, baseline_id: "main".to_owned().into() }
    }

    /// The same scene with a modified rule.
    fn with(mut self, change: impl FnOnce(&mut Rule, &mut FileRule)) -> Self {
        let mut file = self.rule.as_file_rule().expect("a file rule").clone();
        change(&mut self.rule, &mut file);
        self.rule.detect = Detector::Files(Box::new(file));
        self
    }

    fn with_command(self) -> Self {
        self.with(|_, file| {
            file.command = Some(CommandAction {
                text: "make docs".to_owned(),
                words: vec!["make".to_owned()],
                run_for: RunFor::AllMatches,
                timeout: Duration::from_secs(1),
            });
        })
    }

    fn queue(&self) -> Queue {
        Queue::of(&self.scratch.project(), &self.scratch.environment)
    }

    /// The tracker of session `s`, whose agent sent no message.
    fn demand_tracker(&self) -> DemandTracker {
        self.tracker_with_message("s", None)
    }

    fn tracker_with_message(&self, session: &str, message: Option<&str>) -> DemandTracker {
        DemandTracker::new(&self.scratch.root, self.queue(), session, "now".to_owned(), message)
    }

    fn register(&self, file_match: &FileMatch) -> DemandState {
        self.register_with(&self.demand_tracker(), file_match)
    }

    fn register_with(&self, demand_tracker: &DemandTracker, file_match: &FileMatch) -> DemandState {
        let demand = self.rule.possible_demand(file_match).expect("a file rule");
        demand_tracker.register(&demand, &self.baseline_id).expect("it is written to the queue")
    }

    fn demand(&self, file_match: &FileMatch, asked_before: u32) -> OpenDemand {
        self.demand_with_notice(file_match, asked_before, None)
    }

    fn demand_with_notice(&self, file_match: &FileMatch, times_asked: u32, release_notice: Option<&str>) -> OpenDemand {
        let (rule, file_match) = (self.rule.clone(), file_match.clone());
        let release_notice = release_notice.map(str::to_owned);
        OpenDemand::new(Demand { rule, file_match, release_notice, times_asked }, self.baseline_id.clone())
    }

    /// Simulates one stop of this session: the demand is judged, recorded, and shown to the agent.
    fn stop(&self, session: &str, file_match: &FileMatch) -> DemandState {
        let demand_tracker = self.tracker_with_message(session, None);
        let state = self.register_with(&demand_tracker, file_match);
        self.show(&demand_tracker, file_match, state.times_asked);
        state
    }

    fn show(&self, demand_tracker: &DemandTracker, file_match: &FileMatch, asked_before: u32) {
        let demands = [self.demand(file_match, asked_before)];
        demand_tracker.count_and_close(&demands, &Variables::new(), &["docs".to_owned()], true);
    }

    fn hash(&self, file_match: &FileMatch) -> String {
        demand_hash("docs", file_match.trigger_files(), &self.baseline_id.id)
    }

    fn entry(&self, file_match: &FileMatch) -> QueueEntry {
        self.queue().find_or_discard("docs", &self.hash(file_match)).expect("an entry")
    }

    fn acknowledge(&self, file_match: &FileMatch) -> Result<usize, String> {
        let demand = self.rule.possible_demand(file_match).expect("a file rule");
        self.demand_tracker().acknowledge(&demand, &self.baseline_id, "a person says so")
    }
}

/// A match in which each of these files was changed, but the files in `missing` were not changed with it.
fn lacking(files: &[&str], missing: &[&str]) -> FileMatch {
    let trigger = |path: &&str| TriggeringFile {
        path: (*path).to_owned(),
        status: Status::Modified,
        captures: Captures::default(),
        missing_files: missing.iter().map(|&missing| missing.to_owned()).collect(),
        safety: Vec::new(),
    };
    FileMatch { triggers: files.iter().map(trigger).collect(), ..FileMatch::default() }
}

fn a() -> FileMatch {
    lacking(&["a.rs"], &["a.md"])
}

fn answered_files(state: &DemandState) -> Vec<&str> {
    state.answered_files.iter().map(String::as_str).collect()
}

fn open(shown: u32) -> DemandState {
    DemandState { times_asked: shown, ..DemandState::default() }
}

fn failed_command() -> CommandResult {
    let result = ActionResult { kind: "command".to_owned(), exit_code: Some(1), ..answer_result("") };
    CommandResult { is_passed: false, result, notices: Vec::new() }
}

// Demands that are repeated and given up.

#[test]
fn a_new_demand_is_queued_as_open_and_not_yet_shown() {
    let scene = Scene::new();
    assert_eq!(scene.register(&a()), open(0));
    let entry = scene.entry(&a());
    assert_eq!((entry.status, entry.shown, entry.session.as_str()), (QueueStatus::Queued, 0, "s"));
    assert_eq!((entry.trigger_files, entry.expected_files), (vec!["a.rs".to_owned()], vec!["a.md".to_owned()]));
}

#[test]
fn a_demand_is_given_up_after_its_maximum_of_holds_and_one_warning() {
    let scene = Scene::new();
    let asked: Vec<(u32, bool)> = (0..5)
        .map(|_| {
            let state = scene.stop("s", &a());
            (state.times_asked, state.is_given_up)
        })
        .collect();
    // `max_holds` is 2: the engine holds the agent if it was asked 0 or 1 times, lets it stop after 2 times, and is
    // silent after 3 or more.
    assert_eq!(asked, [(0, false), (1, false), (2, false), (3, true), (4, true)]);
}

#[test]
fn a_warning_is_given_once() {
    let scene = Scene::new().with(|rule, _| rule.action = Level::Warn);
    assert!(!scene.stop("s", &a()).is_given_up);
    assert!(scene.stop("s", &a()).is_given_up);
}

#[test]
fn progress_on_a_demand_restarts_its_count() {
    let scene = Scene::new();
    scene.stop("s", &a());
    assert_eq!(scene.register(&a()).times_asked, 1);
    // The changed file is changed again.
    scene.scratch.file("a.rs", "two");
    assert_eq!(scene.stop("s", &a()).times_asked, 0);
    assert_eq!(scene.register(&a()).times_asked, 1);
    // Fewer files are missing.
    let before = lacking(&["b.rs"], &["b.md", "b.txt"]);
    scene.stop("s", &before);
    assert_eq!(scene.register(&before).times_asked, 1);
    assert_eq!(scene.register(&lacking(&["b.rs"], &["b.md"])).times_asked, 0);
}

#[test]
fn sessions_and_subagents_are_counted_separately() {
    let scene = Scene::new();
    scene.stop("s", &a());
    scene.stop("s", &a());
    let times_asked = |demand_tracker: &DemandTracker| scene.register_with(demand_tracker, &a()).times_asked;
    assert_eq!(times_asked(&scene.demand_tracker()), 2);
    assert_eq!(times_asked(&scene.tracker_with_message("other", None)), 0);
    let subagent = scene.demand_tracker().for_subagent("1");
    assert_eq!(times_asked(&subagent), 0);
    scene.show(&subagent, &a(), 0);
    assert_eq!(times_asked(&scene.demand_tracker().for_subagent("1")), 1);
    assert_eq!(times_asked(&scene.demand_tracker().for_subagent("2")), 0);
    assert_eq!(times_asked(&scene.demand_tracker()), 2);
    assert_eq!(scene.entry(&a()).shown, 3, "counted for all sessions together");
}

#[test]
fn another_baseline_is_another_demand() {
    let mut scene = Scene::new();
    scene.stop("s", &a());
    scene.baseline_id = "later".to_owned().into();
    assert_eq!(scene.register(&a()).times_asked, 0);
}

#[test]
fn a_met_demand_is_not_written_to_the_queue() {
    let scene = Scene::new();
    for file_match in [FileMatch::default(), FileMatch { is_satisfied_by_safety: true, ..a() }] {
        assert_eq!(scene.register(&file_match), DemandState::default());
        assert_eq!(scene.queue().find_or_discard("docs", &scene.hash(&file_match)), None);
    }
}

#[test]
fn a_demand_that_cannot_be_queued_is_not_made() {
    let scene = Scene::new();
    write(&scene.scratch.root.join(".linchpin/tmp/rules/queue"), "no directory");
    write(&scene.scratch.state("tmp/rules/queue"), "no directory");
    let file_match = a();
    let demand = scene.rule.possible_demand(&file_match).expect("a file rule");
    let demand_tracker = scene.demand_tracker();
    assert_eq!(demand_tracker.register(&demand, &scene.baseline_id), None);
    let problem = demand_tracker.take_problem().expect("a problem for the person");
    assert!(problem.contains("cannot be written"), "{problem}");
    assert_eq!(demand_tracker.take_problem(), None);
}

// Promises.

#[test]
fn a_promise_by_id_or_title_answers_a_demand_that_an_agent_may_answer() {
    for promise in ["docs", "DOCS", "Docs follow code", "✓ docs"] {
        let scene = Scene::new();
        scene.stop("s", &a());
        let promising = scene.tracker_with_message("s", Some(&format!("Done. <promise>{promise}</promise>")));
        assert_eq!(answered_files(&scene.register_with(&promising, &a())), ["a.rs"], "{promise}");
        let entry = scene.entry(&a());
        assert_eq!(entry.status, QueueStatus::Passed);
        assert_eq!(entry.action_result.and_then(|result| result.message).as_deref(), Some("promised by the agent"));
        // The answer counts for all sessions.
        assert_eq!(answered_files(&scene.register_with(&scene.tracker_with_message("other", None), &a())), ["a.rs"]);
    }
}

#[test]
fn a_promise_does_not_answer_a_demand_that_only_a_person_or_a_command_can() {
    let promise = Some("<promise>docs</promise>");
    for scene in [Scene::new().with(|rule, _| rule.ack = AckBy::Human), Scene::new().with_command()] {
        assert_eq!(scene.register_with(&scene.tracker_with_message("s", promise), &a()), open(0));
        assert_eq!(scene.entry(&a()).status, QueueStatus::Queued);
    }
}

#[test]
fn a_promise_of_another_rule_answers_nothing() {
    let scene = Scene::new();
    for message in ["<promise>doc</promise>", "docs", "`<promise>docs</promise>`"] {
        assert_eq!(scene.register_with(&scene.tracker_with_message("s", Some(message)), &a()), open(0), "{message}");
    }
}

// Acknowledgements, and changes after which a demand is made again.

#[test]
fn an_acknowledgement_answers_each_open_file_once() {
    let scene = Scene::new();
    let both = lacking(&["a.rs", "b.rs"], &["x.md"]);
    assert_eq!(scene.acknowledge(&both), Ok(2));
    assert_eq!(scene.acknowledge(&both), Ok(0));
    assert_eq!(answered_files(&scene.register(&both)), ["a.rs", "b.rs"]);
    assert_eq!(scene.acknowledge(&FileMatch::default()), Ok(0));
}

#[test]
fn a_later_file_gets_a_demand_of_its_own() {
    let scene = Scene::new();
    assert_eq!(scene.acknowledge(&a()), Ok(1));
    let both = lacking(&["a.rs", "b.rs"], &["x.md"]);
    let state = scene.register(&both);
    assert_eq!((answered_files(&state), state.times_asked), (vec!["a.rs"], 0));
    assert_eq!(scene.entry(&lacking(&["b.rs"], &["x.md"])).trigger_files, ["b.rs"]);
    assert_eq!(scene.acknowledge(&both), Ok(1));
}

#[test]
fn new_contents_repeat_a_demand_only_if_the_rule_says_so_or_runs_a_command() {
    for (scene, asks_again) in [
        (Scene::new(), false),
        (Scene::new().with(|_, file| file.refire = Refire::Content), true),
        (Scene::new().with_command(), true),
    ] {
        assert_eq!(scene.acknowledge(&a()), Ok(1));
        assert_eq!(answered_files(&scene.register(&a())), ["a.rs"]);
        scene.scratch.file("a.rs", "two");
        assert_eq!(scene.register(&a()).answered_files.is_empty(), asks_again);
        // The answer still counts for the contents for which it was given.
        scene.scratch.file("a.rs", "one");
        assert_eq!(answered_files(&scene.register(&a())), ["a.rs"]);
    }
}

#[test]
fn an_answer_counts_for_the_other_baseline_that_it_names() {
    let mut scene = Scene::new();
    scene.baseline_id = BaselineId { id: "start".to_owned(), also: Some("main".to_owned()) };
    assert_eq!(scene.acknowledge(&a()), Ok(1));
    scene.baseline_id = "main".to_owned().into();
    assert_eq!(answered_files(&scene.register(&a())), ["a.rs"]);
    scene.baseline_id = "elsewhere".to_owned().into();
    assert_eq!(scene.register(&a()), open(0));
}

#[test]
fn a_damaged_answer_repeats_the_demand() {
    let scene = Scene::new();
    assert_eq!(scene.acknowledge(&a()), Ok(1));
    let tmp = scene.scratch.project().tmp(&scene.scratch.environment);
    write(&tmp.join("rules/queue").join(format!("{}.passed.json", scene.hash(&a()))), "{");
    let demand_tracker = scene.demand_tracker();
    assert_eq!(scene.register_with(&demand_tracker, &a()), open(0));
    assert_eq!(demand_tracker.queue().take_problems().len(), 1);
    assert_eq!(scene.acknowledge(&a()), Ok(1));
    assert_eq!(answered_files(&scene.register(&a())), ["a.rs"]);
}

// Writes to the queue after a judgement is recorded.

#[test]
fn a_demand_that_was_not_shown_does_not_count() {
    let scene = Scene::new();
    let demand_tracker = scene.demand_tracker();
    scene.register_with(&demand_tracker, &a());
    let demands = [scene.demand(&a(), 0)];
    demand_tracker.count_and_close(&demands, &Variables::new(), &["docs".to_owned()], false);
    assert_eq!(scene.register(&a()).times_asked, 0);
    assert_eq!(scene.entry(&a()).shown, 0);
}

#[test]
fn a_released_demand_has_failed_and_stays_open() {
    let scene = Scene::new();
    let demand_tracker = scene.demand_tracker();
    scene.register_with(&demand_tracker, &a());
    let demand = scene.demand_with_notice(&a(), 2, Some("it lets go"));
    demand_tracker.count_and_close(&[demand], &Variables::new(), &["docs".to_owned()], true);
    assert_eq!(scene.entry(&a()).status, QueueStatus::Failed);
    assert_eq!(scene.register(&a()), DemandState { times_asked: 3, is_given_up: true, ..DemandState::default() });
    // In another session, counting starts at zero, and the demand is open.
    scene.stop("other", &a());
    assert_eq!(scene.entry(&a()).status, QueueStatus::Queued);
}

/// The session's variables after these demands were stored.
fn variables_after_storing(scene: &Scene, demands: &[OpenDemand], before: &Variables, judged: &[&str]) -> Variables {
    let judged: Vec<String> = judged.iter().map(|&rule| rule.to_owned()).collect();
    let mut changes = StateChanges::default();
    scene.demand_tracker().remember_open_hashes(demands, before, &judged, &mut changes);
    let mut variables = before.clone();
    for (name, value) in changes.session_variables {
        match value {
            Some(value) => drop(variables.insert(name, value)),
            None => drop(variables.remove(&name)),
        }
    }
    variables
}

#[test]
fn a_session_stores_which_demand_of_a_rule_is_open() {
    let scene = Scene::new();
    scene.stop("s", &a());
    let demands = [scene.demand(&a(), 0)];
    let variables = variables_after_storing(&scene, &demands, &Variables::new(), &["docs"]);
    let open = open_queue_entries(&scene.queue(), &variables);
    assert_eq!(open.iter().map(|entry| entry.rule_name.as_str()).collect::<Vec<_>>(), ["docs"]);
    // If a rule was not judged at this event, its demand stays open.
    assert_eq!(variables_after_storing(&scene, &[], &variables, &[]), variables);
    assert_eq!(variables_after_storing(&scene, &[], &variables, &["docs"]), Variables::new());
}

#[test]
fn a_demand_that_is_answered_is_not_among_the_open_ones() {
    let scene = Scene::new();
    scene.stop("s", &a());
    let demands = [scene.demand(&a(), 0)];
    let variables = variables_after_storing(&scene, &demands, &Variables::new(), &["docs"]);
    scene.acknowledge(&a()).expect("written");
    assert_eq!(open_queue_entries(&scene.queue(), &variables), []);
}

#[test]
fn a_demand_that_is_no_longer_made_is_skipped() {
    for (judged, status) in [(&["docs".to_owned()][..], QueueStatus::Skipped), (&[], QueueStatus::Queued)] {
        let scene = Scene::new();
        scene.stop("s", &a());
        let demands = [scene.demand(&a(), 0)];
        let before = variables_after_storing(&scene, &demands, &Variables::new(), &["docs"]);
        scene.demand_tracker().count_and_close(&[], &before, judged, true);
        assert_eq!(scene.entry(&a()).status, status, "{judged:?}");
    }
}

#[test]
fn an_answered_demand_stays_answered_when_it_is_no_longer_made() {
    let scene = Scene::new();
    scene.stop("s", &a());
    let demands = [scene.demand(&a(), 0)];
    let before = variables_after_storing(&scene, &demands, &Variables::new(), &["docs"]);
    scene.acknowledge(&a()).expect("written");
    scene.demand_tracker().count_and_close(&[], &before, &["docs".to_owned()], true);
    assert_eq!(scene.entry(&a()).status, QueueStatus::Passed);
}

// Demands with a command.

#[test]
fn a_command_that_passes_answers_the_files_as_they_are_then() {
    let scene = Scene::new().with_command();
    let demand_tracker = scene.demand_tracker();
    scene.register_with(&demand_tracker, &a());
    let passed = CommandResult { is_passed: true, ..failed_command() };
    scene.scratch.file("a.rs", "formatted by the command");
    demand_tracker.record_command_result(&scene.demand(&a(), 0), &passed, Some("tree".to_owned()));
    assert_eq!(answered_files(&scene.register(&a())), ["a.rs"]);
    assert_eq!(scene.entry(&a()).status, QueueStatus::Passed);
}

#[test]
fn a_command_that_failed_is_not_run_again_until_something_changes() {
    let scene = Scene::new().with_command();
    let demand_tracker = scene.demand_tracker();
    scene.register_with(&demand_tracker, &a());
    let demand = scene.demand(&a(), 0);
    let has_result = |digest: Option<&str>| demand_tracker.earlier_failure(&demand, digest).is_some();
    assert!(!has_result(Some("tree")), "it was never run");
    demand_tracker.record_command_result(&demand, &failed_command(), Some("tree".to_owned()));
    assert!(has_result(Some("tree")));
    assert!(!has_result(Some("other tree")));
    assert!(!has_result(None), "without git, changes are unknown");
    assert_eq!(scene.entry(&a()).status, QueueStatus::Failed);
    assert!(scene.register(&a()).answered_files.is_empty());
}

#[test]
fn a_failed_command_stays_failed_while_its_demand_is_shown() {
    let scene = Scene::new().with_command();
    let demand_tracker = scene.demand_tracker();
    scene.register_with(&demand_tracker, &a());
    demand_tracker.record_command_result(&scene.demand(&a(), 0), &failed_command(), Some("tree".to_owned()));
    scene.show(&demand_tracker, &a(), 0);
    assert_eq!(scene.entry(&a()).status, QueueStatus::Failed);
    assert_eq!(scene.register(&a()).times_asked, 1);
}

#[test]
fn a_dry_run_answers_as_usual_and_writes_nothing() {
    let scene = Scene::new();
    let dry = DemandTracker::new(
        &scene.scratch.root,
        scene.queue().for_dry_run(true),
        "s",
        "now".to_owned(),
        Some("<promise>docs</promise>"),
    );
    assert_eq!(answered_files(&scene.register_with(&dry, &a())), ["a.rs"]);
    assert_eq!(scene.queue().find_or_discard("docs", &scene.hash(&a())), None);
    assert_eq!(scene.register(&a()), open(0));
}
