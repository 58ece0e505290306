//! The stdin of a command, as far as it is known before the command runs.

use crate::model::{RedirectKind, SimpleCommand, Word};

#[derive(Clone, Copy)]
pub(crate) enum Input<'a> {
    /// Nothing, or a file whose contents are not known.
    Nothing,
    Unknown,
    Text(&'a str),
    /// Paths, one per line.
    Paths(&'a [Word]),
}

impl<'a> Input<'a> {
    /// `piped`: the text that is piped into it, if known; `found`: the paths that are piped into it.
    pub(crate) fn of(command: &'a SimpleCommand, piped: Option<&'a str>, found: &'a [Word]) -> Self {
        match command.redirects().iter().rev().find(|redirect| redirect.is_input()) {
            Some(redirect) => match redirect.kind {
                // A file counts as nothing unless its contents are known. A device is unknown input.
                RedirectKind::Read if redirect.text().is_some() => redirect.text().map_or(Self::Unknown, Self::Text),
                RedirectKind::Read if redirect.target.is_process() => match redirect.paths() {
                    [] => Self::Unknown,
                    paths => Self::Paths(paths),
                },
                RedirectKind::Read | RedirectKind::ReadWrite if !redirect.target.is_device() => Self::Nothing,
                RedirectKind::HereDocument | RedirectKind::HereString => {
                    redirect.target.meaning().map_or(Self::Unknown, Self::Text)
                }
                _ => Self::Unknown,
            },
            None => match piped {
                Some(text) => Self::Text(text),
                None if !found.is_empty() => Self::Paths(found),
                None if !command.piped_from().is_empty() => Self::Unknown,
                None => Self::Nothing,
            },
        }
    }
}
