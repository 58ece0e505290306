//! Private files in the user's state directory: written atomically, readable only by the user.

use std::fs::{self, DirBuilder};
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

/// Creates the directory and its missing ancestors with mode 0700. Existing directories keep their mode.
pub fn create_private_directory(directory: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

/// Writes or replaces the file, and creates its directory if needed.
pub fn write_private_file(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    create_private_directory(directory)?;
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    file.write_all(bytes.as_ref())?;
    file.persist(path)?;
    Ok(())
}

/// Writes the file unless it exists, and returns true if it was written. Of several concurrent calls, exactly one
/// writes it.
pub fn write_new_private_file(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<bool> {
    let directory = path.parent().unwrap_or(Path::new("."));
    create_private_directory(directory)?;
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    file.write_all(bytes.as_ref())?;
    match file.persist_noclobber(path) {
        Ok(_) => Ok(true),
        Err(persist_error) if persist_error.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(persist_error) => Err(persist_error.error),
    }
}

/// The size of the test file of [`check_writable`]: larger than what one event writes.
const TEST_FILE_SIZE: usize = 64 * 1024;

/// Checks that files can be written in the directory, by writing a temporary one. If the directory does not exist, its
/// nearest existing ancestor is checked.
pub fn check_writable(directory: &Path) -> io::Result<()> {
    let existing = directory.ancestors().find(|directory| directory.exists()).unwrap_or(directory);
    let mut file = tempfile::NamedTempFile::new_in(existing)?;
    file.write_all(&vec![0; TEST_FILE_SIZE])?;
    // Some file systems allocate space only when data is synced.
    file.as_file().sync_all()
}

/// Longer than any session lasts.
const SESSION_FILE_LIFETIME: Duration = Duration::from_hours(90 * 24);
/// A temporary file that is older than this was left behind by an interrupted process.
const TEMPORARY_FILE_LIFETIME: Duration = Duration::from_hours(1);

/// The minimum time between two cleanups of a directory. A cleanup takes long if there are very many files.
const CLEANUP_INTERVAL: Duration = Duration::from_hours(24);
/// The file whose modification time is the time of the directory's last daily cleanup.
const CLEANUP_STAMP: &str = ".last-cleanup";

/// Like [`delete_old_files`], but at most once a day for each directory.
pub fn delete_old_files_daily(directory: &Path) {
    if start_daily_cleanup(&directory.join(CLEANUP_STAMP)) {
        delete_old_files(directory);
    }
}

/// Returns true if the last cleanup was at least a day ago, and sets its time, which is the modification time of the
/// file `stamp`, to now. If the time cannot be stored, returns false, because cleanups would run at every event.
pub fn start_daily_cleanup(stamp: &Path) -> bool {
    let last = stamp.metadata().and_then(|metadata| metadata.modified());
    let is_due = last.ok().and_then(|time| time.elapsed().ok()).is_none_or(|age| age >= CLEANUP_INTERVAL);
    is_due && write_private_file(stamp, "").is_ok()
}

/// Deletes files of old sessions, and abandoned temporary files.
pub fn delete_old_files(directory: &Path) {
    delete_old_files_except(directory, |_| false);
}

/// Like [`delete_old_files`], but keeps the files for whose names `is_kept` is true.
pub fn delete_old_files_except(directory: &Path, is_kept: impl Fn(&str) -> bool) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let limit = if name.starts_with(".tmp") { TEMPORARY_FILE_LIFETIME } else { SESSION_FILE_LIFETIME };
        let modified = entry.path().symlink_metadata().and_then(|metadata| metadata.modified());
        let is_old = modified.ok().and_then(|time| time.elapsed().ok()).is_some_and(|age| age > limit);
        if is_old && !is_kept(&name) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    fn set_age(path: &Path, age: Duration) {
        let file = fs::File::options().append(true).create(true).open(path).expect("a file");
        file.set_modified(SystemTime::now() - age).expect("a time");
    }

    #[test]
    fn old_files_are_deleted_at_most_once_a_day() {
        let directory = tempfile::tempdir().expect("a directory");
        let [old, new] = ["old", "new"].map(|name| directory.path().join(name));
        let older_than_a_session = SESSION_FILE_LIFETIME + Duration::from_secs(1);
        set_age(&old, older_than_a_session);
        set_age(&new, Duration::ZERO);
        delete_old_files_daily(directory.path());
        assert!(!old.exists() && new.exists());

        set_age(&old, older_than_a_session);
        delete_old_files_daily(directory.path());
        assert!(old.exists(), "there was a cleanup on the same day");

        set_age(&directory.path().join(CLEANUP_STAMP), CLEANUP_INTERVAL);
        delete_old_files_daily(directory.path());
        assert!(!old.exists() && new.exists());
    }
}
