//! The branch that is checked out, as far as a script says: `git switch main && git push --force` pushes `main`.

use super::command::SimpleCommand;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Branch {
    /// The one that was checked out before the script.
    #[default]
    AsBefore,
    Named(String),
    /// One of this name, or the one from before if this is the path of a file: `git checkout NAME`.
    NamedOrAsBefore(String),
    Unknown,
}

impl Branch {
    /// The branch behind a `git` command, once its words are read.
    pub(super) fn follow(&mut self, command: &SimpleCommand) {
        let Some(arguments) = &command.arguments else { return };
        let subcommand = arguments.subcommands.first().map(String::as_str);
        if !matches!(subcommand, Some("checkout" | "switch")) {
            return;
        }
        let made =
            arguments.flags.iter().find(|flag| matches!(flag.name.as_str(), "-b" | "-B" | "-c" | "-C" | "--orphan"));
        if let Some(value) = made.and_then(|flag| flag.value) {
            *self =
                command.text_from(value.word, value.from).map_or(Self::Unknown, |name| Self::Named(name.to_owned()));
            return;
        }
        let has_paths = command.words.iter().any(|word| word.value.as_deref() == Some("--"));
        match arguments.operands.as_slice() {
            _ if has_paths => {}
            [operand] => {
                *self = match (command.text_from(*operand, 0), subcommand) {
                    (None | Some("-"), _) => Self::Unknown,
                    (Some(name), Some("switch")) => Self::Named(name.to_owned()),
                    (Some(name), _) => Self::NamedOrAsBefore(name.to_owned()),
                };
            }
            // A revision and paths: files are changed, and nothing else.
            _ => {}
        }
    }

    /// As it is if either of two ways was taken.
    pub(super) fn or_else(&mut self, other: &Self) {
        if self != other {
            *self = Self::Unknown;
        }
    }
}
