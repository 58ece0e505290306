//! Everything that a policy was read from, and whether it is still the same.
//!
//! This is asked at every event, for a thousand files as well as for one. So files are kept by folder, their names are
//! not copied to be looked at, and each is looked up in its open folder instead of from the root of the disk.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::stamp::Stamp;

/// Files and folders with the stamp each had before it was read; none for what was not there.
#[derive(Debug, Default)]
pub struct Inputs {
    files: BTreeMap<PathBuf, Option<Stamp>>,
}

#[derive(Serialize, Deserialize)]
struct Folder<'a> {
    path: &'a str,
    #[serde(borrow)]
    files: Vec<(&'a str, Option<Stamp>)>,
}

impl Inputs {
    /// To be called before the file is read: a write in between then shows as a change.
    pub fn note(&mut self, path: &Path) {
        self.files.insert(path.to_owned(), Stamp::of(path));
    }

    /// Whether one of them could be written once more without its stamp showing it.
    pub fn is_unsettled(&self, now: SystemTime) -> bool {
        self.files.values().flatten().any(|stamp| stamp.is_fresh(now))
    }

    /// `None` where a name is not text: such a policy is read anew at every event.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        let mut folders: BTreeMap<&str, Folder> = BTreeMap::new();
        for (path, stamp) in &self.files {
            let folder = path.parent()?.to_str()?;
            let name = path.file_name()?.to_str()?;
            let folder = folders.entry(folder).or_insert_with(|| Folder { path: folder, files: Vec::new() });
            folder.files.push((name, *stamp));
        }
        let folders: Vec<Folder> = folders.into_values().collect();
        postcard::to_stdvec(&folders).ok()
    }
}

/// Whether all that [`Inputs::to_bytes`] wrote down is still so.
pub fn are_unchanged(bytes: &[u8]) -> bool {
    let folders: Result<Vec<Folder>, _> = postcard::from_bytes(bytes);
    folders.is_ok_and(|folders| folders.iter().all(Folder::is_unchanged))
}

impl Folder<'_> {
    #[cfg(unix)]
    fn is_unchanged(&self) -> bool {
        use rustix::fs::{AtFlags, Mode, OFlags, open, statat};
        let Ok(folder) = open(self.path, OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()) else {
            return self.files.iter().all(|(_, stamp)| stamp.is_none());
        };
        self.files.iter().all(|(name, stamp)| {
            let now = statat(&folder, *name, AtFlags::empty()).ok().map(|stat| Stamp::from(&stat));
            now == *stamp
        })
    }

    #[cfg(not(unix))]
    fn is_unchanged(&self) -> bool {
        self.files.iter().all(|(name, stamp)| Stamp::of(&Path::new(self.path).join(name)) == *stamp)
    }
}
