//! Tests who runs a command: an agent that the environment names, an agent with an unfinished call, or a person.

use std::ffi::OsString;

use engine::{Event, EventKind, Level};

use super::*;
use crate::tests::{Scratch, after_call, before_call, event, verdict};

const NOW: i64 = 60 * 60 * 1000;
const COMMAND: &str = "linchpin next code_complete";

fn run(scratch: &Scratch) -> CommandRun<'_> {
    CommandRun { words: &["next"], session: None, environment: &scratch.environment, now: NOW }
}

fn owner(session: &str) -> SessionOwner {
    SessionOwner { agent: "claude".to_owned(), session: session.to_owned() }
}

/// An event of a session, this many seconds ago.
fn ago(seconds: i64, session: &str, event: Event) -> Event {
    Event { session: session.to_owned(), time: NOW - seconds * 1000, ..event }
}

fn agent(scratch: &Scratch) -> Option<SessionOwner> {
    run(scratch).agent(&scratch.store(NOW)).expect("a journal")
}

fn known(scratch: &Scratch, is_agents: bool) -> Option<SessionOwner> {
    run(scratch).known_session(&scratch.store(NOW), is_agents).expect("a journal")
}

fn of_claude(name: &str) -> Option<OsString> {
    (name == "CLAUDE_CODE_SESSION_ID").then(|| "named".into())
}

fn in_run(name: &str) -> Option<OsString> {
    (name == "LINCHPIN_RUN").then(|| "1".into())
}

#[test]
fn without_any_agent_event_a_person_runs_the_command() {
    let scratch = Scratch::new();
    assert_eq!(agent(&scratch), None);
    assert_eq!(known(&scratch, false), None);
    assert_eq!(run(&scratch).session(&scratch.store(NOW)).expect("a journal"), None);
}

#[test]
fn the_variables_of_an_agent_name_its_session() {
    let scratch = Scratch::new().with_variables(of_claude);
    scratch.record(&ago(5, "waiting", before_call(COMMAND)));
    assert_eq!(agent(&scratch), Some(owner("named")));
    assert_eq!(known(&scratch, false), Some(owner("named")));
}

#[test]
fn a_call_that_waits_for_the_command_shows_who_runs_it() {
    for (command, is_it) in [
        (COMMAND, true),
        ("cd src && linchpin next", true),
        ("linchpin  'next'", true),
        ("linchpin repeat", false),
        ("echo linchpin next", false),
        ("./build.sh", false),
    ] {
        let scratch = Scratch::new();
        scratch.record(&ago(5, "s", before_call(command)));
        assert_eq!(agent(&scratch), is_it.then(|| owner("s")), "{command}");
    }
}

#[test]
fn a_call_that_ended_was_refused_or_is_too_old_waits_for_nothing() {
    let scratch = Scratch::new();
    scratch.record(&ago(61, "old", before_call(COMMAND)));
    assert_eq!(agent(&scratch), None, "too old");

    let scratch = Scratch::new();
    scratch.record(&ago(5, "s", before_call(COMMAND)));
    scratch.record(&ago(4, "s", after_call(COMMAND)));
    assert_eq!(agent(&scratch), None, "ended");

    let scratch = Scratch::new();
    let call = ago(5, "s", before_call(COMMAND));
    scratch.record_judged(&call, &verdict(Level::Block), &store::StateChanges::default());
    assert_eq!(agent(&scratch), None, "refused");
}

#[test]
fn a_session_whose_turn_ended_waits_for_nothing() {
    for (kind, waits) in [
        (EventKind::Stop, false),
        (EventKind::Prompt, false),
        (EventKind::SessionEnd, false),
        (EventKind::Notification, true),
    ] {
        let scratch = Scratch::new();
        scratch.record(&ago(5, "s", before_call(COMMAND)));
        scratch.record(&ago(4, "s", event(kind)));
        assert_eq!(agent(&scratch), waits.then(|| owner("s")), "{kind:?}");
    }
}

#[test]
fn of_several_sessions_that_wait_the_newest_comes_first() {
    let scratch = Scratch::new();
    scratch.record(&ago(9, "first", before_call(COMMAND)));
    scratch.record(&ago(8, "second", before_call(COMMAND)));
    scratch.record(&ago(7, "other", before_call("make")));
    assert_eq!(run(&scratch).agents(&scratch.store(NOW)).expect("a journal"), [owner("second"), owner("first")]);
}

#[test]
fn in_a_run_no_session_is_guessed() {
    let scratch = Scratch::new().with_variables(in_run);
    scratch.record(&ago(5, "s", before_call(COMMAND)));
    assert_eq!(agent(&scratch), None);
    assert_eq!(known(&scratch, true), None);
    assert_eq!(run(&scratch).session(&scratch.store(NOW)).expect("a journal"), None);
}

#[test]
fn the_session_is_known_only_from_the_single_unfinished_call() {
    let scratch = Scratch::new();
    scratch.record(&ago(5, "s", before_call(COMMAND)));
    assert_eq!(known(&scratch, true), Some(owner("s")));
    assert_eq!(known(&scratch, false), None, "a person may run the same command meanwhile");
    // Any other unfinished call may be a script that runs this command.
    scratch.record(&ago(4, "other", before_call("./build.sh")));
    assert_eq!(known(&scratch, true), None);
    scratch.record(&ago(3, "other", after_call("./build.sh")));
    assert_eq!(known(&scratch, true), Some(owner("s")));
}

#[test]
fn a_call_that_is_not_this_command_shows_nothing_even_if_it_is_the_only_one() {
    let scratch = Scratch::new();
    scratch.record(&ago(5, "s", before_call("./build.sh")));
    assert_eq!(known(&scratch, true), None);
    // A call that runs for minutes still counts as running.
    scratch.record(&ago(9 * 60, "slow", before_call("sleep 1000")));
    scratch.record(&ago(4, "s", after_call("./build.sh")));
    scratch.record(&ago(3, "s", before_call(COMMAND)));
    assert_eq!(known(&scratch, true), None);
}

#[test]
fn a_session_that_is_named_is_the_one() {
    let scratch = Scratch::new().with_variables(of_claude);
    scratch.record(&ago(50, "older", event(EventKind::Prompt)));
    scratch.record(&ago(40, "newer", event(EventKind::Prompt)));
    let store = scratch.store(NOW);
    let asked = |session| CommandRun { session: Some(session), ..run(&scratch) };
    assert_eq!(asked("older").known_session(&store, true).expect("a journal"), Some(owner("older")));
    assert_eq!(asked("older").session(&store).expect("a journal"), Some(owner("older")));
    assert_eq!(asked("unheard").known_session(&store, true).expect("a journal"), None);
}

#[test]
fn without_a_hint_the_latest_session_is_used() {
    let scratch = Scratch::new();
    scratch.record(&ago(50, "older", event(EventKind::Prompt)));
    scratch.record(&ago(40, "newer", event(EventKind::Prompt)));
    assert_eq!(run(&scratch).session(&scratch.store(NOW)).expect("a journal"), Some(owner("newer")));
    // A session with an unfinished call of the command precedes others.
    scratch.record(&ago(30, "older", before_call(COMMAND)));
    scratch.record(&ago(20, "newer", event(EventKind::Prompt)));
    assert_eq!(run(&scratch).session(&scratch.store(NOW)).expect("a journal"), Some(owner("older")));
}
