//! `cargo xtask bench --against BINARY`: compares two binaries, which do the same work alternately.
//!
//! Each binary has its own copy of every project, because a newer binary can convert a project's database to a new
//! format.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::Result;

use super::file_rules::{BenchTree, CHANGES, FILES, RULES};
use super::hooks::{FEW_ROUNDS, ROUNDS};
use super::project::BenchProject;
use super::row::Row;
use super::timing::{interleaved_medians, median, time};

/// The maximum ratio of the new binary's time to the old one's.
const MAX_RATIO: f64 = 1.05;

/// The binary that was just built, and the one that it is compared with.
struct BinaryPair<'a> {
    new: &'a Path,
    old: &'a Path,
}

pub fn run(new: &Path, old: &Path) -> Result<()> {
    let binaries = BinaryPair { new, old };
    binaries.compare_hooks("one event, bundled rules", ROUNDS, |_| BenchProject::new(0))?;
    binaries.compare_hooks("1,000 rules", ROUNDS, |_| BenchProject::new(1000))?;
    binaries.compare_hooks("1,000,000 events", ROUNDS, |binary| {
        let project = BenchProject::new(0)?;
        time(&mut project.hook(binary)?)?;
        project.fill_journal(1_000_000)?;
        Ok(project)
    })?;
    binaries.compare_edited_rules()?;
    binaries.compare_phases()?;
    binaries.compare_checks("check, 100,000 files", FILES, 1, false)?;
    binaries.compare_checks("1,000 file rules x 1,000 changes", CHANGES, RULES, true)
}

impl BinaryPair<'_> {
    fn compare_hooks(
        &self,
        name: &str,
        rounds: usize,
        create_project: impl Fn(&Path) -> Result<BenchProject>,
    ) -> Result<()> {
        let [new, old] = [create_project(self.new)?, create_project(self.old)?];
        compare(name, rounds, &|| new.hook(self.new), &|| old.hook(self.old))
    }

    fn compare_edited_rules(&self) -> Result<()> {
        let [new, old] = [BenchProject::new(1000)?, BenchProject::new(1000)?];
        let hook_after_edit = |project: &BenchProject, binary: &Path| {
            project.edit_rule()?;
            project.hook(binary)
        };
        let name = "1,000 rules, one just edited";
        compare(name, FEW_ROUNDS, &|| hook_after_edit(&new, self.new), &|| hook_after_edit(&old, self.old))
    }

    fn compare_phases(&self) -> Result<()> {
        let [new, old] = [BenchProject::in_active_phase(self.new)?, BenchProject::in_active_phase(self.old)?];
        for project in [&new, &old] {
            project.fill_phase()?;
        }
        let name = "a hook in a phase of 200,000 events";
        compare(name, FEW_ROUNDS, &|| new.hook(self.new), &|| old.hook(self.old))?;
        let status = |project: &BenchProject, binary: &Path| Ok(project.command(binary, &["status"]));
        compare("status in the same phase", FEW_ROUNDS, &|| status(&new, self.new), &|| status(&old, self.old))?;
        let [mut new_times, mut old_times] = [Vec::new(), Vec::new()];
        for _ in 0..FEW_ROUNDS {
            new_times.push(new.time_next(self.new)?);
            old_times.push(old.time_next(self.old)?);
        }
        print("next in the same phase", median(new_times), median(old_times));
        Ok(())
    }

    fn compare_checks(&self, name: &str, files: usize, rules: usize, changes_everything: bool) -> Result<()> {
        let directory = tempfile::tempdir()?;
        let trees = [
            BenchTree::build(&directory.path().join("new/tree"), files, rules)?,
            BenchTree::build(&directory.path().join("old/tree"), files, rules)?,
        ];
        if changes_everything {
            for tree in &trees {
                tree.change_every_file()?;
            }
        }
        let [new, old] = &trees;
        compare(name, FEW_ROUNDS, &|| Ok(new.check(self.new)), &|| Ok(old.check(self.old)))
    }
}

type MakeCommand<'a> = &'a dyn Fn() -> Result<Command>;

fn compare(name: &str, rounds: usize, new: MakeCommand<'_>, old: MakeCommand<'_>) -> Result<()> {
    let times = interleaved_medians(rounds, &[new, old])?;
    let [new, old] = times.as_slice() else { unreachable!() };
    print(name, *new, *old);
    Ok(())
}

fn print(name: &str, new: Duration, old: Duration) {
    println!("{}", Row::new(name, new, old, MAX_RATIO));
}
