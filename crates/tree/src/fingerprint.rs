//! Fingerprints of file contents, as short strings.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::UNIX_EPOCH;

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

/// The maximum size of a file whose contents are hashed. A larger file is identified by its size and modification time,
/// because reading it would take too long.
const MAX_HASHED_SIZE: u64 = 16 * 1024 * 1024;

/// Returns a string that identifies the content of a file; `gone` if there is no file.
pub fn fingerprint(path: &Path) -> String {
    let Ok(metadata) = fs::symlink_metadata(path) else { return "gone".to_owned() };
    if metadata.is_symlink() {
        let target = fs::read_link(path).unwrap_or_default();
        return format!("link:{}", sha256_hex(target.as_os_str().as_encoded_bytes()));
    }
    if !metadata.is_file() {
        // This word must not be changed, because stored snapshots contain it.
        return "folder".to_owned();
    }
    let size_and_time = || {
        let modified =
            metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
        format!("size:{}:{}", metadata.len(), modified.as_nanos())
    };
    if metadata.len() > MAX_HASHED_SIZE {
        return size_and_time();
    }
    sha256_of_file(path).map_or_else(|_| size_and_time(), |digest| format!("sha256:{digest}"))
}

/// The fingerprints of files below a directory. Each file is read only once, until [`Self::forget`] is called.
#[derive(Debug)]
pub struct Fingerprints {
    root: PathBuf,
    by_path: Mutex<BTreeMap<String, String>>,
    /// The results of [`Self::combined`], by the joined paths.
    combined: Mutex<BTreeMap<String, String>>,
}

impl Fingerprints {
    pub fn of_files_in(root: &Path) -> Self {
        Self { root: root.to_owned(), by_path: Mutex::default(), combined: Mutex::default() }
    }

    /// Returns the [`fingerprint`] of a file. The path is relative to the directory.
    pub fn of(&self, path: &str) -> String {
        let Ok(mut by_path) = self.by_path.lock() else { return fingerprint(&self.root.join(path)) };
        if let Some(known) = by_path.get(path) {
            return known.clone();
        }
        let computed = fingerprint(&self.root.join(path));
        by_path.insert(path.to_owned(), computed.clone());
        computed
    }

    /// Returns a string that identifies the paths and contents of all files together.
    pub fn combined<'p>(&self, paths: impl IntoIterator<Item = &'p str>) -> String {
        let paths: Vec<&str> = paths.into_iter().collect();
        let key = paths.join("\0");
        if let Some(known) = self.combined.lock().ok().and_then(|combined| combined.get(&key).cloned()) {
            return known;
        }
        let computed = self.compute_combined(&paths);
        if let Ok(mut combined) = self.combined.lock() {
            combined.insert(key, computed.clone());
        }
        computed
    }

    fn compute_combined(&self, paths: &[&str]) -> String {
        let mut digest = Sha256::new();
        for path in paths {
            digest.update(path.as_bytes());
            digest.update([0]);
            digest.update(self.of(path).as_bytes());
            digest.update([0]);
        }
        HEXLOWER.encode(digest.finalize().as_slice())
    }

    /// Discards the stored fingerprints, so that later calls read the files again. To be called if files may have
    /// changed.
    pub fn forget(&self) {
        for known in [&self.by_path, &self.combined] {
            if let Ok(mut known) = known.lock() {
                known.clear();
            }
        }
    }
}

fn sha256_of_file(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut digest = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(HEXLOWER.encode(digest.finalize().as_slice())),
            length => digest.update(buffer.get(..length).unwrap_or_default()),
        }
    }
}

fn sha256_hex(bytes: &[u8]) -> String {
    HEXLOWER.encode(Sha256::digest(bytes).as_slice())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_once_until_fingerprints_are_forgotten() {
        let directory = tempfile::tempdir().expect("a directory");
        let write = |text: &str| fs::write(directory.path().join("a"), text).expect("a file");
        write("one");
        let fingerprints = Fingerprints::of_files_in(directory.path());
        let (one, combined) = (fingerprints.of("a"), fingerprints.combined(["a", "b"]));
        write("two");
        assert_eq!((fingerprints.of("a"), fingerprints.combined(["a", "b"])), (one.clone(), combined.clone()));
        fingerprints.forget();
        assert_ne!(fingerprints.of("a"), one);
        assert_ne!(fingerprints.combined(["a", "b"]), combined);
        assert_eq!(fingerprints.of("b"), "gone");
    }
}
