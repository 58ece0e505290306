//! Runs scripts with bash, in a temporary directory, with stand-in programs that record their calls.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A recorded call: the base name of the program, and its arguments.
pub type Call = Vec<String>;

/// Programs that do nothing but record their calls.
pub const STAND_INS: [&str; 4] = ["alpha", "beta", "gamma", "delta"];
/// Real programs, which run other programs.
const WRAPPERS: [&str; 6] = ["bash", "env", "nice", "nohup", "timeout", "xargs"];

/// The script of a stand-in. Each process writes its own file, so that concurrent processes do not mix their lines. A
/// stand-in prints something, for substitutions, and succeeds even if nothing reads its output.
const STAND_IN: &str = "\
#!/bin/sh
printf '%s\\0' $# \"${0##*/}\" \"$@\" >> \"$CALLS/$$\"
trap '' PIPE
echo out 2>/dev/null || :
";

pub struct Bash {
    directory: TempDir,
    path: PathBuf,
}

impl Bash {
    pub fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("bin");
        fs::create_dir(&path).unwrap();
        for name in STAND_INS {
            let program = path.join(name);
            fs::write(&program, STAND_IN).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        }
        for name in WRAPPERS {
            let found = ["/usr/bin", "/bin"]
                .map(|directory| Path::new(directory).join(name))
                .into_iter()
                .find(|it| it.exists());
            symlink(found.unwrap_or_else(|| panic!("there is no `{name}` here")), path.join(name)).unwrap();
        }
        Self { directory, path }
    }

    /// Returns every call of a stand-in, in any order. `None` if bash cannot read the script. Bash cannot read some
    /// valid scripts, because it prints a parsed substitution and parses the result again: `{ alpha \&`, followed by a
    /// newline, is printed as `{ alpha \& }`, a group that is not closed.
    pub fn run(&self, script: &str) -> Option<Vec<Call>> {
        let scratch = tempfile::tempdir_in(self.directory.path()).unwrap();
        let (work, calls) = (scratch.path().join("work"), scratch.path().join("calls"));
        fs::create_dir_all(work.join("sub")).unwrap();
        fs::create_dir(&calls).unwrap();
        fs::write(work.join("input"), "some text\n").unwrap();
        symlink(&self.path, work.join("tools")).unwrap();
        let mut command = Command::new(self.path.join("bash"));
        command.args(["--norc", "--noprofile", "-c", script]).current_dir(&work).env_clear();
        command.env("PATH", &self.path).env("CALLS", &calls).env("HOME", &work).env("LC_ALL", "C.UTF-8");
        // Waits for the end of all output, and so for background jobs as well.
        let output = command.stdin(Stdio::null()).output().unwrap();
        assert_ne!(output.status.code(), None, "bash was killed by\n{script}");
        let is_read = !String::from_utf8_lossy(&output.stderr).contains("syntax error");
        is_read.then(|| fs::read_dir(&calls).unwrap().flat_map(|file| read(&file.unwrap().path())).collect())
    }
}

fn read(file: &Path) -> Vec<Call> {
    let text = String::from_utf8(fs::read(file).unwrap()).unwrap();
    let mut fields = text.split_terminator('\0').map(str::to_owned);
    let mut calls = Vec::new();
    while let Some(count) = fields.next() {
        let count: usize = count.parse().unwrap();
        calls.push(fields.by_ref().take(count + 1).collect());
    }
    calls
}
