//! The input of one judgement: the event, the folders that patterns refer to, and the facts.
//!
//! Derived values (the simple commands of a shell call, the paths that it touches) are computed once, on first use.

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
    pub folders: BaseFolders,
    pub facts: Arc<dyn Facts>,
    script: OnceLock<Option<Script>>,
    command_texts: OnceLock<Vec<String>>,
    touches: OnceLock<TouchedPaths>,
    rewrites: OnceLock<Vec<Rewrite>>,
    missing_branch: OnceLock<Missing>,
    /// For each simple command, true if it is in this policy's scope.
    in_scope: OnceLock<Vec<bool>>,
    pub(crate) values: ValueCache,
}

/// Absolute paths of the folders that path patterns refer to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BaseFolders {
    pub root: String,
    pub home: Option<String>,
    pub temp: Option<String>,
    /// Folders that rules spell differently: the real path, and the spelling in rules (`~/.config/…`).
    pub aliases: Vec<(String, String)>,
    /// True if the policy belongs to a folder inside the project and not to the whole project.
    pub is_subfolder: bool,
}

/// A path that the event accesses, in every spelling that a pattern can match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TouchedPath {
    /// Relative to the root, if it is below the root.
    pub in_project: Option<String>,
    pub absolute: String,
    /// `~/…`, if it is in the home folder.
    pub in_home: Option<String>,
    /// `None` if it is unknown how the path is accessed.
    pub access: Option<Access>,
    /// Index of the simple command that names it; `None` if the tool call itself does.
    pub command_index: Option<usize>,
    /// The access includes everything below the path.
    pub is_recursive: bool,
    /// The path is the value of a variable that is set for a command, which is assumed not to write to the path.
    pub is_variable_value: bool,
    /// The path as the event spells it, for messages.
    pub as_written: Arc<str>,
}

/// The access to a path before the path is resolved.
#[derive(Debug, Clone)]
struct PathUse {
    access: Option<Access>,
    command_index: Option<usize>,
    is_recursive: bool,
    is_variable_value: bool,
    written: Arc<str>,
}

/// All paths that the event names or could name.
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
    pub fn new(event: Arc<Event>, folders: BaseFolders, facts: Arc<dyn Facts>) -> Self {
        Self {
            event,
            folders,
            facts,
            script: OnceLock::new(),
            command_texts: OnceLock::new(),
            touches: OnceLock::new(),
            rewrites: OnceLock::new(),
            missing_branch: OnceLock::new(),
            in_scope: OnceLock::new(),
            values: ValueCache::default(),
        }
    }

    /// The parsed shell script; `None` if the event is no shell call or the call has no script.
    pub fn script(&self) -> Option<&Script> {
        self.script
            .get_or_init(|| match self.event.tool.as_ref()?.shell.as_ref()? {
                ShellText::Command(text) => Some(shell::parse_after(text, &|path| self.written(path))),
                ShellText::Missing => None,
            })
            .as_ref()
    }

    /// The content of a file that the session wrote before this event.
    fn written(&self, path: &str) -> Option<FileContents> {
        let path = self.folders.absolute(path, &self.event.cwd);
        self.facts.written_file(&path::normalize(&path))
    }

    /// The normalised text of each simple command.
    pub fn command_texts(&self) -> &[String] {
        self.command_texts.get_or_init(|| {
            self.script().into_iter().flat_map(|script| &script.commands).map(SimpleCommand::text).collect()
        })
    }

    pub fn touched_paths(&self) -> &[TouchedPath] {
        &self.all_touched_paths().known
    }

    pub fn unknown_paths(&self) -> &[UnknownPath] {
        &self.all_touched_paths().unknown
    }

    /// Branches that the event's commands rewrite or delete. The current branch is replaced by its name.
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

    /// The missing fact that makes a [rewritten](Self::rewrites) branch unknown.
    pub fn missing_branch(&self) -> Option<&Missing> {
        self.missing_branch.get()
    }

    /// The branch that is checked out where the command runs, if known.
    fn current_branch(&self, branch: &CheckedOutBranch, command: &SimpleCommand) -> Option<String> {
        let folders = command.git_directories()?;
        // A nested folder can be a repository of its own, with another branch.
        for folder in folders.list()? {
            let folder = path::normalize(&self.folders.absolute(folder, &self.event.cwd));
            let inside = path::below(&folder, &self.folders.root)?;
            if self.is_in_own_repository(inside) {
                return None;
            }
        }
        let current = || match self.facts.git(GitField::Branch) {
            Ok(name) => name.as_str().map(str::to_owned),
            Err(missing) => {
                // The fact is the same for every command, so a second one changes nothing.
                let _ = self.missing_branch.set(missing);
                None
            }
        };
        match branch {
            CheckedOutBranch::Unknown => None,
            CheckedOutBranch::AsBefore => current(),
            CheckedOutBranch::Named(name) => Some(name.clone()),
            CheckedOutBranch::NamedOrAsBefore(name) => {
                let path = self.folders.absolute(name, &self.event.cwd);
                let is_path = self.facts.expand_glob(&path).is_some_and(|found| !found.is_empty());
                if is_path { current() } else { Some(name.clone()) }
            }
        }
    }

    /// True if a folder below the root belongs to a nested repository, worktree or submodule.
    fn is_in_own_repository(&self, inside: &str) -> bool {
        let ends = inside.match_indices('/').map(|(at, _)| at).chain([inside.len()]);
        let mut folders = ends.filter_map(|end| inside.get(..end)).filter(|folder| !folder.is_empty());
        folders.any(|folder| self.facts.is_folder(&format!("{}/{folder}/.git", self.folders.root)).is_some())
    }

    fn all_touched_paths(&self) -> &TouchedPaths {
        self.touches.get_or_init(|| {
            let mut touches = TouchedPaths::default();
            if let Some(tool) = &self.event.tool {
                self.add_files(tool, &mut touches.known);
            }
            for effect in self.script().into_iter().flat_map(Script::effects) {
                self.add_effect(effect, &mut touches);
            }
            touches.known = deduplicated(touches.known);
            touches
        })
    }

    /// Adds the files that the tool call itself names.
    fn add_files(&self, tool: &ToolCall, touches: &mut Vec<TouchedPath>) {
        let is_mcp = !tool.mcp.is_empty();
        for file in tool.files.iter().filter(|file| !is_mcp || self.is_on_this_machine(&file.path)) {
            // An MCP tool that deletes a path may delete a folder.
            let is_recursive = is_mcp && file.access == Some(Access::Delete);
            let written = Arc::from(file.path.as_str());
            let path_use =
                PathUse { access: file.access, command_index: None, is_recursive, is_variable_value: false, written };
            self.add_touched_path(&file.path, &path_use, touches);
            for path in file.is_pattern.then(|| self.facts.search_files(&file.path)).flatten().unwrap_or_default() {
                let written = Arc::from(path::below(&path, &self.event.cwd).unwrap_or(&path));
                self.add_touched_path(&path, &PathUse { written, ..path_use.clone() }, touches);
            }
        }
    }

    /// True if a path that an MCP server names is on this machine. Servers may name paths on other machines, so the
    /// path must be in the project, in the home folder, or exist.
    fn is_on_this_machine(&self, path: &str) -> bool {
        let path = path::normalize(&self.folders.absolute(path, &self.event.cwd));
        path::below(&path, &self.folders.root).is_some()
            || self.folders.rule_spelling(&path).is_some()
            || self.facts.is_folder(&path).is_some()
    }

    fn add_effect(&self, effect: Effect, touches: &mut TouchedPaths) {
        let Effect {
            path,
            raw,
            access,
            is_recursive,
            expansion,
            is_variable_value,
            command_index,
            directories: folders,
        } = effect;
        let command_of = |index: usize| self.script()?.commands.get(index);
        let has_unknown_files = command_index.and_then(command_of).is_some_and(SimpleCommand::has_unknown_files);
        // If the working directory is unknown, only paths that do not depend on it are known.
        let is_free = path.as_deref().is_some_and(path::is_rooted);
        let is_either = folders.is_either();
        let folders = match folders.list() {
            Some(folders) => folders,
            None if is_free => &[String::new()],
            None => &[],
        };
        let Some(path) = path.filter(|_| !has_unknown_files) else {
            touches.unknown.push(UnknownPath { as_written: raw, access, is_variable_value, command_index });
            return;
        };
        let path_use =
            PathUse { access, command_index, is_recursive, is_variable_value, written: Arc::from(path.as_str()) };
        if folders.is_empty() {
            // The unknown working directory may still be that of the event.
            self.add_touched_path(&path, &PathUse { access: None, ..path_use }, &mut touches.known);
            touches.unknown.push(UnknownPath { as_written: raw, access, is_variable_value, command_index });
            return;
        }
        for folder in folders {
            // `cd` resolves `..` textually; other commands resolve it after following symlinks.
            let folder = path::normalize(&self.folders.absolute(folder, &self.event.cwd));
            let path = self.folders.absolute(&path, &folder);
            self.add_touched_path(&path, &path_use, &mut touches.known);
            let found = match expansion {
                PathExpansion::SearchGlob => self.facts.search_files(&path),
                PathExpansion::ShellGlob => self.facts.expand_glob(&path),
                PathExpansion::Literal => None,
            };
            for path in found.unwrap_or_default() {
                let written = Arc::from(path::below(&path, &self.event.cwd).unwrap_or(&path));
                self.add_touched_path(&path, &PathUse { written, ..path_use.clone() }, &mut touches.known);
            }
            // The first folder that exists is the one the command runs in.
            if folders.len() > 1 && !is_either && self.facts.is_folder(&folder) == Some(true) {
                break;
            }
        }
    }

    /// Adds a path as it is spelled and as it resolves: after a symlink, `..` is a different folder than its spelling
    /// suggests.
    fn add_touched_path(&self, path: &str, path_use: &PathUse, touches: &mut Vec<TouchedPath>) {
        let PathUse { access, command_index, .. } = *path_use;
        let absolute = self.folders.absolute(path, &self.event.cwd);
        // Deleting a symlink does not delete its target unless the path ends with a slash. Recursive commands do not
        // follow symlinks.
        let followed = absolute.strip_suffix('/').unwrap_or(&absolute);
        let is_symlink_itself =
            (access == Some(Access::Delete) || path_use.is_recursive) && followed.len() == absolute.len();
        let resolved = match followed.rsplit_once('/') {
            Some((folder, name)) if is_symlink_itself => {
                self.facts.resolve_symlinks(folder).map(|folder| format!("{folder}/{name}"))
            }
            _ => self.facts.resolve_symlinks(followed),
        };
        let resolved = resolved.map(|path| path::normalize(&path));
        let textual = path::normalize(&absolute);
        let resolved = resolved.filter(|resolved| *resolved != textual);
        let mut paths: Vec<String> = [Some(textual), resolved].into_iter().flatten().collect();
        let is_file = |path: &String| self.facts.is_folder(path) == Some(false);
        let is_recursive = path_use.is_recursive && !paths.last().is_some_and(is_file);
        let mut written = vec![Arc::clone(&path_use.written); paths.len()];
        // Deleting the project or a folder above it deletes its `.linchpin` and `.git` too.
        let is_lost = access == Some(Access::Delete) || is_recursive;
        if is_lost && paths.iter().any(|path| path::below(&self.folders.root, path).is_some()) {
            let kept = [".linchpin", ".git"];
            paths.extend(kept.map(|name| format!("{}/{name}", self.folders.root)));
            written.extend(kept.map(Arc::from));
        }
        for (path, written) in paths.into_iter().zip(written) {
            let touch = TouchedPath {
                in_project: path::below(&path, &self.folders.root).map(str::to_owned),
                in_home: self.folders.rule_spelling(&path),
                absolute: path,
                access,
                command_index,
                is_recursive,
                is_variable_value: path_use.is_variable_value,
                as_written: written,
            };
            touches.push(touch);
        }
    }
}

/// Removes accesses that differ only in their spelling.
fn deduplicated(touches: Vec<TouchedPath>) -> Vec<TouchedPath> {
    let mut seen = HashSet::new();
    let key = |touch: &TouchedPath| (touch.access, touch.is_recursive, touch.is_variable_value, touch.command_index);
    let is_new: Vec<bool> = touches.iter().map(|touch| seen.insert((touch.absolute.as_str(), key(touch)))).collect();
    touches.into_iter().zip(is_new).filter_map(|(touch, is_new)| is_new.then_some(touch)).collect()
}

impl BaseFolders {
    /// Makes a path from a script or a tool call absolute.
    pub(crate) fn absolute(&self, path: &str, folder: &str) -> String {
        let marked = [
            (path::TEMP_PLACEHOLDER, self.temp.as_deref()),
            (path::PROJECT_ROOT_PLACEHOLDER, Some(self.root.as_str())),
        ];
        let replaced = marked.into_iter().find_map(|(mark, folder)| Some((folder?, path.strip_prefix(mark)?)));
        replaced.map_or_else(
            || path::absolute(path, folder, self.home.as_deref()),
            |(folder, rest)| format!("{}{rest}", folder.trim_end_matches('/')),
        )
    }

    /// The spelling that rules use for a path in the home folder or in an aliased folder.
    fn rule_spelling(&self, path: &str) -> Option<String> {
        let home = self.home.as_ref().map(|home| (home.as_str(), "~"));
        let known = self.aliases.iter().map(|(folder, name)| (folder.as_str(), name.as_str()));
        known.chain(home).find_map(|(folder, name)| {
            let rest = path::below(path, folder)?;
            Some(if rest.is_empty() { name.to_owned() } else { format!("{name}/{rest}") })
        })
    }
}
