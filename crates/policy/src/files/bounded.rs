//! Files read up to a limit.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

/// As much as is read of a policy file.
pub const SIZE_LIMIT: u64 = 256 * 1024;

/// Larger ones are an error, and so is whatever is no regular file.
pub fn read_bounded(path: &Path, limit: u64) -> io::Result<String> {
    // A pipe or device would make us wait, as soon as it is opened.
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
