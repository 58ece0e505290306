//! Reads files up to a size limit.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

/// The size limit of a policy file, in bytes.
pub const SIZE_LIMIT: u64 = 256 * 1024;

/// Reads a file as UTF-8. Fails if it is larger than `limit`, or not a regular file.
pub fn read_bounded(path: &Path, limit: u64) -> io::Result<String> {
    // Opening a pipe or a device can block.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let mut text = String::new();
    let read = fs::File::open(path)?.take(limit + 1).read_to_string(&mut text)?;
    if read as u64 > limit {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(text)
}
