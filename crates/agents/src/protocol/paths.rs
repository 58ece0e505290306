//! Makes paths in payloads absolute, without access to the file system.

/// Resolves `path` against `cwd`, converts separators to `/`, and removes `.`. A `..` is kept, because a symlink before
/// it changes its meaning.
///
/// A path that starts with `~` is not expanded: only the caller knows the home directory. If `cwd` is not absolute, a
/// relative path stays relative.
pub(crate) fn absolute(cwd: &str, path: &str) -> String {
    // On other systems, `\\` and `:` are ordinary characters of names.
    let windows = is_windows(cwd) || (!cwd.starts_with('/') && is_windows(path));
    let slashed = |text: &str| if windows { text.replace('\\', "/") } else { text.to_owned() };
    let path = slashed(path);
    if path.starts_with('/') || path.starts_with('~') || (windows && is_windows(&path)) {
        return normal(&path);
    }
    if cwd.is_empty() {
        return normal(&path);
    }
    normal(&format!("{}/{path}", slashed(cwd)))
}

/// Returns the paths that a file tool may mean by `path`: some tools expand `~`, others take it for a directory's name.
pub(crate) fn interpretations(cwd: &str, path: &str) -> impl Iterator<Item = String> + use<> {
    let as_name = path.starts_with('~').then(|| absolute(cwd, &format!("./{path}")));
    std::iter::once(absolute(cwd, path)).chain(as_name)
}

pub(crate) fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || is_windows(path)
}

/// `C:\…`, `C:/…` or `\\server\…`.
fn is_windows(path: &str) -> bool {
    match path.as_bytes() {
        [drive, b':', b'\\' | b'/', ..] => drive.is_ascii_alphabetic(),
        [b'\\', b'\\', ..] => true,
        _ => false,
    }
}

fn normal(path: &str) -> String {
    let root = if path.starts_with('/') { "/" } else { "" };
    let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    format!("{root}{}", parts.join("/"))
}

#[cfg(test)]
mod tests;
