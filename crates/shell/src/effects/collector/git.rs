//! Effects of git other than those on its operands: on the work tree, on hooks, on the list of ignored files, and on
//! paths in revisions.

use path::Access;

use super::Collector;
use crate::model::{PossibleDirectories, Word};
use crate::programs::Arguments;

impl Collector<'_> {
    /// Changes the working directory to the work tree that the environment names: `GIT_WORK_TREE=… git clean`.
    pub(super) fn enter_work_tree(&mut self) {
        const NAME: &str = "GIT_WORK_TREE";
        let command = self.command;
        let assigned =
            command.assignments().iter().rfind(|set| set.name == NAME).map(|set| set.value.value_or_placeholder());
        let exported = || command.exported().iter().find(|exported| &*exported.name == NAME);
        if let Some(directory) = assigned.or_else(|| exported().map(|exported| exported.value.as_deref())) {
            self.directories =
                directory.map_or_else(PossibleDirectories::unknown, |directory| self.directories.after_cd(directory));
        }
    }

    /// A change of git's settings may replace files that git uses. Adds writes of those files: the hooks, and the list
    /// of ignored files.
    pub(super) fn collect_from_git_settings(&mut self, arguments: &Arguments) {
        if self.replaces_hooks(arguments) {
            self.add_access(Some(".git/hooks"), &Word::default(), Some(Access::Write));
        }
        if self.adds_ignored_files(arguments) {
            self.add_access(Some(".git/info/exclude"), &Word::default(), Some(Access::Write));
        }
    }

    /// True if the command changes the setting for git's list of ignored files: `git config core.excludesFile FILE`.
    fn adds_ignored_files(&self, arguments: &Arguments) -> bool {
        let is_excludes_file = |word: usize, from: usize| {
            self.command.text_from(word, from).is_some_and(|name| name.eq_ignore_ascii_case("core.excludesfile"))
        };
        let is_config = arguments.subcommands.first().is_some_and(|form| form == "config");
        let mut operands = arguments.operands.iter();
        let is_set = operands.any(|operand| is_excludes_file(*operand, 0)) && operands.next().is_some();
        let mut added = arguments.flags.iter().filter(|flag| flag.is("--add")).filter_map(|flag| flag.value);
        is_config && (is_set || added.any(|value| is_excludes_file(value.word, value.from)))
    }

    /// True if the command certainly or possibly makes git look for hooks in another directory: `core.hooksPath`,
    /// `include.path`, `git config edit`. The existing hooks then no longer run.
    fn replaces_hooks(&self, arguments: &Arguments) -> bool {
        const SETTINGS: &[&str] = &["core.hookspath", "include.path"];
        let names_hooks_path = |name: Option<&str>| {
            let name = name.map(str::to_ascii_lowercase);
            let is_conditional_include =
                |name: &str| name.starts_with("includeif.") && name.rsplit('.').next() == Some("path");
            name.is_some_and(|name| SETTINGS.contains(&name.as_str()) || is_conditional_include(&name))
        };
        let is_section = |name: Option<&str>| name.is_some_and(|name| matches!(name, "core" | "include"));
        let text = |word: usize, from: usize| self.command.text_from(word, from);
        let mut flags = arguments.flags.iter().filter_map(|flag| Some((flag.name.as_str(), flag.value?)));
        let is_set = flags.any(|(name, value)| match name {
            "-c" | "--config-env" => {
                names_hooks_path(text(value.word, value.from).and_then(|setting| setting.split('=').next()))
            }
            "--unset" | "--unset-all" | "--add" => names_hooks_path(text(value.word, value.from)),
            "--remove-section" | "--rename-section" => is_section(text(value.word, value.from)),
            _ => false,
        });
        let is_config = arguments.subcommands.first().is_some_and(|form| form == "config");
        let mut operands = arguments.operands.iter();
        let is_named = operands.any(|operand| names_hooks_path(text(*operand, 0)));
        let verb = arguments.operands.first().and_then(|index| text(*index, 0));
        let is_named = is_named && (verb == Some("unset") || operands.next().is_some());
        let section = arguments.operands.get(1).and_then(|index| text(*index, 0));
        let removes_section = matches!(verb, Some("remove-section" | "rename-section")) && is_section(section);
        // `git init --separate-git-dir` moves the git directory, and the hooks with it.
        let moves_git_directory = arguments.subcommands.first().is_some_and(|form| form == "init")
            && arguments.has_flag(&["--separate-git-dir"])
            && arguments.operands.iter().all(|index| text(*index, 0) == Some("."));
        if moves_git_directory {
            return true;
        }
        let is_in_environment =
            self.command.context.git_environment.iter().any(|(name, _)| names_hooks_path(Some(name)));
        is_in_environment || is_set || (is_config && (is_named || removes_section || verb == Some("edit")))
    }

    /// Adds a read of the path in a revision: `REVISION:path`, or `:path` and `:0:path` for the index. Text without a
    /// colon is added as a path.
    pub(super) fn collect_from_revision(&mut self, text: Option<&str>, word: &Word) {
        let path = text.and_then(|text| text.split_once(':')).map(|(_, path)| path);
        let path =
            path.map(|path| ["0:", "1:", "2:", "3:"].iter().find_map(|stage| path.strip_prefix(stage)).unwrap_or(path));
        if let Some(path) = path.or(text).filter(|path| !path.is_empty()) {
            self.add_access(Some(path), word, Some(Access::Read));
        }
    }
}

/// Returns the path in a pathspec that begins with `:/` or `:(…)`, as in `:(top)path`. Returns `None` for
/// `:(exclude)path` and for all other pathspecs.
pub(super) fn path_of_pathspec(text: &str) -> Option<&str> {
    let path =
        text.strip_prefix(":(").filter(|magic| !magic.starts_with("exclude")).and_then(|magic| magic.split_once(')'));
    path.map(|(_, path)| path).or_else(|| text.strip_prefix(":/")).filter(|path| !path.is_empty())
}
