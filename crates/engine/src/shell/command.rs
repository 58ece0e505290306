//! What a script consists of: simple commands and their words.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::branch::Branch;
use super::container::Container;
use super::extent::{Enclosed, closing, closing_backquote};
use super::written::Written;
use crate::paths;
use crate::programs::{Argument, Arguments, Role, Session, arguments};

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SimpleCommand {
    /// The program and its arguments, after quote removal and brace expansion.
    pub words: Vec<Word>,
    /// `NAME=value` before the program.
    pub assignments: Vec<Assignment>,
    pub redirects: Vec<Redirect>,
    /// The programs through which it would be run, outermost first: `sudo`, `env`, `bash -c`.
    pub via: Vec<String>,
    /// Those of them that do nothing else, and so are no commands of the script: with their own words only, `sudo -u x`.
    pub wrappers: Vec<Arc<SimpleCommand>>,
    /// Whether it would run somewhere else: on another machine, or in a container.
    pub is_remote: bool,
    /// The container that it runs in, of this machine.
    pub(super) container: Option<Arc<Container>>,
    pub folders: Folders,
    /// The shell it runs in: a place in [`super::Script::scopes`].
    pub scope: usize,
    /// Whether it waits for what is typed, and runs that.
    pub is_session: bool,
    /// The programs whose output it runs.
    pub runs_output_of: Vec<String>,
    /// Settings of git that the script has made so far: names in lower case, and values.
    pub git_settings: Arc<[Arc<(String, String)>]>,
    /// Those that its environment gives it.
    pub(super) git_environment: Vec<(String, String)>,
    /// What the script has exported so far.
    pub exported: Arc<[Exported]>,
    /// Names of variables that were there before the script, and that it does not get to see any more.
    pub removed: Removed,
    /// The branches that may be checked out where it runs, as far as the script says.
    pub branches: Arc<[Branch]>,
    /// Its words as its program reads them; none where the program is not known.
    pub arguments: Option<Arguments>,
    /// What it reads, where that is known.
    pub(super) input: Option<Arc<str>>,
    /// The names of files that come to it, where it takes such.
    pub(super) told: Vec<Word>,
    /// What is in the files of patches that it applies, as far as those were written in the session.
    pub(super) patches: Vec<Arc<str>>,
    /// What is in the file that it runs, where that was written in the session.
    pub(super) script: Option<Written>,
    /// What it runs of its own accord, of what the script has written: texts for a shell, `None` for one that is not known.
    pub(super) own_texts: Vec<Option<String>>,
    /// The commands in its words: places in [`super::Script::commands`].
    pub(super) substituted: Range<usize>,
    /// The commands whose output it may read: places in [`super::Script::commands`].
    pub piped_from: Range<usize>,
}

/// The folders that a command may run in, as written from where the script starts: first the one that it runs in if
/// everything before it worked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folders {
    list: Option<Arc<[String]>>,
    /// Whether it may be any of them, not just the first that is there.
    is_either: bool,
}

/// Behind a folder, in a word that is no pattern of the shell: all that is below it, whatever it is called.
pub(super) const ALL_BELOW: &str = "/**";

/// More are as good as any.
const MAX_FOLDERS: usize = 8;
/// Longer than people have them. Each `cd` makes a path longer, and each part of it is looked at.
const MAX_PATH: usize = 1024;

impl Default for Folders {
    fn default() -> Self {
        Self::at("")
    }
}

impl Folders {
    pub(super) fn at(folder: &str) -> Self {
        Self { list: Some([folder.to_owned()].into()), is_either: false }
    }

    pub(super) fn unknown() -> Self {
        Self { list: None, is_either: false }
    }

    /// `None`: it could be any.
    pub fn list(&self) -> Option<&[String]> {
        self.list.as_deref()
    }

    pub(super) fn has_pattern(&self) -> bool {
        self.list.iter().flat_map(|folders| &**folders).any(|folder| folder.contains(['*', '?']))
    }

    pub(super) fn only(&self) -> Option<&str> {
        match self.list.as_deref() {
            Some([only]) => Some(only),
            _ => None,
        }
    }

    /// Where a path leads from here.
    pub(super) fn then(&self, path: &str) -> Self {
        let behind = |folder: &String| match path {
            "." | "./" => folder.clone(),
            _ if folder.is_empty() || paths::is_free(path) => path.to_owned(),
            _ => format!("{folder}/{path}"),
        };
        match &self.list {
            None if paths::is_free(path) => Self::at(path),
            folders => {
                let is_short = |folder: &String| folder.len() + path.len() < MAX_PATH;
                let short = folders.as_ref().filter(|folders| folders.iter().all(is_short));
                Self { list: short.map(|folders| folders.iter().map(behind).collect()), is_either: self.is_either }
            }
        }
    }

    pub fn is_either(&self) -> bool {
        self.is_either
    }

    /// The one or the other.
    pub(super) fn or(&mut self, others: &Self) {
        self.is_either |= self != others;
        self.or_else(others);
    }

    /// One that is meant, and others if it fails.
    pub(super) fn or_else(&mut self, others: &Self) {
        self.is_either |= others.is_either;
        match (&self.list, &others.list) {
            (Some(own), Some(others)) => {
                let more: Vec<&String> = others.iter().filter(|folder| !own.contains(folder)).collect();
                if own.len() + more.len() > MAX_FOLDERS {
                    self.list = None;
                } else if !more.is_empty() {
                    self.list = Some(own.iter().chain(more).cloned().collect());
                }
            }
            _ => self.list = None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Word {
    /// As it was written.
    pub raw: String,
    /// What the program gets; none where that cannot be known before it runs (a variable, a substitution). Globs and
    /// tildes stay as they are.
    pub value: Option<String>,
    /// What it is to its program, where that matters.
    pub role: Role,
    /// Whether there are glob characters in it that are not quoted.
    pub glob: bool,
    /// Whether a `~` of it stands for somebody's home folder.
    pub tilde: bool,
    /// What it stands for, where only its kind is known: a path in the temporary folder, the branch that is checked out.
    pub(super) means: Option<String>,
    /// What comes out of a `<(…)`, or is in a file that the session wrote, where that is known and asked for.
    pub(super) given: Option<String>,
    /// The paths that come out of it, where they are all that does.
    pub(super) given_paths: Vec<Word>,
    /// For a word whose value is not known: without quotes, expansions as they were written.
    pub(super) shown: String,
    /// For a word whose value is not known only because of variables from outside: what a shell gets that reads it, with
    /// those as they were written. What is in them is taken for words, not for commands.
    pub(super) for_shell: Option<String>,
    /// How much of it is a flag before a value that is data, as in `--message=…`; in bytes.
    pub(super) flag_length: usize,
}

/// `NAME=value`, `NAME+=value`, `NAME[index]=value` or `NAME=(…)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    pub name: String,
    /// Not known where it appends, or sets an array.
    pub value: Word,
}

/// What programs get to see of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    pub name: Arc<str>,
    /// `None` where it is not known.
    pub value: Option<Arc<str>>,
}

/// Variables that are taken away: by `unset`, `env -u`, `env -i`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Removed {
    names: Arc<[Arc<str>]>,
    all: bool,
}

impl Removed {
    pub fn has(&self, name: &str) -> bool {
        self.all || self.names.iter().any(|removed| &**removed == name)
    }

    pub(super) fn add(&mut self, name: &str) {
        if !self.has(name) {
            self.names = self.names.iter().cloned().chain([name.into()]).collect();
        }
    }

    pub(super) fn add_all(&mut self) {
        self.all = true;
    }

    /// As it is if either of two ways was taken: what may be gone counts as gone.
    pub(super) fn or(&mut self, other: &Self) {
        self.all |= other.all;
        if !Arc::ptr_eq(&self.names, &other.names) {
            other.names.iter().for_each(|name| self.add(name));
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// The descriptor before the operator, where one is written.
    pub descriptor: Option<i32>,
    pub kind: RedirectKind,
    /// A file, a descriptor, or the text of a here-document or here-string.
    pub target: Word,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedirectKind {
    /// `<`
    Read,
    /// `>`
    Write,
    /// `>>`
    Append,
    /// `<>`
    ReadWrite,
    /// `>|`
    Clobber,
    /// `<&`
    DuplicateInput,
    /// `>&`; with a target that is no number or `-`, a write.
    DuplicateOutput,
    /// `&>`
    WriteAll,
    /// `&>>`
    AppendAll,
    /// `<<`
    HereDocument,
    /// `<<<`
    HereString,
}

impl Redirect {
    /// Whether it gives something to read instead of what is typed.
    pub(super) fn is_input(&self) -> bool {
        let is_read = matches!(
            self.kind,
            RedirectKind::Read
                | RedirectKind::ReadWrite
                | RedirectKind::DuplicateInput
                | RedirectKind::HereDocument
                | RedirectKind::HereString
        );
        is_read && self.descriptor.unwrap_or(0) == 0
    }

    /// Whether it sends what is printed to a file.
    pub(super) fn takes_output(&self) -> bool {
        self.writes_a_file() && matches!(self.descriptor, None | Some(1)) && self.kind != RedirectKind::ReadWrite
    }

    /// Whether what is printed is seen by nobody.
    pub(super) fn drops_output(&self) -> bool {
        let is_output = !self.is_input() && matches!(self.descriptor, None | Some(1));
        is_output && self.target.value.as_deref() == Some("/dev/null")
    }

    /// What it gives to read, where that is a text that is known, or that something known stands for.
    pub(super) fn text(&self) -> Option<&str> {
        match self.kind {
            RedirectKind::HereDocument | RedirectKind::HereString => self.target.meaning(),
            RedirectKind::Read | RedirectKind::ReadWrite => self.target.given.as_deref(),
            _ => None,
        }
    }

    /// The paths that it gives to read, one a line.
    pub(super) fn paths(&self) -> &[Word] {
        if self.is_input() { &self.target.given_paths } else { &[] }
    }

    pub(super) fn writes_a_file(&self) -> bool {
        match self.kind {
            RedirectKind::Read
            | RedirectKind::DuplicateInput
            | RedirectKind::HereDocument
            | RedirectKind::HereString => false,
            RedirectKind::DuplicateOutput => {
                let is_descriptor = |target: &str| target == "-" || target.bytes().all(|byte| byte.is_ascii_digit());
                !self.target.value.as_deref().is_some_and(is_descriptor)
            }
            RedirectKind::Write
            | RedirectKind::Append
            | RedirectKind::ReadWrite
            | RedirectKind::Clobber
            | RedirectKind::WriteAll
            | RedirectKind::AppendAll => self.target.value.as_deref() != Some("/dev/null"),
        }
    }
}

/// What runs under these is as it would be without them.
const MERE_WRAPPERS: &[&str] = &["bash -c", "command", "nice", "nohup", "sh -c", "stdbuf", "time", "timeout", "zsh -c"];

/// Stands for an argument whose text is not shown.
const ELLIPSIS: &str = "…";

impl SimpleCommand {
    /// Base name of the program; none where it is not known, or there is no program.
    pub fn program(&self) -> Option<&str> {
        self.words.first()?.value.as_deref().map(base_name)
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
        self.words.iter().filter(|word| word.value.is_none()).count()
    }

    fn joined<'w>(&'w self, value: impl Fn(&'w Word) -> Cow<'w, str>) -> String {
        let mut text = String::new();
        for word in &self.words {
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
    pub(crate) fn is_out_of_sight(&self) -> bool {
        self.is_remote && self.container.is_none()
    }

    /// Whether what every word will be is known.
    pub fn is_known(&self) -> bool {
        self.words.iter().all(|word| word.value.is_some())
    }

    /// What it does beyond what its words say. Nothing, where its program is the one of that name, for which it sets
    /// nothing, it writes to no file, and it runs here, with no other rights.
    pub fn beyond_its_words(&self) -> Option<&'static str> {
        let is_by_name = self.words.first().is_some_and(|word| !word.raw.contains('/'));
        let deeds = [
            (self.is_remote, "it runs somewhere else"),
            (!self.via.iter().all(|program| MERE_WRAPPERS.contains(&program.as_str())), "another program runs it"),
            (self.redirects.iter().any(Redirect::writes_a_file), "it writes a file"),
            (!self.assignments.is_empty(), "it sets variables"),
            (!is_by_name, "its program is no plain name"),
        ];
        deeds.into_iter().find(|(is_so, _)| *is_so).map(|(_, deed)| deed)
    }

    /// What it is given to read, where that is a known text.
    pub(super) fn given_text(&self) -> Option<&str> {
        self.redirects.iter().rev().find_map(Redirect::text).or(self.input.as_deref())
    }

    /// What is in the file that it runs, where that was written in the session.
    pub(super) fn script_text(&self) -> Option<&str> {
        match &self.script {
            Some(Written::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Without what it runs.
    pub(super) fn own_words(&self) -> Self {
        let is_run = |argument: &&Argument| {
            matches!(argument.role, Role::Code | Role::Command | Role::Hook | Role::Shell | Role::Words)
        };
        let arguments = self.arguments.iter().flat_map(|arguments| &arguments.list);
        let end = arguments.filter(is_run).map(|argument| argument.word).min().unwrap_or(self.words.len());
        let words = self.words.get(..end.max(1)).unwrap_or(&self.words).to_vec();
        let mut own = Self { words, via: self.via.clone(), exported: self.exported.clone(), ..Self::default() };
        own.read_arguments();
        own
    }

    /// Reads its words as its program does. To be called when they have changed.
    pub(super) fn read_arguments(&mut self) {
        for word in &mut self.words {
            word.role = Role::Plain;
            word.flag_length = 0;
        }
        self.arguments = self.program().and_then(|program| arguments(program, &self.texts_of_words()));
        let Some(arguments) = &self.arguments else { return };
        for argument in arguments.list.iter().filter(|argument| argument.role.is_text()) {
            if let Some(word) = self.words.get_mut(argument.word) {
                word.role = argument.role;
                word.flag_length = argument.from;
            }
        }
    }

    /// What begins like a flag or a `NAME=` is one, whatever follows.
    pub(crate) fn texts_of_words(&self) -> Vec<Option<&str>> {
        let begun = |word: &'_ Word| word.value.is_none() && (word.shown.starts_with('-') || word.begins_with_name());
        self.words
            .iter()
            .map(|word| if begun(word) { Some(word.shown.as_str()) } else { word.value.as_deref() })
            .collect()
    }

    /// The folders that it may work in, by where it runs and by what it is told; `None` where it could be any.
    pub(crate) fn works_in(&self) -> Option<Folders> {
        let mut folders = self.folders.clone();
        let arguments = self.arguments.iter().flat_map(|arguments| &arguments.list);
        for argument in arguments.filter(|argument| argument.role == Role::Folder) {
            folders = folders.then(self.meaning_from(argument.word, argument.from)?);
        }
        Some(folders)
    }

    /// The same of git.
    pub(crate) fn git_folders(&self) -> Option<Folders> {
        self.works_in().filter(|_| self.arguments.as_ref().is_some_and(|known| !known.has_flag(&["--git-dir"])))
    }

    /// What stands in a word from a place on; `None` where that is not known.
    pub(crate) fn text_from(&self, word: usize, from: usize) -> Option<&str> {
        self.words.get(word)?.value.as_deref()?.get(from..)
    }

    /// A command that could turn out to be any: nothing but expansions that may be several words.
    pub(super) fn is_anything(&self) -> Option<String> {
        let is_several = |word: &Word| word.may_be_anything() || (word.value.is_none() && word.raw.contains('@'));
        let is_anything =
            self.words.first().is_some_and(is_several) && self.words.iter().all(|word| word.value.is_none());
        is_anything.then(|| self.words.iter().map(|word| word.shown.as_str()).collect::<Vec<_>>().join(" "))
    }

    /// Whether its program is known, and this form of it.
    pub(super) fn is_understood(&self) -> bool {
        self.arguments.as_ref().is_some_and(|arguments| arguments.is_known)
    }

    /// Whether there may be flags that are not known: an expansion before an operand stands where flags stand.
    pub(crate) fn has_unknown_flags(&self, arguments: &Arguments) -> bool {
        let operands = || arguments.operands.iter().filter_map(|place| self.words.get(*place));
        let is_followed = operands().any(|word| word.value.is_some());
        let first = operands().next().is_some_and(Word::may_be_anything);
        (first && is_followed) || self.words.iter().any(Word::is_unknown_flag)
    }

    /// The same of what the word stands for.
    pub(super) fn meaning_from(&self, word: usize, from: usize) -> Option<&str> {
        let word = self.words.get(word)?;
        match &word.value {
            Some(value) => value.get(from..),
            // What stands before it is a flag, which is written out.
            None => word.means.as_deref().filter(|means| means.get(..from) == word.shown.get(..from))?.get(from..),
        }
    }

    /// A name for the file that is meant: what stands for it, or the word as it is written.
    pub(super) fn file_from(&self, word: usize, from: usize) -> Option<&str> {
        self.meaning_from(word, from).or_else(|| self.words.get(word)?.name_in_text()?.get(from..))
    }

    /// Whether it is given nothing to run, and nothing to read it from.
    pub(super) fn waits_for_input(&self) -> bool {
        let Some(arguments) = &self.arguments else { return false };
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
                let is_input = |word: usize| self.words.get(word).is_some_and(Word::is_input);
                let given = |argument: &Argument| is_given(argument.role) && !is_input(argument.word);
                !arguments.list.iter().any(given)
                    && self.piped_from.is_empty()
                    && !self.redirects.iter().any(Redirect::is_input)
            }
        }
    }
}

impl Word {
    /// Whether its text is nothing that a shell runs: a message, a search pattern, a program in another language.
    pub fn is_data(&self) -> bool {
        self.role.is_text()
    }

    /// For telling what is done: what the program gets, or what it stands for.
    pub(crate) fn meaning(&self) -> Option<&str> {
        self.value.as_deref().or(self.means.as_deref())
    }

    /// A name for the file that is meant, good for comparing it with others of the same text.
    pub(super) fn file(&self) -> Option<&str> {
        self.meaning().or_else(|| self.name_in_text())
    }

    /// `$DIR/x.sh`: a name that is not known, but the same wherever it stands. What is printed may differ each time.
    fn name_in_text(&self) -> Option<&str> {
        let is_stable =
            self.value.is_none() && self.shown.starts_with('$') && !self.shown.contains(['(', '`', '…', '@', '*']);
        is_stable.then_some(self.shown.as_str())
    }

    /// The folder, where all that is below it is meant.
    pub(super) fn folder_of_all<'p>(&self, path: &'p str) -> Option<&'p str> {
        path.strip_suffix(ALL_BELOW).filter(|_| !self.glob)
    }

    /// One of which nothing is known.
    pub(super) fn unknown() -> Self {
        Self { raw: "…".to_owned(), shown: "$…".to_owned(), ..Self::default() }
    }

    pub(super) fn known(text: &str) -> Self {
        Self { raw: text.to_owned(), value: Some(text.to_owned()), ..Self::default() }
    }

    /// Whether it names what is read: the input itself.
    pub(super) fn is_input(&self) -> bool {
        self.value.as_deref() == Some("-") || (self.value.as_deref() != Some("/dev/null") && self.is_device())
    }

    /// Whether it names no file that lies there: another descriptor, a terminal, a connection.
    pub(super) fn is_device(&self) -> bool {
        let path = self.value.as_deref().map(paths::tidy);
        path.is_some_and(|path| path.starts_with("/dev/") || path.starts_with("/proc/self/fd/"))
    }

    pub(super) fn is_standard_input(&self) -> bool {
        let path = self.value.as_deref().map(paths::tidy);
        matches!(path.as_deref(), Some("/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"))
    }

    /// Whether it stands for what a `<(…)` prints.
    pub(super) fn is_process(&self) -> bool {
        self.raw.starts_with("<(")
    }

    /// Whether it is what one substitution prints: `$(…)`, between quotes or not.
    pub(super) fn is_substitution(&self) -> bool {
        let raw = self.raw.strip_prefix('"').and_then(|raw| raw.strip_suffix('"')).unwrap_or(&self.raw);
        let by_backquotes = raw.starts_with('`') && closing_backquote(raw, 1) == Some(raw.len() - 1);
        let by_dollar = raw.starts_with("$(") && closing(raw, 2, Enclosed::Commands) == Some(raw.len() - 1);
        by_backquotes || by_dollar
    }

    /// Whether it may be no word at all: an expansion, without quotes, that is not known to have a value.
    pub(super) fn may_be_nothing(&self) -> bool {
        let is_name = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let is_variable = || self.raw.strip_prefix('$').is_some_and(is_name);
        self.value.is_none() && !self.raw.starts_with('"') && (self.is_substitution() || is_variable())
    }

    /// Whether it could turn out to be anything, several words or none.
    pub(crate) fn may_be_anything(&self) -> bool {
        self.value.is_none() && self.raw.starts_with(['$', '`']) && !self.raw.contains(['"', '\''])
    }

    /// Whether it is a flag of which only the beginning is known.
    pub(crate) fn is_unknown_flag(&self) -> bool {
        let may_be = |expansion: &str| [":+-", "+--", ":--"].iter().any(|part| expansion.contains(part));
        self.value.is_none() && (self.shown.starts_with('-') || may_be(&self.raw))
    }

    /// `NAME=…`, of which only the beginning is known.
    fn begins_with_name(&self) -> bool {
        let name = self.known_start().split_once('=').map(|(name, _)| name);
        name.is_some_and(|name| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        })
    }

    /// What stands before the first part that is not known.
    fn known_start(&self) -> &str {
        self.shown.split(['$', '`']).next().unwrap_or_default()
    }

    /// What stands behind the last part that is not known.
    pub(super) fn known_end(&self) -> &str {
        let Some(at) = self.shown.rfind(['$', '`']) else { return "" };
        let rest = self.shown.get(at..).unwrap_or_default();
        let mut letters = rest.chars();
        let end = match (letters.next(), letters.next()) {
            (Some('$'), Some('{')) => rest.find('}').map_or(rest.len(), |close| close + 1),
            (Some('$'), Some('(')) => rest.rfind(')').map_or(rest.len(), |close| close + 1),
            (Some('$'), Some(first)) if first.is_alphabetic() || first == '_' => {
                let name = |letter: char| letter.is_alphanumeric() || letter == '_';
                1 + rest.chars().skip(1).take_while(|letter| name(*letter)).map(char::len_utf8).sum::<usize>()
            }
            (Some('$'), Some(special)) => 1 + special.len_utf8(),
            _ => 1,
        };
        rest.get(end..).unwrap_or_default()
    }

    fn normalised(&self, shown: &str) -> String {
        match self.is_data() {
            true if self.flag_length > 0 && !shown.contains(char::is_whitespace) => {
                format!("{}{ELLIPSIS}", shown.get(..self.flag_length).unwrap_or_default())
            }
            true => ELLIPSIS.to_owned(),
            false => visible(shown),
        }
    }
}

fn visible(argument: &str) -> String {
    match argument {
        "" => "''".to_owned(),
        _ if argument.contains(char::is_whitespace) => ELLIPSIS.to_owned(),
        _ => argument.to_owned(),
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
