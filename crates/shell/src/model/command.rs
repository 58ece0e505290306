//! A simple command: a program and its words, the context in which it runs, and where it comes from.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::word::shown_argument;
use super::{
    Assignment, ExecutionContext, ExportedVariable, FileContents, Invocation, PossibleDirectories, Provenance,
    Redirect, Variable, Word,
};
use crate::programs::{Argument, Arguments, Interactive, Role, arguments};

/// A program and its words, the context in which it would run, and where the command and its input come from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SimpleCommand {
    pub invocation: Invocation,
    pub context: ExecutionContext,
    pub provenance: Provenance,
    /// Those programs of [`Provenance::via`] that do nothing but run this command. These programs are not listed as
    /// commands of the script. Each has the words that precede this command: `sudo -u x`.
    pub wrappers: Vec<Arc<SimpleCommand>>,
}

/// Wrappers that do not change the effects of the command that they run.
const TRANSPARENT_WRAPPERS: &[&str] =
    &["bash -c", "command", "nice", "nohup", "sh -c", "stdbuf", "time", "timeout", "zsh -c"];

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

    /// Assignments before the program: `NAME=value`.
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

    /// The directories that the command may run in.
    pub fn directories(&self) -> &PossibleDirectories {
        &self.context.directories
    }

    /// Variables that the script has exported before the command.
    pub fn exported(&self) -> &[ExportedVariable] {
        &self.context.exported
    }

    /// True if the command would run on another machine, or in a container.
    pub fn is_remote(&self) -> bool {
        self.context.is_remote
    }

    /// The programs that would run the command, outermost first: `sudo`, `env`, `bash -c`.
    pub fn via(&self) -> &[String] {
        &self.provenance.via
    }

    /// The commands whose output the command may read: indices in [`Script::commands`](super::Script::commands).
    pub fn piped_from(&self) -> Range<usize> {
        self.provenance.piped_from.clone()
    }

    /// The base name of the program, even if its directory is unknown: `"$VENV/bin/python"`. `None` if the base name is
    /// not known, or there is no program.
    pub fn program(&self) -> Option<&str> {
        let first = self.words().first()?;
        first.value.as_deref().or_else(|| first.name_in_unknown_directory()).map(base_name)
    }

    /// The normalized text, which rules match: base name and arguments, joined by single spaces. An argument that
    /// contains whitespace or is data is shown as `…`. A word whose value is not known is shown as written, without
    /// quotes, so callers must check [`SimpleCommand::words`] for such words.
    pub fn text(&self) -> String {
        self.normalized(|word| word.value.as_deref().unwrap_or(&word.shown).into())
    }

    /// The normalized text if the unknown words had these values, in order. The known start and end of an unknown word
    /// are added to the value for that word, unless the value already has both.
    pub fn text_if(&self, unknown: &[&str]) -> String {
        let unknown = std::cell::RefCell::new(unknown.iter());
        self.normalized(|word| {
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

    /// Returns the normalized text. `value`: returns the value of a word, or the text that replaces an unknown value.
    fn normalized<'w>(&'w self, value: impl Fn(&'w Word) -> Cow<'w, str>) -> String {
        let mut text = String::new();
        for word in self.words() {
            let value = value(word);
            // An expansion with an empty value leaves no word.
            if value.is_empty() && word.value.is_none() {
                continue;
            }
            if text.is_empty() {
                text.push_str(&shown_argument(base_name(&value)));
            } else {
                text.push(' ');
                text.push_str(&word.normalized(&value));
            }
        }
        text
    }

    /// Returns the command as written with its wrappers: first with only the innermost wrapper, then with one more
    /// wrapper each time. For `make`: `timeout 5 make` and `sudo timeout 5 make`. Returns nothing for a command in a
    /// script that is one argument of a wrapper (`bash -c '…'`). The results are only for matching text: their words
    /// have no roles, except that data is still shown as `…`.
    pub fn with_wrappers(&self) -> impl Iterator<Item = Self> {
        let wrappers = self.wrappers.get(self.provenance.script_wrappers..).unwrap_or_default();
        (0..wrappers.len()).rev().map(move |outermost| {
            let commands = wrappers.iter().skip(outermost).map(Arc::as_ref).chain([self]);
            let words = commands.flat_map(Self::words_by_base_name).collect();
            Self::from(Invocation { words, ..Invocation::default() })
        })
    }

    /// The words, with the base name of the program as the first word, if the base name is known.
    fn words_by_base_name(&self) -> impl Iterator<Item = Word> {
        let program = self.program().map(str::to_owned);
        let first = self.words().first().map(|first| Word { value: program, ..first.clone() });
        first.into_iter().chain(self.words().iter().skip(1).cloned())
    }

    /// True if the command runs on a machine whose files are not known.
    pub fn has_unknown_files(&self) -> bool {
        self.is_remote() && self.context.container.is_none()
    }

    /// True if every word is known.
    pub fn is_known(&self) -> bool {
        self.words().iter().all(|word| word.value.is_some())
    }

    /// True if at least one word is known.
    pub fn has_known_word(&self) -> bool {
        self.words().iter().any(|word| word.value.is_some())
    }

    /// Returns a description of an effect that the words do not show. `None` if the program is a plain name, and the
    /// command sets no variables, redirects no output to a file, runs on this machine, and has no wrapper that changes
    /// its effects.
    pub fn hidden_effect(&self) -> Option<&'static str> {
        let is_by_name = self.words().first().is_some_and(|word| !word.raw.contains('/'));
        let hidden_effects = [
            (self.is_remote(), "it runs somewhere else"),
            (
                !self.via().iter().all(|program| TRANSPARENT_WRAPPERS.contains(&program.as_str())),
                "another program runs it",
            ),
            (self.redirects().iter().any(Redirect::writes_a_file), "it writes a file"),
            (!self.assignments().is_empty(), "it sets variables"),
            (!is_by_name, "its program is not a plain name"),
        ];
        hidden_effects.into_iter().find(|(applies, _)| *applies).map(|(_, effect)| effect)
    }

    /// The value of a variable that the script sets for the command or has exported; `None` if the script sets no
    /// variable of this name.
    pub(crate) fn variable(&self, name: &str) -> Option<Variable<'_>> {
        let set = self
            .assignments()
            .iter()
            .rfind(|set| set.name == name)
            .map(|set| Variable::of(set.value.value_or_placeholder()));
        let exported = || self.exported().iter().find(|exported| &*exported.name == name);
        set.or_else(|| exported().map(|exported| Variable::of(exported.value.as_deref())))
    }

    /// The text of stdin, if it is known.
    pub(crate) fn stdin_text(&self) -> Option<&str> {
        self.redirects().iter().rev().find_map(Redirect::text).or(self.provenance.input.as_deref())
    }

    /// The contents of the script file that the command runs, if the session wrote that file.
    pub(crate) fn script_text(&self) -> Option<&str> {
        match &self.provenance.script {
            Some(FileContents::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Returns a command of only those words that precede the first command, shell script or code in the arguments.
    /// Assignments and redirections are left out.
    pub(crate) fn without_delegated_words(&self) -> Self {
        let is_delegated = |argument: &&Argument| {
            matches!(argument.role, Role::Code | Role::Command | Role::Hook | Role::Shell | Role::Words)
        };
        let arguments = self.arguments().into_iter().flat_map(|arguments| &arguments.with_roles);
        let end = arguments.filter(is_delegated).map(|argument| argument.word).min().unwrap_or(self.words().len());
        let words = self.words().get(..end.max(1)).unwrap_or(self.words()).to_vec();
        let mut command = Self::from(Invocation { words, ..Invocation::default() });
        command.provenance.via.clone_from(&self.provenance.via);
        command.context.exported.clone_from(&self.context.exported);
        command.read_arguments();
        command
    }

    /// Assigns roles to the words. Must be called whenever the words have changed.
    pub(crate) fn read_arguments(&mut self) {
        for word in &mut self.invocation.words {
            word.role = Role::Plain;
            word.flag_length = 0;
        }
        self.invocation.arguments = self.program().and_then(|program| arguments(program, &self.texts_of_words()));
        let Some(arguments) = &self.invocation.arguments else { return };
        for argument in arguments.with_roles.iter().filter(|argument| argument.role.is_text()) {
            if let Some(word) = self.invocation.words.get_mut(argument.word) {
                word.role = argument.role;
                word.flag_length = argument.from;
            }
        }
    }

    /// Returns the text of each word, or `None` for an unknown word. A word that begins like a flag or `NAME=` is
    /// returned as written, even if the rest of it is unknown.
    pub fn texts_of_words(&self) -> Vec<Option<&str>> {
        let has_known_start =
            |word: &'_ Word| word.value.is_none() && (word.shown.starts_with('-') || word.begins_with_assignment());
        self.words()
            .iter()
            .map(|word| if has_known_start(word) { Some(word.shown.as_str()) } else { word.value.as_deref() })
            .collect()
    }

    /// Returns the directories that the command works in: the directories that it runs in, changed by arguments such as
    /// `-C`. `None` if one of these arguments is not known.
    pub fn works_in(&self) -> Option<PossibleDirectories> {
        let mut directories = self.directories().clone();
        let arguments = self.arguments().into_iter().flat_map(|arguments| &arguments.with_roles);
        for argument in arguments.filter(|argument| argument.role == Role::Directory) {
            directories = directories.after_cd(self.value_or_placeholder_from(argument.word, argument.from)?);
        }
        Some(directories)
    }

    /// Like [`Self::works_in`], for git. `None` if `--git-dir` selects another repository.
    pub fn git_directories(&self) -> Option<PossibleDirectories> {
        self.works_in().filter(|_| self.arguments().is_some_and(|known| !known.has_flag(&["--git-dir"])))
    }

    /// Returns the value of a word from a byte offset on; `None` if the value is not known.
    pub fn text_from(&self, word: usize, from: usize) -> Option<&str> {
        self.words().get(word)?.value.as_deref()?.get(from..)
    }

    /// Returns the words as written if the command could be any command: no word is known, and the first word may
    /// expand to several words. Otherwise returns `None`.
    pub(crate) fn text_if_unknown(&self) -> Option<String> {
        let may_be_several_words =
            |word: &Word| word.may_be_anything() || (word.value.is_none() && word.raw.contains('@'));
        let is_unknown = self.words().first().is_some_and(may_be_several_words)
            && self.words().iter().all(|word| word.value.is_none());
        is_unknown.then(|| self.words().iter().map(|word| word.shown.as_str()).collect::<Vec<_>>().join(" "))
    }

    /// True if the table of programs lists the program with these subcommands and flags.
    pub(crate) fn is_in_table(&self) -> bool {
        self.arguments().is_some_and(|arguments| arguments.is_known)
    }

    /// True if the command may have flags that are not known: a flag is only partly known, or a word may expand to
    /// flags.
    pub fn has_unknown_flags(&self, arguments: &Arguments) -> bool {
        let operands = || arguments.operands.iter().filter_map(|index| self.words().get(*index));
        let is_followed = operands().any(|word| word.value.is_some());
        let first = operands().next().is_some_and(Word::may_be_anything);
        (first && is_followed) || self.words().iter().any(Word::is_unknown_flag)
    }

    /// Like [`Self::text_from`], but falls back to the word's placeholder if the value is not known.
    pub(crate) fn value_or_placeholder_from(&self, word: usize, from: usize) -> Option<&str> {
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

    /// Like [`Word::file`], for the part of a word from a byte offset on.
    pub(crate) fn file_from(&self, word: usize, from: usize) -> Option<&str> {
        self.value_or_placeholder_from(word, from).or_else(|| self.words().get(word)?.stable_expansion()?.get(from..))
    }

    /// True if the command runs commands that a person types. Some programs always do so, as does Python if
    /// `PYTHONINSPECT` is set. Others do so only if no argument is a script, and stdin is neither a redirection nor a
    /// pipe.
    pub(crate) fn runs_typed_commands(&self) -> bool {
        let Some(arguments) = self.arguments() else { return false };
        let stays_interactive = self.variable("PYTHONINSPECT").is_some_and(|value| value.known() != Some(""));
        if stays_interactive && self.program().is_some_and(|program| program.starts_with("python")) {
            return true;
        }
        let is_script_role =
            |role| matches!(role, Role::Code | Role::Command | Role::Hook | Role::Script | Role::Shell | Role::Words);
        match arguments.interactive {
            None => false,
            Some(Interactive::Always) => true,
            Some(Interactive::WithoutScript) => {
                let is_stdin = |word: usize| self.words().get(word).is_some_and(Word::stands_for_stdin);
                let supplies_script = |argument: &Argument| is_script_role(argument.role) && !is_stdin(argument.word);
                !arguments.with_roles.iter().any(supplies_script)
                    && self.piped_from().is_empty()
                    && !self.redirects().iter().any(Redirect::replaces_stdin)
            }
        }
    }
}

/// Returns the name of a program without its directory and without `.exe`: `git` for `/usr/bin/git` and for `git.exe`.
fn base_name(program: &str) -> &str {
    let name = match program.rsplit_once('/') {
        Some((_, name)) if !name.is_empty() => name,
        _ => program,
    };
    name.strip_suffix(".exe").filter(|name| !name.is_empty()).unwrap_or(name)
}
