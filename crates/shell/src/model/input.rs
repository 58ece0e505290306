//! The stdin of a command, as far as it is known before the command runs.

use crate::model::{RedirectKind, SimpleCommand, Word};

/// The stdin of a command.
#[derive(Clone, Copy)]
pub(crate) enum Input<'a> {
    /// There is no input, or stdin is a file whose contents are not known.
    Nothing,
    Unknown,
    Text(&'a str),
    /// Stdin contains these paths, one per line.
    Paths(&'a [Word]),
}

impl<'a> Input<'a> {
    /// Finds the stdin in the redirections or the pipe. `piped`: the text that is piped into the command, if it is
    /// known; `piped_paths`: the paths that are piped into the command.
    pub(crate) fn of(command: &'a SimpleCommand, piped: Option<&'a str>, piped_paths: &'a [Word]) -> Self {
        match command.redirects().iter().rev().find(|redirect| redirect.replaces_stdin()) {
            Some(redirect) => match redirect.kind {
                // A file whose contents are not known counts as no input, and a device as unknown input.
                RedirectKind::Read if redirect.text().is_some() => redirect.text().map_or(Self::Unknown, Self::Text),
                RedirectKind::Read if redirect.target.is_process_substitution() => match redirect.paths() {
                    [] => Self::Unknown,
                    paths => Self::Paths(paths),
                },
                RedirectKind::Read | RedirectKind::ReadWrite if !redirect.target.is_device() => Self::Nothing,
                RedirectKind::Heredoc | RedirectKind::HereString => {
                    redirect.target.value_or_placeholder().map_or(Self::Unknown, Self::Text)
                }
                _ => Self::Unknown,
            },
            None => match piped {
                Some(text) => Self::Text(text),
                None if !piped_paths.is_empty() => Self::Paths(piped_paths),
                None if !command.piped_from().is_empty() => Self::Unknown,
                None => Self::Nothing,
            },
        }
    }
}
