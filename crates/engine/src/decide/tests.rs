//! Tests of holds: their maximum, and a store of hold counts that cannot be read.

use std::sync::Arc;

use serde_json::json;

use super::{Decision, DecisionRequest, SkippedRule, decide};
use crate::event::{EventKind, EventKinds};
use crate::facts::{FactStore, Facts};
use crate::rules::{Detector, Rule, RuleSet};
use crate::{BaseDirectories, Level, Situation};

/// Facts in which every rule has the same hold count, or in which the store of hold counts cannot be read.
struct HoldCount(Result<u32, FactStore>);

impl Facts for HoldCount {
    fn hold_count(&self, _rule: &str) -> Result<u32, FactStore> {
        self.0
    }
}

/// Judges a stop by a rule that holds each stop at most twice.
fn stop(held: Result<u32, FactStore>) -> Decision {
    let on = EventKinds::default().with(EventKind::Stop);
    let rule = Rule::synthetic("tests-ran".to_owned(), "tests-ran.md", Detector::Event, "Run the tests.".to_owned());
    let rules = RuleSet::pack(&[Rule { on, max_holds: Some(2), ..rule }]).expect("rules are packed");
    let event = json!({ "kind": "stop", "name": "Stop", "agent": "claude", "session": "s", "time": 1, "cwd": "/r" });
    let event = Arc::new(serde_json::from_value(event).expect("an event"));
    let situation = Arc::new(Situation::new(event, BaseDirectories::default(), Arc::new(HoldCount(held))));
    decide(&DecisionRequest { situation: &situation, rules: &rules, evaluate_all: false }).expect("rules are read")
}

#[test]
fn a_stop_is_held_until_the_maximum_and_then_released_with_a_notice() {
    for (held, level, counted) in [(0, Level::Block, Some(1)), (1, Level::Block, Some(2)), (2, Level::Warn, None)] {
        let decision = stop(Ok(held));
        assert_eq!(decision.verdict.level, level, "{held}");
        assert_eq!(decision.holds.first().map(|(_, count)| *count), counted, "{held}");
        assert_eq!(decision.verdict.notices.len(), usize::from(counted.is_none()), "{held}");
    }
    // The rule's `max_holds` was lowered after the rule had held the stop nine times.
    assert_eq!(stop(Ok(9)).verdict.level, Level::Warn);
}

#[test]
fn a_rule_without_a_hold_count_is_skipped_and_names_the_store() {
    for unavailable in [FactStore::Session, FactStore::Journal] {
        let decision = stop(Err(unavailable));
        assert_eq!(decision.skipped, [SkippedRule { rule: "tests-ran".to_owned(), unavailable }]);
        assert_eq!(decision.verdict.level, Level::Allow);
    }
}
