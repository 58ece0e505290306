//! `progress`: an agent reports its progress. The report has no other effect.

use serde_json::json;
use store::{LOOP_SESSION, Note, NoteKind, StateChanges};

use crate::arguments::ProgressArguments;
use crate::commands::{Context, journal, now};
use crate::exit_code::ExitCode;
use crate::problem::CommandOutcome;

pub fn run(arguments: &ProgressArguments, context: &Context) -> CommandOutcome {
    let project = guard::session::project_of_command(&context.environment);
    let text = arguments.text.join(" ");
    let hat_phase = super::require_hat_phase(&project, context)?;
    super::open_work_database(&project, context)?.add_progress(hat_phase.run_id(), &text, now())?;
    let fields = [("run", json!(hat_phase.run_id().to_string())), ("text", json!(text))];
    let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let (root, no_changes) = (project.root.to_string_lossy().into_owned(), StateChanges::default());
    let note = Note {
        kind: NoteKind::Progress,
        session: LOOP_SESSION,
        time: now(),
        root: &root,
        cwd: &root,
        fields: &fields,
        changes: &no_changes,
    };
    journal::write_note(&note, &project, context)?;
    context.output.line_or("Noted.", &json!({ "noted": true }));
    Ok(ExitCode::Done)
}
