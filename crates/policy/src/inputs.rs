//! Everything that a policy was read from, and whether it is still the same.
//!
//! This is asked at every event, for a thousand files as well as for one. So they are looked at one by one as they are
//! read, without a copy, and each is looked up in its open folder instead of from the root of the disk.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::stamp::Stamp;

/// Files and folders with the stamp each had before it was read; none for what was not there.
#[derive(Debug, Default)]
pub struct Inputs {
    /// By path; as plain bytes, because comparing paths part by part is what looking at a thousand of them would cost.
    files: BTreeMap<OsString, Option<Stamp>>,
}

/// On disk: a folder, and the bytes of some of its files behind it.
#[derive(Serialize, Deserialize)]
struct Chunk<'a> {
    folder: &'a str,
    files: &'a [u8],
}

/// Few enough that a second thread pays off where there are more.
const FILES_IN_CHUNK: usize = 500;

#[derive(Serialize, Deserialize)]
struct File<'a> {
    name: &'a str,
    stamp: Option<Stamp>,
}

impl Inputs {
    /// To be called before the file is read: a write in between then shows as a change.
    pub fn note(&mut self, path: &Path) -> Option<Stamp> {
        let stamp = Stamp::of(path);
        self.files.insert(path.as_os_str().to_owned(), stamp);
        stamp
    }

    /// Whether one of them could be written once more without its stamp showing it.
    pub fn is_unsettled(&self, now: SystemTime) -> bool {
        self.files.values().flatten().any(|stamp| stamp.is_fresh(now))
    }

    /// `None` where a name is not text: such a policy is read anew at every event.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        let mut folders: BTreeMap<&str, Vec<File>> = BTreeMap::new();
        for (path, stamp) in &self.files {
            let path = Path::new(path);
            let file = File { name: path.file_name()?.to_str()?, stamp: *stamp };
            folders.entry(path.parent()?.to_str()?).or_default().push(file);
        }
        let mut bytes = Vec::new();
        for (folder, files) in folders {
            for files in files.chunks(FILES_IN_CHUNK) {
                let packed = files.iter().try_fold(Vec::new(), |bytes, file| postcard::to_extend(file, bytes)).ok()?;
                bytes = postcard::to_extend(&Chunk { folder, files: &packed }, bytes).ok()?;
            }
        }
        Some(bytes)
    }
}

/// All that [`Inputs::to_bytes`] wrote down.
pub fn stamps(mut bytes: &[u8]) -> BTreeMap<OsString, Stamp> {
    let mut stamps = BTreeMap::new();
    while let Ok((chunk, rest)) = postcard::take_from_bytes::<Chunk>(bytes) {
        bytes = rest;
        let mut files = chunk.files;
        while let Ok((file, rest)) = postcard::take_from_bytes::<File>(files) {
            files = rest;
            stamps.extend(file.stamp.map(|stamp| (Path::new(chunk.folder).join(file.name).into_os_string(), stamp)));
        }
        if bytes.is_empty() {
            break;
        }
    }
    stamps
}

/// Whether all that [`Inputs::to_bytes`] wrote down is still so.
pub fn are_unchanged(mut bytes: &[u8]) -> bool {
    let mut chunks = Vec::new();
    while !bytes.is_empty() {
        let Ok((chunk, rest)) = postcard::take_from_bytes::<Chunk>(bytes) else { return false };
        chunks.push(chunk);
        bytes = rest;
    }
    let (full, small): (Vec<Chunk>, Vec<Chunk>) = chunks.into_iter().partition(Chunk::is_large);
    std::thread::scope(|scope| {
        // Looking at a thousand files takes as long as all the rest of a hook.
        let mut large = full.iter();
        let own = large.next();
        let others: Vec<_> = large.map(|chunk| scope.spawn(|| chunk.is_unchanged())).collect();
        let mut unchanged = small.iter().chain(own).all(Chunk::is_unchanged);
        for other in others {
            unchanged &= other.join().unwrap_or(false);
        }
        unchanged
    })
}

impl Chunk<'_> {
    fn is_large(&self) -> bool {
        // A file's name and stamp take some twenty bytes.
        self.files.len() > FILES_IN_CHUNK * 10
    }

    fn is_unchanged(&self) -> bool {
        let folder = OpenFolder::new(self.folder);
        let mut bytes = self.files;
        while !bytes.is_empty() {
            let Ok((file, rest)) = postcard::take_from_bytes::<File>(bytes) else { return false };
            bytes = rest;
            if folder.stamp(file.name) != file.stamp {
                return false;
            }
        }
        true
    }
}

/// `None`: there is no such folder, and so nothing in it.
#[cfg(unix)]
struct OpenFolder(Option<std::os::fd::OwnedFd>);

#[cfg(unix)]
impl OpenFolder {
    fn new(path: &str) -> Self {
        use rustix::fs::{Mode, OFlags, open};
        Self(open(path, OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok())
    }

    fn stamp(&self, name: &str) -> Option<Stamp> {
        use rustix::fs::{AtFlags, statat};
        statat(self.0.as_ref()?, name, AtFlags::empty()).ok().map(|stat| Stamp::from(&stat))
    }
}

#[cfg(not(unix))]
struct OpenFolder<'a>(&'a Path);

#[cfg(not(unix))]
impl<'a> OpenFolder<'a> {
    fn new(path: &'a str) -> Self {
        Self(Path::new(path))
    }

    fn stamp(&self, name: &str) -> Option<Stamp> {
        Stamp::of(&self.0.join(name))
    }
}
