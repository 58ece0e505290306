//! Fingerprints of file contents, as short strings.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::time::UNIX_EPOCH;

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

/// Larger files are identified by size and modification time: reading them would take too long.
const MAX_HASHED_SIZE: u64 = 16 * 1024 * 1024;

/// Returns a string that identifies the content; `gone` for a missing file.
pub fn fingerprint(path: &Path) -> String {
    let Ok(metadata) = fs::symlink_metadata(path) else { return "gone".to_owned() };
    if metadata.is_symlink() {
        let target = fs::read_link(path).unwrap_or_default();
        return format!("link:{}", sha256_hex(target.as_os_str().as_encoded_bytes()));
    }
    if !metadata.is_file() {
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

/// Returns a string that identifies the contents of all files together.
pub fn combined_fingerprint<'p>(root: &Path, paths: impl IntoIterator<Item = &'p str>) -> String {
    let mut digest = Sha256::new();
    for path in paths {
        digest.update(path.as_bytes());
        digest.update([0]);
        digest.update(fingerprint(&root.join(path)).as_bytes());
        digest.update([0]);
    }
    HEXLOWER.encode(digest.finalize().as_slice())
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
