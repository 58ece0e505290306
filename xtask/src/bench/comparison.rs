//! `cargo xtask bench --against BINARY`: compares two binaries, which do the same work in turns.
//!
//! Each binary has its own copy of every scene, because a newer binary may migrate the store that it opens.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::file_rules::{BenchTree, CHANGES, FILES, RULES};
use super::{EDITS, ROUNDS, Scene, in_turns, row, time};

/// The maximum ratio of the new binary's time to the old one's.
const BAR: f64 = 1.05;

/// The binary that was just built, and the one it is compared with.
struct Pair<'a> {
    new: &'a Path,
    old: &'a Path,
}

pub fn run(new: &Path, old: &Path) -> Result<()> {
    let pair = Pair { new, old };
    pair.hooks("one event, bundled rules", ROUNDS, |_| Scene::new(0))?;
    pair.hooks("1,000 rules", ROUNDS, |_| Scene::new(1000))?;
    pair.hooks("1,000,000 events", ROUNDS, |binary| {
        let scene = Scene::new(0)?;
        time(&mut scene.hook(binary))?;
        scene.fill_journal(1_000_000)?;
        Ok(scene)
    })?;
    pair.edited_rules()?;
    pair.phases()?;
    pair.checks("check, 100,000 files", FILES, 1, false)?;
    pair.checks("1,000 file rules x 1,000 changes", CHANGES, RULES, true)
}

impl Pair<'_> {
    fn hooks(&self, name: &str, rounds: usize, scene: impl Fn(&Path) -> Result<Scene>) -> Result<()> {
        let [new, old] = [scene(self.new)?, scene(self.old)?];
        compare(name, rounds, &|| Ok(new.hook(self.new)), &|| Ok(old.hook(self.old)))
    }

    fn edited_rules(&self) -> Result<()> {
        let [new, old] = [Scene::new(1000)?, Scene::new(1000)?];
        let edited_hook = |scene: &Scene, binary: &Path| {
            scene.edit_a_rule()?;
            Ok(scene.hook(binary))
        };
        let name = "1,000 rules, one just edited";
        compare(name, EDITS, &|| edited_hook(&new, self.new), &|| edited_hook(&old, self.old))
    }

    fn phases(&self) -> Result<()> {
        let [new, old] = [Scene::in_active_phase(self.new)?, Scene::in_active_phase(self.old)?];
        for scene in [&new, &old] {
            scene.fill_phase()?;
        }
        let name = "a hook in a phase of 200,000 events";
        compare(name, EDITS, &|| Ok(new.hook(self.new)), &|| Ok(old.hook(self.old)))?;
        let status = |scene: &Scene, binary: &Path| Ok(scene.command(binary, &["status"]));
        compare("status in the same phase", EDITS, &|| status(&new, self.new), &|| status(&old, self.old))?;
        let [mut new_times, mut old_times] = [Vec::new(), Vec::new()];
        for _ in 0..EDITS {
            new_times.push(new.next(self.new)?);
            old_times.push(old.next(self.old)?);
        }
        row("next in the same phase", super::median(new_times), super::median(old_times), BAR);
        Ok(())
    }

    fn checks(&self, name: &str, files: usize, rules: usize, changes_everything: bool) -> Result<()> {
        let folder = tempfile::tempdir()?;
        let trees = [
            BenchTree::build(&folder.path().join("new/tree"), files, rules)?,
            BenchTree::build(&folder.path().join("old/tree"), files, rules)?,
        ];
        if changes_everything {
            for tree in &trees {
                tree.change_everything()?;
            }
        }
        let [new, old] = &trees;
        compare(name, EDITS, &|| Ok(new.check(self.new)), &|| Ok(old.check(self.old)))
    }
}

type MakeCommand<'a> = &'a dyn Fn() -> Result<Command>;

fn compare(name: &str, rounds: usize, new: MakeCommand<'_>, old: MakeCommand<'_>) -> Result<()> {
    let times = in_turns(rounds, &[new, old])?;
    let [new, old] = times.as_slice() else { unreachable!() };
    row(name, *new, *old, BAR);
    Ok(())
}
