//! Folders that nobody but their owner looks into.

use std::fs::DirBuilder;
use std::io;
use std::path::Path;

/// Makes the folder, and those above it that are missing. One that exists keeps its mode.
pub fn create_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
