//! What one command does to files, collected from its redirections and its words.

mod argument;
mod code;
mod git;
mod search;

use path::Access;

use super::effect::{Effect, PathExpansion};
use super::mentioned_paths::pieces;
use crate::model::{Folders, RedirectKind, SimpleCommand, Word, Written};
use crate::programs::{Arguments, Role};
use crate::special_programs::copied::{Copy, copies};
use crate::special_programs::disk::is_disk;
use crate::special_programs::fetched::fetched;
use crate::special_programs::interpreter::{runs_code, runs_its_input};
use crate::special_programs::{ex, find, named_files, patch, sed};
use argument::accesses;

pub(super) struct Collector<'a> {
    pub(super) command: &'a SimpleCommand,
    pub(super) place: usize,
    pub(super) folders: Folders,
    /// Of what is added: whether it is what a variable is set to.
    pub(super) is_setting: bool,
    pub(super) effects: &'a mut Vec<Effect>,
}

impl Collector<'_> {
    fn add(&mut self, path: Option<&str>, word: &Word, access: Option<Access>) {
        let is_all = path.is_some_and(|path| word.folder_of_all(path).is_some());
        self.add_deed(path, word, access, is_all && matches!(access, Some(Access::Write | Access::Delete)));
        self.add_loss(path, word, access);
    }

    /// Of all that lay where something is written.
    fn add_loss(&mut self, path: Option<&str>, word: &Word, access: Option<Access>) {
        if access == Some(Access::Write) && path.is_some_and(loses_all) {
            self.add_deletion_of_all(path, word);
        }
    }

    /// Deletes it, and all that is in it.
    fn add_deletion_of_all(&mut self, path: Option<&str>, word: &Word) {
        self.add_deed(path, word, Some(Access::Delete), true);
    }

    fn add_deed(&mut self, path: Option<&str>, word: &Word, access: Option<Access>, takes_all: bool) {
        if let Some((path, folder)) = path.and_then(|path| Some((path, word.folder_of_all(path)?))) {
            let glob = folder.contains(['*', '?', '[']);
            if takes_all || !glob {
                self.add_deed(Some(folder), &Word { glob, ..word.clone() }, access, takes_all);
            }
            // To look into all that is there is not to read each of it.
            if !takes_all {
                self.add_deed(path.strip_suffix('*'), word, access, false);
            }
            return;
        }
        // Of one that nobody knows, the end may still tell what it is.
        if let (None, Some(Access::Read | Access::Write), Some((_, name))) =
            (path, access, word.known_end().split_once('/'))
        {
            self.add(Some(name), word, None);
        }
        // Where somebody else's home is, nobody here knows; what is in it has its name all the same.
        let is_others = |path: &str| word.tilde && path.starts_with('~') && path != "~" && !path.starts_with("~/");
        if let (Some((_, name)), Some(Access::Read | Access::Write)) =
            (path.filter(|path| is_others(path)).and_then(|path| path.split_once('/')), access)
        {
            self.add(Some(name), &Word { tilde: false, ..word.clone() }, None);
        }
        // The input, or the output; and no file is called nothing.
        if path == Some("-") || path == Some("") && word.value.as_deref() == Some("") {
            return;
        }
        self.effects.push(Effect {
            path: path.filter(|path| !is_others(path)).map(str::to_owned),
            raw: path.map_or_else(|| word.raw.clone(), str::to_owned),
            access,
            takes_all,
            pattern: if word.glob || self.folders.has_pattern() {
                PathExpansion::Shell
            } else {
                PathExpansion::Nothing
            },
            is_setting: self.is_setting,
            command: Some(self.place),
            folders: self.folders.clone(),
        });
    }

    pub(super) fn in_redirects(&mut self) {
        let command = self.command;
        for redirect in command.redirects() {
            let target = &redirect.target;
            if matches!(redirect.kind, RedirectKind::Read | RedirectKind::ReadWrite) {
                self.add(target.meaning(), target, Some(Access::Read));
            }
            if redirect.writes_a_file() {
                self.add(target.meaning(), target, Some(Access::Write));
            }
        }
        // What a variable of the shell holds counts where it is used.
        let is_path = |value: &Word| !value.value.as_deref().is_some_and(|text| text.contains(char::is_whitespace));
        for assignment in command.assignments().iter().filter(|_| !command.words().is_empty()) {
            if is_path(&assignment.value) && !names_credentials(&assignment.name) {
                self.is_setting = !names_a_target(&assignment.name);
                self.mentioned(&assignment.value);
            }
        }
        self.is_setting = false;
    }

    pub(super) fn in_words(&mut self) {
        let command = self.command;
        let Some(program) = command.program() else {
            return command.words().iter().for_each(|word| self.mentioned(word));
        };
        if find::is_find(program) {
            return self.in_find();
        }
        let Some(known) = command.arguments() else {
            return self.in_unknown_program();
        };
        for argument in known.list.iter().filter(|argument| argument.role == Role::Folder) {
            let folder = command.meaning_from(argument.word, argument.from);
            self.folders = folder.map_or_else(Folders::unknown, |folder| self.folders.then(folder));
        }
        if program == "git" {
            self.enter_work_tree();
        }
        let keeps_to_itself = self.keeps_to_itself();
        for argument in &known.list {
            self.argument(argument, keeps_to_itself);
        }
        let is_fed = || runs_its_input(program, known, command.words());
        if let Some(Written::Text(text)) = command.evidence.script.as_ref().filter(|_| runs_code(program)) {
            self.in_code(&Word::known(program), Some(text));
        } else if runs_code(program)
            && is_fed()
            && let Some(text) = command.given_text()
        {
            self.in_code(&Word { raw: program.to_owned(), ..Word::default() }, Some(text));
        }
        for (access, path) in ex::scripts(command, known).iter().flat_map(|script| ex::read(script).touches) {
            self.add(Some(&path), &Word::known(&path), Some(access));
        }
        for (access, path) in
            command.script_text().filter(|_| sed::is_sed(program)).map(sed::read).unwrap_or_default().touches
        {
            self.add(Some(&path), &Word::known(&path), Some(access));
        }
        self.in_names(program, known);
        self.in_words_of_code(program, known);
        self.copied_into(program, known);
        for name in fetched(command) {
            self.add(Some(&name), &Word::known(&name), Some(Access::Write));
        }
        self.in_patches();
        if program == "git" && self.moves_hooks(known) {
            self.add(Some(".git/hooks"), &Word::default(), Some(Access::Write));
        }
        if program == "git" && self.hides_files(known) {
            self.add(Some(".git/info/exclude"), &Word::default(), Some(Access::Write));
        }
        for (role, path) in &known.implied {
            let word = Word { raw: (*path).to_owned(), value: Some((*path).to_owned()), ..Word::default() };
            for access in accesses(*role) {
                self.add(Some(path), &word, *access);
            }
        }
    }

    /// What is copied into a folder lies there under its own name.
    fn copied_into(&mut self, program: &str, arguments: &Arguments) {
        let is_temporary = |path: &str| path.starts_with("/tmp") || path.starts_with(path::TEMP);
        let copies = copies(self.command, program, arguments);
        for path in copies.iter().filter_map(Copy::within).filter(|path| !is_temporary(path)) {
            self.add_deed(Some(&path), &Word::known(&path), Some(Access::Write), false);
        }
    }

    /// The files that a patch says it changes.
    fn in_patches(&mut self) {
        for (path, access) in self.command.applied_patches().into_iter().flat_map(patch::changed) {
            self.add(Some(path), &Word::known(path), Some(access));
        }
    }

    /// What it is told line by line, where it reads the names of what it reads: `cpio -o`, `git cat-file --batch`.
    fn in_names(&mut self, program: &str, arguments: &Arguments) {
        let command = self.command;
        if program == "git" && arguments.has_flag(&["--batch", "--batch-command"]) {
            for line in command.given_text().into_iter().flat_map(str::lines) {
                self.in_revision(Some(line), &Word::known(line));
            }
        }
        for name in named_files::names(command, arguments) {
            self.add(name.meaning(), &name, Some(Access::Read));
        }
    }

    /// What a flag leaves out is not touched.
    fn in_unknown_program(&mut self) {
        let command = self.command;
        let leaves_out = |word: &Word| {
            let flag = word.value.as_deref().filter(|text| text.starts_with('-'));
            flag.is_some_and(|flag| ["exclude", "ignore", "skip"].iter().any(|name| flag.contains(name)))
        };
        for (before, word) in command.words().iter().zip(command.words().iter().skip(1)) {
            let is_value = leaves_out(before) && !before.raw.contains('=');
            if !leaves_out(word) && !is_value {
                self.mentioned(word);
            }
        }
    }

    /// Who knows what for.
    fn mentioned(&mut self, word: &Word) {
        let text = word.value.as_deref().unwrap_or(&word.raw);
        for piece in pieces(text) {
            // What stands behind an expansion begins wherever that leads.
            let is_behind = word.value.is_none() && !text.trim_start_matches(['"', '\'']).starts_with('/');
            self.add(Some(if is_behind { piece.trim_start_matches('/') } else { piece }), word, None);
        }
        if word.value.is_none() {
            self.add(None, word, None);
        }
    }
}

/// Whether a variable is called like one that says where something is kept or put: `DESTDIR`, `HISTFILE`, `OUTPUT_PATH`.
/// Others say where to look, or what to do.
fn names_a_target(variable: &str) -> bool {
    const ENDS: &[&str] = &["FILE", "DIR", "OUT", "OUTPUT", "DEST", "PREFIX", "TARGET", "ROOT", "HOME", "CONFIG"];
    let variable = variable.to_ascii_uppercase();
    variable.split('_').any(|part| ENDS.iter().any(|end| part.ends_with(end)))
}

/// Whether what is written to a path takes the place of all that is kept there: of a disk. A loop device is a file, and
/// mostly made for that.
fn loses_all(path: &str) -> bool {
    is_disk(path) && path != "/dev" && !path.starts_with("/dev/loop")
}

/// Whether a variable says which certificates or credentials a program has to use: it shows them to nobody.
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
