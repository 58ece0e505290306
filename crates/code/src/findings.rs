//! The effects that one round of evaluation has found.

use super::statement_order::StatementOrder;
use super::value::join_path;
use super::{Access, Spawn};

/// The maximum number of possible working directories. If there are more, the working directory is unknown.
const MAX_DIRECTORIES: usize = 8;

#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) accesses: Vec<(Access, String)>,
    pub(super) written_files: Vec<(String, Option<String>)>,
    pub(super) unknown_accesses: Vec<Access>,
    pub(super) spawns: Vec<Spawn>,
    pub(super) printed_strings: Vec<String>,
    /// Environment variables that the program removes for the commands that it starts.
    pub(super) unset_variables: Vec<String>,
    /// True if the program has code whose effects cannot be determined.
    pub(super) is_opaque: bool,
    /// True if the program changes to an unknown working directory.
    pub(super) in_unknown_directory: bool,
    /// The working directories to which the program can have changed so far, relative to the one in which it starts.
    possible_directories: Vec<String>,
    /// True if statements run in source order, each at most once.
    runs_in_order: bool,
    /// Open files, each with the concatenated strings that were written to it; `None` if one of the strings, or their
    /// order, is unknown.
    open_files: Vec<(String, Option<String>)>,
}

impl Findings {
    pub(super) fn new(order: StatementOrder) -> Self {
        Self { runs_in_order: order == StatementOrder::InSourceOrder, ..Self::default() }
    }

    /// Records a write that replaces the contents of a file. `contents`: the new contents; `None` if they are not
    /// constant.
    pub(super) fn write_file(&mut self, path: &str, contents: Option<&str>) {
        for path in self.possible_paths(path) {
            let file = (path, contents.map(str::to_owned));
            if !self.written_files.contains(&file) {
                self.written_files.push(file);
            }
        }
        self.record_access_only(Access::Write, path);
    }

    /// Records that a string is appended to an open file. `string` is `None` if the string is not constant.
    pub(super) fn append_output(&mut self, path: &str, string: Option<&str>) {
        let runs_in_order = self.runs_in_order;
        match self.open_files.iter_mut().find(|(open_path, _)| open_path == path) {
            // The strings are concatenated only if the order of the writes is known.
            Some((_, contents)) => {
                let both = contents.take().zip(string).filter(|_| runs_in_order);
                *contents = both.map(|(contents, string)| contents + string);
            }
            None => self.open_files.push((path.to_owned(), string.map(str::to_owned))),
        }
    }

    /// Records an access to a file. If it is a write, the new contents of the file count as unknown.
    pub(super) fn record_access(&mut self, access: Access, path: &str) {
        match access {
            Access::Write => self.write_file(path, None),
            access => self.record_access_only(access, path),
        }
    }

    /// Records an access to a file. Unlike [`Self::record_access`], does not add a written file to `written_files`.
    pub(super) fn record_access_only(&mut self, access: Access, path: &str) {
        for path in self.possible_paths(path) {
            let access_and_path = (access, path);
            if !self.accesses.contains(&access_and_path) {
                self.accesses.push(access_and_path);
            }
        }
    }

    /// Records an access to a file whose name is not constant.
    pub(super) fn record_unknown_access(&mut self, access: Access) {
        if !self.unknown_accesses.contains(&access) {
            self.unknown_accesses.push(access);
        }
    }

    pub(super) fn print(&mut self, string: String) {
        if !self.printed_strings.contains(&string) {
            self.printed_strings.push(string);
        }
    }

    pub(super) fn spawn(&mut self, spawn: Spawn) {
        let possible_directories = if self.runs_in_order { self.possible_directories.clone() } else { Vec::new() };
        let in_directories: Vec<Spawn> =
            possible_directories.iter().map(|directory| started_in(directory, spawn.clone())).collect();
        for spawn in std::iter::once(spawn).chain(in_directories) {
            if !self.spawns.contains(&spawn) {
                self.spawns.push(spawn);
            }
        }
    }

    /// Adds the working directories that the program can have after a change to one of `targets`. The previous ones
    /// stay possible, because the change can be conditional.
    pub(super) fn change_directory(&mut self, targets: &[String]) {
        // A loop can change to the parent directory any number of times.
        let goes_up = targets.iter().any(|directory| directory.split('/').any(|part| part == ".."));
        let origins =
            std::iter::once(".".to_owned()).chain(self.possible_directories.iter().cloned()).collect::<Vec<_>>();
        let reached = origins.iter().flat_map(|origin| targets.iter().map(move |target| join_path(origin, target)));
        for directory in reached {
            if !self.possible_directories.contains(&directory) {
                self.possible_directories.push(directory);
            }
        }
        self.in_unknown_directory |=
            self.possible_directories.len() > MAX_DIRECTORIES || goes_up && !self.runs_in_order;
        self.possible_directories.truncate(MAX_DIRECTORIES);
    }

    /// Converts a path to paths relative to the initial working directory: one for each working directory that the
    /// program can have. If the order of statements is unknown, returns only the path itself; [`Self::finish`] adds the
    /// others.
    fn possible_paths(&self, path: &str) -> Vec<String> {
        if path::is_rooted(path) || !self.runs_in_order {
            return vec![path.to_owned()];
        }
        self.path_in_every_directory(path)
    }

    fn path_in_every_directory(&self, path: &str) -> Vec<String> {
        let possible_directories = self.possible_directories.iter().filter(|_| !path::is_rooted(path));
        std::iter::once(path.to_owned())
            .chain(possible_directories.map(|directory| join_path(directory, path)))
            .collect()
    }

    /// Adds the findings that depend on the whole program.
    pub(super) fn finish(mut self) -> Self {
        for (path, contents) in std::mem::take(&mut self.open_files) {
            for path in self.possible_paths(&path) {
                self.written_files.push((path, contents.clone()));
            }
        }
        if self.runs_in_order || self.possible_directories.is_empty() {
            return self;
        }
        // If the order of statements is unknown, an access can also happen after a change of directory that is later in
        // the source.
        let accesses = std::mem::take(&mut self.accesses);
        self.accesses = accesses
            .into_iter()
            .flat_map(|(access, path)| self.path_in_every_directory(&path).into_iter().map(move |path| (access, path)))
            .collect();
        let written_files = std::mem::take(&mut self.written_files);
        self.written_files = written_files
            .into_iter()
            .flat_map(|(path, contents)| {
                self.path_in_every_directory(&path).into_iter().map(move |path| (path, contents.clone()))
            })
            .collect();
        let in_directories = self
            .possible_directories
            .iter()
            .flat_map(|directory| self.spawns.iter().map(move |spawn| started_in(directory, spawn.clone())));
        let in_directories: Vec<Spawn> = in_directories.collect();
        self.spawns.extend(in_directories);
        self
    }
}

/// Returns the command as it is started if the program is in `directory`. The command's own directories are relative to
/// that directory.
fn started_in(directory: &str, spawn: Spawn) -> Spawn {
    let directories = std::iter::once(Some(directory.to_owned())).chain(spawn.directories).collect();
    Spawn { directories, ..spawn }
}
