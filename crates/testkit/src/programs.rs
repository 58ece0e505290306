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

/// Fills `directory` with symlinks to the programs in `NAMES`. The programs are looked up in `path`, the value of a
/// `PATH` variable.
pub fn symlink_into(directory: &Path, path: &OsStr) {
    fs::create_dir_all(directory).expect("a directory in the temporary directory");
    for name in NAMES.split_whitespace() {
        let program = std::env::split_paths(path).map(|entry| entry.join(name)).find(|file| file.is_file());
        if let Some(program) = program {
            symlink(&program, &directory.join(name));
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
