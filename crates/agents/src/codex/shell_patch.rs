//! A patch within a shell command: Codex takes `apply_patch <<EOF` out of it and applies it itself, so it is an edit. What it
//! does where a shell runs it is for whoever reads shells to say.

use engine::event::FileAccess;

use crate::protocol::{patch, paths};

pub(super) fn files(command: &str, cwd: &str) -> Vec<FileAccess> {
    if !["apply_patch", "applypatch"].iter().any(|name| command.contains(name)) {
        return Vec::new();
    }
    let folder = folder(command).map(|folder| paths::absolute(cwd, folder));
    patch::files_in(command, folder.as_deref().unwrap_or(cwd))
}

/// The folder that it is relative to, in `cd FOLDER && apply_patch …`.
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
