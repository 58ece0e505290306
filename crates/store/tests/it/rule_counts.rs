//! Outcomes of rules, by phase.

use engine::event::EventKind;
use engine::verdict::Verdict;
use store::{CountedOutcome, PhaseName, RecordedRuleOutcome, RuleCounts, StateChanges};

use crate::sample::{KEY, event, new_database_path, open, record, record_plain};

fn phase(id: &str) -> PhaseName {
    PhaseName { id: id.to_owned(), workflow: "work".to_owned(), node: "code".to_owned() }
}

fn outcome_changes(outcome: CountedOutcome, phase: Option<PhaseName>) -> StateChanges {
    StateChanges {
        rule_outcomes: vec![RecordedRuleOutcome { rule: "r".to_owned(), phase, outcome }],
        ..StateChanges::default()
    }
}

#[test]
fn outcomes_of_a_rule_are_counted_by_phase() {
    let database = new_database_path();
    let mut store = open(&database.path);
    let mut count_outcome = |outcome, phase: Option<&str>| {
        record(
            &mut store,
            &event(EventKind::Stop, 1),
            &Verdict::empty(),
            &outcome_changes(outcome, phase.map(self::phase)),
        );
    };
    // `continue` before the rule fired does not count.
    count_outcome(CountedOutcome::Continued, Some("1.2"));
    for outcome in [
        CountedOutcome::Warned,
        CountedOutcome::Blocked,
        CountedOutcome::Continued,
        CountedOutcome::Continued,
        CountedOutcome::Fired,
        CountedOutcome::Continued,
    ] {
        count_outcome(outcome, Some("1.1"));
    }
    count_outcome(CountedOutcome::Forced, Some("1.2"));
    count_outcome(CountedOutcome::Acknowledged, None);
    let counts = store.rule_counts().unwrap();
    let counts_in = |phase: Option<&str>| counts["r"][&phase.map(self::phase)];
    assert_eq!(counts_in(Some("1.1")), RuleCounts { fired: 3, warned: 1, blocked: 1, acknowledged: 2, forced: 0 });
    assert_eq!(counts_in(Some("1.2")), RuleCounts { forced: 1, ..RuleCounts::default() });
    assert_eq!(counts_in(None), RuleCounts { acknowledged: 1, ..RuleCounts::default() });
    assert_eq!((counts.len(), counts["r"].len()), (1, 3));
    // The counts are not part of the session's state.
    assert!(store.session_state(KEY).unwrap().variables.is_empty());
}

#[test]
fn pruned_sessions_do_not_count() {
    let database = new_database_path();
    let mut store = open(&database.path);
    record(
        &mut store,
        &event(EventKind::Stop, 1),
        &Verdict::empty(),
        &outcome_changes(CountedOutcome::Warned, Some(phase("1.1"))),
    );
    record(
        &mut store,
        &event(EventKind::Stop, 20),
        &Verdict::empty(),
        &outcome_changes(CountedOutcome::Warned, Some(phase("1.2"))),
    );
    record_plain(&mut store, &event(EventKind::Stop, 30));
    store.prune(10).unwrap();
    let counts = store.rule_counts().unwrap();
    assert_eq!(counts["r"].keys().flatten().map(|phase| phase.id.as_str()).collect::<Vec<_>>(), ["1.2"]);
}
