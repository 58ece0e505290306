//! Paths as agents name them, made absolute by their text alone: nothing here looks at a disk.

/// `path` against `cwd`, with `/`, without `.`. A `..` stays: behind a link, only the disk knows where it leads.
///
/// A path that starts with `~` stays as it is: which home is meant, only the caller can say. Without an absolute
/// `cwd` a relative path stays relative.
pub(crate) fn absolute(cwd: &str, path: &str) -> String {
    // Elsewhere its marks are letters of a name.
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

/// The paths that a file tool may mean by one: some know the `~` of a shell, and to others it is a folder of that name.
pub(crate) fn readings(cwd: &str, path: &str) -> impl Iterator<Item = String> + use<> {
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
