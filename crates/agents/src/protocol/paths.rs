//! Makes paths in payloads absolute, without access to the file system.

/// Resolves `path` against `cwd`, removes `.`, and converts the separators of Windows paths to `/`. A `..` is kept: if
/// the directory before the `..` is a symlink, only the file system shows which directory is meant.
///
/// A path that starts with `~` is not expanded: only the caller knows the home directory. If `cwd` is not absolute, a
/// relative path stays relative.
pub(crate) fn absolute(cwd: &str, path: &str) -> String {
    // On systems other than Windows, `\\` and `:` are ordinary characters of names.
    let windows = is_windows_path(cwd) || (!cwd.starts_with('/') && is_windows_path(path));
    let slashed = |text: &str| if windows { text.replace('\\', "/") } else { text.to_owned() };
    let path = slashed(path);
    if path.starts_with('/') || path.starts_with('~') || (windows && is_windows_path(&path)) {
        return normalized(&path);
    }
    if cwd.is_empty() {
        return normalized(&path);
    }
    normalized(&format!("{}/{path}", slashed(cwd)))
}

/// Returns the paths that a file tool may mean by `path`: some tools expand `~`, others treat it as the name of a
/// directory.
pub(crate) fn interpretations(cwd: &str, path: &str) -> impl Iterator<Item = String> + use<> {
    let as_name = path.starts_with('~').then(|| absolute(cwd, &format!("./{path}")));
    std::iter::once(absolute(cwd, path)).chain(as_name)
}

pub(crate) fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || is_windows_path(path)
}

/// True for absolute paths of Windows, such as `C:\…`, `C:/…` and `\\server\…`.
fn is_windows_path(path: &str) -> bool {
    match path.as_bytes() {
        [drive, b':', b'\\' | b'/', ..] => drive.is_ascii_alphabetic(),
        [b'\\', b'\\', ..] => true,
        _ => false,
    }
}

fn normalized(path: &str) -> String {
    let root = if path.starts_with('/') { "/" } else { "" };
    let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    format!("{root}{}", parts.join("/"))
}

#[cfg(test)]
mod tests;
