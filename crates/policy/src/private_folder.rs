//! Folders that nobody but their owner looks into.

use std::fs::{self, DirBuilder};
use std::io;
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
