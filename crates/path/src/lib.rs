//! Paths as text, the kinds of access to a file, and patterns with captures. No file is looked at here.

mod access;
pub mod pattern;

pub use access::Access;

/// Makes a path absolute against `cwd`; `~/` is the home folder. Nothing else is changed.
pub fn absolute(path: &str, cwd: &str, home: Option<&str>) -> String {
    match (path.strip_prefix('~'), home) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => format!("{home}{rest}"),
        _ if path.starts_with('/') => path.to_owned(),
        _ => format!("{cwd}/{path}"),
    }
}

/// The temporary folder, and the project's root, in a path of a shell's text.
pub const TEMP: &str = "$TMPDIR";
pub const ROOT: &str = "$CLAUDE_PROJECT_DIR";

/// Whether where it leads does not depend on a folder.
pub fn is_free(path: &str) -> bool {
    path.starts_with(['/', '~']) || path.starts_with(TEMP) || path.starts_with(ROOT)
}

/// Drops empty and `.` segments, and takes back a segment for each `..`; the result starts with `/`.
pub fn tidy(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                kept.pop();
            }
            other => kept.push(other),
        }
    }
    format!("/{}", kept.join("/"))
}

/// What is left of `path` below `folder`; empty for the folder itself; `None` outside of it.
pub fn below<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    let rest = path.strip_prefix(folder.trim_end_matches('/'))?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_absolute_and_plain() {
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
            assert_eq!(tidy(&absolute(path, "/r", Some("/home/u"))), expected, "{path}");
        }
    }

    #[test]
    fn below_needs_a_whole_segment() {
        assert_eq!(below("/a/b/c", "/a/b"), Some("c"));
        assert_eq!(below("/a/b", "/a/b/"), Some(""));
        assert_eq!(below("/a/bc", "/a/b"), None);
        assert_eq!(below("/x", "/"), Some("x"));
    }
}
