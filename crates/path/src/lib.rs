//! Paths as strings, kinds of file access, and path patterns with captures. Nothing here reads the file system.

mod access;
pub mod pattern;

pub use access::Access;

/// Prepends `cwd` to a relative path, and replaces a leading `~` by the home directory. `..` and `.` stay: see
/// [`normalize`].
pub fn absolute(path: &str, cwd: &str, home: Option<&str>) -> String {
    match (path.strip_prefix('~'), home) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => format!("{home}{rest}"),
        _ if path.starts_with('/') => path.to_owned(),
        _ => format!("{cwd}/{path}"),
    }
}

/// Stands for the temporary directory at the start of a path in a script.
pub const TEMP_PLACEHOLDER: &str = "$TMPDIR";
/// Stands for the project root at the start of a path in a script.
pub const PROJECT_ROOT_PLACEHOLDER: &str = "$CLAUDE_PROJECT_DIR";

/// True if the path does not depend on the working directory.
pub fn is_rooted(path: &str) -> bool {
    path.starts_with(['/', '~']) || path.starts_with(TEMP_PLACEHOLDER) || path.starts_with(PROJECT_ROOT_PLACEHOLDER)
}

/// Removes empty and `.` segments, and each `..` together with the segment before it. The result starts with `/`.
pub fn normalize(path: &str) -> String {
    let mut segments: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            other => segments.push(other),
        }
    }
    format!("/{}", segments.join("/"))
}

/// Returns `path` relative to `directory`: an empty string for the directory itself, `None` for paths outside of it.
pub fn relative_to<'a>(path: &'a str, directory: &str) -> Option<&'a str> {
    let rest = path.strip_prefix(directory.trim_end_matches('/'))?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_absolute_and_normalized() {
        let cases = [
            ("a/b", "/r/a/b"),
            ("./a//b/.", "/r/a/b"),
            ("../x", "/x"),
            ("../../../x", "/x"),
            ("/etc/../tmp/", "/tmp"),
            ("~/k", "/home/u/k"),
            ("~", "/home/u"),
            ("~other/k", "/r/~other/k"),
        ];
        for (path, expected) in cases {
            assert_eq!(normalize(&absolute(path, "/r", Some("/home/u"))), expected, "{path}");
        }
    }

    #[test]
    fn a_relative_path_begins_after_a_whole_segment() {
        assert_eq!(relative_to("/a/b/c", "/a/b"), Some("c"));
        assert_eq!(relative_to("/a/b", "/a/b/"), Some(""));
        assert_eq!(relative_to("/a/bc", "/a/b"), None);
        assert_eq!(relative_to("/x", "/"), Some("x"));
    }
}
