//! Looks up paths, globs and directories on disk while an event is judged, and records each answer.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use shell::FileContents;

use super::glob;
use super::path_record::PathRecord;

#[derive(Default)]
pub struct PathLookup {
    record: Mutex<PathRecord>,
    /// A cache of resolved directories, because most paths of a command are in the same few.
    folders: Mutex<BTreeMap<PathBuf, Option<PathBuf>>>,
}

impl PathLookup {
    pub fn record(&self) -> PathRecord {
        self.record.lock().map(|record| record.clone()).unwrap_or_default()
    }

    fn update_record(&self, update: impl FnOnce(&mut PathRecord)) {
        if let Ok(mut record) = self.record.lock() {
            update(&mut record);
        }
    }

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

    pub fn is_folder(&self, path: &str) -> Option<bool> {
        let is_folder = Path::new(path).metadata().ok()?.is_dir();
        self.update_record(|record| record.add_folder(path, is_folder));
        Some(is_folder)
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
        // Strips a trailing slash or `.`, which would be looked up in the symlink's target.
        let path: &Path = &path.components().collect::<PathBuf>();
        let Some(name) = path.file_name() else { return resolve_folder(path) };
        let folder = path.parent()?;
        if path.is_symlink() {
            return path.canonicalize().ok().or_else(|| dangling_target(path));
        }
        let mut folders = self.folders.lock().ok()?;
        let real = folders.entry(folder.to_owned()).or_insert_with(|| resolve_folder(folder));
        real.as_ref().map(|folder| folder.join(name))
    }
}

/// The maximum length of a path in operating systems. No file has a longer path.
pub const MAX_PATH_LENGTH: usize = 4096;

/// The target of a dangling symlink. Writing to such a symlink creates its target.
fn dangling_target(link: &Path) -> Option<PathBuf> {
    const MAX_SYMLINKS: usize = 40;
    let mut path = link.to_owned();
    for _ in 0..MAX_SYMLINKS {
        match path.read_link() {
            Ok(target) => path = path.parent()?.join(target),
            Err(_) => return Some(resolve_folder(path.parent()?)?.join(path.file_name()?)),
        }
    }
    None
}

fn resolve_folder(folder: &Path) -> Option<PathBuf> {
    folder.ancestors().find_map(|existing| {
        let missing = folder.strip_prefix(existing).ok()?;
        existing.canonicalize().ok().map(|real| real.join(missing))
    })
}
