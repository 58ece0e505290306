//! The effects that one round of evaluation has found.

use super::statement_order::StatementOrder;
use super::value::path_joined;
use super::{Access, Spawn};

/// With more possible working directories than this, the directory is unknown.
const MAX_DIRECTORIES: usize = 8;

#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) touches: Vec<(Access, String)>,
    pub(super) contents: Vec<(String, Option<String>)>,
    pub(super) unknown_touches: Vec<Access>,
    pub(super) spawns: Vec<Spawn>,
    pub(super) prints: Vec<String>,
    /// Environment variables that the program removes for the commands that it starts.
    pub(super) unset_variables: Vec<String>,
    pub(super) is_opaque: bool,
    /// True if the program changed to a directory that is not known.
    pub(super) in_unknown_directory: bool,
    /// Directories that the program may have changed to, other than the one that it starts in.
    possible_directories: Vec<String>,
    /// True if statements run in source order, each at most once.
    runs_in_order: bool,
    /// Contents of open files, concatenated write by write.
    open_files: Vec<(String, Option<String>)>,
}

impl Findings {
    pub(super) fn new(order: StatementOrder) -> Self {
        Self { runs_in_order: order == StatementOrder::InSourceOrder, ..Self::default() }
    }

    /// Records a write that replaces the contents of a file; `None` if the contents are not constant.
    pub(super) fn write_file(&mut self, path: &str, contents: Option<&str>) {
        for path in self.possible_paths(path) {
            let written = (path, contents.map(str::to_owned));
            if !self.contents.contains(&written) {
                self.contents.push(written);
            }
        }
        self.note_access(Access::Write, path);
    }

    /// Records that a string, or `None`, is appended to an open file.
    pub(super) fn append_output(&mut self, path: &str, more: Option<&str>) {
        let runs_in_order = self.runs_in_order;
        match self.open_files.iter_mut().find(|(known, _)| known == path) {
            // Outside of source order, the writes cannot be concatenated.
            Some((_, string)) => {
                *string = string.take().zip(more).filter(|_| runs_in_order).map(|(string, more)| string + more);
            }
            None => self.open_files.push((path.to_owned(), more.map(str::to_owned))),
        }
    }

    pub(super) fn record_access(&mut self, access: Access, path: &str) {
        match access {
            Access::Write => self.write_file(path, None),
            access => self.note_access(access, path),
        }
    }

    /// Records an access, without the contents that the file then has.
    pub(super) fn note_access(&mut self, access: Access, path: &str) {
        for path in self.possible_paths(path) {
            let access_and_path = (access, path);
            if !self.touches.contains(&access_and_path) {
                self.touches.push(access_and_path);
            }
        }
    }

    /// Records an access to a file whose name is not constant.
    pub(super) fn record_unknown_access(&mut self, access: Access) {
        if !self.unknown_touches.contains(&access) {
            self.unknown_touches.push(access);
        }
    }

    pub(super) fn print(&mut self, string: String) {
        if !self.prints.contains(&string) {
            self.prints.push(string);
        }
    }

    pub(super) fn spawn(&mut self, spawn: Spawn) {
        let possible_directories = if self.runs_in_order { self.possible_directories.clone() } else { Vec::new() };
        let elsewhere: Vec<Spawn> =
            possible_directories.iter().map(|directory| started_in(directory, spawn.clone())).collect();
        for spawn in std::iter::once(spawn).chain(elsewhere) {
            if !self.spawns.contains(&spawn) {
                self.spawns.push(spawn);
            }
        }
    }

    /// Adds the directories that the program may be in from here on. It may also still be in the previous one, because
    /// conditions are not followed.
    pub(super) fn change_directory(&mut self, to: &[String]) {
        // A loop may go up any number of times.
        let climbs = to.iter().any(|directory| directory.split('/').any(|part| part == ".."));
        let from = std::iter::once(".".to_owned()).chain(self.possible_directories.iter().cloned()).collect::<Vec<_>>();
        let reached = from.iter().flat_map(|from| to.iter().map(move |to| path_joined(from, to)));
        for directory in reached {
            if !self.possible_directories.contains(&directory) {
                self.possible_directories.push(directory);
            }
        }
        self.in_unknown_directory |= self.possible_directories.len() > MAX_DIRECTORIES || climbs && !self.runs_in_order;
        self.possible_directories.truncate(MAX_DIRECTORIES);
    }

    /// Returns the path, relative to where the program starts, for each directory that it may be in.
    fn possible_paths(&self, path: &str) -> Vec<String> {
        if path::is_rooted(path) || !self.runs_in_order {
            return vec![path.to_owned()];
        }
        self.path_in_every_directory(path)
    }

    fn path_in_every_directory(&self, path: &str) -> Vec<String> {
        let possible_directories = self.possible_directories.iter().filter(|_| !path::is_rooted(path));
        std::iter::once(path.to_owned())
            .chain(possible_directories.map(|directory| path_joined(directory, path)))
            .collect()
    }

    /// Returns the findings, completed with everything that depends on the whole program.
    pub(super) fn finished(mut self) -> Self {
        for (path, string) in std::mem::take(&mut self.open_files) {
            for path in self.possible_paths(&path) {
                self.contents.push((path, string.clone()));
            }
        }
        if self.runs_in_order || self.possible_directories.is_empty() {
            return self;
        }
        // Without source order, an access may also run after a later change of directory.
        let touches = std::mem::take(&mut self.touches);
        self.touches = touches
            .into_iter()
            .flat_map(|(access, path)| self.path_in_every_directory(&path).into_iter().map(move |path| (access, path)))
            .collect();
        let contents = std::mem::take(&mut self.contents);
        self.contents = contents
            .into_iter()
            .flat_map(|(path, string)| {
                self.path_in_every_directory(&path).into_iter().map(move |path| (path, string.clone()))
            })
            .collect();
        let elsewhere = self
            .possible_directories
            .iter()
            .flat_map(|directory| self.spawns.iter().map(move |spawn| started_in(directory, spawn.clone())));
        let elsewhere: Vec<Spawn> = elsewhere.collect();
        self.spawns.extend(elsewhere);
        self
    }
}

/// Returns the command, started in a directory.
fn started_in(directory: &str, spawn: Spawn) -> Spawn {
    let directories = std::iter::once(Some(directory.to_owned())).chain(spawn.directories).collect();
    Spawn { directories, ..spawn }
}
