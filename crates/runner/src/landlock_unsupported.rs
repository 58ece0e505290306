//! Replaces `landlock.rs` on systems other than Linux, where writes cannot be limited.

use std::path::PathBuf;

/// Always false: this system cannot limit the paths that a process may write.
pub fn is_sandbox_supported() -> bool {
    false
}

pub fn restrict_writes(_writable_paths: &[PathBuf]) -> Result<(), String> {
    Err("Landlock is not available here".to_owned())
}
