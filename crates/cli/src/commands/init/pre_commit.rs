//! The git hook that checks the file rules before a commit.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::problem::Problem;

const HOOK: &str = "#!/bin/sh\n# Written by `linchpin init --pre-commit`.\nexec linchpin check --staged\n";

/// Writes the hook and returns its path; `None` if it exists already. Fails if there is a hook of another tool.
pub fn install(root: &Path) -> Result<Option<PathBuf>, Problem> {
    let path = hooks_directory(root)?.join("pre-commit");
    match fs::read_to_string(&path) {
        Ok(text) if text.contains("linchpin check") => return Ok(None),
        Ok(_) => {
            let message = format!("`{}` is a hook that Linchpin did not write", path.display());
            return Err(Problem::new("HookExists", message).help("add the line `linchpin check --staged` to it"));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error.into()),
    }
    let directory = path.parent().unwrap_or(root);
    fs::create_dir_all(directory)?;
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    file.write_all(HOOK.as_bytes())?;
    make_executable(file.as_file())?;
    file.persist_noclobber(&path).map_err(|error| error.error)?;
    Ok(Some(path))
}

/// Returns the directory in which git looks for hooks; git's configuration may set it.
fn hooks_directory(root: &Path) -> Result<PathBuf, Problem> {
    let output = Command::new("git").args(["rev-parse", "--git-path", "hooks"]).current_dir(root).output();
    let output = output.map_err(|error| Problem::new("Git", format!("git cannot be run: {error}")))?;
    if !output.status.success() {
        let message =
            format!("`{}` is not in a git repository, so the pre-commit hook cannot be installed", root.display());
        return Err(Problem::new("NotARepository", message).help("run `git init` first, or leave out `--pre-commit`"));
    }
    let directory = root.join(String::from_utf8_lossy(&output.stdout).trim_end());
    // Husky sets git's hooks directory to `.husky/_`, whose scripts run the scripts of the same name in `.husky`. In a
    // fresh clone, Husky has not set the directory yet.
    let husky = root.join(".husky");
    Ok(match directory.parent() {
        Some(husky) if directory.ends_with(".husky/_") => husky.to_owned(),
        _ if husky.is_dir() => husky,
        _ => directory,
    })
}

#[cfg(unix)]
fn make_executable(file: &fs::File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn make_executable(_file: &fs::File) -> io::Result<()> {
    Ok(())
}
