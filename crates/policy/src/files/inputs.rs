//! The inputs of a policy: all files and directories that it was read from, each with its stamp (ctime, size and
//! inode).
//!
//! The inputs are serialized in chunks, so that a [`FreshnessCheck`](crate::files::freshness::FreshnessCheck) can use
//! them without building a map.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::files::stamp::Stamp;

/// Files and directories, each with its stamp from just before it was read.
#[derive(Debug, Default)]
pub struct Inputs<'a> {
    /// The stamp of each file, by directory and file name; `None` if the file did not exist.
    directories: BTreeMap<Cow<'a, str>, BTreeMap<Cow<'a, str>, Option<Stamp>>>,
    /// True if one of the paths is not UTF-8.
    has_non_utf8_path: bool,
}

/// Some files of one directory, serialized.
#[derive(Serialize, Deserialize)]
pub struct Chunk<'a> {
    pub directory: &'a str,
    files: &'a [u8],
}

/// Maximum number of files in a chunk: small enough that two threads that share the chunks finish at about the same
/// time.
const FILES_IN_CHUNK: usize = 100;

#[derive(Serialize, Deserialize)]
pub struct StampedFile<'a> {
    pub name: &'a str,
    pub stamp: Option<Stamp>,
}

impl<'a> Inputs<'a> {
    /// Records the stamp of a file or directory. Call this before reading the file, so that a concurrent write shows as
    /// a change.
    pub fn record(&mut self, path: &Path) {
        let Some((directory, name)) = directory_and_name(path) else {
            self.has_non_utf8_path = true;
            return;
        };
        let stamp = Stamp::of(path);
        let files = self.directories.entry(Cow::Owned(directory.to_owned())).or_default();
        files.insert(Cow::Owned(name.to_owned()), stamp);
    }

    /// Adds all inputs of `other`.
    pub fn absorb(&mut self, other: Self) {
        self.has_non_utf8_path |= other.has_non_utf8_path;
        for (directory, files) in other.directories {
            self.directories.entry(directory).or_default().extend(files);
        }
    }

    pub fn includes(&self, path: &Path) -> bool {
        let is_recorded =
            |(directory, name)| self.directories.get(directory).is_some_and(|files| files.contains_key(name));
        directory_and_name(path).is_some_and(is_recorded)
    }

    /// `None` if a path is not UTF-8. Such a policy is compiled at every event.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        for (directory, files) in &self.directories {
            let files: Vec<StampedFile> =
                files.iter().map(|(name, stamp)| StampedFile { name, stamp: *stamp }).collect();
            for files in files.chunks(FILES_IN_CHUNK) {
                let serialized =
                    files.iter().try_fold(Vec::new(), |bytes, file| postcard::to_extend(file, bytes)).ok()?;
                bytes = postcard::to_extend(&Chunk { directory, files: &serialized }, bytes).ok()?;
            }
        }
        (!self.has_non_utf8_path).then_some(bytes)
    }

    /// `None` if the bytes cannot be decoded.
    pub fn from_bytes(bytes: &'a [u8]) -> Option<Self> {
        let mut inputs = Self::default();
        for chunk in chunks(bytes)? {
            let files = inputs.directories.entry(Cow::Borrowed(chunk.directory)).or_default();
            for file in chunk.files() {
                let file = file?;
                files.insert(Cow::Borrowed(file.name), file.stamp);
            }
        }
        Some(inputs)
    }
}

/// A path's directory and file name.
fn directory_and_name(path: &Path) -> Option<(&str, &str)> {
    Some((path.parent()?.to_str()?, path.file_name()?.to_str()?))
}

/// `None` if the bytes cannot be decoded.
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
    /// The files of the chunk. Ends with `None` if the bytes cannot be decoded.
    pub fn files(&self) -> impl Iterator<Item = Option<StampedFile<'a>>> {
        let mut bytes = self.files;
        std::iter::from_fn(move || {
            let remaining = std::mem::take(&mut bytes);
            let take = || {
                let (file, rest) = postcard::take_from_bytes(remaining).ok()?;
                bytes = rest;
                Some(file)
            };
            (!remaining.is_empty()).then(take)
        })
    }
}
