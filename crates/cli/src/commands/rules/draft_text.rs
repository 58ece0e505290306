//! Reads a rule's new text from a file or from stdin.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::problem::Problem;

/// The maximum size of a policy file.
const MAX_BYTES: u64 = 256 * 1024;

pub fn read(file: &Path) -> Result<String, Problem> {
    let shown = if file == Path::new("-") { "standard input".to_owned() } else { format!("`{}`", file.display()) };
    let mut bytes = Vec::new();
    let read = if file == Path::new("-") {
        io::stdin().lock().take(MAX_BYTES + 1).read_to_end(&mut bytes)
    } else {
        File::open(file).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
    };
    read.map_err(|error| Problem::new("Unreadable", format!("{shown} cannot be read: {error}")))?;
    if bytes.len() as u64 > MAX_BYTES {
        let message = format!("{shown} is larger than {} KiB", MAX_BYTES / 1024);
        return Err(Problem::new("TooLarge", message));
    }
    String::from_utf8(bytes).map_err(|_| Problem::new("Unreadable", format!("{shown} is not UTF-8 text")))
}
