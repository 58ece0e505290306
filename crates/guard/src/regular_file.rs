//! Reads files that may come with a repository, so that they may be huge, or pipes.

use std::fs;
use std::io;
use std::path::Path;

/// Reads a regular file of at most `max_size` bytes. Other files are refused, because reading a pipe could block.
pub fn read_regular_file(path: &Path, max_size: u64) -> io::Result<Vec<u8>> {
    let metadata = fs::symlink_metadata(path)?;
    if !metadata.is_file() || metadata.len() > max_size {
        return Err(io::Error::other("it is not a regular file, or it is too large"));
    }
    fs::read(path)
}
