//! Systems without Landlock.

use std::path::PathBuf;

/// True if this kernel can limit the paths that a process may write.
pub fn is_supported() -> bool {
    false
}

pub fn enter(_writable: &[PathBuf]) -> Result<(), String> {
    Err("Landlock is not available here".to_owned())
}
