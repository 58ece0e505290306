//! The input of one judgement: the event, the directories that patterns refer to, and the facts.
//!
//! Derived values, such as the simple commands of a shell call and the paths that the call accesses, are computed on
//! first use.

mod scope;

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use crate::event::{Event, ShellText, ToolCall};
use crate::facts::{Facts, GitField, Missing};
use crate::value_cache::ValueCache;
use path::Access;
use shell::{
    self, CheckedOutBranch, Effect, FileContents, PathExpansion, Rewrite, RewrittenBranch, Script, SimpleCommand,
};

pub struct Situation {
    pub event: Arc<Event>,
    pub directories: BaseDirectories,
    pub facts: Arc<dyn Facts>,
    script: OnceLock<Option<Script>>,
    command_texts: OnceLock<Vec<String>>,
    /// For each simple command, the command together with one or more of its wrappers.
    with_wrappers: OnceLock<Vec<Vec<SimpleCommand>>>,
    wrapper_texts: OnceLock<Vec<String>>,
    touches: OnceLock<TouchedPaths>,
    rewrites: OnceLock<Vec<Rewrite>>,
    missing_branch: OnceLock<Missing>,
    /// For each simple command, true if the command is in this policy's scope.
    in_scope: OnceLock<Vec<bool>>,
    pub(crate) values: ValueCache,
}

/// Absolute paths of the directories that path patterns refer to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BaseDirectories {
    pub root: String,
    pub home: Option<String>,
    pub temp: Option<String>,
    /// The directories that rules name by another path. Each entry has the real path, and the path in rules
    /// (`~/.config/…`).
    pub aliases: Vec<(String, String)>,
    /// True if the policy belongs to a directory inside the project instead of the whole project.
    pub is_subdirectory: bool,
}

/// A path that the event accesses, in every spelling that a pattern can match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TouchedPath {
    /// The path relative to the project's root, which is empty for the root itself; `None` if the path is outside of
    /// the root.
    pub in_project: Option<String>,
    pub absolute: String,
    /// The path as rules write it (`~/…`); `None` if the path is neither in the home directory nor in a directory with
    /// an alias.
    pub in_home: Option<String>,
    /// How the path is accessed; `None` if this is unknown.
    pub access: Option<Access>,
    /// The index of the simple command that names the path; `None` if the tool call itself names the path.
    pub command_index: Option<usize>,
    /// True if the access includes everything below the path.
    pub is_recursive: bool,
    /// True if the path is the value of a variable that is set for a command. Linchpin assumes that commands do not
    /// write to such paths.
    pub is_variable_value: bool,
    /// The path as the event spells it, for messages.
    pub as_written: Arc<str>,
}

/// An access to a path, before the path is made absolute and its symlinks are resolved.
#[derive(Debug, Clone)]
struct PathUse {
    access: Option<Access>,
    command_index: Option<usize>,
    is_recursive: bool,
    is_variable_value: bool,
    as_written: Arc<str>,
}

/// All paths that the event names, and accesses whose paths are unknown.
#[derive(Debug, Default)]
struct TouchedPaths {
    known: Vec<TouchedPath>,
    unknown: Vec<UnknownPath>,
}

/// An access to a path that is unknown before the command runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownPath {
    /// The word as the command spells it, for messages.
    pub as_written: String,
    pub access: Option<Access>,
    pub is_variable_value: bool,
    pub command_index: Option<usize>,
}

impl Situation {
    pub fn new(event: Arc<Event>, directories: BaseDirectories, facts: Arc<dyn Facts>) -> Self {
        Self {
            event,
            directories,
            facts,
            script: OnceLock::new(),
            command_texts: OnceLock::new(),
            with_wrappers: OnceLock::new(),
            wrapper_texts: OnceLock::new(),
            touches: OnceLock::new(),
            rewrites: OnceLock::new(),
            missing_branch: OnceLock::new(),
            in_scope: OnceLock::new(),
            values: ValueCache::default(),
        }
    }

    /// The parsed shell script; `None` if the event is not a shell call, or the call has no script.
    pub fn script(&self) -> Option<&Script> {
        self.script
            .get_or_init(|| match self.event.tool.as_ref()?.shell.as_ref()? {
                ShellText::Command(text) => Some(shell::parse_after(text, &|path| self.content_of_written_file(path))),
                ShellText::Missing => None,
            })
            .as_ref()
    }

    /// The content of a file that the session wrote before this event.
    fn content_of_written_file(&self, path: &str) -> Option<FileContents> {
        let path = self.directories.absolute(path, &self.event.cwd);
        self.facts.written_file(&path::normalize(&path))
    }

    /// The normalized text of each simple command.
    pub fn command_texts(&self) -> &[String] {
        self.command_texts.get_or_init(|| {
            self.script().into_iter().flat_map(|script| &script.commands).map(SimpleCommand::text).collect()
        })
    }

    /// The simple command at this index together with its innermost wrapper, its two innermost wrappers, and so on. For
    /// the command `make` in `sudo timeout 5 make`, these are `timeout 5 make` and `sudo timeout 5 make`.
    pub(crate) fn with_wrappers(&self, index: usize) -> &[SimpleCommand] {
        let with_wrappers = self.with_wrappers.get_or_init(|| {
            let commands = self.script().into_iter().flat_map(|script| &script.commands);
            commands.map(|command| command.with_wrappers().collect()).collect()
        });
        with_wrappers.get(index).map(Vec::as_slice).unwrap_or_default()
    }

    /// The normalized texts of all wrappers, and of all commands together with their wrappers.
    pub(crate) fn wrapper_texts(&self) -> &[String] {
        self.wrapper_texts.get_or_init(|| {
            let commands = self.script().into_iter().flat_map(|script| &script.commands).enumerate();
            let texts = commands.flat_map(|(index, command)| {
                let wrappers = command.wrappers.iter().map(Arc::as_ref);
                wrappers.chain(self.with_wrappers(index)).map(SimpleCommand::text)
            });
            texts.collect()
        })
    }

    pub fn touched_paths(&self) -> &[TouchedPath] {
        &self.all_touched_paths().known
    }

    pub fn unknown_paths(&self) -> &[UnknownPath] {
        &self.all_touched_paths().unknown
    }

    /// The branches that the event's commands rewrite or delete. For a command that rewrites the current branch, the
    /// result contains the name of that branch, if the name is known.
    pub fn rewrites(&self) -> &[Rewrite] {
        self.rewrites.get_or_init(|| {
            let mut rewrites = self.script().map(Script::rewrites).unwrap_or_default();
            for rewrite in &mut rewrites {
                if let RewrittenBranch::Current(branch) = &rewrite.branch {
                    let command = self.script().and_then(|script| script.commands.get(rewrite.command_index));
                    let name = command.and_then(|command| self.current_branch(branch, command));
                    rewrite.branch = name.map_or(RewrittenBranch::Unknown, RewrittenBranch::Named);
                }
            }
            rewrites
        })
    }

    /// The missing fact because of which the name of a branch in [`Self::rewrites`] is unknown; `None` if no fact was
    /// missing.
    pub fn missing_branch(&self) -> Option<&Missing> {
        self.missing_branch.get()
    }

    /// The branch that is checked out in the directory in which the command runs; `None` if the branch is unknown.
    fn current_branch(&self, branch: &CheckedOutBranch, command: &SimpleCommand) -> Option<String> {
        let directories = command.git_directories()?;
        // A directory inside the repository can be a separate repository, in which another branch is checked out.
        for directory in directories.list()? {
            let directory = path::normalize(&self.directories.absolute(directory, &self.event.cwd));
            let relative = path::relative_to(&directory, &self.directories.root)?;
            if self.is_in_nested_repository(relative) {
                return None;
            }
        }
        let current = || match self.facts.git(GitField::Branch) {
            Ok(name) => name.as_str().map(str::to_owned),
            Err(missing) => {
                // `set` fails only if the same missing fact is already stored.
                let _ = self.missing_branch.set(missing);
                None
            }
        };
        match branch {
            CheckedOutBranch::Unknown => None,
            CheckedOutBranch::AsBefore => current(),
            CheckedOutBranch::Named(name) => Some(name.clone()),
            CheckedOutBranch::NamedOrAsBefore(name) => {
                let path = self.directories.absolute(name, &self.event.cwd);
                let is_path = self.facts.expand_glob(&path).is_some_and(|found| !found.is_empty());
                if is_path { current() } else { Some(name.clone()) }
            }
        }
    }

    /// True if a directory belongs to a nested repository, worktree or submodule. `relative` is the directory's path
    /// relative to the project's root.
    fn is_in_nested_repository(&self, relative: &str) -> bool {
        let ends = relative.match_indices('/').map(|(at, _)| at).chain([relative.len()]);
        let mut directories = ends.filter_map(|end| relative.get(..end)).filter(|directory| !directory.is_empty());
        let has_git =
            |directory: &str| self.facts.is_directory(&format!("{}/{directory}/.git", self.directories.root)).is_some();
        directories.any(has_git)
    }

    fn all_touched_paths(&self) -> &TouchedPaths {
        self.touches.get_or_init(|| {
            let mut touches = TouchedPaths::default();
            if let Some(tool) = &self.event.tool {
                self.add_files_of_call(tool, &mut touches.known);
            }
            for effect in self.script().into_iter().flat_map(Script::effects) {
                self.add_effect(effect, &mut touches);
            }
            touches.known = deduplicated(touches.known);
            touches
        })
    }

    /// Adds the files that are named in the arguments of the tool call. The files that are named in a script are added
    /// by [`Self::add_effect`].
    fn add_files_of_call(&self, tool: &ToolCall, touches: &mut Vec<TouchedPath>) {
        let is_mcp = !tool.mcp.is_empty();
        for file in tool.files.iter().filter(|file| !is_mcp || self.is_on_this_machine(&file.path)) {
            // An MCP tool that deletes a path may delete a directory.
            let is_recursive = is_mcp && file.access == Some(Access::Delete);
            let as_written = Arc::from(file.path.as_str());
            let path_use = PathUse {
                access: file.access,
                command_index: None,
                is_recursive,
                is_variable_value: false,
                as_written,
            };
            self.add_touched_path(&file.path, &path_use, touches);
            for path in file.is_pattern.then(|| self.facts.search_files(&file.path)).flatten().unwrap_or_default() {
                let as_written = Arc::from(path::relative_to(&path, &self.event.cwd).unwrap_or(&path));
                self.add_touched_path(&path, &PathUse { as_written, ..path_use.clone() }, touches);
            }
        }
    }

    /// True if a path in a call of an MCP tool is probably a path on this machine: the path is in the project or in the
    /// home directory, or the path exists. The server of the tool may run on another machine.
    fn is_on_this_machine(&self, path: &str) -> bool {
        let path = path::normalize(&self.directories.absolute(path, &self.event.cwd));
        path::relative_to(&path, &self.directories.root).is_some()
            || self.directories.path_in_rules(&path).is_some()
            || self.facts.is_directory(&path).is_some()
    }

    /// Adds the paths that a simple command accesses, or may access if its working directory or arguments are unknown.
    fn add_effect(&self, effect: Effect, touches: &mut TouchedPaths) {
        let Effect { path, raw, access, is_recursive, expansion, is_variable_value, command_index, directories } =
            effect;
        let command_of = |index: usize| self.script()?.commands.get(index);
        let has_unknown_files = command_index.and_then(command_of).is_some_and(SimpleCommand::has_unknown_files);
        // If the working directory of the command is unknown, only the paths that do not depend on that directory are
        // known.
        let is_rooted = path.as_deref().is_some_and(path::is_rooted);
        let is_either = directories.is_either();
        let directories = match directories.list() {
            Some(directories) => directories,
            None if is_rooted => &[String::new()],
            None => &[],
        };
        let Some(path) = path.filter(|_| !has_unknown_files) else {
            touches.unknown.push(UnknownPath { as_written: raw, access, is_variable_value, command_index });
            return;
        };
        let as_written = Arc::from(path.as_str());
        let path_use = PathUse { access, command_index, is_recursive, is_variable_value, as_written };
        if directories.is_empty() {
            // The working directory of the command is unknown, but may be the working directory of the event.
            self.add_touched_path(&path, &PathUse { access: None, ..path_use }, &mut touches.known);
            touches.unknown.push(UnknownPath { as_written: raw, access, is_variable_value, command_index });
            return;
        }
        for directory in directories {
            // `cd` removes each `..` together with the segment before it, without resolving symlinks. In the paths of
            // other commands, the operating system resolves symlinks before `..`.
            let directory = path::normalize(&self.directories.absolute(directory, &self.event.cwd));
            let path = self.directories.absolute(&path, &directory);
            self.add_touched_path(&path, &path_use, &mut touches.known);
            let expanded = match expansion {
                PathExpansion::SearchGlob => self.facts.search_files(&path),
                PathExpansion::ShellGlob => self.facts.expand_glob(&path),
                PathExpansion::Literal => None,
            };
            for path in expanded.unwrap_or_default() {
                let as_written = Arc::from(path::relative_to(&path, &self.event.cwd).unwrap_or(&path));
                self.add_touched_path(&path, &PathUse { as_written, ..path_use.clone() }, &mut touches.known);
            }
            // The command runs in the first possible working directory that exists, if the earlier commands succeed. If
            // `is_either` is true, the command may run in any of the directories, so all of them are used.
            if directories.len() > 1 && !is_either && self.facts.is_directory(&directory) == Some(true) {
                break;
            }
        }
    }

    /// Adds a path in one or two forms: normalized as text and, if the path contains symlinks, with its symlinks
    /// resolved. In the resolved path, `..` after a symlink is the parent of the symlink's target.
    fn add_touched_path(&self, path: &str, path_use: &PathUse, touches: &mut Vec<TouchedPath>) {
        let PathUse { access, command_index, .. } = *path_use;
        let absolute = self.directories.absolute(path, &self.event.cwd);
        // Deleting a symlink does not delete its target unless the path ends with a slash. Recursive commands do not
        // follow a symlink that is their argument.
        let without_slash = absolute.strip_suffix('/').unwrap_or(&absolute);
        let accesses_symlink_itself =
            (access == Some(Access::Delete) || path_use.is_recursive) && without_slash.len() == absolute.len();
        let resolved = match without_slash.rsplit_once('/') {
            Some((directory, name)) if accesses_symlink_itself => {
                self.facts.resolve_symlinks(directory).map(|directory| format!("{directory}/{name}"))
            }
            _ => self.facts.resolve_symlinks(without_slash),
        };
        let resolved = resolved.map(|path| path::normalize(&path));
        let textual = path::normalize(&absolute);
        let resolved = resolved.filter(|resolved| *resolved != textual);
        let mut paths: Vec<String> = [Some(textual), resolved].into_iter().flatten().collect();
        let is_file = |path: &String| self.facts.is_directory(path) == Some(false);
        let is_recursive = path_use.is_recursive && !paths.last().is_some_and(is_file);
        let mut spellings = vec![Arc::clone(&path_use.as_written); paths.len()];
        // A command that deletes or recursively accesses the project or a directory above the project also accesses the
        // project's `.linchpin` and `.git`.
        let includes_content = access == Some(Access::Delete) || is_recursive;
        if includes_content && paths.iter().any(|path| path::relative_to(&self.directories.root, path).is_some()) {
            let protected = [".linchpin", ".git"];
            paths.extend(protected.map(|name| format!("{}/{name}", self.directories.root)));
            spellings.extend(protected.map(Arc::from));
        }
        for (path, as_written) in paths.into_iter().zip(spellings) {
            let touch = TouchedPath {
                in_project: path::relative_to(&path, &self.directories.root).map(str::to_owned),
                in_home: self.directories.path_in_rules(&path),
                absolute: path,
                access,
                command_index,
                is_recursive,
                is_variable_value: path_use.is_variable_value,
                as_written,
            };
            touches.push(touch);
        }
    }
}

/// Of several accesses that differ only in the spelling of the path, keeps the first.
fn deduplicated(touches: Vec<TouchedPath>) -> Vec<TouchedPath> {
    let mut seen = HashSet::new();
    let key = |touch: &TouchedPath| (touch.access, touch.is_recursive, touch.is_variable_value, touch.command_index);
    let is_new: Vec<bool> = touches.iter().map(|touch| seen.insert((touch.absolute.as_str(), key(touch)))).collect();
    touches.into_iter().zip(is_new).filter_map(|(touch, is_new)| is_new.then_some(touch)).collect()
}

impl BaseDirectories {
    /// Makes a path from a script or a tool call absolute.
    pub(crate) fn absolute(&self, path: &str, directory: &str) -> String {
        let placeholders = [
            (path::TEMP_PLACEHOLDER, self.temp.as_deref()),
            (path::PROJECT_ROOT_PLACEHOLDER, Some(self.root.as_str())),
        ];
        let replaced = placeholders
            .into_iter()
            .find_map(|(placeholder, directory)| Some((directory?, path.strip_prefix(placeholder)?)));
        replaced.map_or_else(
            || path::absolute(path, directory, self.home.as_deref()),
            |(directory, rest)| format!("{}{rest}", directory.trim_end_matches('/')),
        )
    }

    /// Returns the path as rules write it; `None` if the path is neither in the home directory nor in a directory with
    /// an alias.
    fn path_in_rules(&self, path: &str) -> Option<String> {
        let home = self.home.as_ref().map(|home| (home.as_str(), "~"));
        let known = self.aliases.iter().map(|(directory, name)| (directory.as_str(), name.as_str()));
        known.chain(home).find_map(|(directory, name)| {
            let rest = path::relative_to(path, directory)?;
            Some(if rest.is_empty() { name.to_owned() } else { format!("{name}/{rest}") })
        })
    }
}
