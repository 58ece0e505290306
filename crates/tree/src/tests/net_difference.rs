//! Whatever was done to a tree: what counts as changed is what a commit of everything in it would change.

use std::fs;

use proptest::prelude::*;

use super::Scene;

#[derive(Debug, Clone, Copy)]
enum Deed {
    Write(usize, usize),
    Touch(usize),
    Delete(usize),
    Link(usize, usize),
    Execute(usize),
    Stage(usize),
    Announce(usize),
    Unstage(usize),
    Commit,
}

const FILES: &[&str] = &["kept.txt", "src/a.rs", "sp ace/[x]*.txt", "new.txt"];
const TEXTS: &[&str] = &["one\n", "two\n", "longer than that\n"];

fn deed() -> impl Strategy<Value = Deed> {
    let file = || 0..FILES.len();
    prop_oneof![
        4 => (file(), 0..TEXTS.len()).prop_map(|(file, text)| Deed::Write(file, text)),
        1 => file().prop_map(Deed::Touch),
        2 => file().prop_map(Deed::Delete),
        1 => (file(), 0..TEXTS.len()).prop_map(|(file, text)| Deed::Link(file, text)),
        1 => file().prop_map(Deed::Execute),
        3 => file().prop_map(Deed::Stage),
        1 => file().prop_map(Deed::Announce),
        1 => file().prop_map(Deed::Unstage),
        2 => Just(Deed::Commit),
    ]
}

impl Scene {
    fn does(&self, deed: Deed) {
        let path = |file: usize| self.root.join(FILES[file]);
        let is_there = |file: usize| fs::symlink_metadata(path(file)).is_ok();
        match deed {
            Deed::Write(file, text) => {
                let _ = fs::remove_file(path(file));
                self.write(FILES[file], TEXTS[text]);
            }
            Deed::Touch(file) if is_there(file) => {
                if let Ok(text) = fs::read(path(file)) {
                    fs::write(path(file), text).expect("a file");
                }
            }
            Deed::Delete(file) => drop(fs::remove_file(path(file))),
            Deed::Link(file, text) => {
                self.write(FILES[file], "").delete(FILES[file]);
                std::os::unix::fs::symlink(TEXTS[text].trim(), path(file)).expect("a link");
            }
            Deed::Execute(file) if path(file).is_file() => {
                let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
                fs::set_permissions(path(file), mode).expect("a mode");
            }
            Deed::Stage(file) if is_there(file) => drop(self.git(&["add", "--", &literal(file)])),
            Deed::Announce(file) if is_there(file) => drop(self.git(&["add", "-N", "--", &literal(file)])),
            Deed::Unstage(file) => {
                drop(self.git(&["rm", "--force", "--cached", "--quiet", "--ignore-unmatch", "--", &literal(file)]));
            }
            // What was only announced cannot be committed.
            Deed::Commit => drop(self.commit("more")),
            _ => {}
        }
    }

    /// What a commit of everything would change, told by git with a new index: a copy would not know which of its entries were
    /// too young to be trusted.
    fn would_commit(&self, base: &str) -> Vec<String> {
        let index = self.folder.path().join("index");
        let flag = format!("core.worktree={}", self.root.display());
        let git = |arguments: &[&str]| super::git_with(&self.root, arguments, &[("GIT_INDEX_FILE", &index)]);
        git(&["-c", &flag, "add", "--all"]);
        let output = git(&["diff", "--cached", "--raw", "-z", "--no-renames", "--no-abbrev", base, "--"]);
        let parts: Vec<&str> = output.split('\0').collect();
        let is_content = |line: &&[&str]| {
            let fields: Vec<&str> = line[0].split(' ').collect();
            fields[2] != fields[3]
        };
        parts.chunks_exact(2).filter(is_content).map(|line| line[1].to_owned()).collect()
    }
}

fn literal(file: usize) -> String {
    format!(":(literal){}", FILES[file])
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    #[test]
    fn what_changed_is_what_a_commit_of_everything_would_change(deeds in prop::collection::vec(deed(), 1..10)) {
        let scene = Scene::new();
        for deed in &deeds {
            scene.does(*deed);
        }
        let base = scene.tree().base(None).expect("a base").id;
        let changes = scene.tree().changes_since(&base).expect("git answers");
        let changed: Vec<String> = changes.paths().map(str::to_owned).collect();
        prop_assert_eq!(changed, scene.would_commit(&base));
    }
}
