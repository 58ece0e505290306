//! Reads and writes policy files: with a size limit, atomically, and never through a symlink to another directory.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::refusal::EditRefusal;
use crate::files::bounded::{SIZE_LIMIT, read_bounded};
use crate::text::diagnostic::DiagnosticKind;

/// Locks a directory against concurrent edits until the lock is dropped. If the directory cannot be locked, edits still
/// check that a file is unchanged before they replace it.
pub fn lock(directory: &Path) -> Option<fs::File> {
    let directory = fs::File::open(directory).ok()?;
    directory.lock().ok().map(|()| directory)
}

/// Returns `None` if the file does not exist. `name` is the file's display name.
pub fn read(path: &Path, name: &str) -> Result<Option<String>, EditRefusal> {
    match read_bounded(path, SIZE_LIMIT) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(name, SIZE_LIMIT, &error)),
    }
}

pub fn unreadable(name: &str, limit: u64, error: &io::Error) -> EditRefusal {
    match error.kind() {
        io::ErrorKind::FileTooLarge => EditRefusal::new(
            DiagnosticKind::TooLarge,
            format!("`{name}` is larger than the limit of {} KiB", limit / 1024),
        ),
        io::ErrorKind::InvalidData => {
            EditRefusal::new(DiagnosticKind::Unreadable, format!("`{name}` is not UTF-8 text"))
        }
        _ => EditRefusal::new(DiagnosticKind::Unreadable, format!("`{name}` cannot be read: {error}")),
    }
}

/// Resolves a path to the file to write, and creates its directory. Symlinked directories must lead into `base`. If the
/// file itself is a symlink, its target must be in the file's directory.
pub fn resolve_for_write(base: &Path, path: &Path, name: &str) -> Result<PathBuf, EditRefusal> {
    let path = resolve_without_following(base, path, name)?;
    if !path.is_symlink() {
        return Ok(path);
    }
    let target = path.canonicalize().map_err(|error| EditRefusal::io(name, "written", &error))?;
    if path.parent().is_some_and(|directory| target.starts_with(directory)) {
        Ok(target)
    } else {
        Err(symlink_refusal(name))
    }
}

/// Resolves only the directory of a path, and creates it. If the file itself is a symlink, the result is the symlink.
pub fn resolve_without_following(base: &Path, path: &Path, name: &str) -> Result<PathBuf, EditRefusal> {
    let io = |error: io::Error| EditRefusal::io(name, "written", &error);
    fs::create_dir_all(base).map_err(io)?;
    let base = base.canonicalize().map_err(io)?;
    let (directory, file) = path.parent().zip(path.file_name()).ok_or_else(|| symlink_refusal(name))?;
    // Checks the nearest existing ancestor before creating anything in it.
    let existing = directory.ancestors().find(|ancestor| ancestor.exists()).unwrap_or(directory);
    if !existing.canonicalize().map_err(io)?.starts_with(&base) {
        return Err(symlink_refusal(name));
    }
    fs::create_dir_all(directory).map_err(io)?;
    let directory = directory.canonicalize().map_err(io)?;
    if !directory.starts_with(&base) {
        return Err(symlink_refusal(name));
    }
    Ok(directory.join(file))
}

fn symlink_refusal(name: &str) -> EditRefusal {
    EditRefusal::new(DiagnosticKind::NotEditable, format!("`{name}` is behind a symlink that leads out of its folder"))
        .help("replace the symlink by the file, or change the target in an editor")
}

/// Writes a file atomically, and keeps its mode.
pub fn write(target: &Path, text: &str) -> io::Result<()> {
    let directory = target.parent().ok_or_else(|| io::Error::other("the file has no parent folder"))?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".linchpin-");
    use_default_file_mode(&mut builder);
    let mut file = builder.tempfile_in(directory)?;
    file.write_all(text.as_bytes())?;
    if let Ok(existing) = fs::metadata(target) {
        file.as_file().set_permissions(existing.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(target)?;
    Ok(())
}

/// Gives the file the mode of ordinary new files, as the umask allows. Temporary files are private by default.
#[cfg(unix)]
fn use_default_file_mode(builder: &mut tempfile::Builder<'_, '_>) {
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(fs::Permissions::from_mode(0o666));
}

#[cfg(not(unix))]
fn use_default_file_mode(_builder: &mut tempfile::Builder<'_, '_>) {}
