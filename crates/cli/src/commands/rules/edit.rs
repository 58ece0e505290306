//! `rules edit`: edits a rule's file in the person's editor, or replaces its text. The file is replaced only if the new
//! text is valid.

use std::fs;
use std::path::Path;

use policy::edit::EditOutcome;

use super::report::report;
use super::text_editor::TextEditor;
use super::{Context, Target, draft_text};
use crate::arguments::EditRuleArguments;
use crate::person;
use crate::problem::{CommandOutcome, Problem};

pub fn run(arguments: &EditRuleArguments, context: &Context) -> CommandOutcome {
    person::required("rules edit", &context.environment)?;
    let target = Target::open(arguments.user, context)?;
    let (path, before) = target.editor.file_of(&arguments.id)?;
    let changed = match &arguments.file {
        Some(file) => target.editor.replace(&path, &before, &draft_text::read(file)?)?,
        None => edit_copy(&target, &path, &before, context)?,
    };
    report(&target, &changed, &[&arguments.id], context)
}

/// Lets the person edit a copy of the file until the copy is valid or the person gives up.
fn edit_copy(target: &Target, path: &Path, before: &str, context: &Context) -> Result<EditOutcome, Problem> {
    if !person::has_terminal(&context.output) {
        return Err(Problem::new("InvalidValue", "there is no terminal for an editor")
            .help("give the new text with `--file FILE`, or `--file -` for standard input"));
    }
    let text_editor = TextEditor::of_person(&context.environment)?;
    let directory = tempfile::Builder::new().prefix("linchpin-edit-").tempdir_in(&context.environment.temp)?;
    let copy = directory.path().join(path.file_name().unwrap_or_default());
    fs::write(&copy, before)?;
    loop {
        text_editor.edit(&copy)?;
        let problem = match target.editor.replace(path, before, &draft_text::read(&copy)?) {
            Ok(changed) => return Ok(changed),
            Err(refusal) => Problem::from(refusal),
        };
        context.output.line(problem.to_text());
        context.output.blank();
        if !person::says_yes("Edit it again?", true)? {
            let saved = directory.keep().join(path.file_name().unwrap_or_default());
            return Err(problem.help(format!("the rule was not changed; your text is saved in `{}`", saved.display())));
        }
    }
}
