//! What git does to files beside its operands: its work tree, its hooks, what it does not see, and paths in revisions.

use path::Access;

use super::Collector;
use crate::model::{Folders, Word};
use crate::programs::Arguments;

impl Collector<'_> {
    /// `GIT_WORK_TREE=… git clean`
    pub(super) fn enter_work_tree(&mut self) {
        const NAME: &str = "GIT_WORK_TREE";
        let command = self.command;
        let set = command.assignments().iter().rfind(|set| set.name == NAME).map(|set| set.value.meaning());
        let exported = || command.exported().iter().find(|exported| &*exported.name == NAME);
        if let Some(folder) = set.or_else(|| exported().map(|exported| exported.value.as_deref())) {
            self.folders = folder.map_or_else(Folders::unknown, |folder| self.folders.then(folder));
        }
    }

    /// Whether it tells git, for good, of more files that it should not see: `git config core.excludesFile FILE`.
    pub(super) fn hides_files(&self, arguments: &Arguments) -> bool {
        let is_it = |word: usize, from: usize| {
            self.command.text_from(word, from).is_some_and(|name| name.eq_ignore_ascii_case("core.excludesfile"))
        };
        let is_config = arguments.subcommands.first().is_some_and(|form| form == "config");
        let mut operands = arguments.operands.iter();
        let is_set = operands.any(|operand| is_it(*operand, 0)) && operands.next().is_some();
        let mut added = arguments.flags.iter().filter(|flag| flag.is("--add")).filter_map(|flag| flag.value);
        is_config && (is_set || added.any(|value| is_it(value.word, value.from)))
    }

    /// Whether it tells git to look for its hooks elsewhere: that takes away those that are there.
    pub(super) fn moves_hooks(&self, arguments: &Arguments) -> bool {
        const SETTINGS: &[&str] = &["core.hookspath", "include.path"];
        let is_it = |name: Option<&str>| {
            let name = name.map(str::to_ascii_lowercase);
            let is_by_condition =
                |name: &str| name.starts_with("includeif.") && name.rsplit('.').next() == Some("path");
            name.is_some_and(|name| SETTINGS.contains(&name.as_str()) || is_by_condition(&name))
        };
        let is_section = |name: Option<&str>| name.is_some_and(|name| matches!(name, "core" | "include"));
        let text = |word: usize, from: usize| self.command.text_from(word, from);
        let mut flags = arguments.flags.iter().filter_map(|flag| Some((flag.name.as_str(), flag.value?)));
        let is_set = flags.any(|(name, value)| match name {
            "-c" | "--config-env" => is_it(text(value.word, value.from).and_then(|setting| setting.split('=').next())),
            "--unset" | "--unset-all" | "--add" => is_it(text(value.word, value.from)),
            "--remove-section" | "--rename-section" => is_section(text(value.word, value.from)),
            _ => false,
        });
        let is_config = arguments.subcommands.first().is_some_and(|form| form == "config");
        let mut operands = arguments.operands.iter();
        let is_named = operands.any(|operand| is_it(text(*operand, 0)));
        let verb = arguments.operands.first().and_then(|place| text(*place, 0));
        let is_named = is_named && (verb == Some("unset") || operands.next().is_some());
        let section = arguments.operands.get(1).and_then(|place| text(*place, 0));
        let loses = matches!(verb, Some("remove-section" | "rename-section")) && is_section(section);
        // What git keeps is elsewhere from then on, with hooks of its own.
        let goes = arguments.subcommands.first().is_some_and(|form| form == "init")
            && arguments.has_flag(&["--separate-git-dir"])
            && arguments.operands.iter().all(|place| text(*place, 0) == Some("."));
        if goes {
            return true;
        }
        let is_told = self.command.context.git_environment.iter().any(|(name, _)| is_it(Some(name)));
        is_told || is_set || (is_config && (is_named || loses || verb == Some("edit")))
    }

    /// `REVISION:path`, and of the index `:path` or `:0:path`.
    pub(super) fn in_revision(&mut self, text: Option<&str>, word: &Word) {
        let behind = text.and_then(|text| text.split_once(':')).map(|(_, path)| path);
        let behind = behind
            .map(|path| ["0:", "1:", "2:", "3:"].iter().find_map(|stage| path.strip_prefix(stage)).unwrap_or(path));
        if let Some(path) = behind.or(text).filter(|path| !path.is_empty()) {
            self.add(Some(path), word, Some(Access::Read));
        }
    }
}

/// The path in `:/path` and `:(top)path`, which git tells from its own root.
pub(super) fn pathspec(text: &str) -> Option<&str> {
    let behind =
        text.strip_prefix(":(").filter(|magic| !magic.starts_with("exclude")).and_then(|magic| magic.split_once(')'));
    behind.map(|(_, path)| path).or_else(|| text.strip_prefix(":/")).filter(|path| !path.is_empty())
}
