//! Property: after any sequence of operations, the reported changes are those that a commit of the whole tree would
//! contain.

use std::fs;

use proptest::prelude::*;

use super::TestProject;

#[derive(Debug, Clone, Copy)]
enum Operation {
    Write(usize, usize),
    Touch(usize),
    Delete(usize),
    Symlink(usize, usize),
    MakeExecutable(usize),
    Stage(usize),
    IntentToAdd(usize),
    Unstage(usize),
    Commit,
}

const FILES: &[&str] = &["kept.txt", "src/a.rs", "sp ace/[x]*.txt", "new.txt"];
const TEXTS: &[&str] = &["one\n", "two\n", "longer than that\n"];

fn operation() -> impl Strategy<Value = Operation> {
    let file = || 0..FILES.len();
    prop_oneof![
        4 => (file(), 0..TEXTS.len()).prop_map(|(file, text)| Operation::Write(file, text)),
        1 => file().prop_map(Operation::Touch),
        2 => file().prop_map(Operation::Delete),
        1 => (file(), 0..TEXTS.len()).prop_map(|(file, text)| Operation::Symlink(file, text)),
        1 => file().prop_map(Operation::MakeExecutable),
        3 => file().prop_map(Operation::Stage),
        1 => file().prop_map(Operation::IntentToAdd),
        1 => file().prop_map(Operation::Unstage),
        2 => Just(Operation::Commit),
    ]
}

impl TestProject {
    fn perform(&self, operation: Operation) {
        let path = |file: usize| self.root.join(FILES[file]);
        let exists = |file: usize| fs::symlink_metadata(path(file)).is_ok();
        match operation {
            Operation::Write(file, text) => {
                let _ = fs::remove_file(path(file));
                self.write(FILES[file], TEXTS[text]);
            }
            Operation::Touch(file) if exists(file) => {
                if let Ok(text) = fs::read(path(file)) {
                    fs::write(path(file), text).expect("a file");
                }
            }
            Operation::Delete(file) => drop(fs::remove_file(path(file))),
            Operation::Symlink(file, text) => {
                self.write(FILES[file], "").delete(FILES[file]);
                std::os::unix::fs::symlink(TEXTS[text].trim(), path(file)).expect("a link");
            }
            Operation::MakeExecutable(file) if path(file).is_file() => {
                let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
                fs::set_permissions(path(file), mode).expect("a mode");
            }
            Operation::Stage(file) if exists(file) => drop(self.git(&["add", "--", &literal(file)])),
            Operation::IntentToAdd(file) if exists(file) => drop(self.git(&["add", "-N", "--", &literal(file)])),
            Operation::Unstage(file) => {
                drop(self.git(&["rm", "--force", "--cached", "--quiet", "--ignore-unmatch", "--", &literal(file)]));
            }
            // A file that was added with `--intent-to-add` cannot be committed.
            Operation::Commit => drop(self.commit("more")),
            _ => {}
        }
    }

    /// The changes that a commit of everything would contain, determined by git with a new index. The existing index is
    /// not copied: the copy would have a later modification time, so git would trust entries that it must check.
    fn would_commit(&self, base: &str) -> Vec<String> {
        let index = self.directory.path().join("index");
        let work_tree_setting = format!("core.worktree={}", self.root.display());
        let git = |arguments: &[&str]| super::git_with(&self.root, arguments, &[("GIT_INDEX_FILE", &index)]);
        git(&["-c", &work_tree_setting, "add", "--all"]);
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
    fn changes_are_those_of_a_commit_of_everything(operations in prop::collection::vec(operation(), 1..10)) {
        let project = TestProject::new();
        for operation in &operations {
            project.perform(*operation);
        }
        let base = project.tree().merge_base_with_default(None).expect("a base").id;
        let changes = project.tree().changes_since(&base).expect("git answers");
        let changed: Vec<String> = changes.paths().map(str::to_owned).collect();
        prop_assert_eq!(changed, project.would_commit(&base));
    }
}
