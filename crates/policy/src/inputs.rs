//! Everything that a policy was read from, and whether it is still the same.
//!
//! This is asked at every event, for a thousand files as well as for one. So they are looked at one by one as they are
//! read, without a copy, and each is looked up in its open folder instead of from the root of the disk.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::stamp::Stamp;

/// Files and folders with the stamp each had before it was read; none for what was not there.
#[derive(Debug, Default)]
pub struct Inputs<'a> {
    /// By folder and name.
    folders: BTreeMap<Cow<'a, str>, BTreeMap<Cow<'a, str>, Option<Stamp>>>,
    /// One of them has a name that is not text.
    is_unspeakable: bool,
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

impl<'a> Inputs<'a> {
    /// To be called before the file is read: a write in between then shows as a change.
    pub fn note(&mut self, path: &Path) {
        let Some((folder, name)) = parts(path) else {
            self.is_unspeakable = true;
            return;
        };
        let stamp = Stamp::of(path);
        let files = self.folders.entry(Cow::Owned(folder.to_owned())).or_default();
        files.insert(Cow::Owned(name.to_owned()), stamp);
    }

    /// Takes over what somebody else noted.
    pub fn absorb(&mut self, other: Self) {
        self.is_unspeakable |= other.is_unspeakable;
        for (folder, files) in other.folders {
            self.folders.entry(folder).or_default().extend(files);
        }
    }

    pub fn includes(&self, path: &Path) -> bool {
        let known = |(folder, name)| self.folders.get(folder).is_some_and(|files| files.contains_key(name));
        parts(path).is_some_and(known)
    }

    /// `None` where a name is not text: such a policy is read anew at every event.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        for (folder, files) in &self.folders {
            let files: Vec<File> = files.iter().map(|(name, stamp)| File { name, stamp: *stamp }).collect();
            for files in files.chunks(FILES_IN_CHUNK) {
                let packed = files.iter().try_fold(Vec::new(), |bytes, file| postcard::to_extend(file, bytes)).ok()?;
                bytes = postcard::to_extend(&Chunk { folder, files: &packed }, bytes).ok()?;
            }
        }
        (!self.is_unspeakable).then_some(bytes)
    }

    /// `None`: these are not such bytes.
    pub fn from_bytes(bytes: &'a [u8]) -> Option<Self> {
        let mut inputs = Self::default();
        for chunk in chunks(bytes)? {
            let files = inputs.folders.entry(Cow::Borrowed(chunk.folder)).or_default();
            for file in chunk.files() {
                let file = file?;
                files.insert(Cow::Borrowed(file.name), file.stamp);
            }
        }
        Some(inputs)
    }
}

/// A path's folder, and its name there.
fn parts(path: &Path) -> Option<(&str, &str)> {
    Some((path.parent()?.to_str()?, path.file_name()?.to_str()?))
}

/// Which of the files that [`Inputs::to_bytes`] wrote down differ now, or may: one that was written shortly before
/// `then`, when it was read, could have been written once more without its stamp showing it. `None`: that cannot be told.
pub fn changed(bytes: &[u8], then: SystemTime) -> Option<Vec<PathBuf>> {
    let (full, small): (Vec<Chunk>, Vec<Chunk>) = chunks(bytes)?.into_iter().partition(Chunk::is_large);
    std::thread::scope(|scope| {
        // Looking at a thousand files takes as long as all the rest of a hook.
        let mut large = full.iter();
        let own = large.next();
        let others: Vec<_> = large.map(|chunk| scope.spawn(move || chunk.changed(then))).collect();
        let mut changed = Vec::new();
        for chunk in small.iter().chain(own) {
            changed.extend(chunk.changed(then)?);
        }
        for other in others {
            changed.extend(other.join().ok()??);
        }
        Some(changed)
    })
}

fn chunks(mut bytes: &[u8]) -> Option<Vec<Chunk<'_>>> {
    let mut chunks = Vec::new();
    while !bytes.is_empty() {
        let (chunk, rest) = postcard::take_from_bytes(bytes).ok()?;
        chunks.push(chunk);
        bytes = rest;
    }
    Some(chunks)
}

impl<'a> Chunk<'a> {
    fn is_large(&self) -> bool {
        // A file's name and stamp take some twenty bytes.
        self.files.len() > FILES_IN_CHUNK * 10
    }

    /// `None` for what cannot be read, and then no more.
    fn files(&self) -> impl Iterator<Item = Option<File<'a>>> {
        let mut bytes = self.files;
        std::iter::from_fn(move || {
            let all = std::mem::take(&mut bytes);
            let take = || {
                let (file, rest) = postcard::take_from_bytes(all).ok()?;
                bytes = rest;
                Some(file)
            };
            (!all.is_empty()).then(take)
        })
    }

    fn changed(&self, then: SystemTime) -> Option<Vec<PathBuf>> {
        let folder = OpenFolder::new(self.folder);
        let mut changed = Vec::new();
        for file in self.files() {
            let file = file?;
            let is_fresh = file.stamp.is_some_and(|stamp| stamp.is_fresh(then));
            if is_fresh || folder.stamp(file.name) != file.stamp {
                changed.push(Path::new(self.folder).join(file.name));
            }
        }
        Some(changed)
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
