//! The `PATH` of a test: git, a shell and common small tools, but none of the agents that may be installed on the
//! machine.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

/// Programs that tests and their scripts call. If a machine lacks one, only the tests that need it fail.
const NAMES: &str = "
    awk base64 basename bash cat chmod comm cp cut date dd diff dirname echo env expr false find git grep head id kill
    ln ls md5sum mkdir mkfifo mktemp mount mv nohup od paste printf ps pwd readlink realpath rm rmdir sed seq setsid
    sh sha256sum sleep sort stat tail tee test timeout touch tr true truncate tty uname uniq unshare wc xargs yes
";

/// Fills `folder` with symlinks to these programs, looked up in `path`.
pub fn symlink_into(folder: &Path, path: &OsStr) {
    fs::create_dir_all(folder).expect("a folder in the temporary folder");
    for name in NAMES.split_whitespace() {
        let program = std::env::split_paths(path).map(|folder| folder.join(name)).find(|file| file.is_file());
        if let Some(program) = program {
            symlink(&program, &folder.join(name));
        }
    }
}

#[cfg(unix)]
fn symlink(program: &Path, name: &Path) {
    std::os::unix::fs::symlink(program, name).expect("a symlink");
}

#[cfg(not(unix))]
fn symlink(program: &Path, name: &Path) {
    fs::copy(program, name).expect("a copy of a program");
}
