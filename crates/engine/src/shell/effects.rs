//! What a script would do to files: which it reads, writes and deletes, by the words and redirections of its commands.
//!
//! What an argument is to its program is told by [`crate::programs`]. Of a program that is not known there, every piece of
//! every word that could be a path is one, and nobody knows what for. Words that are data to their program (a message, a
//! search pattern) name nothing.

use super::command::{Redirect, RedirectKind, SimpleCommand, Word};
use super::through::{is_awk, runs_its_input};
use super::{Folders, Script, find};
use crate::event::Access;
use crate::one_liner::{self, Language};
use crate::programs::{Argument, Role, arguments};

/// One thing that is done to one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    /// As it is written; `None` where that is not known before it runs.
    pub path: Option<String>,
    /// For people, where the path is not known.
    pub raw: String,
    /// `None`: who knows what for.
    pub access: Option<Access>,
    /// The path stands for all that it matches.
    pub is_pattern: bool,
    /// The command that does it: a place in [`Script::commands`], or none for a word that may come to any of them.
    pub command: Option<usize>,
    /// What the path is relative to.
    pub folders: Folders,
}

impl Script {
    /// In order; a path may come more than once.
    pub fn effects(&self) -> Vec<Effect> {
        let mut effects = Vec::new();
        for (place, command) in self.commands.iter().enumerate() {
            let mut found = Found { command, place, folders: command.folders.clone(), effects: &mut effects };
            found.in_redirects();
            found.in_words();
        }
        for word in &self.loose {
            for piece in pieces(word) {
                effects.push(Effect {
                    path: Some(piece.to_owned()),
                    raw: word.clone(),
                    access: None,
                    is_pattern: false,
                    command: None,
                    folders: Folders::default(),
                });
            }
        }
        effects
    }
}

struct Found<'a> {
    command: &'a SimpleCommand,
    place: usize,
    folders: Folders,
    effects: &'a mut Vec<Effect>,
}

impl Found<'_> {
    fn add(&mut self, path: Option<&str>, word: &Word, access: Option<Access>) {
        self.effects.push(Effect {
            path: path.map(str::to_owned),
            raw: word.raw.clone(),
            access,
            is_pattern: word.glob,
            command: Some(self.place),
            folders: self.folders.clone(),
        });
    }

    fn in_redirects(&mut self) {
        let command = self.command;
        for redirect in &command.redirects {
            let target = &redirect.target;
            if matches!(redirect.kind, RedirectKind::Read | RedirectKind::ReadWrite) {
                self.add(target.value.as_deref(), target, Some(Access::Read));
            }
            if redirect.writes_a_file() {
                self.add(target.value.as_deref(), target, Some(Access::Write));
            }
        }
        for assignment in &command.assignments {
            self.mentioned(&assignment.value);
        }
    }

    fn in_words(&mut self) {
        let command = self.command;
        let Some(program) = command.program() else {
            return command.words.iter().for_each(|word| self.mentioned(word));
        };
        let words: Vec<Option<&str>> = command.words.iter().map(|word| word.value.as_deref()).collect();
        if matches!(program, "find" | "gfind") {
            return self.in_find();
        }
        let Some(known) = arguments(program, &words) else {
            return command.words.iter().skip(1).for_each(|word| self.mentioned(word));
        };
        for argument in known.list.iter().filter(|argument| argument.role == Role::Folder) {
            let folder = command.words.get(argument.word).and_then(|word| word.value.as_deref()?.get(argument.from..));
            self.folders = folder.map_or_else(Folders::unknown, |folder| self.folders.then(folder));
        }
        for argument in &known.list {
            self.argument(argument);
        }
        if Language::of(program).is_some() && runs_its_input(program, &known, &command.words) {
            let redirected = command.redirects.iter().rev().find_map(Redirect::text);
            if let Some(text) = redirected.or(command.input.as_deref()) {
                self.in_code(&Word { raw: program.to_owned(), ..Word::default() }, Some(text));
            }
        }
        for (role, path) in &known.implied {
            let word = Word { raw: (*path).to_owned(), value: Some((*path).to_owned()), ..Word::default() };
            for access in accesses(*role) {
                self.add(Some(path), &word, *access);
            }
        }
    }

    fn argument(&mut self, argument: &Argument) {
        let command = self.command;
        let Some(word) = command.words.get(argument.word) else { return };
        let text = word.value.as_deref().and_then(|value| value.get(argument.from..));
        match argument.role {
            Role::AtFile => {
                if let Some(path) = text.and_then(|text| text.strip_prefix('@')) {
                    self.add(Some(path), word, Some(Access::Read));
                }
            }
            Role::FormField => {
                let value = text.and_then(|text| text.split_once('=')).map(|(_, value)| value);
                if let Some(path) = value.and_then(|value| value.strip_prefix(['@', '<'])) {
                    self.add(path.split(';').next(), word, Some(Access::Read));
                }
            }
            Role::ReadOrRemote | Role::WriteOrRemote => {
                let is_remote = |text: &str| text.split('/').next().is_some_and(|host| host.contains(':'));
                if !text.is_some_and(is_remote) {
                    let access = if argument.role == Role::ReadOrRemote { Access::Read } else { Access::Write };
                    self.add(text, word, Some(access));
                }
            }
            Role::Path => self.mentioned(word),
            Role::Code => self.in_code(word, text),
            role => {
                for access in accesses(role) {
                    self.add(text, word, *access);
                }
            }
        }
    }

    fn in_code(&mut self, word: &Word, text: Option<&str>) {
        let program = self.command.program();
        // What it writes to is a string in it, and rarely meant.
        if program.is_some_and(is_awk) && !text.is_some_and(|text| text.contains('>') || text.contains("getline")) {
            return;
        }
        let language = program.and_then(Language::of);
        let (Some(language), Some(text)) = (language, text) else { return self.mentioned(word) };
        for (access, path) in one_liner::read(language, text).touches {
            self.add(Some(&path), word, Some(access));
        }
    }

    fn in_find(&mut self) {
        let command = self.command;
        let deletes = command.words.iter().any(|word| word.value.as_deref() == Some("-delete"));
        for found in find::found(command).iter().filter(|_| deletes) {
            self.add(found.value.as_deref(), found, Some(Access::Delete));
        }
        let writes = |word: &Word| matches!(word.value.as_deref(), Some("-fprint" | "-fprint0" | "-fls" | "-fprintf"));
        let targets = command.words.iter().zip(command.words.iter().skip(1)).filter(|(flag, _)| writes(flag));
        for (_, target) in targets {
            self.add(target.value.as_deref(), target, Some(Access::Write));
        }
    }

    /// Who knows what for.
    fn mentioned(&mut self, word: &Word) {
        let text = word.value.as_deref().unwrap_or(&word.raw);
        for piece in pieces(text) {
            self.add(Some(piece), word, None);
        }
        if word.value.is_none() {
            self.add(None, word, None);
        }
    }
}

/// What is done to an argument of this kind.
fn accesses(role: Role) -> &'static [Option<Access>] {
    match role {
        Role::Read | Role::ReadAll | Role::Script => &[Some(Access::Read)],
        Role::Write => &[Some(Access::Write)],
        Role::Edit => &[Some(Access::Read), Some(Access::Write)],
        Role::Delete => &[Some(Access::Delete)],
        Role::Move => &[Some(Access::Read), Some(Access::Delete)],
        _ => &[],
    }
}

/// The text itself, and what stands between signs that paths rarely have: `--file=.env`, `open('.env')`.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |letter: char| letter.is_alphanumeric() || "._-/~+@%*?".contains(letter);
    let whole = std::iter::once(text).filter(|text| !text.is_empty() && !text.starts_with('-'));
    let parts =
        text.split(move |letter| !is_part(letter)).filter(move |piece| *piece != text && looks_like_path(piece));
    whole.chain(parts)
}

fn looks_like_path(piece: &str) -> bool {
    !piece.starts_with('-') && piece.contains(['.', '/', '~'])
}
