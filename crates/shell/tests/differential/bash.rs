//! A bash in a folder of its own, whose programs only write down how they were called.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// The program's base name and its arguments.
pub type Call = Vec<String>;

/// Programs that do nothing.
pub const STAND_INS: [&str; 4] = ["alpha", "beta", "gamma", "delta"];
/// Programs that are themselves, because they run others.
const WRAPPERS: [&str; 6] = ["bash", "env", "nice", "nohup", "timeout", "xargs"];

/// One file a process, so that programs that run at once do not write into each other's lines. Each says something, for
/// substitutions to be made of, and succeeds even where nobody listens.
const STAND_IN: &str = "\
#!/bin/sh
printf '%s\\0' $# \"${0##*/}\" \"$@\" >> \"$CALLS/$$\"
trap '' PIPE
echo out 2>/dev/null || :
";

pub struct Bash {
    folder: TempDir,
    path: PathBuf,
}

impl Bash {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bin");
        fs::create_dir(&path).unwrap();
        for name in STAND_INS {
            let program = path.join(name);
            fs::write(&program, STAND_IN).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        }
        for name in WRAPPERS {
            let found =
                ["/usr/bin", "/bin"].map(|folder| Path::new(folder).join(name)).into_iter().find(|it| it.exists());
            symlink(found.unwrap_or_else(|| panic!("there is no `{name}` here")), path.join(name)).unwrap();
        }
        Self { folder, path }
    }

    /// Every call of a stand-in, in no order. None where bash cannot read the script: it prints a substitution that it
    /// has read and reads that again, and `{ alpha \&` with a line break becomes `{ alpha \& }`, which never ends.
    pub fn run(&self, script: &str) -> Option<Vec<Call>> {
        let scratch = tempfile::tempdir_in(self.folder.path()).unwrap();
        let (work, calls) = (scratch.path().join("work"), scratch.path().join("calls"));
        fs::create_dir_all(work.join("sub")).unwrap();
        fs::create_dir(&calls).unwrap();
        fs::write(work.join("input"), "some text\n").unwrap();
        symlink(&self.path, work.join("tools")).unwrap();
        let mut command = Command::new(self.path.join("bash"));
        command.args(["--norc", "--noprofile", "-c", script]).current_dir(&work).env_clear();
        command.env("PATH", &self.path).env("CALLS", &calls).env("HOME", &work).env("LC_ALL", "C.UTF-8");
        // All output is read to its end, so that what runs in the background has ended too.
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
