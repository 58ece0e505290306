//! Tests of the permissions that people give: which calls and rules each permission covers, and how long it is valid.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::rules::{Detector, Rule, Tier};
use engine::workflow::{Gate, Workflow};
use engine::{Event, EventKind, Finding, Level, NotEnforced, Verdict};
use policy::{PolicyMode, Weakening};
use serde_json::{Map, json};
use store::{EntryId, JournalFilter, StoredState};

use super::*;
use crate::tests::{Scratch, before_call, event, finding, verdict, workflow, write};

const HOUR: i64 = 60 * 60 * 1000;

// Allowances of single calls.

fn call_of(event: &Event) -> CallDigest {
    CallDigest::of_event(event, Some("input")).expect("a call with identifying fields")
}

#[test]
fn a_call_that_is_allowed_once_passes_once() {
    let scratch = Scratch::new();
    let allowances = Allowances::of(&scratch.root, &scratch.environment);
    let call = call_of(&before_call("make"));
    allowances.grant(&call, EntryId(7), AllowanceSpan::Once).expect("written");
    assert_eq!(allowances.take(&call), Some(NotEnforced::Allowed { refusal: 7 }));
    assert_eq!(allowances.take(&call), None);
}

#[test]
fn a_call_that_is_allowed_for_its_session_passes_every_time() {
    let scratch = Scratch::new();
    let allowances = Allowances::of(&scratch.root, &scratch.environment);
    let call = call_of(&before_call("make"));
    allowances.grant(&call, EntryId(7), AllowanceSpan::Session).expect("written");
    for _ in 0..3 {
        assert_eq!(allowances.take(&call), Some(NotEnforced::Allowed { refusal: 7 }));
    }
}

#[test]
fn peeking_at_an_allowance_does_not_use_it_up() {
    let scratch = Scratch::new();
    let allowances = Allowances::of(&scratch.root, &scratch.environment);
    let call = call_of(&before_call("make"));
    allowances.grant(&call, EntryId(7), AllowanceSpan::Once).expect("written");
    for _ in 0..2 {
        assert_eq!(allowances.peek(&call), Some(NotEnforced::Allowed { refusal: 7 }));
    }
    assert!(allowances.take(&call).is_some());
}

#[test]
fn the_last_grant_for_a_call_replaces_the_one_before() {
    let scratch = Scratch::new();
    let allowances = Allowances::of(&scratch.root, &scratch.environment);
    let call = call_of(&before_call("make"));
    allowances.grant(&call, EntryId(7), AllowanceSpan::Session).expect("written");
    allowances.grant(&call, EntryId(9), AllowanceSpan::Once).expect("written");
    assert_eq!(allowances.take(&call), Some(NotEnforced::Allowed { refusal: 9 }));
    assert_eq!(allowances.take(&call), None);
}

#[test]
fn an_allowance_is_for_one_agent_session_tool_input_and_directory() {
    let scratch = Scratch::new();
    let allowances = Allowances::of(&scratch.root, &scratch.environment);
    let granted = Event { cwd: "/a".to_owned(), ..before_call("make") };
    allowances.grant(&call_of(&granted), EntryId(7), AllowanceSpan::Session).expect("written");
    let renamed = |name: &str| {
        let tool = granted.tool.clone().map(|tool| engine::event::ToolCall { name: name.to_owned(), ..tool });
        Event { tool, ..granted.clone() }
    };
    let others = [
        call_of(&Event { agent: "codex".to_owned(), ..granted.clone() }),
        call_of(&Event { session: "other".to_owned(), ..granted.clone() }),
        call_of(&Event { cwd: "/a/b".to_owned(), ..granted.clone() }),
        call_of(&renamed("Shell")),
        CallDigest::of_event(&granted, Some("other input")).expect("a call"),
    ];
    for (number, other) in others.iter().enumerate() {
        assert_eq!(allowances.peek(other), None, "call {number}");
    }
    // Fields of the event that do not identify the call make no difference.
    let later = Event { time: 99, kind: EventKind::Permission, ..granted };
    assert!(allowances.peek(&call_of(&later)).is_some());
}

#[test]
fn an_allowance_of_one_project_does_not_count_in_another() {
    let scratch = Scratch::new();
    let call = call_of(&before_call("make"));
    Allowances::of(&scratch.root, &scratch.environment)
        .grant(&call, EntryId(7), AllowanceSpan::Session)
        .expect("written");
    assert_eq!(Allowances::of(Path::new("/elsewhere"), &scratch.environment).peek(&call), None);
}

#[test]
fn a_call_without_identifying_fields_cannot_be_allowed() {
    let call = before_call("make");
    let nameless = call.tool.clone().map(|tool| engine::event::ToolCall { name: String::new(), ..tool });
    for (event, input) in [
        (Event { session: String::new(), ..call.clone() }, Some("input")),
        (Event { tool: nameless, ..call.clone() }, Some("input")),
        (Event { tool: None, ..call.clone() }, Some("input")),
        (call, None),
    ] {
        assert!(CallDigest::of_event(&event, input).is_none(), "{event:?}");
    }
}

#[test]
fn a_malformed_allowance_file_allows_nothing() {
    let scratch = Scratch::new();
    let allowances = Allowances::of(&scratch.root, &scratch.environment);
    let call = call_of(&before_call("make"));
    allowances.grant(&call, EntryId(7), AllowanceSpan::Once).expect("written");
    let directory = scratch.state("allowed");
    let file = fs::read_dir(&directory).expect("a directory").next().expect("one file").expect("one file").path();
    for text in ["", "once", "7 once", "twice 7", "once seven", "once 7 more"] {
        write(&file, text);
        assert_eq!(allowances.take(&call), None, "{text:?}");
    }
    write(&file, "once 8");
    assert_eq!(allowances.take(&call), Some(NotEnforced::Allowed { refusal: 8 }));
}

#[test]
fn a_call_has_the_same_digest_in_the_journal_and_when_repeated() {
    let scratch = Scratch::new();
    let event = Event { cwd: "/a".to_owned(), ..before_call("make") };
    scratch.record(&event);
    let mut store = scratch.store(2000);
    let entries = store.entries(&JournalFilter::default()).expect("entries");
    let recorded = CallDigest::of_entry(&entries[0]).expect("a call");
    let input = store.input_digest(&event).expect("a digest");
    let again = CallDigest::of_event(&event, input.as_deref()).expect("a call");
    let allowances = Allowances::of(&scratch.root, &scratch.environment);
    allowances.grant(&recorded, entries[0].id, AllowanceSpan::Once).expect("written");
    assert_eq!(allowances.take(&again), Some(NotEnforced::Allowed { refusal: entries[0].id.0 }));
}

// Pauses of the enforcement of a policy.

fn pause(until: i64) -> Pause {
    Pause { until, reason: "a release".to_owned() }
}

#[test]
fn a_pause_ends_at_its_time() {
    let scratch = Scratch::new();
    let now = 10 * HOUR;
    pause(now + 1000).begin(&scratch.root, &scratch.environment).expect("written");
    let pause_at = |now: i64| Pause::of(&scratch.root, &scratch.environment, now);
    assert_eq!(pause_at(now), Some(pause(now + 1000)));
    assert_eq!(pause_at(now + 999), Some(pause(now + 1000)));
    assert_eq!(pause_at(now + 1000), None);
    assert_eq!(pause_at(now + 5 * HOUR), None);
}

#[test]
fn a_pause_that_would_last_longer_than_a_day_does_not_count() {
    let scratch = Scratch::new();
    let day = 24 * HOUR;
    pause(100 * day).begin(&scratch.root, &scratch.environment).expect("written");
    // The pause is longer than `linchpin pause` allows: another program wrote the file, or the clock was set back.
    assert_eq!(Pause::of(&scratch.root, &scratch.environment, 99 * day - 1), None);
    assert!(Pause::of(&scratch.root, &scratch.environment, 99 * day).is_some());
    pause(i64::MAX).begin(&scratch.root, &scratch.environment).expect("written");
    assert_eq!(Pause::of(&scratch.root, &scratch.environment, 0), None);
}

#[test]
fn a_pause_can_be_replaced_and_ended_and_ended_again() {
    let scratch = Scratch::new();
    let (root, environment) = (&scratch.root, &scratch.environment);
    pause(2 * HOUR).begin(root, environment).expect("written");
    pause(HOUR).begin(root, environment).expect("written");
    assert_eq!(Pause::of(root, environment, 0), Some(pause(HOUR)));
    Pause::end(root, environment).expect("ended");
    assert_eq!(Pause::of(root, environment, 0), None);
    Pause::end(root, environment).expect("nothing to end is no error");
}

#[test]
fn a_damaged_pause_file_pauses_nothing() {
    let scratch = Scratch::new();
    for text in ["", "3600000", "soon\nreason\n", "\n3600000\n", "1e9\nreason\n"] {
        write(&scratch.state("paused"), text);
        assert_eq!(Pause::of(&scratch.root, &scratch.environment, 0), None, "{text:?}");
    }
}

#[test]
fn the_rest_of_a_pause_is_rounded_up() {
    let minute = 60 * 1000;
    for (left, expected) in [
        (1, "1 more minute"),
        (minute, "1 more minute"),
        (minute + 1, "2 more minutes"),
        (120 * minute, "120 more minutes"),
        (120 * minute + 1, "3 more hours"),
        (24 * HOUR, "24 more hours"),
    ] {
        assert_eq!(pause(5000 + left).time_left(5000), expected, "{left}");
    }
}

// Tests of which verdicts are enforced, depending on the mode and on pauses.

/// A project with or without a pause.
struct Modes(Scratch);

impl Modes {
    fn new() -> Self {
        Self(Scratch::new())
    }

    fn paused() -> Self {
        let modes = Self::new();
        pause(HOUR).begin(&modes.0.root, &modes.0.environment).expect("written");
        modes
    }

    fn of(&self, mode: PolicyMode) -> EnforcementMode<'_> {
        EnforcementMode { mode, is_enabled: true, root: &self.0.root, environment: &self.0.environment }
    }
}

fn protecting(level: Level) -> Verdict {
    Verdict::of(vec![Finding { protects_guard: true, ..finding("protect-guardrails", level) }])
}

#[test]
fn only_a_verdict_that_stops_something_needs_a_reason_not_to_be_enforced() {
    let (normal, paused) = (Modes::new(), Modes::paused());
    for level in Level::ALL {
        let stops = level >= Level::Ask;
        assert_eq!(normal.of(PolicyMode::Enforce).why_not_enforced(&verdict(level), 0), None, "{level:?}");
        assert_eq!(
            paused.of(PolicyMode::Enforce).why_not_enforced(&verdict(level), 0),
            stops.then_some(NotEnforced::Paused),
            "{level:?}"
        );
        assert_eq!(
            normal.of(PolicyMode::Observe).why_not_enforced(&verdict(level), 0),
            stops.then_some(NotEnforced::Observe),
            "{level:?}"
        );
    }
}

#[test]
fn findings_that_protect_the_guard_are_enforced_during_a_pause() {
    let paused = Modes::paused();
    let mode = paused.of(PolicyMode::Enforce);
    assert_eq!(mode.why_not_enforced(&protecting(Level::Block), 0), None);
    assert_eq!(mode.why_not_enforced(&protecting(Level::Ask), 0), None);
    // If one finding protects the guard, all findings of the same call are enforced during a pause.
    let both = Verdict::of(vec![finding("other", Level::Block), protecting(Level::Ask).findings.remove(0)]);
    assert_eq!(mode.why_not_enforced(&both, 0), None);
    // A finding that only warns stops nothing, even if its rule protects Linchpin itself. The pause therefore applies
    // to the other findings of the call.
    let warned = Verdict::of(vec![finding("other", Level::Block), protecting(Level::Warn).findings.remove(0)]);
    assert_eq!(mode.why_not_enforced(&warned, 0), Some(NotEnforced::Paused));
}

#[test]
fn in_observe_mode_nothing_is_enforced_not_even_protection_of_the_guard() {
    let (normal, paused) = (Modes::new(), Modes::paused());
    assert_eq!(
        normal.of(PolicyMode::Observe).why_not_enforced(&protecting(Level::Block), 0),
        Some(NotEnforced::Observe)
    );
    // During a pause in observe mode, the reported reason is observe mode, because it lasts longer: a pause ends by
    // itself.
    assert_eq!(
        paused.of(PolicyMode::Observe).why_not_enforced(&protecting(Level::Block), 0),
        Some(NotEnforced::Observe)
    );
}

#[test]
fn after_a_pause_everything_is_enforced() {
    let paused = Modes::paused();
    assert_eq!(paused.of(PolicyMode::Enforce).why_nothing_is_enforced(HOUR - 1), Some(NotEnforced::Paused));
    assert_eq!(paused.of(PolicyMode::Enforce).why_nothing_is_enforced(HOUR), None);
    assert_eq!(paused.of(PolicyMode::Observe).why_nothing_is_enforced(HOUR), Some(NotEnforced::Observe));
}

#[test]
fn a_notice_names_the_mode_when_a_session_begins() {
    let (normal, paused) = (Modes::new(), Modes::paused());
    let at_start = event(EventKind::SessionStart);
    let later = event(EventKind::Prompt);
    let paused_text =
        "paused by a person for 60 more minutes (a release): only Linchpin's own files and settings are protected";
    assert_eq!(normal.of(PolicyMode::Enforce).notice(&at_start, true), None);
    assert_eq!(normal.of(PolicyMode::Observe).notice(&at_start, false).as_deref(), Some(OBSERVE_NOTICE));
    assert_eq!(normal.of(PolicyMode::Observe).notice(&later, true).as_deref(), Some(OBSERVE_NOTICE));
    assert_eq!(normal.of(PolicyMode::Observe).notice(&later, false), None);
    assert_eq!(paused.of(PolicyMode::Enforce).notice(&at_start, true).as_deref(), Some(paused_text));
    assert_eq!(paused.of(PolicyMode::Enforce).notice(&later, false), None);
}

// Trust in a repository's policy.

#[test]
fn trust_ends_when_the_accepted_text_changes() {
    let scratch = Scratch::new();
    let trust = Trust::of(&scratch.root, &scratch.environment);
    assert!(!trust.accepts("mode: observe"));
    trust.accept("mode: observe").expect("written");
    assert!(trust.accepts("mode: observe"));
    assert!(!trust.accepts("mode: observe\nenabled: false"));
    assert!(!Trust::of(Path::new("/elsewhere"), &scratch.environment).accepts("mode: observe"));
    trust.accept("enabled: false").expect("written");
    assert!(!trust.accepts("mode: observe"), "the last acceptance replaces the one before");
}

#[test]
fn an_empty_text_is_never_accepted() {
    let scratch = Scratch::new();
    let trust = Trust::of(&scratch.root, &scratch.environment);
    trust.accept("").expect("written");
    assert!(!trust.accepts(""));
}

/// A workflow of the project, with a gate that runs `command`.
fn with_gate(name: &str, command: &str) -> Workflow {
    let gate = Gate::Command {
        text: command.to_owned(),
        words: vec![command.to_owned()],
        timeout: Duration::from_secs(1),
        protect: true,
    };
    Workflow { gates: [("tests".to_owned(), gate)].into(), ..workflow(name) }
}

#[test]
fn a_workflow_needs_trust_only_for_commands_and_webhooks() {
    let scratch = Scratch::new();
    let trust = Trust::of(&scratch.root, &scratch.environment);
    assert!(trust.accepts_workflow(&workflow("plain")));
    assert!(!trust.accepts_workflow(&with_gate("work", "make")));
    // The user's own workflows need no trust.
    assert!(trust.accepts_workflow(&Workflow { tier: Tier::User, ..with_gate("work", "make") }));
}

#[test]
fn each_workflow_is_trusted_for_itself() {
    let scratch = Scratch::new();
    let trust = Trust::of(&scratch.root, &scratch.environment);
    let (first, second) = (with_gate("first", "make"), with_gate("second", "make"));
    trust.accept_workflow(&first).expect("written");
    assert!(trust.accepts_workflow(&first) && !trust.accepts_workflow(&second));
    trust.accept_workflow(&second).expect("written");
    assert!(trust.accepts_workflow(&first) && trust.accepts_workflow(&second));
}

#[test]
fn trust_in_a_workflow_is_for_its_current_text() {
    let scratch = Scratch::new();
    let trust = Trust::of(&scratch.root, &scratch.environment);
    let (old, new) = (with_gate("work", "make"), with_gate("work", "make install"));
    trust.accept_workflow(&old).expect("written");
    assert!(!trust.accepts_workflow(&new));
    trust.accept_workflow(&new).expect("written");
    assert!(trust.accepts_workflow(&new));
    assert!(!trust.accepts_workflow(&old), "going back to an earlier text needs trust again");
}

#[test]
fn trust_in_a_workflow_does_not_depend_on_reasons() {
    let scratch = Scratch::new();
    let trust = Trust::of(&scratch.root, &scratch.environment);
    let with_rule = |reason: &str, on_error: Option<Level>| {
        let rule = Rule::synthetic("work/1".to_owned(), "work.yml", Detector::Event, reason.to_owned());
        Workflow { rules: vec![Rule { digest: policy::digest(reason), on_error, ..rule }], ..with_gate("work", "make") }
    };
    let (old, reworded) = (with_rule("No.", None), with_rule("Not here.", None));
    trust.accept_workflow(&old).expect("written");
    assert!(trust.accepts_workflow(&old) && trust.accepts_workflow(&reworded));
    assert!(!trust.accepts_workflow(&with_rule("No.", Some(Level::Allow))));
    // Earlier versions stored the digest of a text with reasons.
    let stored = format!("work {}\n", policy::digest(old.text_to_trust_with_reasons()));
    fs::write(scratch.environment.project_state(&scratch.root).join("trusted-workflows"), stored).expect("written");
    assert!(trust.accepts_workflow(&old) && !trust.accepts_workflow(&reworded));
}

// Weakenings that a person accepted while sessions run.

fn weakening(rule: &str, to: Option<&str>) -> Weakening {
    Weakening { rule: rule.to_owned(), from: "before".to_owned(), to: to.map(str::to_owned) }
}

#[test]
fn a_change_is_accepted_for_sessions_that_saw_the_rule_before() {
    let scratch = Scratch::new();
    let accepted = AcceptedWeakenings::of(&scratch.root, &scratch.environment);
    let change = weakening("no-push", Some("d2"));
    assert!(!accepted.includes(&change, 0));
    accepted.add([&change], 500).expect("written");
    assert!(accepted.includes(&change, 499));
    assert!(accepted.includes(&change, 500));
    assert!(!accepted.includes(&change, 501));
}

#[test]
fn acceptance_is_for_one_rule_and_its_new_text() {
    let scratch = Scratch::new();
    let accepted = AcceptedWeakenings::of(&scratch.root, &scratch.environment);
    accepted.add([&weakening("no-push", Some("d2"))], 500).expect("written");
    accepted.add([&weakening("gone", None)], 500).expect("written");
    // The digest of the old text makes no difference: a person may have changed that text as well.
    assert!(accepted.includes(&Weakening { from: "other".to_owned(), ..weakening("no-push", Some("d2")) }, 0));
    assert!(accepted.includes(&weakening("gone", None), 0));
    for other in [
        weakening("no-push", Some("d3")),
        weakening("no-push", None),
        weakening("gone", Some("-x")),
        weakening("o-push", Some("d2")),
    ] {
        assert!(!accepted.includes(&other, 0), "{other:?}");
    }
}

#[test]
fn acceptances_accumulate() {
    let scratch = Scratch::new();
    let accepted = AcceptedWeakenings::of(&scratch.root, &scratch.environment);
    let (first, second) = (weakening("a", None), weakening("b", None));
    accepted.add([&first], 100).expect("written");
    accepted.add([&second], 200).expect("written");
    accepted.add([], 300).expect("nothing to write");
    assert!(accepted.includes(&first, 100) && !accepted.includes(&first, 101));
    assert!(accepted.includes(&second, 200));
}

#[test]
fn a_change_of_the_users_own_policy_is_accepted_in_every_project() {
    let scratch = Scratch::new();
    let change = weakening("mine", None);
    let elsewhere = PathBuf::from("/elsewhere");
    AcceptedWeakenings::of(&scratch.root, &scratch.environment).add([&change], 500).expect("written");
    assert!(!AcceptedWeakenings::of(&elsewhere, &scratch.environment).includes(&change, 0));
    AcceptedWeakenings::of_user(&scratch.environment).add([&change], 500).expect("written");
    assert!(AcceptedWeakenings::of(&elsewhere, &scratch.environment).includes(&change, 0));
}

// Acknowledgements.

#[test]
fn an_acknowledgement_counts_until_the_text_of_the_rule_changes() {
    let rule =
        Rule { digest: "d1".to_owned(), ..Rule::synthetic("tidy".to_owned(), "file", Detector::Event, String::new()) };
    let acknowledgement = Acknowledgement {
        rule: rule.id.clone(),
        digest: rule.digest.clone(),
        reason: "not now".to_owned(),
        by: AcknowledgedBy::Agent,
        time: 5,
    };
    let mut state = StoredState::default();
    for (name, value) in acknowledgement.changes(None).session_variables {
        state.variables.insert(name, value.expect("a value"));
    }
    assert!(is_acknowledged(&state.variables, "tidy", "d1"));
    assert!(!is_acknowledged(&state.variables, "tidy", "d2"));
    assert!(!is_acknowledged(&state.variables, "tid", "d1"));
    assert_eq!(Acknowledgement::of_session(&state), [acknowledgement]);
}

#[test]
fn an_acknowledgement_without_a_digest_counts_for_no_rule() {
    let mut variables = Map::new();
    variables.insert("_ack:tidy".to_owned(), json!({ "reason": "not now" }));
    assert!(!is_acknowledged(&variables, "tidy", ""));
}
