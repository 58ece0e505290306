//! Writes and deletes settings files atomically.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Replaces the file atomically. Creates missing directories and keeps the file's permissions. If the path is a
/// symlink, the symlink's target is replaced, not the symlink itself.
pub fn write(path: &Path, text: &str) -> io::Result<()> {
    let path = target(path)?;
    let directory = path.parent().ok_or_else(|| io::Error::other("the settings file has no parent directory"))?;
    fs::create_dir_all(directory)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".linchpin-");
    set_mode_of_new_file(&mut builder);
    let mut file = builder.tempfile_in(directory)?;
    file.write_all(text.as_bytes())?;
    if let Ok(existing) = fs::metadata(&path) {
        file.as_file().set_permissions(existing.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(&path)?;
    Ok(())
}

/// Deletes the file. If the path is a symlink, deletes the symlink's target, not the symlink itself. A missing file is
/// not an error.
pub fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(target(path)?) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

/// Deletes the directories above a file, innermost first, until one is not empty or is `top`. `top` itself is kept.
pub fn remove_empty_directories(file: &Path, top: &Path) {
    let directories = file.ancestors().skip(1).take_while(|directory| *directory != top && directory.starts_with(top));
    for directory in directories {
        // The call fails for a directory that is not empty. The directories above that one are not empty either.
        if fs::remove_dir(directory).is_err() {
            break;
        }
    }
}

/// Follows symlinks: returns the path of the symlink's target, which need not exist, or the path itself if it is not a
/// symlink.
fn target(path: &Path) -> io::Result<PathBuf> {
    const LINK_LIMIT: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..LINK_LIMIT {
        match fs::read_link(&path) {
            Ok(to) => path = path.parent().map_or_else(|| to.clone(), |directory| directory.join(&to)),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other(format!("{} is a symlink loop", path.display())))
}

/// Resolves all symlinks in the path of a file that need not exist.
pub fn real_path(path: &Path) -> io::Result<PathBuf> {
    let path = target(path)?;
    let there = path.ancestors().find_map(|directory| Some((directory, directory.canonicalize().ok()?)));
    let Some((directory, real)) = there else { return Ok(path) };
    Ok(match path.strip_prefix(directory) {
        Ok(rest) if !rest.as_os_str().is_empty() => real.join(rest),
        _ => real,
    })
}

/// Gives a temporary file the permissions that an ordinary new file has, as limited by the umask. Without this, only
/// the owner could read the file.
#[cfg(unix)]
fn set_mode_of_new_file(builder: &mut tempfile::Builder<'_, '_>) {
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(fs::Permissions::from_mode(0o666));
}

#[cfg(not(unix))]
fn set_mode_of_new_file(_builder: &mut tempfile::Builder<'_, '_>) {}
