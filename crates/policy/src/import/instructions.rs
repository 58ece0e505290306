//! Reads `instructions_file`.

use std::io;
use std::path::{Component, Path, PathBuf};

use crate::files::bounded::{SIZE_LIMIT, read_bounded};
use crate::text::diagnostic::{Diagnostic, ErrorKind};
use crate::text::fields::{Fields, SpannedText};

/// Reads the file, which must be inside `folder`, the folder of the list, after symlinks are resolved.
pub fn read(file: &SpannedText, folder: &Path, fields: &mut Fields) -> Option<String> {
    match text(&file.value, folder) {
        Ok(text) => Some(text),
        Err((kind, message, help)) => {
            let problem = Diagnostic::error(kind, message, fields.source(), Some(file.span.clone()));
            fields.problems.push(problem.help(help));
            None
        }
    }
}

/// Kind, message and help.
type FileError = (ErrorKind, String, &'static str);

fn text(name: &str, folder: &Path) -> Result<String, FileError> {
    let path = resolve_inside(name, folder)?;
    let text = read_bounded(&path, SIZE_LIMIT).map_err(|error| match error.kind() {
        io::ErrorKind::FileTooLarge => (
            ErrorKind::TooLarge,
            format!("`{name}` is larger than the limit of {} KiB", SIZE_LIMIT / 1024),
            "shorten it: the agent has to read all of it",
        ),
        io::ErrorKind::InvalidData => {
            (ErrorKind::Unreadable, format!("`{name}` is not UTF-8 text"), "save it as UTF-8")
        }
        _ => (ErrorKind::Unreadable, format!("`{name}` cannot be read: {error}"), "name a file that can be read"),
    })?;
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Err((
            ErrorKind::InvalidValue,
            format!("`{name}` is empty"),
            "say in the file what the agent should do, or use `instructions`",
        ));
    }
    Ok(text.to_owned())
}

fn resolve_inside(name: &str, folder: &Path) -> Result<PathBuf, FileError> {
    let outside = || {
        let message = format!("`{name}` is outside the list's folder");
        (ErrorKind::InvalidValue, message, "copy the file next to the list, or put its text under `instructions`")
    };
    // The path's text is checked first, so that messages do not reveal whether a file outside of the folder exists.
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
            io::ErrorKind::NotFound => (ErrorKind::NotFound, format!("`{name}` does not exist"), help),
            _ => (ErrorKind::Unreadable, format!("`{name}` cannot be read: {error}"), help),
        }
    };
    let real = folder.join(name).canonicalize().map_err(missing)?;
    let folder = folder.canonicalize().map_err(missing)?;
    if real.starts_with(folder) { Ok(real) } else { Err(outside()) }
}
