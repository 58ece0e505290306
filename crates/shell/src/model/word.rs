//! A word of a command, and what is known about it.

use crate::programs::Role;
use crate::syntax::closing::{Construct, closing, closing_backquote};

/// Follows a directory in a word that is not a glob: everything below the directory, hidden files included.
pub(crate) const ALL_BELOW: &str = "/**";

/// A placeholder for an unknown number.
pub(crate) const SOME_NUMBER: &str = "12345";

/// Replaces an argument whose text is not shown.
const ELLIPSIS: &str = "…";

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Word {
    /// As written.
    pub raw: String,
    /// The value that the program gets; `None` if it cannot be known before the script runs (a variable, a
    /// substitution). Globs and tildes are not expanded.
    pub value: Option<String>,
    /// Its role for the program, if that is data, code or a query.
    pub role: Role,
    /// True if it has unquoted glob characters.
    pub glob: bool,
    /// True if its `~` stands for a home directory.
    pub tilde: bool,
    /// A placeholder for the value, if only its kind is known: a path in the temporary directory, the branch that is
    /// checked out.
    pub(crate) placeholder: Option<String>,
    /// The output of `<(…)`, or the contents of a file that the session wrote, if they are known and a command needs
    /// them.
    pub(crate) contents: Option<String>,
    /// The paths that a `<(…)` prints, if it prints nothing else. For a program that is given by a glob: the glob.
    pub given_paths: Vec<Word>,
    /// For a word whose value is not known: the word as written, without quotes.
    pub(crate) shown: String,
    /// For a word whose value is not known only because of variables that the script does not set: the text for a shell
    /// that reads it, with these variables as written. They are assumed to contain words, not commands.
    pub(crate) for_shell: Option<String>,
    /// The length of the flag before a value that is data (`--message=…`), in bytes.
    pub(crate) flag_length: usize,
}

impl Word {
    /// True if it is text that a shell does not run: a message, a search pattern, code in another language.
    pub fn is_data(&self) -> bool {
        self.role.is_text()
    }

    /// The value, or the placeholder for it. Sufficient to find effects.
    pub fn meaning(&self) -> Option<&str> {
        self.value.as_deref().or(self.placeholder.as_deref())
    }

    /// Identifies a file within the script: the value, the placeholder, or the expansion as written.
    pub(crate) fn file(&self) -> Option<&str> {
        self.meaning().or_else(|| self.name_in_text())
    }

    /// `$DIR/x.sh`: a path that is not known, but is the same wherever it is written. The output of a substitution may
    /// differ each time.
    pub(super) fn name_in_text(&self) -> Option<&str> {
        let is_stable =
            self.value.is_none() && self.shown.starts_with('$') && !self.shown.contains(['(', '`', '…', '@', '*']);
        is_stable.then_some(self.shown.as_str())
    }

    /// Returns the directory of a path that stands for everything below a directory.
    pub(crate) fn directory_of_all<'p>(&self, path: &'p str) -> Option<&'p str> {
        path.strip_suffix(ALL_BELOW).filter(|_| !self.glob)
    }

    /// A word about which nothing is known.
    pub(crate) fn unknown() -> Self {
        Self { raw: "…".to_owned(), shown: "$…".to_owned(), ..Self::default() }
    }

    pub(crate) fn known(text: &str) -> Self {
        Self { raw: text.to_owned(), value: Some(text.to_owned()), ..Self::default() }
    }

    /// True if it stands for stdin: `-`, or a device.
    pub(crate) fn is_input(&self) -> bool {
        self.value.as_deref() == Some("-") || (self.value.as_deref() != Some("/dev/null") && self.is_device())
    }

    /// True if it names no regular file: a descriptor, a terminal, a connection.
    pub(crate) fn is_device(&self) -> bool {
        let path = self.value.as_deref().map(path::normalize);
        path.is_some_and(|path| path.starts_with("/dev/") || path.starts_with("/proc/self/fd/"))
    }

    pub(crate) fn is_standard_input(&self) -> bool {
        let path = self.value.as_deref().map(path::normalize);
        matches!(path.as_deref(), Some("/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"))
    }

    /// True if it is a `<(…)`.
    pub(crate) fn is_process(&self) -> bool {
        self.raw.starts_with("<(")
    }

    /// True if it is a single substitution, quoted or not: `$(…)`.
    pub(crate) fn is_substitution(&self) -> bool {
        let raw = self.raw.strip_prefix('"').and_then(|raw| raw.strip_suffix('"')).unwrap_or(&self.raw);
        let by_backquotes = raw.starts_with('`') && closing_backquote(raw, 1) == Some(raw.len() - 1);
        let by_dollar = raw.starts_with("$(") && closing(raw, 2, Construct::Commands) == Some(raw.len() - 1);
        by_backquotes || by_dollar
    }

    /// True if it may expand to no word: an unquoted expansion that may be empty.
    pub(crate) fn may_be_nothing(&self) -> bool {
        let is_name = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let is_variable = || self.raw.strip_prefix('$').is_some_and(is_name);
        self.value.is_none() && !self.raw.starts_with('"') && (self.is_substitution() || is_variable())
    }

    /// True if it may expand to anything, including several words or none.
    pub(crate) fn may_be_anything(&self) -> bool {
        self.value.is_none() && self.raw.starts_with(['$', '`']) && !self.raw.contains(['"', '\''])
    }

    /// True if it is a flag of which only the start is known, or may expand to one.
    pub(crate) fn is_unknown_flag(&self) -> bool {
        let may_be = |expansion: &str| [":+-", "+--", ":--"].iter().any(|part| expansion.contains(part));
        self.value.is_none() && (self.shown.starts_with('-') || may_be(&self.raw))
    }

    /// True if it begins with `NAME=`, and the rest is not known.
    pub(super) fn begins_with_name(&self) -> bool {
        let name = self.known_start().split_once('=').map(|(name, _)| name);
        name.is_some_and(|name| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        })
    }

    /// The part before the first expansion.
    pub(super) fn known_start(&self) -> &str {
        self.shown.split(['$', '`']).next().unwrap_or_default()
    }

    /// The part after the last expansion.
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

    /// `python` of `$VENV/bin/python`: the part after the last slash, if it is known.
    pub(super) fn name_in_unknown_directory(&self) -> Option<&str> {
        let (_, name) = self.known_end().rsplit_once('/')?;
        // Any other character could end an expansion, or be part of a glob.
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
