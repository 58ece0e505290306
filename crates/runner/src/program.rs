//! Resolves the path of a program.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::environment::GetVariable;

/// Returns the path of a program. A name without a slash is resolved through `PATH` later. A path is relative to
/// `directory`, unless it starts with `/` or `~/`.
pub fn resolve_program(program: &OsStr, directory: &Path, get_variable: GetVariable<'_>) -> PathBuf {
    let path = Path::new(program);
    if !program.as_encoded_bytes().contains(&b'/') {
        return path.to_owned();
    }
    match (path.strip_prefix("~"), get_variable("HOME").filter(|home| !home.is_empty())) {
        (Ok(rest), Some(home)) => PathBuf::from(home).join(rest),
        _ => directory.join(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_programs_are_resolved() {
        let at_home = |name: &str| (name == "HOME").then(|| "/home/ada".into());
        let resolve = |program: &str| resolve_program(OsStr::new(program), Path::new("/repo"), &at_home);
        assert_eq!(resolve("ruff"), Path::new("ruff"));
        assert_eq!(resolve("./tools/check"), Path::new("/repo/./tools/check"));
        assert_eq!(resolve("tools/check"), Path::new("/repo/tools/check"));
        assert_eq!(resolve("/bin/sh"), Path::new("/bin/sh"));
        assert_eq!(resolve("~/bin/check"), Path::new("/home/ada/bin/check"));
        assert_eq!(resolve("~other/check"), Path::new("/repo/~other/check"));
        assert_eq!(resolve_program(OsStr::new("~/check"), Path::new("/repo"), &|_| None), Path::new("/repo/~/check"));
    }
}
