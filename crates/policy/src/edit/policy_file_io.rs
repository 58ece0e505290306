//! Reads and writes policy files: with a size limit, atomically, and never through a symlink that leaves the folder.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::refusal::EditRefusal;
use crate::files::bounded::{SIZE_LIMIT, read_bounded};
use crate::text::diagnostic::ErrorKind;

/// Locks a folder against concurrent edits until the lock is dropped. If the folder cannot be locked, the check that a
/// file is unchanged before it is replaced still applies.
pub fn lock(folder: &Path) -> Option<fs::File> {
    let folder = fs::File::open(folder).ok()?;
    folder.lock().ok().map(|()| folder)
}

/// `None` if the file does not exist. `name` is its display name.
pub fn read(path: &Path, name: &str) -> Result<Option<String>, EditRefusal> {
    match read_bounded(path, SIZE_LIMIT) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(name, SIZE_LIMIT, &error)),
    }
}

pub fn unreadable(name: &str, limit: u64, error: &io::Error) -> EditRefusal {
    match error.kind() {
        io::ErrorKind::FileTooLarge => {
            EditRefusal::new(ErrorKind::TooLarge, format!("`{name}` is larger than the limit of {} KiB", limit / 1024))
        }
        io::ErrorKind::InvalidData => EditRefusal::new(ErrorKind::Unreadable, format!("`{name}` is not UTF-8 text")),
        _ => EditRefusal::new(ErrorKind::Unreadable, format!("`{name}` cannot be read: {error}")),
    }
}

/// Resolves a path to the file to write, and creates its folder. Symlinks among the folders must stay in `base`, and a
/// symlink that is the file itself must stay in its folder.
pub fn resolve_for_write(base: &Path, path: &Path, name: &str) -> Result<PathBuf, EditRefusal> {
    let path = resolve_without_following(base, path, name)?;
    if !path.is_symlink() {
        return Ok(path);
    }
    let target = path.canonicalize().map_err(|error| EditRefusal::io(name, "written", &error))?;
    if path.parent().is_some_and(|folder| target.starts_with(folder)) { Ok(target) } else { Err(leaves_folder(name)) }
}

/// Resolves only the folder of a path, and creates it. If the file itself is a symlink, the result is the symlink.
pub fn resolve_without_following(base: &Path, path: &Path, name: &str) -> Result<PathBuf, EditRefusal> {
    let io = |error: io::Error| EditRefusal::io(name, "written", &error);
    fs::create_dir_all(base).map_err(io)?;
    let base = base.canonicalize().map_err(io)?;
    let (folder, file) = path.parent().zip(path.file_name()).ok_or_else(|| leaves_folder(name))?;
    // Checks the nearest existing ancestor before creating anything in it.
    let existing = folder.ancestors().find(|folder| folder.exists()).unwrap_or(folder);
    if !existing.canonicalize().map_err(io)?.starts_with(&base) {
        return Err(leaves_folder(name));
    }
    fs::create_dir_all(folder).map_err(io)?;
    let folder = folder.canonicalize().map_err(io)?;
    if !folder.starts_with(&base) {
        return Err(leaves_folder(name));
    }
    Ok(folder.join(file))
}

fn leaves_folder(name: &str) -> EditRefusal {
    EditRefusal::new(ErrorKind::NotEditable, format!("`{name}` is behind a symlink that leads out of its folder"))
        .help("replace the symlink by the file, or change the target in an editor")
}

/// Writes a file atomically, and keeps its mode.
pub fn write(target: &Path, text: &str) -> io::Result<()> {
    let folder = target.parent().ok_or_else(|| io::Error::other("the file has no parent folder"))?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".linchpin-");
    use_default_file_mode(&mut builder);
    let mut file = builder.tempfile_in(folder)?;
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
