//! Reads `instructions_file`.

use std::io;
use std::path::{Component, Path, PathBuf};

use crate::files::bounded::{SIZE_LIMIT, read_bounded};
use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::text::fields::{Fields, SpannedText};

/// Reads the file. After symlinks are resolved, it must be inside `directory`, the directory of the list.
pub fn read(file: &SpannedText, directory: &Path, fields: &mut Fields) -> Option<String> {
    match read_text(&file.value, directory) {
        Ok(text) => Some(text),
        Err((kind, message, help)) => {
            let problem = Diagnostic::error(kind, message, fields.source(), Some(file.span.clone()));
            fields.problems.push(problem.help(help));
            None
        }
    }
}

/// Kind, message and help.
type FileError = (DiagnosticKind, String, &'static str);

fn read_text(name: &str, directory: &Path) -> Result<String, FileError> {
    let path = resolve_inside(name, directory)?;
    let text = read_bounded(&path, SIZE_LIMIT).map_err(|error| match error.kind() {
        io::ErrorKind::FileTooLarge => (
            DiagnosticKind::TooLarge,
            format!("`{name}` is larger than the limit of {} KiB", SIZE_LIMIT / 1024),
            "shorten it: the agent has to read all of it",
        ),
        io::ErrorKind::InvalidData => {
            (DiagnosticKind::Unreadable, format!("`{name}` is not UTF-8 text"), "save it as UTF-8")
        }
        _ => (DiagnosticKind::Unreadable, format!("`{name}` cannot be read: {error}"), "name a file that can be read"),
    })?;
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Err((
            DiagnosticKind::InvalidValue,
            format!("`{name}` is empty"),
            "say in the file what the agent should do, or use `instructions`",
        ));
    }
    Ok(text.to_owned())
}

fn resolve_inside(name: &str, directory: &Path) -> Result<PathBuf, FileError> {
    let outside = || {
        let message = format!("`{name}` is outside the list's folder");
        (DiagnosticKind::InvalidValue, message, "copy the file next to the list, or put its text under `instructions`")
    };
    // The path's text is checked first, so that messages do not reveal whether a file outside of the directory exists.
    let mut depth = 0_usize;
    for part in Path::new(name).components() {
        match part {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir => depth = depth.checked_sub(1).ok_or_else(outside)?,
            Component::RootDir | Component::Prefix(_) => return Err(outside()),
        }
    }
    let missing = |error: io::Error| {
        let help = "paths are relative to the list's folder; if the file no longer exists, put the text under \
                    `instructions`";
        match error.kind() {
            io::ErrorKind::NotFound => (DiagnosticKind::NotFound, format!("`{name}` does not exist"), help),
            _ => (DiagnosticKind::Unreadable, format!("`{name}` cannot be read: {error}"), help),
        }
    };
    let real = directory.join(name).canonicalize().map_err(missing)?;
    let directory = directory.canonicalize().map_err(missing)?;
    if real.starts_with(directory) { Ok(real) } else { Err(outside()) }
}
