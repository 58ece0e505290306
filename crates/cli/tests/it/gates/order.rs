//! Which gate is looked at first.

use super::{at_work, counted, runs};

#[test]
fn a_cheap_gate_that_does_not_hold_starts_nothing() {
    for cheap in ["variables.ready", "{approval: Really?}"] {
        let project = at_work(&format!("[{}, {cheap}]", counted("count", "true")));
        assert_eq!(project.run(&["next"]).code, Some(1));
        assert_eq!(runs("count", &project), 0);
    }
}

#[test]
fn nothing_is_run_where_no_way_leads_on() {
    let project = at_work(&format!("[{}]", counted("count", "true")));
    assert_eq!(project.run(&["next", "rest_complete"]).code, Some(1));
    assert_eq!(runs("count", &project), 0);
}

#[test]
fn after_the_first_that_fails_no_other_is_started() {
    let project = at_work(&format!("[{}, {}]", counted("first", "false"), counted("second", "true")));
    assert_eq!(project.run(&["next"]).code, Some(1));
    assert_eq!((runs("first", &project), runs("second", &project)), (1, 0));
}

#[test]
fn all_that_is_cheap_and_missing_is_told_at_once() {
    let project = at_work("[variables.ready, {approval: 'Ship it?'}]");
    insta::assert_snapshot!(project.run(&["next"]).transcript());
}
