//! Writes and deletes settings files atomically.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Replaces the file atomically. Creates missing directories and keeps the file's mode. If the path is a symlink, its
/// target is replaced, not the symlink.
pub fn write(path: &Path, text: &str) -> io::Result<()> {
    let path = target(path)?;
    let folder = path.parent().ok_or_else(|| io::Error::other("the settings file has no folder"))?;
    fs::create_dir_all(folder)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".linchpin-");
    ask_for_new_file_mode(&mut builder);
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    if let Ok(existing) = fs::metadata(&path) {
        file.as_file().set_permissions(existing.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(&path)?;
    Ok(())
}

/// Deletes the file, or the target of a symlink. A missing file is not an error.
pub fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(target(path)?) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

/// Deletes the empty directories above a file, innermost first, up to but not including `top`.
pub fn remove_empty_folders(file: &Path, top: &Path) {
    let folders = file.ancestors().skip(1).take_while(|folder| *folder != top && folder.starts_with(top));
    for folder in folders {
        // Fails for the first directory that is not empty.
        if fs::remove_dir(folder).is_err() {
            break;
        }
    }
}

/// Follows symlinks to the target, which need not exist.
fn target(path: &Path) -> io::Result<PathBuf> {
    const LINK_LIMIT: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..LINK_LIMIT {
        match fs::read_link(&path) {
            Ok(to) => path = path.parent().map_or_else(|| to.clone(), |folder| folder.join(&to)),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other(format!("{} is a symlink loop", path.display())))
}

/// Resolves all symlinks in the path of a file that need not exist.
pub fn real_path(path: &Path) -> io::Result<PathBuf> {
    let path = target(path)?;
    let there = path.ancestors().find_map(|folder| Some((folder, folder.canonicalize().ok()?)));
    let Some((folder, real)) = there else { return Ok(path) };
    Ok(match path.strip_prefix(folder) {
        Ok(rest) if !rest.as_os_str().is_empty() => real.join(rest),
        _ => real,
    })
}

/// Gives the temporary file the mode of ordinary new files, as limited by the umask. By default it would be private.
#[cfg(unix)]
fn ask_for_new_file_mode(builder: &mut tempfile::Builder<'_, '_>) {
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(fs::Permissions::from_mode(0o666));
}

#[cfg(not(unix))]
fn ask_for_new_file_mode(_builder: &mut tempfile::Builder<'_, '_>) {}
