//! All that is known at one judgement: the event, where it happens, and the facts behind it.
//!
//! What has to be worked out (the simple commands of a shell call, the paths it names) is worked out when something
//! first asks, and once.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use crate::event::{Event, ShellText, ToolCall};
use crate::facts::{Facts, GitField, Missing};
use crate::value_cache::ValueCache;
use path::Access;
use shell::{self, Branch, Effect, PathExpansion, Rewrite, RewrittenBranch, Script, SimpleCommand, Written};

pub struct Situation {
    pub event: Arc<Event>,
    pub place: BaseFolders,
    pub facts: Arc<dyn Facts>,
    script: OnceLock<Option<Script>>,
    texts: OnceLock<Vec<String>>,
    touches: OnceLock<Touches>,
    rewrites: OnceLock<Vec<Rewrite>>,
    missing_branch: OnceLock<Missing>,
    /// For each simple command, whether it is the matter of this place.
    pub(crate) here: OnceLock<Vec<bool>>,
    pub(crate) converted: ValueCache,
}

/// The folders that path patterns speak of; absolute.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BaseFolders {
    pub root: String,
    pub home: Option<String>,
    pub temp: Option<String>,
    /// Folders that patterns know under another name: where they are, and how rules spell them (`~/.config/…`).
    pub known_as: Vec<(String, String)>,
    /// Whether the root is a folder of a project with a policy of its own, and not the whole of it.
    pub is_part: bool,
}

/// A path that the event names, in every spelling that a pattern can be about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TouchedPath {
    /// Relative to the root, where it lies within.
    pub inside: Option<String>,
    pub absolute: String,
    /// `~/…`, where it lies in the home folder.
    pub in_home: Option<String>,
    /// `None`: what is done with it is not known.
    pub access: Option<Access>,
    /// The simple command that names it, where one does.
    pub command: Option<usize>,
    /// It is deleted, or written, with all that is in it.
    pub is_recursive: bool,
    /// It is what a variable is set to, and not written to.
    pub is_variable_value: bool,
    /// For people: as it was named.
    pub written: Arc<str>,
}

/// What is done to a path, and by what.
#[derive(Debug, Clone)]
struct Act {
    access: Option<Access>,
    command: Option<usize>,
    is_recursive: bool,
    is_variable_value: bool,
    written: Arc<str>,
}

/// All paths that the event names.
#[derive(Debug, Default)]
struct Touches {
    known: Vec<TouchedPath>,
    unknown: Vec<UnknownPath>,
}

/// Something is done to a path, and nobody can say which.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownPath {
    /// For people: the word as it is written.
    pub shown: String,
    pub access: Option<Access>,
    pub is_variable_value: bool,
    pub command: Option<usize>,
}

impl Situation {
    pub fn new(event: Arc<Event>, place: BaseFolders, facts: Arc<dyn Facts>) -> Self {
        Self {
            event,
            place,
            facts,
            script: OnceLock::new(),
            texts: OnceLock::new(),
            touches: OnceLock::new(),
            rewrites: OnceLock::new(),
            missing_branch: OnceLock::new(),
            here: OnceLock::new(),
            converted: ValueCache::default(),
        }
    }

    /// The simple commands of a shell call; `None` where the event is no shell call or the call has no text.
    pub fn script(&self) -> Option<&Script> {
        self.script
            .get_or_init(|| match self.event.tool.as_ref()?.shell.as_ref()? {
                ShellText::Command(text) => Some(shell::parse_after(text, &|path| self.written(path))),
                ShellText::Missing => None,
            })
            .as_ref()
    }

    /// What is in a file that the session wrote before this event.
    fn written(&self, path: &str) -> Option<Written> {
        let path = self.place.absolute(path, &self.event.cwd);
        self.facts.written(&path::tidy(&path))
    }

    /// The normalised text of each simple command.
    pub fn texts(&self) -> &[String] {
        self.texts.get_or_init(|| {
            self.script().into_iter().flat_map(|script| &script.commands).map(SimpleCommand::text).collect()
        })
    }

    pub fn touches(&self) -> &[TouchedPath] {
        &self.all_touches().known
    }

    pub fn unknown_touches(&self) -> &[UnknownPath] {
        &self.all_touches().unknown
    }

    /// The branches that the event's commands rewrite or delete. The one that is checked out has its name.
    pub fn rewrites(&self) -> &[Rewrite] {
        self.rewrites.get_or_init(|| {
            let mut rewrites = self.script().map(Script::rewrites).unwrap_or_default();
            for rewrite in &mut rewrites {
                if let RewrittenBranch::Current(branch) = &rewrite.branch {
                    let command = self.script().and_then(|script| script.commands.get(rewrite.command));
                    let name = command.and_then(|command| self.checked_out(branch, command));
                    rewrite.branch = name.map_or(RewrittenBranch::Unknown, RewrittenBranch::Named);
                }
            }
            rewrites
        })
    }

    /// Why it cannot be told which branch one of the [rewrites](Self::rewrites) is about.
    pub fn missing_branch(&self) -> Option<&Missing> {
        self.missing_branch.get()
    }

    /// The branch that is checked out where a command runs; `None` where that is not known.
    fn checked_out(&self, branch: &Branch, command: &SimpleCommand) -> Option<String> {
        let folders = command.git_folders()?;
        // Another folder may be another repository.
        for folder in folders.list()? {
            let folder = path::tidy(&self.place.absolute(folder, &self.event.cwd));
            let inside = path::below(&folder, &self.place.root)?;
            if self.is_in_own_repository(inside) {
                return None;
            }
        }
        let before = || match self.facts.git(GitField::Branch) {
            Ok(name) => name.as_str().map(str::to_owned),
            Err(missing) => {
                // It is the same for every command.
                let _ = self.missing_branch.set(missing);
                None
            }
        };
        match branch {
            Branch::Unknown => None,
            Branch::AsBefore => before(),
            Branch::Named(name) => Some(name.clone()),
            Branch::NamedOrAsBefore(name) => {
                let path = self.place.absolute(name, &self.event.cwd);
                let is_path = self.facts.expanded(&path).is_some_and(|found| !found.is_empty());
                if is_path { before() } else { Some(name.clone()) }
            }
        }
    }

    /// Whether a folder below the root is in a repository, a worktree or a submodule of its own.
    fn is_in_own_repository(&self, inside: &str) -> bool {
        let ends = inside.match_indices('/').map(|(at, _)| at).chain([inside.len()]);
        let mut folders = ends.filter_map(|end| inside.get(..end)).filter(|folder| !folder.is_empty());
        folders.any(|folder| self.facts.is_folder(&format!("{}/{folder}/.git", self.place.root)).is_some())
    }

    fn all_touches(&self) -> &Touches {
        self.touches.get_or_init(|| {
            let mut touches = Touches::default();
            if let Some(tool) = &self.event.tool {
                self.add_files(tool, &mut touches.known);
            }
            for effect in self.script().into_iter().flat_map(Script::effects) {
                self.add_effect(effect, &mut touches);
            }
            touches.known = once_each(touches.known);
            touches
        })
    }

    /// The files that the call itself names.
    fn add_files(&self, tool: &ToolCall, touches: &mut Vec<TouchedPath>) {
        let is_mcp = !tool.mcp.is_empty();
        for file in tool.files.iter().filter(|file| !is_mcp || self.is_at_hand(&file.path)) {
            // What deletes by a server's hand may be a folder.
            let is_recursive = is_mcp && file.access == Some(Access::Delete);
            let written = Arc::from(file.path.as_str());
            let act = Act { access: file.access, command: None, is_recursive, is_variable_value: false, written };
            self.add_touch(&file.path, &act, touches);
            for path in file.is_pattern.then(|| self.facts.searched(&file.path)).flatten().unwrap_or_default() {
                let written = Arc::from(path::below(&path, &self.event.cwd).unwrap_or(&path));
                self.add_touch(&path, &Act { written, ..act.clone() }, touches);
            }
        }
    }

    /// A server may speak of paths on another machine. Those of this one lie in the project or at home, or something is
    /// there.
    fn is_at_hand(&self, path: &str) -> bool {
        let path = path::tidy(&self.place.absolute(path, &self.event.cwd));
        path::below(&path, &self.place.root).is_some()
            || self.place.spelled(&path).is_some()
            || self.facts.is_folder(&path).is_some()
    }

    fn add_effect(&self, effect: Effect, touches: &mut Touches) {
        let Effect { path, raw, access, is_recursive, expansion, is_variable_value, command, folders } = effect;
        let command_of = |place: usize| self.script()?.commands.get(place);
        let is_out_of_sight = command.and_then(command_of).is_some_and(SimpleCommand::is_out_of_sight);
        // Without a folder, only a path that needs none can be told.
        let is_free = path.as_deref().is_some_and(path::is_free);
        let is_either = folders.is_either();
        let folders = match folders.list() {
            Some(folders) => folders,
            None if is_free => &[String::new()],
            None => &[],
        };
        let Some(path) = path.filter(|_| !is_out_of_sight) else {
            touches.unknown.push(UnknownPath { shown: raw, access, is_variable_value, command });
            return;
        };
        let act = Act { access, command, is_recursive, is_variable_value, written: Arc::from(path.as_str()) };
        if folders.is_empty() {
            // It could be here.
            self.add_touch(&path, &Act { access: None, ..act }, &mut touches.known);
            touches.unknown.push(UnknownPath { shown: raw, access, is_variable_value, command });
            return;
        }
        for folder in folders {
            // `cd` takes `..` by its text; to the commands that run there, it is what is around where a link leads.
            let folder = path::tidy(&self.place.absolute(folder, &self.event.cwd));
            let path = self.place.absolute(&path, &folder);
            self.add_touch(&path, &act, &mut touches.known);
            let found = match expansion {
                PathExpansion::SearchGlob => self.facts.searched(&path),
                PathExpansion::ShellGlob => self.facts.expanded(&path),
                PathExpansion::Literal => None,
            };
            for path in found.unwrap_or_default() {
                let written = Arc::from(path::below(&path, &self.event.cwd).unwrap_or(&path));
                self.add_touch(&path, &Act { written, ..act.clone() }, &mut touches.known);
            }
            // The folder that is meant is there: nothing goes on anywhere else.
            if folders.len() > 1 && !is_either && self.facts.is_folder(&folder) == Some(true) {
                break;
            }
        }
    }

    /// By its text, and by where it leads: behind a link, `..` is another folder than the text says.
    fn add_touch(&self, path: &str, act: &Act, touches: &mut Vec<TouchedPath>) {
        let Act { access, command, .. } = *act;
        let absolute = self.place.absolute(path, &self.event.cwd);
        // To delete a link is not to delete what it leads to, unless a slash says so; and who goes through all that is
        // there goes through no links.
        let followed = absolute.strip_suffix('/').unwrap_or(&absolute);
        let is_of_link = (access == Some(Access::Delete) || act.is_recursive) && followed.len() == absolute.len();
        let resolved = match followed.rsplit_once('/') {
            Some((folder, name)) if is_of_link => self.facts.resolved(folder).map(|folder| format!("{folder}/{name}")),
            _ => self.facts.resolved(followed),
        };
        let resolved = resolved.map(|path| path::tidy(&path));
        let textual = path::tidy(&absolute);
        let resolved = resolved.filter(|resolved| *resolved != textual);
        let mut paths: Vec<String> = [Some(textual), resolved].into_iter().flatten().collect();
        let is_file = |path: &String| self.facts.is_folder(path) == Some(false);
        let is_recursive = act.is_recursive && !paths.last().is_some_and(is_file);
        let mut written = vec![Arc::clone(&act.written); paths.len()];
        // With the project goes all that is in it.
        let is_lost = access == Some(Access::Delete) || is_recursive;
        if is_lost && paths.iter().any(|path| path::below(&self.place.root, path).is_some()) {
            let kept = [".linchpin", ".git"];
            paths.extend(kept.map(|name| format!("{}/{name}", self.place.root)));
            written.extend(kept.map(Arc::from));
        }
        for (path, written) in paths.into_iter().zip(written) {
            let touch = TouchedPath {
                inside: path::below(&path, &self.place.root).map(str::to_owned),
                in_home: self.place.spelled(&path),
                absolute: path,
                access,
                command,
                is_recursive,
                is_variable_value: act.is_variable_value,
                written,
            };
            touches.push(touch);
        }
    }
}

/// Without those that are the same as one before, however they were written.
fn once_each(touches: Vec<TouchedPath>) -> Vec<TouchedPath> {
    let mut seen = HashSet::new();
    let deed = |touch: &TouchedPath| (touch.access, touch.is_recursive, touch.is_variable_value, touch.command);
    let is_new: Vec<bool> = touches.iter().map(|touch| seen.insert((touch.absolute.as_str(), deed(touch)))).collect();
    touches.into_iter().zip(is_new).filter_map(|(touch, is_new)| is_new.then_some(touch)).collect()
}

impl BaseFolders {
    /// A path of a shell's text, or of a tool.
    pub(crate) fn absolute(&self, path: &str, folder: &str) -> String {
        let marked = [(path::TEMP, self.temp.as_deref()), (path::ROOT, Some(self.root.as_str()))];
        let placed = marked.into_iter().find_map(|(mark, place)| Some((place?, path.strip_prefix(mark)?)));
        placed.map_or_else(
            || path::absolute(path, folder, self.home.as_deref()),
            |(place, rest)| format!("{}{rest}", place.trim_end_matches('/')),
        )
    }

    /// How a rule would spell a path in the home folder, or in a folder that usually lies there.
    fn spelled(&self, path: &str) -> Option<String> {
        let home = self.home.as_ref().map(|home| (home.as_str(), "~"));
        let known = self.known_as.iter().map(|(folder, name)| (folder.as_str(), name.as_str()));
        known.chain(home).find_map(|(folder, name)| {
            let rest = path::below(path, folder)?;
            Some(if rest.is_empty() { name.to_owned() } else { format!("{name}/{rest}") })
        })
    }
}
