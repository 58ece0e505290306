//! `pause` and `resume`: a person suspends the guard for a while.

use guard::Project;
use guard::grants::{MAX_PAUSE, Pause};
use jiff::SignedDuration;
use serde_json::{Map, Value, json};
use store::{Note, NoteKind, PERSON_SESSION, StateChanges};

use super::Context;
use crate::arguments;
use crate::exit_code::ExitCode;
use crate::person;
use crate::problem::{CommandOutcome, Problem};

pub fn pause(arguments: &arguments::PauseArguments, context: &Context) -> CommandOutcome {
    person::required("pause", &context.environment)?;
    let project = project(context)?;
    let reason = one_line(&arguments.reason)?;
    let now = super::now();
    let pause = Pause { until: now.saturating_add(milliseconds(&arguments.duration)?), reason };
    let fields = fields([("reason", json!(pause.reason)), ("until", json!(pause.until)), ("by", json!("person"))]);
    // The note is written first, so that the guard is never suspended without a journal entry.
    write_note(NoteKind::Pause, now, &fields, &project, context)?;
    pause.begin(&project.root, &context.environment)?;
    context.output.line_or(
        format!(
            "Paused for {} in {}. Only Linchpin's own files and settings are protected; `linchpin resume` ends the pause.",
            pause.time_left(now).replace(" more", ""),
            project.root.display()
        ),
        &json!({ "paused": { "until": pause.until, "reason": pause.reason } }),
    );
    Ok(ExitCode::Done)
}

pub fn resume(context: &Context) -> CommandOutcome {
    person::required("resume", &context.environment)?;
    let project = project(context)?;
    let now = super::now();
    let ended = Pause::of(&project.root, &context.environment, now);
    Pause::end(&project.root, &context.environment)?;
    if ended.is_some() {
        write_note(NoteKind::Resume, now, &fields([("by", json!("person"))]), &project, context)?;
    }
    let text = if ended.is_some() { "Resumed: verdicts are enforced again." } else { "Linchpin is not paused." };
    context.output.line_or(text, &json!({ "paused": null, "resumed": ended.is_some() }));
    Ok(ExitCode::Done)
}

fn project(context: &Context) -> Result<Project, Problem> {
    let project = Project::of_sessions(&context.environment);
    if project.has_policy() {
        return Ok(project);
    }
    let message = format!("there is no policy for `{}`, so there is nothing to pause", project.root.display());
    Err(Problem::new("NoPolicy", message).help("run this in the project, or write a policy with `linchpin init`"))
}

/// Joins the reason into one line, because the file that stores the pause has only one line for the reason.
fn one_line(reason: &str) -> Result<String, Problem> {
    let reason = reason.split_whitespace().collect::<Vec<_>>().join(" ");
    if reason.is_empty() {
        return Err(Problem::new("InvalidValue", "`--reason` is empty").help("give the reason in a few words"));
    }
    Ok(reason)
}

fn milliseconds(text: &str) -> Result<i64, Problem> {
    let invalid = |why: String| {
        Problem::new("InvalidValue", why).help("write a duration of at most 24 hours, such as `10m` or `2h`")
    };
    let duration = text
        .parse::<SignedDuration>()
        .ok()
        .filter(SignedDuration::is_positive)
        .ok_or_else(|| invalid(format!("invalid duration `{text}`")))?;
    let length = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
    if u128::from(length.unsigned_abs()) > MAX_PAUSE.as_millis() {
        let hours = MAX_PAUSE.as_secs() / 3600;
        return Err(invalid(format!("`{text}` is longer than {hours} hours")));
    }
    Ok(length)
}

fn fields<const N: usize>(fields: [(&str, Value); N]) -> Map<String, Value> {
    fields.map(|(key, value)| (key.to_owned(), value)).into_iter().collect()
}

fn write_note(
    kind: NoteKind,
    time: i64,
    fields: &Map<String, Value>,
    project: &Project,
    context: &Context,
) -> Result<(), Problem> {
    let note = Note {
        kind,
        session: PERSON_SESSION,
        time,
        root: &project.root.to_string_lossy(),
        cwd: &context.environment.cwd.to_string_lossy(),
        fields,
        changes: &StateChanges::default(),
    };
    super::journal::write_note(&note, project, context)
}
