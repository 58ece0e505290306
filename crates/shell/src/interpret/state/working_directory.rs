//! The working directory of the shell, and the folders that `cd` and its like lead to.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::model::{Folders, SimpleCommand, Word, plain};

#[derive(Clone, Default)]
pub(crate) struct WorkingDirectory {
    pub(crate) folders: Folders,
    /// Where it is if the last command failed; none where that makes no difference.
    pub(super) failed: Option<Folders>,
    /// Whether that is likely: the script has deleted what it goes to.
    pub(super) is_gone: bool,
    /// Folders that the script has deleted.
    pub(super) deleted: Rc<BTreeSet<String>>,
    /// Those that the script has made, so that it can go there.
    pub(super) made: Rc<BTreeSet<String>>,
    /// Where `cd -` leads.
    pub(super) previous: Option<Folders>,
    /// Where `popd` leads.
    pub(super) stack: Vec<Folders>,
}

impl WorkingDirectory {
    /// Whether the last command went somewhere else, or failed to.
    pub(crate) fn may_have_moved(&self) -> bool {
        self.failed.is_some()
    }

    /// Folders that are deleted; one that is named again may be there again.
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
    pub(super) fn note_made<'p>(&mut self, paths: impl Iterator<Item = &'p str>) {
        let made = paths.map(|path| self.folders.then(path));
        let made: Vec<String> = made.filter_map(|folders| folders.only().map(str::to_owned)).collect();
        Rc::make_mut(&mut self.made).extend(made);
    }

    /// From here on, it is not known whether the last `cd` worked.
    pub(super) fn settle(&mut self) {
        let is_gone = std::mem::take(&mut self.is_gone);
        if let Some(failed) = self.failed.take() {
            if is_gone {
                self.folders.or(&failed);
            } else {
                self.folders.or_else(&failed);
            }
        }
    }

    /// From here on, the last `cd` is known to have worked, or to have failed.
    pub(super) fn assume(&mut self, worked: bool) {
        self.is_gone = false;
        let failed = self.failed.take();
        if let Some(failed) = failed.filter(|_| !worked) {
            self.folders = failed;
        }
    }

    /// Goes to what it is told, from what it was before.
    pub(super) fn go(&mut self, to: Folders, keeps: bool) {
        let before = std::mem::replace(&mut self.folders, to);
        let is_made = self.folders.only().is_some_and(|folder| self.made.contains(folder));
        self.failed = (!is_made).then(|| before.clone());
        self.is_gone = self.folders.only().is_some_and(|folder| self.deleted.contains(&plain(folder)));
        if keeps {
            self.stack.push(before.clone());
        }
        self.previous = Some(before);
    }
}
