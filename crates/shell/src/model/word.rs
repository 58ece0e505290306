//! A word of a command, and what is known about it.

use crate::programs::Role;
use crate::syntax::closing::{Construct, closing, closing_backquote};

/// A path with this ending stands for everything below a directory, hidden files included. A word that contains such a
/// path is not a glob.
pub(crate) const ALL_BELOW: &str = "/**";

/// A placeholder for an unknown number.
pub(crate) const SOME_NUMBER: &str = "12345";

/// Normalized text contains this character instead of an argument that is data or contains whitespace.
const ELLIPSIS: &str = "…";

/// A word of a command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Word {
    /// The word as written.
    pub raw: String,
    /// The value that the program gets; `None` if it cannot be known before the script runs (a variable, a
    /// substitution). Globs and tildes are not expanded.
    pub value: Option<String>,
    /// The role of the word for the program, if the role is data, code or a query. Otherwise the default role.
    pub role: Role,
    /// True if the word has unquoted glob characters.
    pub glob: bool,
    /// True if the `~` in the word stands for a home directory.
    pub tilde: bool,
    /// A placeholder for the value, if only its kind is known: a path in the temporary directory, the branch that is
    /// checked out.
    pub(crate) placeholder: Option<String>,
    /// The output of a process substitution, or the contents of the file that the word names, if they are known and the
    /// command needs them.
    pub(crate) contents: Option<String>,
    /// The paths that the word may stand for: the paths that a process substitution prints, if it prints nothing else,
    /// or the glob in place of a program name.
    pub possible_paths: Vec<Word>,
    /// For a word whose value is not known: the word as written, without quotes.
    pub(crate) shown: String,
    /// For a word that is unknown only because of variables that the script does not set: the text of the word as a
    /// script for a shell, in which these variables stay as they are written. Their values are assumed to contain no
    /// commands.
    pub(crate) text_for_shell: Option<String>,
    /// The length of the flag before a value that is data (`--message=…`), in bytes.
    pub(crate) flag_length: usize,
}

impl Word {
    /// True if the word is text that a shell does not run: a message, a search pattern, code in a language other than
    /// shell.
    pub fn is_data(&self) -> bool {
        self.role.is_text()
    }

    /// Returns the value or, if it is not known, the placeholder for it. A placeholder is sufficient to find effects.
    pub fn value_or_placeholder(&self) -> Option<&str> {
        self.value.as_deref().or(self.placeholder.as_deref())
    }

    /// Returns a string that identifies the file that the word names, within one script: the value, the placeholder, or
    /// the expansion as written.
    pub(crate) fn file(&self) -> Option<&str> {
        self.value_or_placeholder().or_else(|| self.stable_expansion())
    }

    /// Returns the word as written if its value is not known, but is the same wherever the word is written:
    /// `$DIR/x.sh`. `None` for a substitution, because its output may differ each time.
    pub(super) fn stable_expansion(&self) -> Option<&str> {
        let is_stable =
            self.value.is_none() && self.shown.starts_with('$') && !self.shown.contains(['(', '`', '…', '@', '*']);
        is_stable.then_some(self.shown.as_str())
    }

    /// Returns the directory if the path stands for everything below it.
    pub(crate) fn directory_of_tree<'p>(&self, path: &'p str) -> Option<&'p str> {
        path.strip_suffix(ALL_BELOW).filter(|_| !self.glob)
    }

    /// Returns a word of which nothing is known.
    pub(crate) fn unknown() -> Self {
        Self { raw: "…".to_owned(), shown: "$…".to_owned(), ..Self::default() }
    }

    pub(crate) fn known(text: &str) -> Self {
        Self { raw: text.to_owned(), value: Some(text.to_owned()), ..Self::default() }
    }

    /// True if the word stands for stdin: `-`, or a device.
    pub(crate) fn stands_for_stdin(&self) -> bool {
        self.value.as_deref() == Some("-") || (self.value.as_deref() != Some("/dev/null") && self.is_device())
    }

    /// True if the word names a device: a file descriptor, a terminal, a network connection.
    pub(crate) fn is_device(&self) -> bool {
        let path = self.value.as_deref().map(path::normalize);
        path.is_some_and(|path| path.starts_with("/dev/") || path.starts_with("/proc/self/fd/"))
    }

    pub(crate) fn is_stdin_device(&self) -> bool {
        let path = self.value.as_deref().map(path::normalize);
        matches!(path.as_deref(), Some("/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"))
    }

    /// True for `<(…)`.
    pub(crate) fn is_process_substitution(&self) -> bool {
        self.raw.starts_with("<(")
    }

    /// True for a single command substitution, quoted or not: `$(…)`.
    pub(crate) fn is_command_substitution(&self) -> bool {
        let raw = self.raw.strip_prefix('"').and_then(|raw| raw.strip_suffix('"')).unwrap_or(&self.raw);
        let by_backquotes = raw.starts_with('`') && closing_backquote(raw, 1) == Some(raw.len() - 1);
        let by_dollar = raw.starts_with("$(") && closing(raw, 2, Construct::Commands) == Some(raw.len() - 1);
        by_backquotes || by_dollar
    }

    /// True if the word may expand to no word: an unquoted expansion that may be empty.
    pub(crate) fn may_be_nothing(&self) -> bool {
        let is_name = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let is_variable = || self.raw.strip_prefix('$').is_some_and(is_name);
        self.value.is_none() && !self.raw.starts_with('"') && (self.is_command_substitution() || is_variable())
    }

    /// True if the word may expand to anything, including several words or none.
    pub(crate) fn may_be_anything(&self) -> bool {
        self.value.is_none() && self.raw.starts_with(['$', '`']) && !self.raw.contains(['"', '\''])
    }

    /// True for a flag of which only the start is known, and for a word that may expand to a flag.
    pub(crate) fn is_unknown_flag(&self) -> bool {
        let may_be = |expansion: &str| [":+-", "+--", ":--"].iter().any(|part| expansion.contains(part));
        self.value.is_none() && (self.shown.starts_with('-') || may_be(&self.raw))
    }

    /// True if the word begins with `NAME=`, and the value is not known.
    pub(super) fn begins_with_assignment(&self) -> bool {
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
        let mut characters = rest.chars();
        let end = match (characters.next(), characters.next()) {
            (Some('$'), Some('{')) => rest.find('}').map_or(rest.len(), |close| close + 1),
            (Some('$'), Some('(')) => rest.rfind(')').map_or(rest.len(), |close| close + 1),
            (Some('$'), Some(first)) if first.is_alphabetic() || first == '_' => {
                let is_name_character = |character: char| character.is_alphanumeric() || character == '_';
                1 + rest.chars().skip(1).take_while(|c| is_name_character(*c)).map(char::len_utf8).sum::<usize>()
            }
            (Some('$'), Some(special)) => 1 + special.len_utf8(),
            _ => 1,
        };
        rest.get(end..).unwrap_or_default()
    }

    /// Returns the part after the last slash, if it is known: `python` of `$VENV/bin/python`.
    pub(super) fn name_in_unknown_directory(&self) -> Option<&str> {
        let (_, name) = self.known_end().rsplit_once('/')?;
        // Any other character could end an expansion, or be part of a glob.
        let is_plain = |character: char| character.is_alphanumeric() || matches!(character, '.' | '_' | '-' | '+');
        (!self.glob && !name.is_empty() && name.chars().all(is_plain)).then_some(name)
    }

    /// Returns the word as it appears in normalized text. `shown`: the word's value or, if the value is not known, the
    /// word as written.
    pub(super) fn normalized(&self, shown: &str) -> String {
        match self.is_data() {
            true if self.flag_length > 0 && !shown.contains(char::is_whitespace) => {
                format!("{}{ELLIPSIS}", shown.get(..self.flag_length).unwrap_or_default())
            }
            true => ELLIPSIS.to_owned(),
            false => shown_argument(shown),
        }
    }
}

/// Returns an argument as it appears in normalized text.
pub(super) fn shown_argument(argument: &str) -> String {
    match argument {
        "" => "''".to_owned(),
        _ if argument.contains(char::is_whitespace) => ELLIPSIS.to_owned(),
        _ => argument.to_owned(),
    }
}
