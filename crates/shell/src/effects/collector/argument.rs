//! The effects of one argument, by its role.

use path::Access;

use super::Collector;
use super::git::path_of_pathspec;
use crate::effects::mentioned_paths::path_candidates;
use crate::model::Word;
use crate::programs::{Argument, Role};
use crate::special_programs::interpreter::takes_script_from_stdin;
use crate::special_programs::sed;

impl Collector<'_> {
    /// Adds the effects of one argument. `only_edits_in_place`: true if the command prints nothing of the files that it
    /// changes.
    pub(super) fn collect_from_argument(&mut self, argument: &Argument, only_edits_in_place: bool) {
        let command = self.command;
        let Some(word) = command.words().get(argument.word) else { return };
        let text = command.value_or_placeholder_from(argument.word, argument.from);
        let pathspec_path = text.filter(|_| command.program() == Some("git")).and_then(path_of_pathspec);
        let text = pathspec_path.or(text);
        match argument.role {
            Role::AtFile | Role::FormField | Role::NamedFile | Role::ListedFile | Role::Url => {
                self.collect_from_value(argument.role, text, word);
            }
            Role::ReadOrRemote | Role::WriteOrRemote | Role::DeleteOrRemote => {
                self.collect_from_local_or_remote(argument.role, text, word);
            }
            Role::Revision => self.collect_from_revision(text, word),
            Role::Setting if command.program() == Some("socat") => self.collect_from_socket_address(text, word),
            Role::Data if command.program().is_some_and(sed::is_sed) => {
                for (access, path) in text.map(sed::read).unwrap_or_default().accesses {
                    self.add_access(Some(&path), word, Some(access));
                }
            }
            // Git interprets a pattern without glob characters as a path.
            Role::Glob
                if command.program() == Some("git") && !text.is_some_and(|text| text.contains(['*', '?', '['])) =>
            {
                self.add_access(text, word, Some(Access::Read));
            }
            Role::Glob => self.collect_from_search(text, word),
            // `unzip x.zip 'config/*'`: unzip expands the quoted glob itself.
            Role::Write if command.program() == Some("unzip") => {
                let glob = text.is_some_and(|text| text.contains(['*', '?']));
                self.add_access(text, &Word { glob: word.glob || glob, ..word.clone() }, Some(Access::Write));
            }
            // The command prints nothing of the file, so the access is only a write.
            Role::Edit if only_edits_in_place => self.add_access(text, word, Some(Access::Write)),
            Role::Path if pathspec_path.is_some() => self.add_access(pathspec_path, word, None),
            Role::Path => self.add_mentioned_paths(word),
            Role::Query => self.collect_from_query(word),
            // `sh -s -- ARGUMENTS`: the script comes from stdin, and the words are its arguments.
            Role::Script if self.takes_script_from_stdin() => {}
            Role::Code => self.collect_from_code(word, text),
            Role::DeleteAll => self.add_recursive_deletion(text, word),
            Role::Metadata => self.add_effect(text, word, Some(Access::Write), false),
            Role::Move => {
                self.add_access(text, word, Some(Access::Read));
                self.add_recursive_deletion(text, word);
            }
            role => {
                for access in accesses(role) {
                    self.add_access(text, word, *access);
                }
            }
        }
    }

    /// Adds a read of the file that a part of the argument names: `@file`, `name=@file`, `src=file`, `file:///path`.
    fn collect_from_value(&mut self, role: Role, text: Option<&str>, word: &Word) {
        let reads = Some(Access::Read);
        match role {
            Role::AtFile => {
                if let Some(path) = text.and_then(|text| text.strip_prefix('@')) {
                    self.add_access(Some(path), word, reads);
                }
            }
            Role::FormField => {
                let separator = text.and_then(|text| text.find(['=', '@']));
                let value = text.zip(separator).and_then(|(text, separator)| text.get(separator..));
                let value = value.map(|value| value.strip_prefix('=').unwrap_or(value));
                if let Some(path) = value.and_then(|value| value.strip_prefix(['@', '<'])) {
                    self.add_access(path.split(';').next(), word, reads);
                }
            }
            Role::ListedFile => {
                let pairs = text.unwrap_or_default().split(',').filter_map(|part| part.split_once('='));
                for (_, file) in pairs.filter(|(name, _)| matches!(*name, "src" | "source")) {
                    self.add_access(Some(file), word, reads);
                }
            }
            Role::Url => {
                let is_file = |text: &&str| text.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"));
                if let Some(path) = text.filter(is_file).and_then(|text| text.get(5..)) {
                    self.add_access(path.strip_prefix("//").or(Some(path)), word, reads);
                }
            }
            // `Role::NamedFile`: `name=file`.
            _ => self.add_access(text.map(|text| text.split_once('=').map_or(text, |(_, file)| file)), word, reads),
        }
    }

    /// Adds the access to a path, unless the path is on another machine: `host:path`.
    fn collect_from_local_or_remote(&mut self, role: Role, text: Option<&str>, word: &Word) {
        let is_remote = |text: &str| text.split('/').next().is_some_and(|host| host.contains(':'));
        let local = text.filter(|text| !is_remote(text));
        match role {
            // A deletion on another machine counts as the deletion of an unknown path.
            Role::DeleteOrRemote => self.add_recursive_deletion(local, word),
            _ if text.is_some() && local.is_none() => {}
            Role::ReadOrRemote => self.add_access(local, word, Some(Access::Read)),
            _ => self.add_access(local, word, Some(Access::Write)),
        }
    }

    /// Adds a read and a write of the file in an address of `socat`: `socat FILE:.env -`.
    fn collect_from_socket_address(&mut self, text: Option<&str>, word: &Word) {
        let address = text.and_then(|text| text.split_once(':')).filter(|(kind, _)| is_file_address(kind));
        if let Some(path) = address.and_then(|(_, path)| path.split(',').next()) {
            self.add_access(Some(path), word, Some(Access::Read));
            self.add_access(Some(path), word, Some(Access::Write));
        }
    }

    /// True if the command changes files in place, prints nothing of these files, and writes nothing of them to other
    /// directories: `sed -i s/a/b/ FILE`.
    pub(super) fn only_edits_in_place(&self) -> bool {
        let Some(arguments) = self.command.arguments().filter(|_| self.command.program() == Some("sed")) else {
            return false;
        };
        let is_edit = |argument: &Argument| {
            argument.role != Role::Data
                || self.command.text_from(argument.word, argument.from).is_some_and(sed::only_edits)
        };
        // If the value of `-i` is an extension (`.bak`), the backup is in the directory of the edited file.
        let is_extension = |suffix: &str| suffix.starts_with('.') && !suffix.contains(['*', '/']);
        let backups = arguments.flags.iter().filter(|flag| flag.is("-i")).filter_map(|flag| flag.value);
        let mut backups = backups.map(|value| self.command.text_from(value.word, value.from));
        let reads = arguments.with_roles.iter().any(|argument| matches!(argument.role, Role::Read | Role::Script));
        !reads && arguments.with_roles.iter().all(is_edit) && backups.all(|suffix| suffix.is_some_and(is_extension))
    }

    /// Adds accesses to the files that a database query may name.
    pub(super) fn collect_from_query(&mut self, word: &Word) {
        let Some(text) = word.value.as_deref() else { return self.add_mentioned_paths(word) };
        for piece in path_candidates(text).filter(|piece| !piece.contains(char::is_whitespace)) {
            self.add_access(Some(piece), word, None);
        }
    }

    pub(super) fn takes_script_from_stdin(&self) -> bool {
        let known = self.command.program().zip(self.command.arguments());
        known.is_some_and(|(program, arguments)| takes_script_from_stdin(program, arguments, self.command.words()))
    }
}

/// True for a kind of `socat` address that is followed by a file.
fn is_file_address(kind: &str) -> bool {
    matches!(kind.to_ascii_uppercase().as_str(), "FILE" | "OPEN" | "GOPEN" | "CREATE" | "CREAT")
}

/// The kinds of access to the path in an argument of this role.
pub(super) fn accesses(role: Role) -> &'static [Option<Access>] {
    match role {
        Role::Read | Role::Script | Role::Names => &[Some(Access::Read)],
        Role::Write => &[Some(Access::Write)],
        Role::Edit => &[Some(Access::Read), Some(Access::Write)],
        Role::Delete => &[Some(Access::Delete)],
        _ => &[],
    }
}
