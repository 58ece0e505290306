//! Which file a program is.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::environment::Get;

/// A bare name is left to be found on the `PATH`; a path starts from `folder`, `/` or `~/`.
pub fn located(program: &OsStr, folder: &Path, get: Get<'_>) -> PathBuf {
    let path = Path::new(program);
    if !program.as_encoded_bytes().contains(&b'/') {
        return path.to_owned();
    }
    match (path.strip_prefix("~"), get("HOME").filter(|home| !home.is_empty())) {
        (Ok(rest), Some(home)) => PathBuf::from(home).join(rest),
        _ => folder.join(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_where_their_words_say() {
        let at_home = |name: &str| (name == "HOME").then(|| "/home/ada".into());
        let located = |program: &str| located(OsStr::new(program), Path::new("/repo"), &at_home);
        assert_eq!(located("ruff"), Path::new("ruff"));
        assert_eq!(located("./tools/check"), Path::new("/repo/./tools/check"));
        assert_eq!(located("tools/check"), Path::new("/repo/tools/check"));
        assert_eq!(located("/bin/sh"), Path::new("/bin/sh"));
        assert_eq!(located("~/bin/check"), Path::new("/home/ada/bin/check"));
        assert_eq!(located("~other/check"), Path::new("/repo/~other/check"));
        assert_eq!(super::located(OsStr::new("~/check"), Path::new("/repo"), &|_| None), Path::new("/repo/~/check"));
    }
}
