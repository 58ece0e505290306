//! Measures file rules in two trees: a large one, compared with `git status`; and one with a thousand rules and a
//! thousand changed files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Result, ensure};

use super::project::BenchProject;
use super::row::Row;
use super::timing::{interleaved_medians, time};

pub const FILES: usize = 100_000;
const DIRECTORIES: usize = 400;
pub const CHANGES: usize = 1000;
pub const RULES: usize = 1000;
const ROUNDS: usize = 15;

pub fn measure(linchpin: &Path) -> Result<Vec<Row>> {
    let directory = tempfile::tempdir()?;
    let large = BenchTree::build(&directory.path().join("large/tree"), FILES, 1)?;
    let times =
        interleaved_medians(ROUNDS, &[&|| Ok(large.git(&["status", "--porcelain"])), &|| Ok(large.check(linchpin))])?;
    let [status, check] = times.as_slice() else { unreachable!() };
    let mut rows = vec![Row::new("check / git status, 100,000 files", *check, *status, 1.5)];

    let few = BenchTree::build(&directory.path().join("few/tree"), CHANGES, 1)?;
    let many = BenchTree::build(&directory.path().join("many/tree"), CHANGES, RULES)?;
    for tree in [&few, &many] {
        tree.change_every_file()?;
    }
    let times = interleaved_medians(ROUNDS, &[&|| Ok(few.check(linchpin)), &|| Ok(many.check(linchpin))])?;
    let [one, thousand] = times.as_slice() else { unreachable!() };
    rows.push(Row::new("check of 1,000 changes: 1,000 file rules / one", *thousand, *one, 3.5));
    rows.push(held_stop(linchpin)?);
    Ok(rows)
}

const STOP_RULES: usize = 400;
const STOP_CHANGES: usize = 800;

/// Measures a stop that unmet file rules hold, compared with `git status`.
fn held_stop(linchpin: &Path) -> Result<Row> {
    let project = BenchProject::new(0)?;
    let tree = BenchTree { root: project.root() };
    fs::create_dir_all(tree.root.join("src"))?;
    for number in 0..STOP_CHANGES {
        fs::write(tree.root.join(format!("src/f{number}.rs")), "fn a() {}\n")?;
    }
    for number in 0..STOP_RULES {
        let rule = tree.root.join(format!(".linchpin/rules/stop-{number:04}.md"));
        fs::write(rule, unmet_rule_text(number))?;
    }
    tree.commit_everything()?;
    for event in ["SessionStart", "UserPromptSubmit", "PreToolUse"] {
        project.set_event(event)?;
        time(&mut project.hook(linchpin)?)?;
    }
    for number in 0..STOP_CHANGES {
        fs::write(tree.root.join(format!("src/f{number}.rs")), "fn changed() {}\n")?;
    }
    project.set_event("PostToolUse")?;
    time(&mut project.hook(linchpin)?)?;
    project.set_event("Stop")?;
    let held = project.hook(linchpin)?.output()?;
    ensure!(String::from_utf8_lossy(&held.stdout).contains("block"), "the stop was not held: {held:?}");
    let times =
        interleaved_medians(ROUNDS, &[&|| Ok(tree.git(&["status", "--porcelain"])), &|| project.hook(linchpin)])?;
    let [status, stop] = times.as_slice() else { unreachable!() };
    Ok(Row::new("a held stop, 400 file rules x 800 changes / git status", *stop, *status, 2.0))
}

/// Returns the text of a rule that the changes of [`held_stop`] do not meet, and that holds a stop again and again.
fn unmet_rule_text(number: usize) -> String {
    let fields = match number % 4 {
        0 => format!("trigger: \"src/f{number}*.rs\"\nsafety: \"docs/{number}.md\""),
        1 => format!("set: [\"src/{{path}}.rs\", \"tests{number}/{{path}}_test.rs\"]"),
        2 => format!("pair: {{trigger: \"src/{{name}}.rs\", expects: \"lib{number}/{{name}}.rs\"}}"),
        _ => format!("created: \"src/f{number}*.rs\""),
    };
    format!("---\n{fields}\nmax_holds: 1000\n---\nTogether.\n")
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
        tree.commit_everything()?;
        Ok(tree)
    }

    fn commit_everything(&self) -> Result<()> {
        self.run_git(&["init", "--quiet", "--initial-branch=main"])?;
        self.run_git(&["add", "--all"])?;
        self.run_git(&["-c", "user.name=B", "-c", "user.email=b@example.com", "commit", "--quiet", "--message=first"])
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
