//! Measures file rules in two trees: a large one, compared with `git status`; and one with a thousand rules and a
//! thousand changed files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Result, ensure};

use super::{interleaved_medians, milliseconds, print, print_ratio};

pub const FILES: usize = 100_000;
const DIRECTORIES: usize = 400;
pub const CHANGES: usize = 1000;
pub const RULES: usize = 1000;
const ROUNDS: usize = 15;
/// The maximum time, in milliseconds beyond git's own, for a thousand rules and a thousand changes.
const MAX_MS_OVER_GIT: f64 = 50.0;

pub fn run(linchpin: &Path) -> Result<()> {
    let directory = tempfile::tempdir()?;
    let large = BenchTree::build(&directory.path().join("large"), FILES, 1)?;
    let times =
        interleaved_medians(ROUNDS, &[&|| Ok(large.git(&["status", "--porcelain"])), &|| Ok(large.check(linchpin))])?;
    let [status, check] = times.as_slice() else { unreachable!() };
    print_ratio("check / git status, 100,000 files", *check, *status, 1.5);

    let few = BenchTree::build(&directory.path().join("few"), CHANGES, 1)?;
    let many = BenchTree::build(&directory.path().join("many"), CHANGES, RULES)?;
    for tree in [&few, &many] {
        tree.change_every_file()?;
    }
    let times = interleaved_medians(
        ROUNDS,
        &[&|| Ok(few.git(&["status", "--porcelain"])), &|| Ok(few.check(linchpin)), &|| Ok(many.check(linchpin))],
    )?;
    let [status, one, thousand] = times.as_slice() else { unreachable!() };
    let ms_over_git = milliseconds(*thousand) - milliseconds(*status);
    let verdict = if ms_over_git <= MAX_MS_OVER_GIT { "within" } else { "OVER" };
    print(&format!(
        "1,000 file rules x 1,000 changes          {:>7.2} ms, {ms_over_git:.1} ms beyond git status ({verdict} {MAX_MS_OVER_GIT}); one rule {:.2} ms",
        milliseconds(*thousand),
        milliseconds(*one)
    ));
    Ok(())
}

/// A repository with many files, and with file rules.
pub struct BenchTree {
    root: PathBuf,
}

impl BenchTree {
    pub fn build(root: &Path, files: usize, rules: usize) -> Result<Self> {
        let tree = Self { root: root.to_owned() };
        let per_directory = files.div_ceil(DIRECTORIES);
        for number in 0..files {
            let directory = root.join(format!("src/part{:03}", number / per_directory));
            if number % per_directory == 0 {
                fs::create_dir_all(&directory)?;
            }
            fs::write(directory.join(format!("file{number:06}.rs")), format!("fn f{number}() {{}}\n"))?;
        }
        let policy = root.join(".linchpin/rules");
        fs::create_dir_all(&policy)?;
        for number in 0..rules {
            fs::write(policy.join(format!("rule-{number:04}.md")), rule_text(number))?;
        }
        tree.run_git(&["init", "--quiet", "--initial-branch=main"])?;
        tree.run_git(&["add", "--all"])?;
        tree.run_git(&["-c", "user.name=B", "-c", "user.email=b@example.com", "commit", "--quiet", "--message=first"])?;
        Ok(tree)
    }

    /// Changes every file, so that it differs from the commit.
    pub fn change_every_file(&self) -> Result<()> {
        for directory in fs::read_dir(self.root.join("src"))? {
            for file in fs::read_dir(directory?.path())? {
                fs::write(file?.path(), "fn changed() {}\n")?;
            }
        }
        Ok(())
    }

    fn git(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.args(arguments).current_dir(&self.root).env("GIT_OPTIONAL_LOCKS", "0").stdin(Stdio::null());
        command
    }

    fn run_git(&self, arguments: &[&str]) -> Result<()> {
        let status = self.git(arguments).status()?;
        ensure!(status.success(), "git {arguments:?}: {status}");
        Ok(())
    }

    pub fn check(&self, linchpin: &Path) -> Command {
        let mut command = Command::new(linchpin);
        command.args(["check", "--json"]).current_dir(&self.root).stdin(Stdio::null());
        for (variable, directory) in [("HOME", "home"), ("XDG_CONFIG_HOME", "config"), ("XDG_STATE_HOME", "state")] {
            command.env(variable, self.root.join("../").join(directory));
        }
        command
    }
}

/// Returns the text of one rule. Consecutive numbers give rules of different kinds, and half of the rules refer to
/// existing files. All rules are met, so that `check` succeeds.
fn rule_text(number: usize) -> String {
    let part = number % DIRECTORIES;
    let fields = match number % 4 {
        0 => format!("trigger: \"src/part{part:03}/**\"\nsafety: \"src/part{part:03}/*.rs\""),
        1 => format!("set: [\"lib{number}/{{path}}.c\", \"lib{number}/{{path}}.h\"]"),
        2 => format!("pair: {{trigger: \"src/part{part:03}/{{name}}.rs\", expects: \"src/**/{{name}}.rs\"}}"),
        _ => format!("created: \"migrations/{number}/**\""),
    };
    format!("---\n{fields}\n---\nTogether.\n")
}
