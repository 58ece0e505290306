//! Looks up paths, globs and directories on disk while an event is judged, and records the results.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use shell::FileContents;

use super::glob;
use super::path_record::PathRecord;

#[derive(Default)]
pub struct PathLookup {
    record: Mutex<PathRecord>,
    /// The real paths of directories. This cache helps because most paths of a command are in the same few directories.
    directories: Mutex<BTreeMap<PathBuf, Option<PathBuf>>>,
}

impl PathLookup {
    /// The results of all lookups that were made before this call.
    pub fn record(&self) -> PathRecord {
        self.record.lock().map(|record| record.clone()).unwrap_or_default()
    }

    fn update_record(&self, update: impl FnOnce(&mut PathRecord)) {
        if let Ok(mut record) = self.record.lock() {
            update(&mut record);
        }
    }

    /// The path with symlinks resolved; `None` if the path cannot be resolved. The result is recorded if it differs
    /// from the path.
    pub fn resolve_symlinks(&self, path: &str) -> Option<String> {
        let real = self.real_path(Path::new(path))?.to_string_lossy().into_owned();
        if path::normalize(&real) != path::normalize(path) {
            self.update_record(|record| record.add_symlink(path, &real));
        }
        Some(real)
    }

    pub fn expand_shell_glob(&self, pattern: &str) -> Vec<String> {
        let paths = glob::expand_shell_glob(pattern);
        self.update_record(|record| record.add_matches(pattern, &paths));
        paths
    }

    pub fn expand_search_glob(&self, pattern: &str) -> Vec<String> {
        let paths = glob::expand_search_glob(pattern);
        self.update_record(|record| record.add_matches(pattern, &paths));
        paths
    }

    pub fn is_directory(&self, path: &str) -> Option<bool> {
        let is_directory = Path::new(path).metadata().ok()?.is_dir();
        self.update_record(|record| record.add_directory(path, is_directory));
        Some(is_directory)
    }

    /// Records the contents of a script that the session wrote.
    pub fn record_script(&self, path: &str, contents: &FileContents) {
        self.update_record(|record| record.add_script(path, contents));
    }

    /// The path with symlinks resolved. Components that do not exist are kept.
    fn real_path(&self, path: &Path) -> Option<PathBuf> {
        if path.as_os_str().len() > MAX_PATH_LENGTH {
            return None;
        }
        // Strips a trailing slash or `/.` from the path. With such an ending, a symlink would not be recognized as a
        // symlink.
        let path: &Path = &path.components().collect::<PathBuf>();
        let Some(name) = path.file_name() else { return resolve_directory(path) };
        let directory = path.parent()?;
        if path.is_symlink() {
            return path.canonicalize().ok().or_else(|| dangling_target(path));
        }
        let mut directories = self.directories.lock().ok()?;
        let real = directories.entry(directory.to_owned()).or_insert_with(|| resolve_directory(directory));
        real.as_ref().map(|directory| directory.join(name))
    }
}

/// The maximum length of a path in bytes (the limit of Linux). Longer paths are not looked up.
pub const MAX_PATH_LENGTH: usize = 4096;

/// The target of a dangling symlink: the file that a write to the symlink would create. `None` if the target cannot be
/// determined, for example because symlinks form a cycle.
fn dangling_target(link: &Path) -> Option<PathBuf> {
    const MAX_SYMLINKS: usize = 40;
    let mut path = link.to_owned();
    for _ in 0..MAX_SYMLINKS {
        match path.read_link() {
            Ok(target) => path = path.parent()?.join(target),
            Err(_) => return Some(resolve_directory(path.parent()?)?.join(path.file_name()?)),
        }
    }
    None
}

/// The path of the directory with symlinks resolved. Components that do not exist are kept.
fn resolve_directory(directory: &Path) -> Option<PathBuf> {
    directory.ancestors().find_map(|existing| {
        let missing = directory.strip_prefix(existing).ok()?;
        existing.canonicalize().ok().map(|real| real.join(missing))
    })
}
