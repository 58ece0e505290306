//! What one round of reading found.

use super::statement_order::StatementOrder;
use super::value::path_joined;
use super::{Access, Spawn};

/// More folders that a text may be in are not told apart.
const MAX_FOLDERS: usize = 8;

#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) touches: Vec<(Access, String)>,
    pub(super) texts: Vec<(String, Option<String>)>,
    pub(super) unknown: Vec<Access>,
    pub(super) spawns: Vec<Spawn>,
    pub(super) prints: Vec<String>,
    /// Variables that are taken away from what is started.
    pub(super) forgotten: Vec<String>,
    pub(super) hidden: bool,
    /// Whether it went to a folder that nobody knows.
    pub(super) moved: bool,
    /// Folders that it may have gone to, beside the one that it starts in.
    folders: Vec<String>,
    /// Whether what stands behind a statement runs behind it, and what stands before it does not.
    is_straight: bool,
    /// What is written into files that are open, piece by piece.
    outputs: Vec<(String, Option<String>)>,
}

impl Findings {
    pub(super) fn in_order(order: StatementOrder) -> Self {
        Self { is_straight: order == StatementOrder::Straight, ..Self::default() }
    }

    /// A file that this becomes the whole text of.
    pub(super) fn write(&mut self, path: &str, text: Option<&str>) {
        for path in self.placed(path) {
            let written = (path, text.map(str::to_owned));
            if !self.texts.contains(&written) {
                self.texts.push(written);
            }
        }
        self.note(Access::Write, path);
    }

    /// What is put behind all that was written into an open file so far; none where that is no constant.
    pub(super) fn output(&mut self, path: &str, more: Option<&str>) {
        let is_straight = self.is_straight;
        match self.outputs.iter_mut().find(|(known, _)| known == path) {
            // In which order, nobody knows.
            Some((_, text)) => *text = text.take().zip(more).filter(|_| is_straight).map(|(text, more)| text + more),
            None => self.outputs.push((path.to_owned(), more.map(str::to_owned))),
        }
    }

    pub(super) fn touch(&mut self, access: Access, path: &str) {
        match access {
            Access::Write => self.write(path, None),
            access => self.note(access, path),
        }
    }

    /// Says nothing of what is then in it.
    pub(super) fn note(&mut self, access: Access, path: &str) {
        for path in self.placed(path) {
            let touch = (access, path);
            if !self.touches.contains(&touch) {
                self.touches.push(touch);
            }
        }
    }

    /// A file that nobody knows.
    pub(super) fn touch_unknown(&mut self, access: Access) {
        if !self.unknown.contains(&access) {
            self.unknown.push(access);
        }
    }

    pub(super) fn print(&mut self, text: String) {
        if !self.prints.contains(&text) {
            self.prints.push(text);
        }
    }

    pub(super) fn spawn(&mut self, spawn: Spawn) {
        let folders = if self.is_straight { self.folders.clone() } else { Vec::new() };
        let there: Vec<Spawn> = folders.iter().map(|folder| within(folder, spawn.clone())).collect();
        for spawn in std::iter::once(spawn).chain(there) {
            if !self.spawns.contains(&spawn) {
                self.spawns.push(spawn);
            }
        }
    }

    /// It may be in one of these from here on, or still where it was: nobody follows conditions.
    pub(super) fn go(&mut self, to: &[String]) {
        // Who goes up as often as a loop goes round may be anywhere.
        let climbs = to.iter().any(|folder| folder.split('/').any(|part| part == ".."));
        let from = std::iter::once(".".to_owned()).chain(self.folders.iter().cloned()).collect::<Vec<_>>();
        let reached = from.iter().flat_map(|from| to.iter().map(move |to| path_joined(from, to)));
        for folder in reached {
            if !self.folders.contains(&folder) {
                self.folders.push(folder);
            }
        }
        self.moved |= self.folders.len() > MAX_FOLDERS || climbs && !self.is_straight;
        self.folders.truncate(MAX_FOLDERS);
    }

    /// The path from where the text starts, in each of the folders that it may be in.
    fn placed(&self, path: &str) -> Vec<String> {
        if path::is_free(path) || !self.is_straight {
            return vec![path.to_owned()];
        }
        self.placed_anywhere(path)
    }

    fn placed_anywhere(&self, path: &str) -> Vec<String> {
        let folders = self.folders.iter().filter(|_| !path::is_free(path));
        std::iter::once(path.to_owned()).chain(folders.map(|folder| path_joined(folder, path))).collect()
    }

    /// With all that is only known at the end.
    pub(super) fn settled(mut self) -> Self {
        for (path, text) in std::mem::take(&mut self.outputs) {
            for path in self.placed(&path) {
                self.texts.push((path, text.clone()));
            }
        }
        if self.is_straight || self.folders.is_empty() {
            return self;
        }
        // What stands before may run behind.
        let touches = std::mem::take(&mut self.touches);
        self.touches = touches
            .into_iter()
            .flat_map(|(access, path)| self.placed_anywhere(&path).into_iter().map(move |path| (access, path)))
            .collect();
        let texts = std::mem::take(&mut self.texts);
        self.texts = texts
            .into_iter()
            .flat_map(|(path, text)| self.placed_anywhere(&path).into_iter().map(move |path| (path, text.clone())))
            .collect();
        let there =
            self.folders.iter().flat_map(|folder| self.spawns.iter().map(move |spawn| within(folder, spawn.clone())));
        let there: Vec<Spawn> = there.collect();
        self.spawns.extend(there);
        self
    }
}

/// The same, started in a folder.
fn within(folder: &str, spawn: Spawn) -> Spawn {
    let directories = std::iter::once(Some(folder.to_owned())).chain(spawn.directories).collect();
    Spawn { directories, ..spawn }
}
