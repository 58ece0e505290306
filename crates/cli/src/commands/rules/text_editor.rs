//! Starts the person's editor: `$VISUAL`, or else `$EDITOR`.

use std::path::Path;
use std::process::Command;

use guard::Environment;

use crate::problem::Problem;

pub struct TextEditor {
    /// A program and its arguments, as a shell command.
    command: String,
}

impl TextEditor {
    pub fn of_person(environment: &Environment) -> Result<Self, Problem> {
        let command = environment.get("VISUAL").or_else(|| environment.get("EDITOR"));
        command.map(|command| Self { command }).ok_or_else(|| {
            Problem::new("NotFound", "no editor is set: `$VISUAL` and `$EDITOR` are empty")
                .help("set one of them, or give the new text with `--file FILE`")
        })
    }

    /// Opens the file in the editor, and waits until the editor has ended.
    pub fn edit(&self, file: &Path) -> Result<(), Problem> {
        let script = format!("{} \"$@\"", self.command);
        let status = Command::new("sh").args(["-c", &script, "linchpin"]).arg(file).status();
        match status {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(self.failed(&status.to_string())),
            Err(error) => Err(self.failed(&error.to_string())),
        }
    }

    fn failed(&self, why: &str) -> Problem {
        let message = format!("the editor `{}` failed, so nothing was changed: {why}", self.command);
        Problem::new("Io", message).help("set `$VISUAL` or `$EDITOR` to an editor that waits until you are done")
    }
}
