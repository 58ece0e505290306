//! A simple command: a program and its words, where it runs, and what is known about both.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::word::visible;
use super::{
    Assignment, Evidence, ExecutionContext, ExportedVariable, FileContents, Invocation, PossibleDirectories, Redirect,
    Variable, Word,
};
use crate::programs::{Argument, Arguments, Role, Session, arguments};

/// A program and its words, where it would run, and how the script would come to run it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SimpleCommand {
    pub invocation: Invocation,
    pub context: ExecutionContext,
    pub evidence: Evidence,
    /// The programs of [`Evidence::via`] that do nothing but run this command, so they are not listed as commands. Each
    /// has only its own words: `sudo -u x`.
    pub wrappers: Vec<Arc<SimpleCommand>>,
}

/// Wrappers that do not change the effects of the command that they run.
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

    /// The roles of the words for the program; `None` if the program is not known.
    pub fn arguments(&self) -> Option<&Arguments> {
        self.invocation.arguments.as_ref()
    }

    /// The directories that it may run in.
    pub fn directories(&self) -> &PossibleDirectories {
        &self.context.directories
    }

    /// Variables that the script has exported before it.
    pub fn exported(&self) -> &[ExportedVariable] {
        &self.context.exported
    }

    /// True if it would run somewhere else: on another machine, or in a container.
    pub fn is_remote(&self) -> bool {
        self.context.is_remote
    }

    /// The programs that would run it, outermost first: `sudo`, `env`, `bash -c`.
    pub fn via(&self) -> &[String] {
        &self.evidence.via
    }

    /// The commands whose output it may read: indices in [`Script::commands`](super::Script::commands).
    pub fn piped_from(&self) -> Range<usize> {
        self.evidence.piped_from.clone()
    }

    /// The base name of the program, even if its directory is unknown: `"$VENV/bin/python"`. `None` if it is not known,
    /// or there is no program.
    pub fn program(&self) -> Option<&str> {
        let first = self.words().first()?;
        first.value.as_deref().or_else(|| first.name_in_unknown_directory()).map(base_name)
    }

    /// The normalized text, which rules search: base name and arguments, joined by single spaces. An argument that
    /// contains whitespace or is data is shown as `…`. A word whose value is not known is shown as written, without
    /// quotes, so callers must check [`SimpleCommand::words`] for such words.
    pub fn text(&self) -> String {
        self.joined(|word| word.value.as_deref().unwrap_or(&word.shown).into())
    }

    /// The normalized text if the unknown words had these values, in order. The known start and end of a word are added
    /// to its value, unless the value already has both.
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

    /// The number of words that are not known.
    pub fn unknown_words(&self) -> usize {
        self.words().iter().filter(|word| word.value.is_none()).count()
    }

    fn joined<'w>(&'w self, value: impl Fn(&'w Word) -> Cow<'w, str>) -> String {
        let mut text = String::new();
        for word in self.words() {
            let value = value(word);
            // An expansion to nothing leaves no word.
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

    /// True if it runs somewhere whose files are not known, such as another machine.
    pub fn has_unknown_files(&self) -> bool {
        self.is_remote() && self.context.container.is_none()
    }

    /// True if every word is known.
    pub fn is_known(&self) -> bool {
        self.words().iter().all(|word| word.value.is_some())
    }

    /// Returns an effect that its words do not show. `None` if the program is given by its plain name, the command sets
    /// no variables and writes no file by a redirection, it runs on this machine, and no wrapper changes how it runs.
    pub fn hidden_effect(&self) -> Option<&'static str> {
        let is_by_name = self.words().first().is_some_and(|word| !word.raw.contains('/'));
        let hidden_effects = [
            (self.is_remote(), "it runs somewhere else"),
            (!self.via().iter().all(|program| MERE_WRAPPERS.contains(&program.as_str())), "another program runs it"),
            (self.redirects().iter().any(Redirect::writes_a_file), "it writes a file"),
            (!self.assignments().is_empty(), "it sets variables"),
            (!is_by_name, "its program is not a plain name"),
        ];
        hidden_effects.into_iter().find(|(is_so, _)| *is_so).map(|(_, effect)| effect)
    }

    /// A variable that the script sets for it or has exported; `None` if the script sets no variable of this name.
    pub(crate) fn variable(&self, name: &str) -> Option<Variable<'_>> {
        let set = self.assignments().iter().rfind(|set| set.name == name).map(|set| Variable::of(set.value.meaning()));
        let exported = || self.exported().iter().find(|exported| &*exported.name == name);
        set.or_else(|| exported().map(|exported| Variable::of(exported.value.as_deref())))
    }

    /// The contents of its stdin, if they are known.
    pub(crate) fn given_text(&self) -> Option<&str> {
        self.redirects().iter().rev().find_map(Redirect::text).or(self.evidence.input.as_deref())
    }

    /// The contents of the script file that it runs, if the session wrote that file.
    pub(crate) fn script_text(&self) -> Option<&str> {
        match &self.evidence.script {
            Some(FileContents::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Returns the command without the commands and code in its words.
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

    /// Assigns roles to the words. Must be called after the words have changed.
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

    /// Returns the text of each word, or `None` for an unknown word. A word that begins like a flag or `NAME=` is
    /// returned as written, even if the rest of it is unknown.
    pub fn texts_of_words(&self) -> Vec<Option<&str>> {
        let begun = |word: &'_ Word| word.value.is_none() && (word.shown.starts_with('-') || word.begins_with_name());
        self.words()
            .iter()
            .map(|word| if begun(word) { Some(word.shown.as_str()) } else { word.value.as_deref() })
            .collect()
    }

    /// The directories that it works in: those that it runs in, followed by directory arguments such as `-C`. `None` if
    /// one of these arguments is not known.
    pub fn works_in(&self) -> Option<PossibleDirectories> {
        let mut directories = self.directories().clone();
        let arguments = self.arguments().into_iter().flat_map(|arguments| &arguments.list);
        for argument in arguments.filter(|argument| argument.role == Role::Directory) {
            directories = directories.then(self.meaning_from(argument.word, argument.from)?);
        }
        Some(directories)
    }

    /// The same for git. `None` if `--git-dir` selects another repository.
    pub fn git_directories(&self) -> Option<PossibleDirectories> {
        self.works_in().filter(|_| self.arguments().is_some_and(|known| !known.has_flag(&["--git-dir"])))
    }

    /// Returns a word from a byte offset on; `None` if the word is not known.
    pub fn text_from(&self, word: usize, from: usize) -> Option<&str> {
        self.words().get(word)?.value.as_deref()?.get(from..)
    }

    /// Returns the words as written if the command could be any command: no word is known, and the first may expand to
    /// several.
    pub(crate) fn is_anything(&self) -> Option<String> {
        let is_several = |word: &Word| word.may_be_anything() || (word.value.is_none() && word.raw.contains('@'));
        let is_anything =
            self.words().first().is_some_and(is_several) && self.words().iter().all(|word| word.value.is_none());
        is_anything.then(|| self.words().iter().map(|word| word.shown.as_str()).collect::<Vec<_>>().join(" "))
    }

    /// True if the table has its program, and this form of the program.
    pub(crate) fn is_understood(&self) -> bool {
        self.arguments().is_some_and(|arguments| arguments.is_known)
    }

    /// True if it may have flags that are not known: an unquoted expansion before the operands may expand to flags.
    pub fn has_unknown_flags(&self, arguments: &Arguments) -> bool {
        let operands = || arguments.operands.iter().filter_map(|place| self.words().get(*place));
        let is_followed = operands().any(|word| word.value.is_some());
        let first = operands().next().is_some_and(Word::may_be_anything);
        (first && is_followed) || self.words().iter().any(Word::is_unknown_flag)
    }

    /// Like [`Self::text_from`], but returns the placeholder of a word whose value is not known.
    pub(crate) fn meaning_from(&self, word: usize, from: usize) -> Option<&str> {
        let word = self.words().get(word)?;
        match &word.value {
            Some(value) => value.get(from..),
            // The part before the offset is a flag, which contains no expansions.
            None => word
                .placeholder
                .as_deref()
                .filter(|placeholder| placeholder.get(..from) == word.shown.get(..from))?
                .get(from..),
        }
    }

    /// Identifies a file by its path or placeholder, otherwise by the word as written.
    pub(crate) fn file_from(&self, word: usize, from: usize) -> Option<&str> {
        self.meaning_from(word, from).or_else(|| self.words().get(word)?.name_in_text()?.get(from..))
    }

    /// True if it runs commands that are typed: it has no script among its arguments, and its stdin is not redirected.
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

/// `git` for `/usr/bin/git` and for `git.exe`.
fn base_name(program: &str) -> &str {
    let name = match program.rsplit_once('/') {
        Some((_, name)) if !name.is_empty() => name,
        _ => program,
    };
    name.strip_suffix(".exe").filter(|name| !name.is_empty()).unwrap_or(name)
}
