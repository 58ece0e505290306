//! A word of a command, with what is known of it.

use crate::programs::Role;
use crate::syntax::extent::{Enclosed, closing, closing_backquote};

/// Behind a folder, in a word that is no pattern of the shell: all that is below it, whatever it is called.
pub(crate) const ALL_BELOW: &str = "/**";

/// Stands for a number that is not known.
pub(crate) const SOME_NUMBER: &str = "12345";

/// Stands for an argument whose text is not shown.
const ELLIPSIS: &str = "…";

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
    pub(crate) means: Option<String>,
    /// What comes out of a `<(…)`, or is in a file that the session wrote, where that is known and asked for.
    pub(crate) given: Option<String>,
    /// The paths that come out of it, where they are all that does; for a program that a glob names, the glob.
    pub given_paths: Vec<Word>,
    /// For a word whose value is not known: without quotes, expansions as they were written.
    pub(crate) shown: String,
    /// For a word whose value is not known only because of variables from outside: what a shell gets that reads it, with
    /// those as they were written. What is in them is taken for words, not for commands.
    pub(crate) for_shell: Option<String>,
    /// How much of it is a flag before a value that is data, as in `--message=…`; in bytes.
    pub(crate) flag_length: usize,
}

impl Word {
    /// Whether its text is nothing that a shell runs: a message, a search pattern, a program in another language.
    pub fn is_data(&self) -> bool {
        self.role.is_text()
    }

    /// For telling what is done: what the program gets, or what it stands for.
    pub fn meaning(&self) -> Option<&str> {
        self.value.as_deref().or(self.means.as_deref())
    }

    /// A name for the file that is meant, good for comparing it with others of the same text.
    pub(crate) fn file(&self) -> Option<&str> {
        self.meaning().or_else(|| self.name_in_text())
    }

    /// `$DIR/x.sh`: a name that is not known, but the same wherever it stands. What is printed may differ each time.
    pub(super) fn name_in_text(&self) -> Option<&str> {
        let is_stable =
            self.value.is_none() && self.shown.starts_with('$') && !self.shown.contains(['(', '`', '…', '@', '*']);
        is_stable.then_some(self.shown.as_str())
    }

    /// The folder, where all that is below it is meant.
    pub(crate) fn folder_of_all<'p>(&self, path: &'p str) -> Option<&'p str> {
        path.strip_suffix(ALL_BELOW).filter(|_| !self.glob)
    }

    /// One of which nothing is known.
    pub(crate) fn unknown() -> Self {
        Self { raw: "…".to_owned(), shown: "$…".to_owned(), ..Self::default() }
    }

    pub(crate) fn known(text: &str) -> Self {
        Self { raw: text.to_owned(), value: Some(text.to_owned()), ..Self::default() }
    }

    /// Whether it names what is read: the input itself.
    pub(crate) fn is_input(&self) -> bool {
        self.value.as_deref() == Some("-") || (self.value.as_deref() != Some("/dev/null") && self.is_device())
    }

    /// Whether it names no file that lies there: another descriptor, a terminal, a connection.
    pub(crate) fn is_device(&self) -> bool {
        let path = self.value.as_deref().map(path::normalize);
        path.is_some_and(|path| path.starts_with("/dev/") || path.starts_with("/proc/self/fd/"))
    }

    pub(crate) fn is_standard_input(&self) -> bool {
        let path = self.value.as_deref().map(path::normalize);
        matches!(path.as_deref(), Some("/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"))
    }

    /// Whether it stands for what a `<(…)` prints.
    pub(crate) fn is_process(&self) -> bool {
        self.raw.starts_with("<(")
    }

    /// Whether it is what one substitution prints: `$(…)`, between quotes or not.
    pub(crate) fn is_substitution(&self) -> bool {
        let raw = self.raw.strip_prefix('"').and_then(|raw| raw.strip_suffix('"')).unwrap_or(&self.raw);
        let by_backquotes = raw.starts_with('`') && closing_backquote(raw, 1) == Some(raw.len() - 1);
        let by_dollar = raw.starts_with("$(") && closing(raw, 2, Enclosed::Commands) == Some(raw.len() - 1);
        by_backquotes || by_dollar
    }

    /// Whether it may be no word at all: an expansion, without quotes, that is not known to have a value.
    pub(crate) fn may_be_nothing(&self) -> bool {
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
    pub(super) fn begins_with_name(&self) -> bool {
        let name = self.known_start().split_once('=').map(|(name, _)| name);
        name.is_some_and(|name| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        })
    }

    /// What stands before the first part that is not known.
    pub(super) fn known_start(&self) -> &str {
        self.shown.split(['$', '`']).next().unwrap_or_default()
    }

    /// What stands behind the last part that is not known.
    pub(crate) fn known_end(&self) -> &str {
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

    /// `python` of `$VENV/bin/python`: what is behind the last slash, where all of that is known.
    pub(super) fn name_in_unknown_folder(&self) -> Option<&str> {
        let (_, name) = self.known_end().rsplit_once('/')?;
        // Anything else could be the end of an expansion, or a pattern.
        let is_plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '.' | '_' | '-' | '+');
        (!self.glob && !name.is_empty() && name.chars().all(is_plain)).then_some(name)
    }

    pub(super) fn normalised(&self, shown: &str) -> String {
        match self.is_data() {
            true if self.flag_length > 0 && !shown.contains(char::is_whitespace) => {
                format!("{}{ELLIPSIS}", shown.get(..self.flag_length).unwrap_or_default())
            }
            true => ELLIPSIS.to_owned(),
            false => visible(shown),
        }
    }
}

pub(super) fn visible(argument: &str) -> String {
    match argument {
        "" => "''".to_owned(),
        _ if argument.contains(char::is_whitespace) => ELLIPSIS.to_owned(),
        _ => argument.to_owned(),
    }
}
