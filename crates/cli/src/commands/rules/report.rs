//! Reports a change of rules and its effect.

use guard::Project;
use policy::edit::{EditOutcome, FileEdit};
use policy::{ConversionNote, Diagnostic, DiagnosticKind, LoadedPolicy};
use serde_json::{Map, Value, json};

use super::{Context, Target, line_diff};
use crate::commands::validate;
use crate::exit_code::ExitCode;
use crate::plural::counted;
use crate::problem::CommandOutcome;

/// The maximum number of lines of the diff to show.
const MAX_LINES: usize = 40;

/// Reports a change that a person made. `ids`: the affected rules.
pub fn report(target: &Target, changed: &EditOutcome, ids: &[&str], context: &Context) -> CommandOutcome {
    if !changed.changes.is_empty() {
        target.accept_change(changed, ids, context)?;
    }
    let output = &context.output;
    // The project is opened again, because the change may have created a policy.
    let project = Project::at(&target.project.root, &context.environment);
    let now = project.load(&context.environment);
    let warnings = warnings(changed, &now);
    if output.json {
        let file = |change: &FileEdit| json!({ "file": change.name, "before": change.before, "after": change.after });
        let files: Vec<Value> = changed.changes.iter().map(file).collect();
        let rule = |id: &&str| json!({ "id": id, "in_force": in_force(id, &now).is_some() });
        let rules: Vec<Value> = ids.iter().map(rule).collect();
        let warnings: Vec<Value> = warnings.into_iter().map(validate::to_json).collect();
        let mut fields = Map::new();
        fields.insert("changed".to_owned(), json!(files));
        fields.insert("rules".to_owned(), json!(rules));
        fields.insert("warnings".to_owned(), json!(warnings));
        if !changed.conversion_notes.is_empty() {
            fields.insert("rewritten".to_owned(), changed.conversion_notes.iter().map(conversion_note_json).collect());
        }
        output.value(&Value::Object(fields));
        return Ok(ExitCode::Done);
    }
    for change in &changed.changes {
        show(change, context);
    }
    if !changed.conversion_notes.is_empty() {
        output.line(output.bold("Compared with the old list"));
        for note in &changed.conversion_notes {
            output.line(format!("  {}", note.line()));
        }
        output.blank();
    }
    for warning in warnings {
        output.rendered(&warning.render(output.style()));
        output.blank();
    }
    if changed.changes.is_empty() {
        output.line("Nothing to change.");
    }
    for id in ids {
        output.line(in_force(id, &now).unwrap_or_else(|| format!("`{id}` is not in force.")));
    }
    Ok(ExitCode::Done)
}

fn conversion_note_json(note: &ConversionNote) -> Value {
    let ConversionNote { rule, key, file, position, before, after, reasons } = note;
    let (line, column) = (position.line, position.column);
    json!({
        "rule": rule, "key": key, "file": file, "line": line, "column": column,
        "before": before, "after": after, "why": reasons,
    })
}

/// Returns warnings about the changed files, and about parts of these files that now need trust.
fn warnings<'a>(changed: &'a EditOutcome, now: &'a LoadedPolicy) -> Vec<&'a Diagnostic> {
    let untrusted = now.diagnostics.iter().filter(|problem| {
        problem.kind == DiagnosticKind::Untrusted
            && changed.changes.iter().any(|change| change.name == problem.source.name)
    });
    changed.warnings.iter().chain(untrusted).collect()
}

fn in_force(id: &str, now: &LoadedPolicy) -> Option<String> {
    let rule = &now.in_force(id)?.definition.rule;
    let events: Vec<&str> = rule.on.iter().map(engine::event::EventKind::name).collect();
    let (action, source) = (rule.action.name(), &rule.source);
    Some(format!("`{id}` is in force: {action} on {} ({source}).", events.join(", ")))
}

fn show(change: &FileEdit, context: &Context) {
    let output = &context.output;
    let (before, after) = (change.before.as_deref(), change.after.as_deref());
    let what = match (before, after) {
        (None, _) => " (new)",
        (_, None) => " (deleted)",
        _ => "",
    };
    output.line(output.bold(&format!("{}{what}", change.name)));
    let lines = line_diff::lines(before.unwrap_or_default(), after.unwrap_or_default());
    for line in lines.iter().take(MAX_LINES) {
        output.line(line);
    }
    if lines.len() > MAX_LINES {
        output.line(format!("    … and {}", counted(lines.len() - MAX_LINES, "more line")));
    }
    output.blank();
}
