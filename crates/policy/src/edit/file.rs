//! Policy files on disk: read within bounds, written whole or not at all, and never through a link that leads out.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::refusal::EditRefusal;
use crate::files::bounded::{SIZE_LIMIT, read_bounded};
use crate::text::diagnostic::ErrorKind;

/// Waits until nobody else changes files of this folder; the turn ends when it is dropped. Where a folder cannot be locked,
/// what others wrote meanwhile is still noticed before anything is replaced.
pub fn turn(folder: &Path) -> Option<fs::File> {
    let folder = fs::File::open(folder).ok()?;
    folder.lock().ok().map(|()| folder)
}

/// `None` where there is no such file. `name` is how messages call it.
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
            ErrorKind::TooLarge,
            format!("`{name}` is larger than the {} KiB that are read", limit / 1024),
        ),
        io::ErrorKind::InvalidData => EditRefusal::new(ErrorKind::Unreadable, format!("`{name}` is not UTF-8 text")),
        _ => EditRefusal::new(ErrorKind::Unreadable, format!("`{name}` cannot be read: {error}")),
    }
}

/// The file that a path means, its folder made. Links may lead from place to place within `base`, and a file's own
/// link within its folder; none leads out.
pub fn target(base: &Path, path: &Path, name: &str) -> Result<PathBuf, EditRefusal> {
    let target = entry(base, path, name)?;
    if !target.is_symlink() {
        return Ok(target);
    }
    let meant = target.canonicalize().map_err(|error| EditRefusal::io(name, "written", &error))?;
    if target.parent().is_some_and(|folder| meant.starts_with(folder)) { Ok(meant) } else { Err(leads_out(name)) }
}

/// The name itself, be it a link, in its folder, which is made.
pub fn entry(base: &Path, path: &Path, name: &str) -> Result<PathBuf, EditRefusal> {
    let io = |error: io::Error| EditRefusal::io(name, "written", &error);
    fs::create_dir_all(base).map_err(io)?;
    let base = base.canonicalize().map_err(io)?;
    let (folder, file) = path.parent().zip(path.file_name()).ok_or_else(|| leads_out(name))?;
    // What is there of the folder, before anything is made below it.
    let there = folder.ancestors().find(|folder| folder.exists()).unwrap_or(folder);
    if !there.canonicalize().map_err(io)?.starts_with(&base) {
        return Err(leads_out(name));
    }
    fs::create_dir_all(folder).map_err(io)?;
    let folder = folder.canonicalize().map_err(io)?;
    if !folder.starts_with(&base) {
        return Err(leads_out(name));
    }
    Ok(folder.join(file))
}

fn leads_out(name: &str) -> EditRefusal {
    EditRefusal::new(ErrorKind::NotEditable, format!("`{name}` is behind a link that leads out of its folder"))
        .help("put the file itself there, or change it where it lies")
}

/// Writes in one step: a reader sees the old text or the new. The file's mode stays.
pub fn write(target: &Path, text: &str) -> io::Result<()> {
    let folder = target.parent().ok_or_else(|| io::Error::other("the file has no folder"))?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".linchpin-");
    ask_for_new_file_mode(&mut builder);
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    if let Ok(existing) = fs::metadata(target) {
        file.as_file().set_permissions(existing.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(target)?;
    Ok(())
}

/// Readable for others as far as the umask allows, as any new file is; a temporary file by itself is not.
#[cfg(unix)]
fn ask_for_new_file_mode(builder: &mut tempfile::Builder<'_, '_>) {
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(fs::Permissions::from_mode(0o666));
}

#[cfg(not(unix))]
fn ask_for_new_file_mode(_builder: &mut tempfile::Builder<'_, '_>) {}
