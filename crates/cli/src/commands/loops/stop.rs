//! `stop`: a person asks a run, or an agent's session, to stop.

use driver::active_run_id;
use serde_json::json;
use store::{Note, NoteKind, PERSON_SESSION, StateChanges, Store};
use work::Run;

use super::processes;
use crate::arguments::StopArguments;
use crate::commands::{Context, journal, now};
use crate::exit_code::ExitCode;
use crate::person;
use crate::problem::{CommandOutcome, Problem};

pub fn run(arguments: &StopArguments, context: &Context) -> CommandOutcome {
    person::required("stop", &context.environment)?;
    if let Some(session) = &arguments.session {
        let project = guard::Project::of_sessions(&context.environment);
        journal_with_session(session, &project, context)?;
        super::open_work_database(&project, context)?.request_session_stop(session, now())?;
        write_note(NoteKind::StopRequested, &format!("session {session}"), &project, context)?;
        let text = format!(
            "Session {session} is asked to stop: rules that call `has_stop_signal()` now see the request. Your next prompt in \
             that session withdraws it; so does `linchpin resume --session {session}`."
        );
        context.output.line_or(text, &json!({ "session": session, "asked": true }));
        return Ok(ExitCode::Done);
    }
    stop_run(arguments.run.as_deref(), false, context)
}

/// `resume --session`: withdraws the request of `stop --session`.
pub fn resume_session(session: &str, context: &Context) -> CommandOutcome {
    person::required("resume", &context.environment)?;
    let project = guard::Project::of_sessions(&context.environment);
    let last_prompt = journal_with_session(session, &project, context)?.last_prompt_time(session)?;
    let work = super::open_work_database(&project, context)?;
    let asked = work.session_stop_request(session)?;
    let resumed = asked.is_some_and(|asked| last_prompt.is_none_or(|prompt| prompt < asked));
    let text = match asked {
        None => format!("Session {session} was not asked to stop."),
        Some(_) if resumed => format!("Session {session} may continue."),
        Some(_) => {
            format!("Session {session} is already running again: a person's prompt withdrew the request to stop.")
        }
    };
    if resumed {
        work.clear_session_stop(session)?;
        write_note(NoteKind::Resume, &format!("session {session}"), &project, context)?;
    }
    context.output.line_or(text, &json!({ "session": session, "resumed": resumed }));
    Ok(ExitCode::Done)
}

/// Opens the journal. Fails if it contains no session with this id.
fn journal_with_session(session: &str, project: &guard::Project, context: &Context) -> Result<Store, Problem> {
    let unknown = || {
        Problem::new("NotFound", format!("there is no session `{session}` here"))
            .help("`linchpin log --json` shows the session of each event")
            .refused()
    };
    if !project.journal_path(&context.environment).exists() {
        return Err(unknown());
    }
    let journal = journal::open(project, context)?;
    if journal.latest_session(Some(session))?.is_some() { Ok(journal) } else { Err(unknown()) }
}

/// Asks a run to stop. `at_once`: its agent is ended, too, instead of finishing the iteration.
pub fn stop_run(run: Option<&str>, at_once: bool, context: &Context) -> CommandOutcome {
    let project = guard::Project::of_sessions(&context.environment);
    let active_run = active_run_id(&project.root, &context.environment);
    let work = super::open_work_database(&project, context)?;
    let named = run.map(super::parse_run_id).transpose()?;
    let found = match named.or(active_run) {
        Some(run) => Some(work.run(run)?.ok_or_else(|| {
            Problem::new("NotFound", format!("there is no run `{run}`")).help("`linchpin runs` lists them")
        })?),
        None => work.runs(1)?.pop(),
    };
    let Some(run) = found.as_ref().map(|run| run.id).filter(|run| active_run == Some(*run)) else {
        let not_running = match named {
            Some(run) => {
                Problem::new("NoRun", format!("run {run} is not running")).help("`linchpin runs` shows how it ended")
            }
            None => Problem::new("NoRun", "no run is running here")
                .help("`linchpin runs` lists the runs; `linchpin stop --session ID` asks an agent's session to stop"),
        };
        return match found {
            Some(run) => stop_leftovers(&run, at_once, not_running, &project, context),
            None => Err(not_running),
        };
    };
    work.request_run_stop(run, at_once, now())?;
    write_note(NoteKind::StopRequested, &format!("run {run}"), &project, context)?;
    let text = if at_once {
        format!("Run {run} is ended now; `linchpin run --resume {run}` resumes it.")
    } else {
        format!("Run {run} stops when its agent has ended. To end the agent now, run `linchpin runs stop {run}`.")
    };
    context.output.line_or(text, &json!({ "run": run.to_string(), "asked": true, "at_once": at_once }));
    Ok(ExitCode::Done)
}

/// Ends processes that a run left behind when its driver was killed. Fails with `not_running` if there are none.
fn stop_leftovers(
    run: &Run,
    at_once: bool,
    not_running: Problem,
    project: &guard::Project,
    context: &Context,
) -> CommandOutcome {
    let (id, root, environment) = (run.id, &project.root, &context.environment);
    if !at_once {
        return Err(match driver::find_leftovers(id, root, environment).count() {
            0 => not_running,
            count => Problem::new("NoRun", format!("run {id} is not running, but left {} behind", processes(count)))
                .help(format!("`linchpin runs stop {id}` ends them")),
        });
    }
    let Some(count) = driver::end_leftovers(id, root, environment)?.filter(|count| *count > 0) else {
        return Err(not_running);
    };
    let ended = processes(count);
    write_note(NoteKind::StopRequested, &format!("run {id}: ended {ended} left over"), project, context)?;
    let go_on = if run.is_complete() { String::new() } else { format!(" `linchpin run --resume {id}` resumes it.") };
    let text = format!("Run {id} was not running. Ended {ended} left over from it.{go_on}");
    context.output.line_or(text, &json!({ "run": id.to_string(), "asked": false, "ended_processes": count }));
    Ok(ExitCode::Done)
}

fn write_note(kind: NoteKind, what: &str, project: &guard::Project, context: &Context) -> Result<(), Problem> {
    let fields = [("what".to_owned(), json!(what))].into_iter().collect();
    let (root, changes) = (project.root.to_string_lossy().into_owned(), StateChanges::default());
    let session = PERSON_SESSION;
    let note = Note { kind, session, time: now(), root: &root, cwd: &root, fields: &fields, changes: &changes };
    journal::write_note(&note, project, context)
}
