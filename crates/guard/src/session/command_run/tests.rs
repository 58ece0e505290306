//! Tests how the session that runs a command is found: by environment variables or by an unfinished call.

use std::ffi::OsString;

use engine::{Event, EventKind, Level};

use super::*;
use crate::tests::{Scratch, after_call, before_call, event, verdict};

const NOW: i64 = 60 * 60 * 1000;
const COMMAND: &str = "linchpin next code_complete";

fn command_run(scratch: &Scratch) -> CommandRun<'_> {
    CommandRun { words: &["next"], session: None, environment: &scratch.environment, now: NOW }
}

fn session(id: &str) -> AgentSession {
    AgentSession { agent: "claude".to_owned(), id: id.to_owned() }
}

/// An event of a session, this many seconds ago.
fn seconds_ago(seconds: i64, session: &str, event: Event) -> Event {
    Event { session: session.to_owned(), time: NOW - seconds * 1000, ..event }
}

fn likely(scratch: &Scratch) -> Option<AgentSession> {
    command_run(scratch).likely_session(&scratch.store(NOW)).expect("a journal")
}

fn certain(scratch: &Scratch, search_calls: bool) -> Option<AgentSession> {
    command_run(scratch).certain_session(&scratch.store(NOW), search_calls).expect("a journal")
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
    assert_eq!(likely(&scratch), None);
    assert_eq!(certain(&scratch, false), None);
    assert_eq!(command_run(&scratch).target_session(&scratch.store(NOW)).expect("a journal"), None);
}

#[test]
fn environment_variables_of_an_agent_name_its_session() {
    let scratch = Scratch::new().with_variables(of_claude);
    scratch.record(&seconds_ago(5, "waiting", before_call(COMMAND)));
    assert_eq!(likely(&scratch), Some(session("named")));
    assert_eq!(certain(&scratch, false), Some(session("named")));
}

#[test]
fn an_unfinished_call_of_the_command_shows_which_session_runs_it() {
    for (command, is_command) in [
        (COMMAND, true),
        ("cd src && linchpin next", true),
        ("linchpin  'next'", true),
        ("linchpin repeat", false),
        ("echo linchpin next", false),
        ("./build.sh", false),
    ] {
        let scratch = Scratch::new();
        scratch.record(&seconds_ago(5, "s", before_call(command)));
        assert_eq!(likely(&scratch), is_command.then(|| session("s")), "{command}");
    }
}

#[test]
fn a_call_that_ended_was_refused_or_is_too_old_is_not_considered() {
    let scratch = Scratch::new();
    scratch.record(&seconds_ago(61, "old", before_call(COMMAND)));
    assert_eq!(likely(&scratch), None, "too old");

    let scratch = Scratch::new();
    scratch.record(&seconds_ago(5, "s", before_call(COMMAND)));
    scratch.record(&seconds_ago(4, "s", after_call(COMMAND)));
    assert_eq!(likely(&scratch), None, "ended");

    let scratch = Scratch::new();
    let call = seconds_ago(5, "s", before_call(COMMAND));
    scratch.record_judged(&call, &verdict(Level::Block), &store::StateChanges::default());
    assert_eq!(likely(&scratch), None, "refused");
}

#[test]
fn a_session_whose_turn_ended_is_not_considered() {
    for (kind, is_candidate) in [
        (EventKind::Stop, false),
        (EventKind::Prompt, false),
        (EventKind::SessionEnd, false),
        (EventKind::Notification, true),
    ] {
        let scratch = Scratch::new();
        scratch.record(&seconds_ago(5, "s", before_call(COMMAND)));
        scratch.record(&seconds_ago(4, "s", event(kind)));
        assert_eq!(likely(&scratch), is_candidate.then(|| session("s")), "{kind:?}");
    }
}

#[test]
fn the_newest_of_several_candidate_sessions_comes_first() {
    let scratch = Scratch::new();
    scratch.record(&seconds_ago(9, "first", before_call(COMMAND)));
    scratch.record(&seconds_ago(8, "second", before_call(COMMAND)));
    scratch.record(&seconds_ago(7, "other", before_call("make")));
    assert_eq!(
        command_run(&scratch).candidate_sessions(&scratch.store(NOW)).expect("a journal"),
        [session("second"), session("first")]
    );
}

#[test]
fn in_a_run_no_session_is_guessed() {
    let scratch = Scratch::new().with_variables(in_run);
    scratch.record(&seconds_ago(5, "s", before_call(COMMAND)));
    assert_eq!(likely(&scratch), None);
    assert_eq!(certain(&scratch, true), None);
    assert_eq!(command_run(&scratch).target_session(&scratch.store(NOW)).expect("a journal"), None);
}

#[test]
fn the_session_is_certain_only_from_a_single_unfinished_call() {
    let scratch = Scratch::new();
    scratch.record(&seconds_ago(5, "s", before_call(COMMAND)));
    assert_eq!(certain(&scratch, true), Some(session("s")));
    assert_eq!(certain(&scratch, false), None, "a person may run the same command meanwhile");
    // Any other unfinished call may be a script that runs this command.
    scratch.record(&seconds_ago(4, "other", before_call("./build.sh")));
    assert_eq!(certain(&scratch, true), None);
    scratch.record(&seconds_ago(3, "other", after_call("./build.sh")));
    assert_eq!(certain(&scratch, true), Some(session("s")));
}

#[test]
fn another_command_is_not_considered_even_if_its_call_is_the_only_unfinished_one() {
    let scratch = Scratch::new();
    scratch.record(&seconds_ago(5, "s", before_call("./build.sh")));
    assert_eq!(certain(&scratch, true), None);
    // A call that runs for minutes still counts as running.
    scratch.record(&seconds_ago(9 * 60, "slow", before_call("sleep 1000")));
    scratch.record(&seconds_ago(4, "s", after_call("./build.sh")));
    scratch.record(&seconds_ago(3, "s", before_call(COMMAND)));
    assert_eq!(certain(&scratch, true), None);
}

#[test]
fn the_session_that_the_command_line_names_is_used() {
    let scratch = Scratch::new().with_variables(of_claude);
    scratch.record(&seconds_ago(50, "older", event(EventKind::Prompt)));
    scratch.record(&seconds_ago(40, "newer", event(EventKind::Prompt)));
    let store = scratch.store(NOW);
    let with_session = |session| CommandRun { session: Some(session), ..command_run(&scratch) };
    assert_eq!(with_session("older").certain_session(&store, true).expect("a journal"), Some(session("older")));
    assert_eq!(with_session("older").target_session(&store).expect("a journal"), Some(session("older")));
    assert_eq!(with_session("unknown").certain_session(&store, true).expect("a journal"), None);
}

#[test]
fn if_no_session_runs_the_command_the_latest_is_the_target() {
    let scratch = Scratch::new();
    scratch.record(&seconds_ago(50, "older", event(EventKind::Prompt)));
    scratch.record(&seconds_ago(40, "newer", event(EventKind::Prompt)));
    assert_eq!(command_run(&scratch).target_session(&scratch.store(NOW)).expect("a journal"), Some(session("newer")));
    // A session with an unfinished call of the command is the target, even if another session is newer.
    scratch.record(&seconds_ago(30, "older", before_call(COMMAND)));
    scratch.record(&seconds_ago(20, "newer", event(EventKind::Prompt)));
    assert_eq!(command_run(&scratch).target_session(&scratch.store(NOW)).expect("a journal"), Some(session("older")));
}
