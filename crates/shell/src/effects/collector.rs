//! Collects the effects of one command from its redirections, assignments and words.

mod argument;
mod code;
mod git;
mod search;

use path::Access;

use super::effect::{Effect, PathExpansion};
use super::mentioned_paths::path_candidates;
use crate::model::{FileContents, PossibleDirectories, RedirectKind, SimpleCommand, Word};
use crate::programs::{Arguments, Role};
use crate::special_programs::disk::is_disk;
use crate::special_programs::downloads::downloaded_names;
use crate::special_programs::file_copies::{FileCopy, file_copies};
use crate::special_programs::interpreter::{runs_non_shell_scripts, takes_script_from_stdin};
use crate::special_programs::{ex, file_lists, find, patch, sed};
use argument::accesses;

/// Collects the effects of one command.
pub(super) struct Collector<'a> {
    pub(super) command: &'a SimpleCommand,
    pub(super) command_index: usize,
    /// The directories that the command may work in.
    pub(super) directories: PossibleDirectories,
    /// The value of [`Effect::is_variable_value`] for the effects that are added next.
    pub(super) is_variable_value: bool,
    pub(super) effects: &'a mut Vec<Effect>,
}

impl Collector<'_> {
    /// Adds an access to a path that a word names. `path` is `None` if the path is not known.
    fn add_access(&mut self, path: Option<&str>, word: &Word, access: Option<Access>) {
        let is_whole_directory = path.is_some_and(|path| word.directory_of_tree(path).is_some());
        let is_recursive = is_whole_directory && matches!(access, Some(Access::Write | Access::Delete));
        self.add_effect(path, word, access, is_recursive);
        self.add_disk_loss(path, word, access);
    }

    /// If an access writes to the device of a disk, adds the deletion of everything on that disk.
    fn add_disk_loss(&mut self, path: Option<&str>, word: &Word, access: Option<Access>) {
        if access == Some(Access::Write) && path.is_some_and(is_whole_disk) {
            self.add_recursive_deletion(path, word);
        }
    }

    /// Adds the deletion of a path and everything below it.
    fn add_recursive_deletion(&mut self, path: Option<&str>, word: &Word) {
        self.add_effect(path, word, Some(Access::Delete), true);
    }

    /// Adds the effects of an access, except for the loss of a disk's contents. If the word stands for everything below
    /// a directory, the access has several effects.
    fn add_effect(&mut self, path: Option<&str>, word: &Word, access: Option<Access>, is_recursive: bool) {
        if let Some((path, directory)) = path.and_then(|path| Some((path, word.directory_of_tree(path)?))) {
            let glob = directory.contains(['*', '?', '[']);
            if is_recursive || !glob {
                self.add_effect(Some(directory), &Word { glob, ..word.clone() }, access, is_recursive);
            }
            // Listing a directory tree is not an access to each file in it.
            if !is_recursive {
                self.add_effect(path.strip_suffix('*'), word, access, false);
            }
            return;
        }
        // If only the end of a path is known, as in `$DIR/.env`, an access of unknown kind to `.env` is added as well.
        if let (None, Some(Access::Read | Access::Write), Some((_, name))) =
            (path, access, word.known_end().split_once('/'))
        {
            self.add_access(Some(name), word, None);
        }
        // The home directory of another user (`~name/.env`) is not known, but the rest of the path (`.env`) is known.
        // An access of unknown kind to that rest is added.
        let is_in_other_home =
            |path: &str| word.tilde && path.starts_with('~') && path != "~" && !path.starts_with("~/");
        if let (Some((_, name)), Some(Access::Read | Access::Write)) =
            (path.filter(|path| is_in_other_home(path)).and_then(|path| path.split_once('/')), access)
        {
            self.add_access(Some(name), &Word { tilde: false, ..word.clone() }, None);
        }
        // `-` is stdin or stdout, and an empty word names no file.
        if path == Some("-") || path == Some("") && word.value.as_deref() == Some("") {
            return;
        }
        self.effects.push(Effect {
            path: path.filter(|path| !is_in_other_home(path)).map(str::to_owned),
            raw: path.map_or_else(|| word.raw.clone(), str::to_owned),
            access,
            is_recursive,
            expansion: if word.glob || self.directories.has_pattern() {
                PathExpansion::ShellGlob
            } else {
                PathExpansion::Literal
            },
            is_variable_value: self.is_variable_value,
            command_index: Some(self.command_index),
            directories: self.directories.clone(),
        });
    }

    /// Adds the effects of the command's redirections and assignments.
    pub(super) fn collect_from_redirects(&mut self) {
        let command = self.command;
        for redirect in command.redirects() {
            let target = &redirect.target;
            if matches!(redirect.kind, RedirectKind::Read | RedirectKind::ReadWrite) {
                self.add_access(target.value_or_placeholder(), target, Some(Access::Read));
            }
            if redirect.writes_a_file() {
                self.add_access(target.value_or_placeholder(), target, Some(Access::Write));
            }
        }
        // An assignment without a command sets the variable in the shell. The value has effects only in commands that
        // use the variable.
        let is_path = |value: &Word| !value.value.as_deref().is_some_and(|text| text.contains(char::is_whitespace));
        for assignment in command.assignments().iter().filter(|_| !command.words().is_empty()) {
            if is_path(&assignment.value) && !names_credentials(&assignment.name) {
                self.is_variable_value = !names_output(&assignment.name);
                self.add_mentioned_paths(&assignment.value);
            }
        }
        self.is_variable_value = false;
    }

    /// Adds the effects of the program and its arguments.
    pub(super) fn collect_from_words(&mut self) {
        let command = self.command;
        let Some(program) = command.program() else {
            return command.words().iter().for_each(|word| self.add_mentioned_paths(word));
        };
        if find::is_find(program) {
            return self.collect_from_find();
        }
        let Some(known) = command.arguments() else {
            return self.collect_from_unknown_program();
        };
        for argument in known.with_roles.iter().filter(|argument| argument.role == Role::Directory) {
            let directory = command.value_or_placeholder_from(argument.word, argument.from);
            self.directories =
                directory.map_or_else(PossibleDirectories::unknown, |directory| self.directories.after_cd(directory));
        }
        if program == "git" {
            self.enter_work_tree();
        }
        let only_edits_in_place = self.only_edits_in_place();
        for argument in &known.with_roles {
            self.collect_from_argument(argument, only_edits_in_place);
        }
        let runs_stdin = || takes_script_from_stdin(program, known, command.words());
        if let Some(FileContents::Text(text)) =
            command.provenance.script.as_ref().filter(|_| runs_non_shell_scripts(program))
        {
            self.collect_from_code(&Word::known(program), Some(text));
        } else if runs_non_shell_scripts(program)
            && runs_stdin()
            && let Some(text) = command.stdin_text()
        {
            self.collect_from_code(&Word { raw: program.to_owned(), ..Word::default() }, Some(text));
        }
        for (access, path) in ex::scripts(command, known).iter().flat_map(|script| ex::read(script).accesses) {
            self.add_access(Some(&path), &Word::known(&path), Some(access));
        }
        for (access, path) in
            command.script_text().filter(|_| sed::is_sed(program)).map(sed::read).unwrap_or_default().accesses
        {
            self.add_access(Some(&path), &Word::known(&path), Some(access));
        }
        self.collect_from_listed_names(program, known);
        self.collect_from_code_arguments(program, known);
        self.collect_from_copies(program, known);
        for name in downloaded_names(command) {
            self.add_access(Some(&name), &Word::known(&name), Some(Access::Write));
        }
        self.collect_from_patches();
        if program == "git" {
            self.collect_from_git_settings(known);
        }
        for (role, path) in &known.implied {
            let word = Word { raw: (*path).to_owned(), value: Some((*path).to_owned()), ..Word::default() };
            for access in accesses(*role) {
                self.add_access(Some(path), &word, *access);
            }
        }
    }

    /// For each file that may be copied into a directory, adds a write of the copy's path. Copies in the temporary
    /// directory are left out.
    fn collect_from_copies(&mut self, program: &str, arguments: &Arguments) {
        let is_temporary = |path: &str| path.starts_with("/tmp") || path.starts_with(path::TEMP_PLACEHOLDER);
        let copies = file_copies(self.command, program, arguments);
        for path in copies.iter().filter_map(FileCopy::path_in_directory).filter(|path| !is_temporary(path)) {
            self.add_effect(Some(&path), &Word::known(&path), Some(Access::Write), false);
        }
    }

    /// Adds the changes to files by the patches that the command applies.
    fn collect_from_patches(&mut self) {
        for (path, access) in self.command.applied_patches().into_iter().flat_map(patch::changed_files) {
            self.add_access(Some(path), &Word::known(path), Some(access));
        }
    }

    /// Adds reads of the files whose names the command reads from a list, one per line: `cpio -o`,
    /// `git cat-file --batch`.
    fn collect_from_listed_names(&mut self, program: &str, arguments: &Arguments) {
        let command = self.command;
        if program == "git" && arguments.has_flag(&["--batch", "--batch-command"]) {
            for line in command.stdin_text().into_iter().flat_map(str::lines) {
                self.collect_from_revision(Some(line), &Word::known(line));
            }
        }
        for name in file_lists::listed_names(command, arguments) {
            self.add_access(name.value_or_placeholder(), &name, Some(Access::Read));
        }
    }

    /// Adds the paths in the arguments of a program that is not in the table of programs, except for paths that a flag
    /// excludes: `--exclude PATH`.
    fn collect_from_unknown_program(&mut self) {
        let command = self.command;
        let is_exclusion = |word: &Word| {
            let flag = word.value.as_deref().filter(|text| text.starts_with('-'));
            flag.is_some_and(|flag| ["exclude", "ignore", "skip"].iter().any(|name| flag.contains(name)))
        };
        for (before, word) in command.words().iter().zip(command.words().iter().skip(1)) {
            let is_value = is_exclusion(before) && !before.raw.contains('=');
            if !is_exclusion(word) && !is_value {
                self.add_mentioned_paths(word);
            }
        }
    }

    /// Adds the paths that a word mentions, with an unknown access.
    fn add_mentioned_paths(&mut self, word: &Word) {
        let text = word.value.as_deref().unwrap_or(&word.raw);
        for piece in path_candidates(text) {
            // A part of a word after an expansion, like `/x` of `$DIR/x`, is not an absolute path.
            let follows_expansion = word.value.is_none() && !text.trim_start_matches(['"', '\'']).starts_with('/');
            self.add_access(Some(if follows_expansion { piece.trim_start_matches('/') } else { piece }), word, None);
        }
        if word.value.is_none() {
            self.add_access(None, word, None);
        }
    }
}

/// True if the name of a variable suggests that the variable sets where a program writes: `DESTDIR`, `HISTFILE`,
/// `OUTPUT_PATH`.
fn names_output(variable: &str) -> bool {
    const ENDS: &[&str] = &["FILE", "DIR", "OUT", "OUTPUT", "DEST", "PREFIX", "TARGET", "ROOT", "HOME", "CONFIG"];
    let variable = variable.to_ascii_uppercase();
    variable.split('_').any(|part| ENDS.iter().any(|end| part.ends_with(end)))
}

/// True for the path of a disk's device: writing to the device destroys everything on the disk. Loop devices do not
/// count: a loop device stands for a file that was usually created to be written through the device.
fn is_whole_disk(path: &str) -> bool {
    is_disk(path) && path != "/dev" && !path.starts_with("/dev/loop")
}

/// True for the name of a variable that selects a file with the certificates or credentials of a program. Programs do
/// not print such a file.
fn names_credentials(variable: &str) -> bool {
    const ENDS: &[&str] = &[
        "CA_CERTS",
        "CA_CERT",
        "CA_BUNDLE",
        "CAINFO",
        "ROOTCERT",
        "SSL_CERT_FILE",
        "KUBECONFIG",
        "NPM_CONFIG_USERCONFIG",
        "AWS_SHARED_CREDENTIALS_FILE",
        "GOOGLE_APPLICATION_CREDENTIALS",
    ];
    ENDS.iter().any(|end| variable.ends_with(end))
}
