//! Patches within shell commands. Codex extracts `apply_patch <<EOF` from a command and applies it itself, so the call
//! is an edit. The rest of the command is judged like any shell script.

use engine::event::FileAccess;

use crate::protocol::{patch, paths};

pub(super) fn files(command: &str, cwd: &str) -> Vec<FileAccess> {
    if !["apply_patch", "applypatch"].iter().any(|name| command.contains(name)) {
        return Vec::new();
    }
    let folder = folder(command).map(|folder| paths::absolute(cwd, folder));
    patch::files_in(command, folder.as_deref().unwrap_or(cwd))
}

/// Returns the directory in `cd DIRECTORY && apply_patch …`, which the patch is relative to.
fn folder(command: &str) -> Option<&str> {
    let (folder, rest) = command.trim_start().strip_prefix("cd ")?.split_once("&&")?;
    rest.trim_start().starts_with("apply_patch").then(|| folder.trim().trim_matches(['"', '\'']))
}

#[cfg(test)]
mod tests {
    use super::folder;

    #[test]
    fn a_patch_in_a_shell_may_change_folder_first() {
        assert_eq!(folder("cd 'my dir' && apply_patch <<'EOF'"), Some("my dir"));
        assert_eq!(folder("apply_patch <<'EOF'"), None);
        assert_eq!(folder("cd x && ls && apply_patch"), None);
    }
}
