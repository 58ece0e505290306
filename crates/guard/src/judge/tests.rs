//! Tests how the results of several policies become one verdict, and which consequences this verdict has.

use std::ffi::OsString;
use std::fs;

use engine::event::{FileAccess, ToolCall};
use engine::observers::VariableChanges;
use engine::{Decision, Finding, Level, NotEnforced, SectionKind};
use path::Access;
use policy::{BrokenFile, CompiledPolicy};
use serde_json::{Value, json};
use store::{JournalFilter, StateChanges};

use super::demands::DecisionWithDemands;
use super::load::{ApplicablePolicy, PolicyOrigin};
use super::observe::Observed;
use super::*;
use crate::grants::{AllowanceSpan, Pause};
use crate::session::SessionNotice;
use crate::tests::{Scratch, active, before_call, event, finding, shell_call, workflow, write};

// The results of several policies are combined: `CombinedVerdict`.

/// A project for tests that combine invented results of policies in a [`CombinedVerdict`].
struct Policies {
    scratch: Scratch,
    project: Project,
    policy: Arc<CompiledPolicy>,
}

fn nested() -> PolicyOrigin {
    PolicyOrigin::Nested("sub".into())
}

/// A decision without demands.
fn decided(findings: Vec<Finding>) -> DecisionWithDemands {
    let decision = Decision {
        verdict: Verdict::of(findings),
        holds: Vec::new(),
        demands: Vec::new(),
        pace_updates: Vec::new(),
        judged_file_rule_ids: Vec::new(),
        has_unjudged_file_rule: false,
        skipped: Vec::new(),
        undecided: Vec::new(),
        considered: Vec::new(),
    };
    DecisionWithDemands { decision, judged_file_rules: None, notices: Vec::new(), changes: StateChanges::default() }
}

fn approving() -> DecisionWithDemands {
    let mut result = decided(vec![finding("safe", Level::Allow)]);
    result.decision.verdict.approved = true;
    result
}

fn noticing(notices: Vec<SessionNotice>) -> DecisionWithDemands {
    DecisionWithDemands { notices, ..decided(Vec::new()) }
}

fn set(variables: &[(&str, Value)]) -> Observed {
    let changes: VariableChanges =
        variables.iter().map(|(name, value)| ((*name).to_owned(), Some(value.clone()))).collect();
    Observed { changes, ..Observed::default() }
}

impl Policies {
    fn new() -> Self {
        Self::configured("")
    }

    fn configured(config: &str) -> Self {
        let scratch = Scratch::new();
        scratch.file(".linchpin/config.yml", config);
        let project = scratch.project();
        let policy = project.compiled_policy_read_only(&scratch.environment);
        assert_eq!(policy.broken, []);
        Self { scratch, project, policy: Arc::new(policy) }
    }

    fn combined<'a>(
        &'a self,
        event: &Event,
        is_first_event: bool,
        state: Option<&'a StoredState>,
    ) -> CombinedVerdict<'a> {
        CombinedVerdict::new(event, is_first_event, state, &self.policy.config)
    }

    /// Adds a policy of this origin, with these results, to the combined verdict.
    fn add(
        &self,
        combined: &mut CombinedVerdict<'_>,
        origin: PolicyOrigin,
        observed: Observed,
        result: DecisionWithDemands,
    ) {
        self.add_policy(combined, origin, &self.policy, observed, Ok(result));
    }

    fn add_policy(
        &self,
        combined: &mut CombinedVerdict<'_>,
        origin: PolicyOrigin,
        policy: &CompiledPolicy,
        observed: Observed,
        result: Result<DecisionWithDemands, Failure>,
    ) {
        let Scratch { environment, .. } = &self.scratch;
        let store = self.project.journal_path(environment);
        let session = SituationBuilder::for_hook(&self.project, Arc::clone(&self.policy), None, store, environment);
        let event = Arc::new(self.scratch.event(EventKind::BeforeTool, 1000));
        let (situation, facts) = session.situation_of_policy(&self.project, policy, &event, None, None);
        combined.add(&ApplicablePolicy { origin, project: &self.project, policy, facts, situation }, observed, result);
    }

    /// The verdict for as many policies as there are items in `decided`: each policy has one of these results.
    fn verdict(&self, decided: Vec<DecisionWithDemands>) -> Verdict {
        let mut combined = self.combined(&event(EventKind::BeforeTool), false, None);
        for result in decided {
            self.add(&mut combined, PolicyOrigin::Project, Observed::default(), result);
        }
        combined.into_verdict(|_| None).0
    }
}

#[test]
fn the_strictest_of_several_policies_decides() {
    let policies = Policies::new();
    for first in Level::ALL {
        for second in Level::ALL {
            let verdict =
                policies.verdict(vec![decided(vec![finding("a", first)]), decided(vec![finding("b", second)])]);
            assert_eq!(verdict.level, first.max(second), "{first:?} and {second:?}");
            assert_eq!(verdict.findings.len(), 2, "no finding is lost");
            assert!(verdict.findings[0].level >= verdict.findings[1].level, "the strictest comes first");
        }
    }
    assert_eq!(policies.verdict(Vec::new()), Verdict::empty());
}

#[test]
fn a_call_is_approved_only_if_no_policy_is_stricter() {
    let policies = Policies::new();
    assert!(policies.verdict(vec![approving(), decided(Vec::new())]).approved);
    assert!(policies.verdict(vec![decided(Vec::new()), approving()]).approved);
    assert!(
        !policies.verdict(vec![decided(vec![finding("a", Level::Allow)])]).approved,
        "allowed, but not by an approval"
    );
    for level in [Level::Warn, Level::Ask, Level::Block] {
        assert!(!policies.verdict(vec![approving(), decided(vec![finding("b", level)])]).approved, "{level:?}");
    }
}

#[test]
fn a_policy_that_cannot_be_judged_asks_and_the_others_still_count() {
    let policies = Policies::new();
    for (other, level) in [(Level::Allow, Level::Ask), (Level::Block, Level::Block)] {
        let mut combined = policies.combined(&event(EventKind::BeforeTool), false, None);
        let failed = Err(Failure::UnreadablePolicy);
        policies.add_policy(&mut combined, nested(), &policies.policy, Observed::default(), failed);
        policies.add(&mut combined, PolicyOrigin::Project, Observed::default(), decided(vec![finding("a", other)]));
        let verdict = combined.into_verdict(|_| None).0;
        assert_eq!(verdict.level, level);
        assert!(verdict.findings.contains(&Failure::UnreadablePolicy.finding()));
    }
}

#[test]
fn a_broken_file_causes_a_notice_at_session_start_and_at_an_ask() {
    let policies = Policies::new();
    let mut broken = policies.project.compiled_policy_read_only(&policies.scratch.environment);
    broken.broken = vec![BrokenFile { problem: "x.md:1:1: no".to_owned(), has_last_good: false, is_partial: false }];
    for (is_first_event, level, has_notice) in [
        (true, Level::Allow, true),
        (false, Level::Allow, false),
        (false, Level::Warn, false),
        (false, Level::Ask, true),
        (false, Level::Block, false),
    ] {
        let mut combined = policies.combined(&event(EventKind::BeforeTool), is_first_event, None);
        let result = Ok(decided(vec![finding("a", level)]));
        policies.add_policy(&mut combined, PolicyOrigin::Project, &broken, Observed::default(), result);
        let notices = combined.into_verdict(|_| None).0.notices;
        let expected: &[&str] =
            if has_notice { &["broken policy file, the file is ignored: x.md:1:1: no"] } else { &[] };
        assert_eq!(notices, expected, "{is_first_event} {level:?}");
    }
}

#[test]
fn untrusted_parts_cause_a_notice_at_session_start() {
    let policies = Policies::new();
    let mut untrusted = policies.project.compiled_policy_read_only(&policies.scratch.environment);
    untrusted.untrusted = vec!["it waits".to_owned()];
    for (is_first_event, expected) in [(true, &["it waits"][..]), (false, &[])] {
        let mut combined = policies.combined(&event(EventKind::Prompt), is_first_event, None);
        let result = Ok(decided(Vec::new()));
        policies.add_policy(&mut combined, PolicyOrigin::Project, &untrusted, Observed::default(), result);
        assert_eq!(combined.into_verdict(|_| None).0.notices, expected);
    }
}

#[test]
fn a_notice_once_a_session_is_not_repeated_for_each_policy() {
    let policies = Policies::new();
    let notices = || vec![SessionNotice::Once("no git here".to_owned()), SessionNotice::Always("busy".to_owned())];
    let judged_with = |state: &StoredState| {
        let mut combined = policies.combined(&event(EventKind::Stop), false, Some(state));
        for origin in [PolicyOrigin::Project, nested()] {
            policies.add(&mut combined, origin, Observed::default(), noticing(notices()));
        }
        let (verdict, consequences) = combined.into_verdict(|_| None);
        (verdict.notices, consequences.changes.session_variables)
    };
    let mut state = StoredState::default();
    let (notices, variables) = judged_with(&state);
    assert_eq!(notices, ["no git here", "busy", "busy"]);
    for (name, value) in variables {
        state.variables.insert(name, value.expect("a value"));
    }
    assert_eq!(judged_with(&state).0, ["busy", "busy"]);
}

#[test]
fn a_nested_policy_does_not_set_the_projects_variables() {
    let policies = Policies::configured("variables: {release: false}\n");
    let mut combined = policies.combined(&event(EventKind::Prompt), false, None);
    let add = |combined: &mut CombinedVerdict<'_>, origin, observed| {
        policies.add(combined, origin, observed, decided(Vec::new()));
    };
    add(&mut combined, PolicyOrigin::Project, set(&[("release", json!(false)), ("mine", json!(1))]));
    add(&mut combined, nested(), set(&[("release", json!(true)), ("mine", json!(2)), ("its", json!(3))]));
    add(&mut combined, nested(), set(&[("its", json!(4))]));
    let variables = combined.into_verdict(|_| None).1.changes.session_variables;
    let value_of = |name: &str| variables.get(name).cloned().flatten();
    assert_eq!(
        (value_of("release"), value_of("mine"), value_of("its")),
        (Some(json!(false)), Some(json!(1)), Some(json!(3)))
    );
}

#[test]
fn a_nested_policy_does_not_set_an_unset_variable_of_the_project() {
    let policies = Policies::configured("variables: {release: false}\n");
    let mut combined = policies.combined(&event(EventKind::Prompt), false, None);
    policies.add(&mut combined, nested(), set(&[("release", json!(true))]), decided(Vec::new()));
    assert!(combined.into_verdict(|_| None).1.changes.session_variables.is_empty());
}

#[test]
fn a_workflow_stores_its_own_variables_and_passes_on_others() {
    let policies = Policies::new();
    let mut declaring = workflow("work");
    declaring.variables.insert("rounds".to_owned(), "0".to_owned());
    let origin = PolicyOrigin::Workflow(Arc::new(active(declaring)));
    let mut combined = policies.combined(&event(EventKind::Prompt), false, None);
    policies.add(&mut combined, origin, set(&[("rounds", json!(1)), ("mood", json!("good"))]), decided(Vec::new()));
    let changes = combined.into_verdict(|_| None).1.changes;
    assert_eq!(changes.workflow_variables, VariableChanges::from([("rounds".to_owned(), Some(json!(1)))]));
    assert_eq!(changes.session_variables, VariableChanges::from([("mood".to_owned(), Some(json!("good")))]));
}

#[test]
fn the_reason_why_nothing_is_enforced_considers_all_findings() {
    let policies = Policies::new();
    let mut combined = policies.combined(&event(EventKind::BeforeTool), false, None);
    for (rule, level) in [("a", Level::Block), ("b", Level::Ask)] {
        policies.add(&mut combined, PolicyOrigin::Project, Observed::default(), decided(vec![finding(rule, level)]));
    }
    let verdict = combined.into_verdict(|whole| (whole.findings.len() == 2).then_some(NotEnforced::Paused)).0;
    assert_eq!((verdict.level, verdict.not_enforced), (Level::Block, Some(NotEnforced::Paused)));
}

#[test]
fn an_unmatched_promise_gets_a_hint_if_the_stop_is_held() {
    let policies = Policies::new();
    let stop = Event { message: Some("<promise>dcos</promise>".to_owned()), ..event(EventKind::Stop) };
    let demand = || Finding { section: Some(SectionKind::Demand), ..finding("docs", Level::Block) };
    let context = |finding: Finding, not_enforced: Option<NotEnforced>| {
        let mut combined = policies.combined(&stop, false, None);
        policies.add(&mut combined, PolicyOrigin::Project, Observed::default(), decided(vec![finding]));
        combined.into_verdict(|_| not_enforced).0.agent_texts
    };
    let expected = "No open demand matches `<promise>dcos</promise>`. Open demands: `<promise>docs</promise>`.";
    assert_eq!(context(demand(), None), [expected]);
    assert_eq!(context(demand(), Some(NotEnforced::Observe)), [""; 0]);
    assert_eq!(context(Finding { level: Level::Warn, ..demand() }, None), [""; 0]);
    assert_eq!(context(Finding { section: Some(SectionKind::HumanAckDemand), ..demand() }, None), [""; 0]);
}

// Calls that cannot be judged, because a field is missing.

#[test]
fn a_call_without_tool_command_or_file_cannot_be_judged() {
    let call = |name: &str| ToolCall { name: name.to_owned(), ..ToolCall::default() };
    let with_file = |name: &str| ToolCall { files: vec![FileAccess::new("/a".to_owned(), Access::Read)], ..call(name) };
    let with_shell = |shell: ShellText| ToolCall { shell: Some(shell), ..call("Bash") };
    let missing = |tool: Option<ToolCall>| missing_in_call(&Event { tool, ..event(EventKind::BeforeTool) });
    for (tool, expected) in [
        (None, Some(Failure::MissingTool)),
        (Some(call("")), Some(Failure::MissingTool)),
        (Some(with_shell(ShellText::Missing)), Some(Failure::MissingCommand)),
        (Some(with_shell(ShellText::Command(String::new()))), None),
        (Some(shell_call("ls")), None),
        (Some(call("Read")), Some(Failure::MissingTool)),
        (Some(call("Write")), Some(Failure::MissingTool)),
        (Some(call("Edit")), Some(Failure::MissingTool)),
        (Some(call("MultiEdit")), Some(Failure::MissingTool)),
        (Some(call("NotebookEdit")), Some(Failure::MissingTool)),
        (Some(with_file("Write")), None),
        (Some(call("WebSearch")), None),
        // A patch in a shell call is an edit, and the patch names its file.
        (Some(ToolCall { shell: Some(ShellText::Command("apply_patch".to_owned())), ..call("Edit") }), None),
    ] {
        assert_eq!(missing(tool.clone()), expected, "{tool:?}");
    }
}

#[test]
fn a_missing_call_is_a_failure_only_if_the_agent_awaits_permission() {
    for kind in EventKind::ALL {
        let expected = kind.awaits_permission().then_some(Failure::MissingTool);
        assert_eq!(missing_in_call(&event(kind)), expected, "{kind:?}");
    }
}

// The complete path of an event, from its arrival to its record.

const NO_DANGER: &str = "---\ncommand_pattern: '^danger( |$)'\n---\nDanger is not for agents.\n";

/// A project whose agents must not run `danger`.
fn guarded() -> Scratch {
    let scratch = Scratch::new();
    scratch.file(".linchpin/rules/no-danger.md", NO_DANGER);
    scratch
}

fn judged(scratch: &Scratch, event: Event) -> Judged {
    let project = scratch.project();
    let event = Arc::new(event);
    Judge::new(&project, &event, &scratch.environment).judge_and_record(&event, false, &|_| {})
}

fn call_in(scratch: &Scratch, command: &str, directory: &str) -> Event {
    let cwd = scratch.root.join(directory).to_string_lossy().into_owned();
    Event { cwd, ..before_call(command) }
}

fn level_and_why_not_enforced(judged: &Judged) -> (Level, Option<NotEnforced>) {
    (judged.verdict.level, judged.verdict.not_enforced)
}

#[test]
fn a_nested_policy_cannot_weaken_the_projects() {
    for (path, text) in [
        ("sub/.linchpin/config.yml", "mode: observe\n"),
        ("sub/.linchpin/config.yml", "enabled: false\n"),
        ("sub/.linchpin/rules/no-danger.md", "---\ncommand_pattern: '^danger( |$)'\naction: allow\n---\nFine.\n"),
        ("sub/.linchpin/rules/no-danger.md", "---\ncommand_pattern: '^danger( |$)'\nenabled: false\n---\nFine.\n"),
    ] {
        let scratch = guarded();
        scratch.file(path, text);
        let judged = judged(&scratch, call_in(&scratch, "danger", "sub"));
        assert_eq!(level_and_why_not_enforced(&judged), (Level::Block, None), "{path}: {text}");
    }
}

#[test]
fn a_nested_policy_adds_rules_to_the_projects() {
    let scratch = guarded();
    let rule = "---\ncommand_pattern: '^touch( |$)'\n---\nNothing is touched here.\n";
    scratch.file("sub/.linchpin/rules/no-touch.md", rule).file("other/README", "");
    let level = |command: &str, directory: &str| judged(&scratch, call_in(&scratch, command, directory)).verdict.level;
    assert_eq!(level("touch a", "sub"), Level::Block);
    assert_eq!(level("cd sub && touch a", ""), Level::Block);
    assert_eq!(level("touch a", "other"), Level::Allow);
    assert_eq!(level("danger", "sub"), Level::Block);
}

/// Adds an allowance for the last call in the journal. Returns the id of the event in which the call was refused.
fn allow_last(scratch: &Scratch, span: AllowanceSpan) -> i64 {
    let entries = scratch.store(2000).entries(&JournalFilter::default()).expect("entries");
    let last = entries.last().expect("an entry");
    let call = CallDigest::of_entry(last).expect("a call");
    Allowances::of(&scratch.root, &scratch.environment).grant(&call, last.id, span).expect("written");
    last.id.0
}

#[test]
fn a_refused_call_has_an_id_by_which_a_person_allows_it_once() {
    let scratch = guarded();
    let call = || call_in(&scratch, "danger", "");
    let refused = judged(&scratch, call());
    assert_eq!(refused.verdict.refusal_id, refused.id.map(|id| id.0));
    let refusal = allow_last(&scratch, AllowanceSpan::Once);
    let allowed = judged(&scratch, call());
    assert_eq!(level_and_why_not_enforced(&allowed), (Level::Block, Some(NotEnforced::Allowed { refusal })));
    assert_eq!(allowed.verdict.refusal_id, None);
    assert_eq!(level_and_why_not_enforced(&judged(&scratch, call())), (Level::Block, None));
}

#[test]
fn a_call_that_is_not_refused_uses_up_no_allowance() {
    let scratch = guarded();
    let call = || call_in(&scratch, "danger", "");
    judged(&scratch, call());
    allow_last(&scratch, AllowanceSpan::Once);
    Pause { until: 5000, reason: "x".to_owned() }.begin(&scratch.root, &scratch.environment).expect("written");
    assert_eq!(level_and_why_not_enforced(&judged(&scratch, call())), (Level::Block, Some(NotEnforced::Paused)));
    Pause::end(&scratch.root, &scratch.environment).expect("ended");
    assert!(matches!(judged(&scratch, call()).verdict.not_enforced, Some(NotEnforced::Allowed { .. })));
}

#[test]
fn a_dry_run_uses_up_no_allowance_and_leaves_no_trace() {
    let scratch = guarded();
    judged(&scratch, call_in(&scratch, "danger", ""));
    allow_last(&scratch, AllowanceSpan::Once);
    let entries = || scratch.store(2000).entries(&JournalFilter::default()).expect("entries").len();
    let before = entries();
    for _ in 0..2 {
        let judged_event = judged(&scratch, Event { is_dry_run: true, ..call_in(&scratch, "danger", "") });
        assert!(matches!(judged_event.verdict.not_enforced, Some(NotEnforced::Allowed { .. })));
        assert_eq!(judged_event.id, None);
    }
    assert_eq!(entries(), before);
}

#[test]
fn a_dry_run_in_a_project_without_a_journal_makes_none() {
    let scratch = guarded();
    let judged_event = judged(&scratch, Event { is_dry_run: true, ..call_in(&scratch, "danger", "") });
    assert_eq!(judged_event.verdict.level, Level::Block);
    assert!(judged_event.verdict.notices.is_empty(), "{:?}", judged_event.verdict.notices);
    assert!(!scratch.project().journal_path(&scratch.environment).exists());
}

#[test]
fn a_self_test_ignores_pauses_and_modes() {
    let scratch = guarded();
    Pause { until: 5000, reason: "x".to_owned() }.begin(&scratch.root, &scratch.environment).expect("written");
    let trial = |session: &str| {
        let event = Event { is_dry_run: true, session: session.to_owned(), ..call_in(&scratch, "danger", "") };
        level_and_why_not_enforced(&judged(&scratch, event))
    };
    assert_eq!(trial(SELF_TEST_SESSION), (Level::Block, None));
    assert_eq!(trial("s"), (Level::Block, Some(NotEnforced::Paused)));
}

#[test]
fn without_a_journal_a_call_is_judged_with_a_notice() {
    let scratch = guarded();
    // A directory at each of the two possible paths of the journal makes both unusable.
    fs::create_dir_all(scratch.root.join(".linchpin/state.db")).expect("a directory");
    fs::create_dir_all(scratch.state("state.db")).expect("a directory");
    for (command, level) in [("danger", Level::Block), ("ls", Level::Allow)] {
        let judged = judged(&scratch, call_in(&scratch, command, ""));
        assert_eq!((judged.verdict.level, judged.id, judged.verdict.refusal_id), (level, None, None));
        let notices = judged.verdict.notices.join("\n");
        assert!(notices.contains("rules that need it are skipped, and this is not recorded"), "{notices}");
    }
}

#[test]
fn an_event_that_could_not_be_judged_is_recorded_and_enforced_during_a_pause() {
    let scratch = guarded();
    Pause { until: 5000, reason: "x".to_owned() }.begin(&scratch.root, &scratch.environment).expect("written");
    let event = Arc::new(call_in(&scratch, "danger", ""));
    let project = scratch.project();
    let judge = Judge::new(&project, &event, &scratch.environment);
    let verdict = judge.record_unjudged(&event, Failure::Deadline(Duration::from_secs(1)).verdict(&event));
    assert_eq!((verdict.level, verdict.not_enforced), (Level::Ask, None));
    let entries = scratch.store(2000).entries(&JournalFilter::default()).expect("entries");
    assert_eq!(entries.iter().map(|entry| entry.verdict.level).collect::<Vec<_>>(), [Level::Ask]);
}

#[test]
fn a_call_in_a_run_with_an_unreadable_hat_asks_a_person() {
    fn in_run(name: &str) -> Option<OsString> {
        (name == "LINCHPIN_RUN").then(|| "5".into())
    }
    fn elsewhere(name: &str) -> Option<OsString> {
        (name == "LINCHPIN_RUN_ROOT").then(|| "/elsewhere".into()).or_else(|| in_run(name))
    }
    let scratch = guarded().with_variables(in_run);
    let verdict = judged(&scratch, call_in(&scratch, "ls", "")).verdict;
    assert_eq!(verdict.level, Level::Ask);
    assert_eq!(verdict.findings, [Failure::UnreadableHat.finding()]);
    assert_eq!(judged(&scratch, scratch.event(EventKind::Prompt, 1000)).verdict.level, Level::Allow);
    // A run of another project has no effect on events of this project.
    let scratch = guarded().with_variables(elsewhere);
    assert_eq!(judged(&scratch, call_in(&scratch, "ls", "")).verdict.level, Level::Allow);
}

// Demands with a command.

/// A repository with a changed file, and a rule of the user with a command that would meet the rule's demand. No test
/// in this file may let the command run, because Linchpin would start the command through its own program file, which
/// is the test binary here.
fn with_command() -> Scratch {
    let scratch = Scratch::new().committed();
    let rule = "---\ntrigger: src/**\naction: {command: 'make docs'}\n---\nRun it.\n";
    write(&scratch.environment.config.join("rules/run.md"), rule);
    scratch.file("src/a", "text");
    scratch
}

fn stopped(scratch: &Scratch, is_dry_run: bool) -> Verdict {
    judged(scratch, Event { is_dry_run, ..scratch.event(EventKind::Stop, 1000) }).verdict
}

#[test]
fn a_rules_command_is_not_run_if_nothing_is_enforced_or_recorded() {
    let observing = with_command();
    write(&observing.environment.config.join("config.yml"), "mode: observe\n");
    let verdict = stopped(&observing, false);
    assert_eq!((verdict.level, verdict.not_enforced), (Level::Block, Some(NotEnforced::Observe)));

    let paused = with_command();
    Pause { until: 5000, reason: "x".to_owned() }.begin(&paused.root, &paused.environment).expect("written");
    let verdict = stopped(&paused, false);
    assert_eq!((verdict.level, verdict.not_enforced), (Level::Block, Some(NotEnforced::Paused)));

    let verdict = stopped(&with_command(), true);
    assert_eq!((verdict.level, verdict.not_enforced), (Level::Block, None));
    let expected = "a dry run does not run the commands of rules, so a rule with a command is shown as unmet";
    assert!(verdict.notices.iter().any(|notice| notice == expected), "{:?}", verdict.notices);
}

#[test]
fn a_demand_counts_each_stop_that_it_held_once() {
    let scratch = Scratch::new().committed();
    let rule = "---\ntrigger: src/**\nsafety: README\nmax_holds: 2\n---\nTell of it.\n";
    write(&scratch.environment.config.join("rules/tell.md"), rule);
    scratch.file("src/a", "text");
    let levels: Vec<Level> = (0..4).map(|_| stopped(&scratch, false).level).collect();
    assert_eq!(levels, [Level::Block, Level::Block, Level::Warn, Level::Allow]);
}

#[test]
fn only_rules_that_need_the_queue_are_skipped_because_of_it() {
    let scratch = Scratch::new().committed();
    let rule = "---\ntrigger: src/**\nsafety: README\n---\nTell of it.\n";
    write(&scratch.environment.config.join("rules/tell.md"), rule);
    let dependent = "---\ntrigger: src/**\nsafety: README\nwhen: tasks.open > 0\n---\nTell of it.\n";
    write(&scratch.environment.config.join("rules/when-open.md"), dependent);
    scratch.file("src/a", "text");
    write(&scratch.root.join(".linchpin/tmp/rules/queue"), "no directory");
    write(&scratch.state("tmp/rules/queue"), "no directory");
    write(&scratch.project().work_database_path(&scratch.environment), "no database, but a long enough text");
    let notices = stopped(&scratch, false).notices;
    let about = |rule: &str| notices.iter().find(|notice| notice.contains(rule)).cloned().unwrap_or_default();
    assert!(about("`tell`").contains("cannot be written"), "{notices:?}");
    assert!(about("`when-open`").contains("needs the project's tasks"), "{notices:?}");
}

#[test]
fn a_stop_that_is_not_held_does_not_count_for_a_demand() {
    let scratch = Scratch::new().committed();
    let rule = "---\ntrigger: src/**\nsafety: README\nmax_holds: 1\n---\nTell of it.\n";
    write(&scratch.environment.config.join("rules/tell.md"), rule);
    scratch.file("src/a", "text");
    Pause { until: 5000, reason: "x".to_owned() }.begin(&scratch.root, &scratch.environment).expect("written");
    for _ in 0..3 {
        assert_eq!(stopped(&scratch, false).level, Level::Block);
    }
    Pause::end(&scratch.root, &scratch.environment).expect("ended");
    let verdict = stopped(&scratch, false);
    assert_eq!((verdict.level, verdict.not_enforced), (Level::Block, None));
}
