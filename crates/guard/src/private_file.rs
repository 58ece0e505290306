//! Small files in the user's own folder: whole or not at all, and for their owner's eyes.

use std::io::{self, Write};
use std::path::Path;

/// Writes the file, in place of one that is there, and makes the folders that it needs.
pub fn write(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    policy::create_private_folder(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(path)?;
    Ok(())
}
