//! A simple command: a program with its words, where it runs, and what is known of both.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::word::visible;
use super::{
    Assignment, Evidence, ExecutionContext, ExportedVariable, Folders, Invocation, Redirect, Variable, Word, Written,
};
use crate::programs::{Argument, Arguments, Role, Session, arguments};

/// A program with its words, where it would run, and what is known of how it comes to run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SimpleCommand {
    pub invocation: Invocation,
    pub context: ExecutionContext,
    pub evidence: Evidence,
    /// Programs of [`Evidence::via`] that do nothing else, and so are no commands of the script: with their own words only,
    /// `sudo -u x`.
    pub wrappers: Vec<Arc<SimpleCommand>>,
}

/// What runs under these is as it would be without them.
const MERE_WRAPPERS: &[&str] = &["bash -c", "command", "nice", "nohup", "sh -c", "stdbuf", "time", "timeout", "zsh -c"];

impl From<Invocation> for SimpleCommand {
    fn from(invocation: Invocation) -> Self {
        Self { invocation, ..Self::default() }
    }
}

impl SimpleCommand {
    /// The program and its arguments, after quote removal and brace expansion.
    pub fn words(&self) -> &[Word] {
        &self.invocation.words
    }

    /// `NAME=value` before the program.
    pub fn assignments(&self) -> &[Assignment] {
        &self.invocation.assignments
    }

    pub fn redirects(&self) -> &[Redirect] {
        &self.invocation.redirects
    }

    /// Its words as its program reads them; none where the program is not known.
    pub fn arguments(&self) -> Option<&Arguments> {
        self.invocation.arguments.as_ref()
    }

    /// The folders that it may run in.
    pub fn folders(&self) -> &Folders {
        &self.context.folders
    }

    /// What the script has exported before it.
    pub fn exported(&self) -> &[ExportedVariable] {
        &self.context.exported
    }

    /// Whether it would run somewhere else: on another machine, or in a container.
    pub fn is_remote(&self) -> bool {
        self.context.is_remote
    }

    /// The programs through which it would be run, outermost first: `sudo`, `env`, `bash -c`.
    pub fn via(&self) -> &[String] {
        &self.evidence.via
    }

    /// The commands whose output it may read: places in [`Script::commands`](super::Script::commands).
    pub fn piped_from(&self) -> Range<usize> {
        self.evidence.piped_from.clone()
    }

    /// Base name of the program, also where only the folder is unknown: `"$VENV/bin/python"`. None where it is not known, or
    /// there is no program.
    pub fn program(&self) -> Option<&str> {
        let first = self.words().first()?;
        first.value.as_deref().or_else(|| first.name_in_unknown_folder()).map(base_name)
    }

    /// The normalised text, which rules search: base name and arguments, joined by single spaces. An argument that
    /// holds white space or is data reads `…`; one whose value is not known reads as it was written, less its quotes,
    /// so that [`SimpleCommand::words`] must be asked which ones those are.
    pub fn text(&self) -> String {
        self.joined(|word| word.value.as_deref().unwrap_or(&word.shown).into())
    }

    /// The normalised text as it would be if the words that are not known turned out to be these, in order. What is
    /// known of a word's beginning stands before its text, unless the text begins with it already.
    pub fn text_if(&self, unknown: &[&str]) -> String {
        let unknown = std::cell::RefCell::new(unknown.iter());
        self.joined(|word| {
            if let Some(value) = &word.value {
                return value.into();
            }
            let text = unknown.borrow_mut().next().copied().unwrap_or_default();
            let (start, end) = (word.known_start(), word.known_end());
            let is_whole = text.len() >= start.len() + end.len() && text.starts_with(start) && text.ends_with(end);
            if is_whole { text.to_owned().into() } else { format!("{start}{text}{end}").into() }
        })
    }

    /// How many words are not known.
    pub fn unknown_words(&self) -> usize {
        self.words().iter().filter(|word| word.value.is_none()).count()
    }

    fn joined<'w>(&'w self, value: impl Fn(&'w Word) -> Cow<'w, str>) -> String {
        let mut text = String::new();
        for word in self.words() {
            let value = value(word);
            // An expansion that is empty is no word at all.
            if value.is_empty() && word.value.is_none() {
                continue;
            }
            if text.is_empty() {
                text.push_str(&visible(base_name(&value)));
            } else {
                text.push(' ');
                text.push_str(&word.normalised(&value));
            }
        }
        text
    }

    /// Whether nobody here can say what becomes of paths that it names.
    pub fn is_out_of_sight(&self) -> bool {
        self.is_remote() && self.context.container.is_none()
    }

    /// Whether what every word will be is known.
    pub fn is_known(&self) -> bool {
        self.words().iter().all(|word| word.value.is_some())
    }

    /// What it does beyond what its words say. Nothing, where its program is the one of that name, for which it sets
    /// nothing, it writes to no file, and it runs here, with no other rights.
    pub fn beyond_its_words(&self) -> Option<&'static str> {
        let is_by_name = self.words().first().is_some_and(|word| !word.raw.contains('/'));
        let deeds = [
            (self.is_remote(), "it runs somewhere else"),
            (!self.via().iter().all(|program| MERE_WRAPPERS.contains(&program.as_str())), "another program runs it"),
            (self.redirects().iter().any(Redirect::writes_a_file), "it writes a file"),
            (!self.assignments().is_empty(), "it sets variables"),
            (!is_by_name, "its program is no plain name"),
        ];
        deeds.into_iter().find(|(is_so, _)| *is_so).map(|(_, deed)| deed)
    }

    /// A variable that the script sets for it; `None` where it sets none of that name.
    pub(crate) fn variable(&self, name: &str) -> Option<Variable<'_>> {
        let set = self.assignments().iter().rfind(|set| set.name == name).map(|set| Variable::of(set.value.meaning()));
        let exported = || self.exported().iter().find(|exported| &*exported.name == name);
        set.or_else(|| exported().map(|exported| Variable::of(exported.value.as_deref())))
    }

    /// What it is given to read, where that is a known text.
    pub(crate) fn given_text(&self) -> Option<&str> {
        self.redirects().iter().rev().find_map(Redirect::text).or(self.evidence.input.as_deref())
    }

    /// What is in the file that it runs, where that was written in the session.
    pub(crate) fn script_text(&self) -> Option<&str> {
        match &self.evidence.script {
            Some(Written::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Without what it runs.
    pub(crate) fn own_words(&self) -> Self {
        let is_run = |argument: &&Argument| {
            matches!(argument.role, Role::Code | Role::Command | Role::Hook | Role::Shell | Role::Words)
        };
        let arguments = self.arguments().into_iter().flat_map(|arguments| &arguments.list);
        let end = arguments.filter(is_run).map(|argument| argument.word).min().unwrap_or(self.words().len());
        let words = self.words().get(..end.max(1)).unwrap_or(self.words()).to_vec();
        let mut own = Self::from(Invocation { words, ..Invocation::default() });
        own.evidence.via.clone_from(&self.evidence.via);
        own.context.exported.clone_from(&self.context.exported);
        own.read_arguments();
        own
    }

    /// Reads its words as its program does. To be called when they have changed.
    pub(crate) fn read_arguments(&mut self) {
        for word in &mut self.invocation.words {
            word.role = Role::Plain;
            word.flag_length = 0;
        }
        self.invocation.arguments = self.program().and_then(|program| arguments(program, &self.texts_of_words()));
        let Some(arguments) = &self.invocation.arguments else { return };
        for argument in arguments.list.iter().filter(|argument| argument.role.is_text()) {
            if let Some(word) = self.invocation.words.get_mut(argument.word) {
                word.role = argument.role;
                word.flag_length = argument.from;
            }
        }
    }

    /// What begins like a flag or a `NAME=` is one, whatever follows.
    pub fn texts_of_words(&self) -> Vec<Option<&str>> {
        let begun = |word: &'_ Word| word.value.is_none() && (word.shown.starts_with('-') || word.begins_with_name());
        self.words()
            .iter()
            .map(|word| if begun(word) { Some(word.shown.as_str()) } else { word.value.as_deref() })
            .collect()
    }

    /// The folders that it may work in, by where it runs and by what it is told; `None` where it could be any.
    pub fn works_in(&self) -> Option<Folders> {
        let mut folders = self.folders().clone();
        let arguments = self.arguments().into_iter().flat_map(|arguments| &arguments.list);
        for argument in arguments.filter(|argument| argument.role == Role::Folder) {
            folders = folders.then(self.meaning_from(argument.word, argument.from)?);
        }
        Some(folders)
    }

    /// The same of git.
    pub fn git_folders(&self) -> Option<Folders> {
        self.works_in().filter(|_| self.arguments().is_some_and(|known| !known.has_flag(&["--git-dir"])))
    }

    /// What stands in a word from a place on; `None` where that is not known.
    pub fn text_from(&self, word: usize, from: usize) -> Option<&str> {
        self.words().get(word)?.value.as_deref()?.get(from..)
    }

    /// A command that could turn out to be any: nothing but expansions that may be several words.
    pub(crate) fn is_anything(&self) -> Option<String> {
        let is_several = |word: &Word| word.may_be_anything() || (word.value.is_none() && word.raw.contains('@'));
        let is_anything =
            self.words().first().is_some_and(is_several) && self.words().iter().all(|word| word.value.is_none());
        is_anything.then(|| self.words().iter().map(|word| word.shown.as_str()).collect::<Vec<_>>().join(" "))
    }

    /// Whether its program is known, and this form of it.
    pub(crate) fn is_understood(&self) -> bool {
        self.arguments().is_some_and(|arguments| arguments.is_known)
    }

    /// Whether there may be flags that are not known: an expansion before an operand stands where flags stand.
    pub fn has_unknown_flags(&self, arguments: &Arguments) -> bool {
        let operands = || arguments.operands.iter().filter_map(|place| self.words().get(*place));
        let is_followed = operands().any(|word| word.value.is_some());
        let first = operands().next().is_some_and(Word::may_be_anything);
        (first && is_followed) || self.words().iter().any(Word::is_unknown_flag)
    }

    /// The same of what the word stands for.
    pub(crate) fn meaning_from(&self, word: usize, from: usize) -> Option<&str> {
        let word = self.words().get(word)?;
        match &word.value {
            Some(value) => value.get(from..),
            // What stands before it is a flag, which is written out.
            None => word.means.as_deref().filter(|means| means.get(..from) == word.shown.get(..from))?.get(from..),
        }
    }

    /// A name for the file that is meant: what stands for it, or the word as it is written.
    pub(crate) fn file_from(&self, word: usize, from: usize) -> Option<&str> {
        self.meaning_from(word, from).or_else(|| self.words().get(word)?.name_in_text()?.get(from..))
    }

    /// Whether it is given nothing to run, and nothing to read it from.
    pub(crate) fn waits_for_input(&self) -> bool {
        let Some(arguments) = self.arguments() else { return false };
        let stays = self.variable("PYTHONINSPECT").is_some_and(|value| value.known() != Some(""));
        if stays && self.program().is_some_and(|program| program.starts_with("python")) {
            return true;
        }
        let is_given =
            |role| matches!(role, Role::Code | Role::Command | Role::Hook | Role::Script | Role::Shell | Role::Words);
        match arguments.session {
            None => false,
            Some(Session::Always) => true,
            Some(Session::UnlessGiven) => {
                let is_input = |word: usize| self.words().get(word).is_some_and(Word::is_input);
                let given = |argument: &Argument| is_given(argument.role) && !is_input(argument.word);
                !arguments.list.iter().any(given)
                    && self.piped_from().is_empty()
                    && !self.redirects().iter().any(Redirect::is_input)
            }
        }
    }
}

/// `git` of `/usr/bin/git`, and of `git.exe`.
fn base_name(program: &str) -> &str {
    let name = match program.rsplit_once('/') {
        Some((_, name)) if !name.is_empty() => name,
        _ => program,
    };
    name.strip_suffix(".exe").filter(|name| !name.is_empty()).unwrap_or(name)
}
