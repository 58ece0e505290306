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

/// No session lives that long.
const OLD: Duration = Duration::from_hours(90 * 24);
/// Of a file that its writer never finished.
const ABANDONED: Duration = Duration::from_hours(1);

/// Deletes what nobody will ask for any more.
pub fn forget_old_files(folder: &Path) {
    for path in fs::read_dir(folder).into_iter().flatten().filter_map(|entry| entry.ok().map(|entry| entry.path())) {
        let is_unfinished = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".tmp"));
        let limit = if is_unfinished { ABANDONED } else { OLD };
        let modified = path.symlink_metadata().and_then(|metadata| metadata.modified());
        if modified.ok().and_then(|time| time.elapsed().ok()).is_some_and(|age| age > limit) {
            let _ = fs::remove_file(path);
        }
    }
}
