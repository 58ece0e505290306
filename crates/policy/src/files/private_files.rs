//! Files and folders of the user's own: written whole or not at all, and for nobody else's eyes.

use std::fs::{self, DirBuilder};
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

/// Makes the folder, and those above it that are missing. One that exists keeps its mode.
pub fn create_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Writes the file, in place of one that is there, and makes the folders that it needs.
pub fn write_private_file(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    create_private_folder(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes.as_ref())?;
    file.persist(path)?;
    Ok(())
}

/// Writes the file where there is none; false where there is one, which stays as it is. Of several that try at once one does.
pub fn write_new_private_file(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<bool> {
    let folder = path.parent().unwrap_or(Path::new("."));
    create_private_folder(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes.as_ref())?;
    match file.persist_noclobber(path) {
        Ok(_) => Ok(true),
        Err(failed) if failed.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(failed) => Err(failed.error),
    }
}

/// More than what one event writes.
const TRIED: usize = 64 * 1024;

/// Whether files can be written in a folder, by writing one and deleting it again. Where there is no such folder yet, the
/// nearest one above it is tried.
pub fn try_to_write_in(folder: &Path) -> io::Result<()> {
    let there = folder.ancestors().find(|folder| folder.exists()).unwrap_or(folder);
    let mut file = tempfile::NamedTempFile::new_in(there)?;
    file.write_all(&vec![0; TRIED])?;
    // Some file systems look for room only when they have to.
    file.as_file().sync_all()
}

/// No session lives that long.
const OLD: Duration = Duration::from_hours(90 * 24);
/// Of a file that its writer never finished.
const ABANDONED: Duration = Duration::from_hours(1);

/// Deletes what nobody will ask for any more.
pub fn forget_old_files(folder: &Path) {
    forget_old_files_but(folder, |_| false);
}

/// The same, but for files whose name says that they are kept.
pub fn forget_old_files_but(folder: &Path, is_kept: impl Fn(&str) -> bool) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let limit = if name.starts_with(".tmp") { ABANDONED } else { OLD };
        let modified = entry.path().symlink_metadata().and_then(|metadata| metadata.modified());
        let is_old = modified.ok().and_then(|time| time.elapsed().ok()).is_some_and(|age| age > limit);
        if is_old && !is_kept(&name) {
            let _ = fs::remove_file(entry.path());
        }
    }
}
