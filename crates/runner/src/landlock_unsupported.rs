//! Systems without Landlock.

use std::path::PathBuf;

/// True if this kernel can limit the paths that a process may write.
pub fn is_sandbox_supported() -> bool {
    false
}

pub fn restrict_writes(_writable_paths: &[PathBuf]) -> Result<(), String> {
    Err("Landlock is not available here".to_owned())
}
