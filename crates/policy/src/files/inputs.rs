//! Everything that a policy was read from, and whether it is still the same.
//!
//! On disk they lie in chunks, so that they can be looked at ([`FreshnessCheck`](crate::files::freshness::FreshnessCheck)) without being put together.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::files::stamp::Stamp;

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
pub struct Chunk<'a> {
    pub folder: &'a str,
    files: &'a [u8],
}

/// Few enough that two who share the chunks are done at about the same time.
const FILES_IN_CHUNK: usize = 100;

#[derive(Serialize, Deserialize)]
pub struct StampedFile<'a> {
    pub name: &'a str,
    pub stamp: Option<Stamp>,
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
            let files: Vec<StampedFile> =
                files.iter().map(|(name, stamp)| StampedFile { name, stamp: *stamp }).collect();
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

/// `None`: these are not such bytes.
pub fn chunks(mut bytes: &[u8]) -> Option<Vec<Chunk<'_>>> {
    let mut chunks = Vec::new();
    while !bytes.is_empty() {
        let (chunk, rest) = postcard::take_from_bytes(bytes).ok()?;
        chunks.push(chunk);
        bytes = rest;
    }
    Some(chunks)
}

impl<'a> Chunk<'a> {
    /// `None` for what cannot be read, and then no more.
    pub fn files(&self) -> impl Iterator<Item = Option<StampedFile<'a>>> {
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
}
