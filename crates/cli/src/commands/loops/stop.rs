//! `stop`: a person asks a run, or the session of an agent, to stop.

use driver::running;
use serde_json::json;
use store::{Changes, Note, NoteKind, PERSON};
use work::RunId;

use crate::arguments::Stop;
use crate::commands::{Context, log, note, now};
use crate::exit_code::ExitCode;
use crate::person;
use crate::problem::{Outcome, Problem};

pub fn run(arguments: &Stop, context: &Context) -> Outcome {
    person::required("stop", &context.environment)?;
    if let Some(session) = &arguments.session {
        let project = guard::Project::of_sessions(&context.environment);
        let has_journal = project.store(&context.environment).exists();
        if !has_journal || log::open(&project, context)?.latest_session(Some(session))?.is_none() {
            return Err(Problem::new("NotFound", format!("no session here is called `{session}`"))
                .help("`linchpin log --json` names the session of every record")
                .refused());
        }
        super::work(&project, context)?.ask_session_to_stop(session, now())?;
        noted(NoteKind::StopAsked, &format!("session {session}"), &project, context)?;
        let text = format!(
            "Session {session} is asked to stop: rules that ask `has_stop_signal()` see it. Your next prompt in it takes that \
             back, and so does `linchpin resume --session {session}`."
        );
        context.output.line_or(text, &json!({ "session": session, "asked": true }));
        return Ok(ExitCode::Done);
    }
    stop_run(arguments.run.as_deref(), false, context)
}

/// `resume --session`: takes back what `stop --session` asked for.
pub fn let_go_on(session: &str, context: &Context) -> Outcome {
    person::required("resume", &context.environment)?;
    let project = guard::Project::of_sessions(&context.environment);
    let was_asked = super::work(&project, context)?.let_session_go_on(session)?;
    let text = if was_asked {
        noted(NoteKind::Resume, &format!("session {session}"), &project, context)?;
        format!("Session {session} may go on.")
    } else {
        format!("Session {session} was not asked to stop.")
    };
    context.output.line_or(text, &json!({ "session": session, "resumed": was_asked }));
    Ok(ExitCode::Done)
}

/// `at_once`: its agent is ended too.
pub fn stop_run(run: Option<&str>, at_once: bool, context: &Context) -> Outcome {
    let project = guard::Project::of_sessions(&context.environment);
    let going_on = running(&project.root, &context.environment);
    let run: RunId = match run {
        Some(run) => super::run_id(run)?,
        None => going_on.ok_or_else(|| Problem::new("NoRun", "no run is going on here"))?,
    };
    let work = super::work(&project, context)?;
    if work.run(run)?.is_none() {
        return Err(Problem::new("NotFound", format!("no run is called `{run}`")).help("`linchpin runs` lists them"));
    }
    if going_on != Some(run) {
        return Err(
            Problem::new("NoRun", format!("run {run} is not going on")).help("`linchpin runs` shows how it ended")
        );
    }
    work.ask_run_to_stop(run, at_once, now())?;
    noted(NoteKind::StopAsked, &format!("run {run}"), &project, context)?;
    let text = if at_once {
        format!("Run {run} is ended now; `linchpin run --resume {run}` goes on with it.")
    } else {
        format!("Run {run} ends when its agent has ended; `linchpin runs stop {run}` ends that too.")
    };
    context.output.line_or(text, &json!({ "run": run.to_string(), "asked": true, "at_once": at_once }));
    Ok(ExitCode::Done)
}

fn noted(kind: NoteKind, what: &str, project: &guard::Project, context: &Context) -> Result<(), Problem> {
    let fields = [("what".to_owned(), json!(what))].into_iter().collect();
    let (root, none) = (project.root.to_string_lossy().into_owned(), Changes::default());
    let written = Note { kind, session: PERSON, time: now(), root: &root, cwd: &root, fields: &fields, changes: &none };
    note(&written, project, context)
}
