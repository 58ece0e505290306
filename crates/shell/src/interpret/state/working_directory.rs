//! The working directory of the shell, and the directory stack.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::model::{Folders, SimpleCommand, Word, plain};

#[derive(Clone, Default)]
pub(crate) struct WorkingDirectory {
    pub(crate) folders: Folders,
    /// The directories if the last command failed; `None` if that makes no difference.
    pub(super) if_failed: Option<Folders>,
    /// True if the last command changed to a directory that the script has deleted, so that it probably failed.
    pub(super) target_was_deleted: bool,
    /// Directories that the script has deleted.
    pub(super) deleted: Rc<BTreeSet<String>>,
    /// Directories that the script has created. Changing to one of them cannot fail.
    pub(super) created: Rc<BTreeSet<String>>,
    /// The target of `cd -`.
    pub(super) previous: Option<Folders>,
    /// The directory stack of `pushd` and `popd`.
    pub(super) stack: Vec<Folders>,
}

impl WorkingDirectory {
    /// True if the last command changed the directory, or failed to.
    pub(crate) fn may_have_moved(&self) -> bool {
        self.if_failed.is_some()
    }

    /// Notes deleted directories. A deleted directory that is mentioned again may exist again.
    pub(super) fn note_deleted(&mut self, command: &SimpleCommand, program: &str) {
        let removes = matches!(program, "rm" | "rmdir");
        if !removes && self.deleted.is_empty() {
            return;
        }
        let named = command.words().iter().skip(1).filter_map(Word::meaning).map(|path| self.folders.then(path));
        let named: Vec<String> = named.filter_map(|folders| folders.only().map(plain)).collect();
        let deleted = Rc::make_mut(&mut self.deleted);
        match program {
            _ if removes => deleted.extend(named),
            "cd" | "pushd" => {}
            _ => deleted.retain(|path| !named.contains(path)),
        }
    }

    /// `popd`
    pub(super) fn pop(&mut self) {
        self.previous = Some(self.folders.clone());
        self.folders = self.stack.pop().unwrap_or_else(Folders::unknown);
    }

    /// `mkdir`
    pub(super) fn note_created<'p>(&mut self, paths: impl Iterator<Item = &'p str>) {
        let created = paths.map(|path| self.folders.then(path));
        let created: Vec<String> = created.filter_map(|folders| folders.only().map(str::to_owned)).collect();
        Rc::make_mut(&mut self.created).extend(created);
    }

    /// From here on, it is not known whether the last `cd` succeeded.
    pub(super) fn leave_success_unknown(&mut self) {
        let target_was_deleted = std::mem::take(&mut self.target_was_deleted);
        if let Some(if_failed) = self.if_failed.take() {
            if target_was_deleted {
                self.folders.or(&if_failed);
            } else {
                self.folders.or_else(&if_failed);
            }
        }
    }

    /// From here on, the last `cd` is known to have succeeded or failed.
    pub(super) fn assume(&mut self, succeeded: bool) {
        self.target_was_deleted = false;
        let if_failed = self.if_failed.take();
        if let Some(if_failed) = if_failed.filter(|_| !succeeded) {
            self.folders = if_failed;
        }
    }

    /// Changes the directory. `pushes`: true if the previous directory is pushed on the stack.
    pub(super) fn change_to(&mut self, to: Folders, pushes: bool) {
        let before = std::mem::replace(&mut self.folders, to);
        let is_made = self.folders.only().is_some_and(|folder| self.created.contains(folder));
        self.if_failed = (!is_made).then(|| before.clone());
        self.target_was_deleted = self.folders.only().is_some_and(|folder| self.deleted.contains(&plain(folder)));
        if pushes {
            self.stack.push(before.clone());
        }
        self.previous = Some(before);
    }
}
