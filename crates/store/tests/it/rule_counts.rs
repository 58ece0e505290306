//! How often rules spoke, by phase.

use engine::event::EventKind;
use engine::verdict::Verdict;
use store::{Deed, PhaseName, RuleCount, RuleDeed, StateChanges};

use crate::sample::{KEY, event, open, place, record, record_plain};

fn phase(id: &str) -> PhaseName {
    PhaseName { phase: id.to_owned(), workflow: "work".to_owned(), node: "code".to_owned() }
}

fn did(deed: Deed, phase: Option<PhaseName>) -> StateChanges {
    StateChanges { deeds: vec![RuleDeed { rule: "r".to_owned(), phase, deed }], ..StateChanges::default() }
}

#[test]
fn what_came_of_a_rule_by_phase() {
    let place = place();
    let mut store = open(&place.path);
    let mut tell = |deed, phase: Option<&str>| {
        record(&mut store, &event(EventKind::Stop, 1), &Verdict::empty(), &did(deed, phase.map(self::phase)));
    };
    // Nothing fired yet that somebody could go on past.
    tell(Deed::WentOn, Some("1.2"));
    for deed in [Deed::Warned, Deed::Blocked, Deed::WentOn, Deed::WentOn, Deed::Spoke, Deed::WentOn] {
        tell(deed, Some("1.1"));
    }
    tell(Deed::Forced, Some("1.2"));
    tell(Deed::Acknowledged, None);
    let counts = store.rule_counts().unwrap();
    let of = |phase: Option<&str>| counts["r"][&phase.map(self::phase)];
    assert_eq!(of(Some("1.1")), RuleCount { fired: 3, warned: 1, blocked: 1, acknowledged: 2, forced: 0 });
    assert_eq!(of(Some("1.2")), RuleCount { forced: 1, ..RuleCount::default() });
    assert_eq!(of(None), RuleCount { acknowledged: 1, ..RuleCount::default() });
    assert_eq!((counts.len(), counts["r"].len()), (1, 3));
    // A session's own state is not longer for it.
    assert!(store.session(KEY).unwrap().variables.is_empty());
}

#[test]
fn what_is_pruned_is_not_counted_any_more() {
    let place = place();
    let mut store = open(&place.path);
    record(&mut store, &event(EventKind::Stop, 1), &Verdict::empty(), &did(Deed::Warned, Some(phase("1.1"))));
    record(&mut store, &event(EventKind::Stop, 20), &Verdict::empty(), &did(Deed::Warned, Some(phase("1.2"))));
    record_plain(&mut store, &event(EventKind::Stop, 30));
    store.prune(10).unwrap();
    let counts = store.rule_counts().unwrap();
    assert_eq!(counts["r"].keys().flatten().map(|name| name.phase.as_str()).collect::<Vec<_>>(), ["1.2"]);
}
