//! Patches within shell commands. If a command contains `apply_patch <<EOF`, Codex extracts the patch from the command
//! and applies the patch itself, so the call edits files. The rest of the command is judged like any shell script.

use engine::event::FileAccess;

use crate::protocol::{patch, paths};

pub(super) fn files(command: &str, cwd: &str) -> Vec<FileAccess> {
    if !["apply_patch", "applypatch"].iter().any(|name| command.contains(name)) {
        return Vec::new();
    }
    let directory = patch_directory(command).map(|directory| paths::absolute(cwd, directory));
    patch::files_in(command, directory.as_deref().unwrap_or(cwd))
}

/// Returns the directory in `cd DIRECTORY && apply_patch …`, and `None` for any other command. The paths in the patch
/// are relative to this directory.
fn patch_directory(command: &str) -> Option<&str> {
    let (directory, rest) = command.trim_start().strip_prefix("cd ")?.split_once("&&")?;
    rest.trim_start().starts_with("apply_patch").then(|| directory.trim().trim_matches(['"', '\'']))
}

#[cfg(test)]
mod tests {
    use super::patch_directory;

    #[test]
    fn a_patch_in_a_shell_may_change_directory_first() {
        assert_eq!(patch_directory("cd 'my dir' && apply_patch <<'EOF'"), Some("my dir"));
        assert_eq!(patch_directory("apply_patch <<'EOF'"), None);
        assert_eq!(patch_directory("cd x && ls && apply_patch"), None);
    }
}
