//! The working directory of the shell, and the directory stack.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::model::{PossibleDirectories, SimpleCommand, Word, normalize_path};

#[derive(Clone, Default)]
pub(crate) struct WorkingDirectory {
    pub(crate) possible: PossibleDirectories,
    /// The directories if the last command failed; `None` if success and failure lead to the same directories.
    pub(super) if_failed: Option<PossibleDirectories>,
    /// True if the last command changed to a directory that the script has deleted, so that the command probably
    /// failed.
    pub(super) target_was_deleted: bool,
    /// Directories that the script has deleted.
    pub(super) deleted: Rc<BTreeSet<String>>,
    /// Directories that the script has created. Changing to a created directory cannot fail.
    pub(super) created: Rc<BTreeSet<String>>,
    /// The target of `cd -`.
    pub(super) previous: Option<PossibleDirectories>,
    /// The directory stack of `pushd` and `popd`.
    pub(super) stack: Vec<PossibleDirectories>,
}

impl WorkingDirectory {
    /// True if the last command tried to change the directory, and possibly failed.
    pub(crate) fn may_have_changed(&self) -> bool {
        self.if_failed.is_some()
    }

    /// Notes the directories that a command deletes. If a later command names a deleted directory, the directory
    /// possibly exists again.
    pub(super) fn note_deleted(&mut self, command: &SimpleCommand, program: &str) {
        let removes = matches!(program, "rm" | "rmdir");
        if !removes && self.deleted.is_empty() {
            return;
        }
        let named = command
            .words()
            .iter()
            .skip(1)
            .filter_map(Word::value_or_placeholder)
            .map(|path| self.possible.after_cd(path));
        let named: Vec<String> = named.filter_map(|directories| directories.only().map(normalize_path)).collect();
        let deleted = Rc::make_mut(&mut self.deleted);
        match program {
            _ if removes => deleted.extend(named),
            "cd" | "pushd" => {}
            _ => deleted.retain(|path| !named.contains(path)),
        }
    }

    /// Applies `popd`.
    pub(super) fn pop(&mut self) {
        self.previous = Some(self.possible.clone());
        self.possible = self.stack.pop().unwrap_or_else(PossibleDirectories::unknown);
    }

    /// Notes the directories that `mkdir` creates.
    pub(super) fn note_created<'p>(&mut self, paths: impl Iterator<Item = &'p str>) {
        let created = paths.map(|path| self.possible.after_cd(path));
        let created: Vec<String> = created.filter_map(|directories| directories.only().map(str::to_owned)).collect();
        Rc::make_mut(&mut self.created).extend(created);
    }

    /// Continues with the directories of both outcomes of the last `cd`.
    pub(super) fn leave_success_unknown(&mut self) {
        let target_was_deleted = std::mem::take(&mut self.target_was_deleted);
        if let Some(if_failed) = self.if_failed.take() {
            if target_was_deleted {
                self.possible.or(&if_failed);
            } else {
                self.possible.or_else(&if_failed);
            }
        }
    }

    /// Continues with the directories of one outcome of the last `cd`.
    pub(super) fn assume(&mut self, succeeded: bool) {
        self.target_was_deleted = false;
        let if_failed = self.if_failed.take();
        if let Some(if_failed) = if_failed.filter(|_| !succeeded) {
            self.possible = if_failed;
        }
    }

    /// Changes the directory. `pushes`: true if the previous directory is pushed on the stack.
    pub(super) fn change_to(&mut self, to: PossibleDirectories, pushes: bool) {
        let before = std::mem::replace(&mut self.possible, to);
        let is_created = self.possible.only().is_some_and(|directory| self.created.contains(directory));
        self.if_failed = (!is_created).then(|| before.clone());
        self.target_was_deleted =
            self.possible.only().is_some_and(|directory| self.deleted.contains(&normalize_path(directory)));
        if pushes {
            self.stack.push(before.clone());
        }
        self.previous = Some(before);
    }
}
