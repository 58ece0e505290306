//! Redirections.

use super::Word;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// The file descriptor before the operator, if there is one.
    pub descriptor: Option<i32>,
    pub kind: RedirectKind,
    /// A file, a file descriptor, or the contents of a heredoc or here-string.
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
    /// `>&`. If the target is neither a number nor `-`, the target is a file that is written.
    DuplicateOutput,
    /// `&>`
    WriteAll,
    /// `&>>`
    AppendAll,
    /// `<<`
    Heredoc,
    /// `<<<`
    HereString,
}

impl Redirect {
    /// True if the redirection replaces stdin.
    pub(crate) fn replaces_stdin(&self) -> bool {
        let is_read = matches!(
            self.kind,
            RedirectKind::Read
                | RedirectKind::ReadWrite
                | RedirectKind::DuplicateInput
                | RedirectKind::Heredoc
                | RedirectKind::HereString
        );
        is_read && self.descriptor.unwrap_or(0) == 0
    }

    /// True if the redirection sends stdout to a file.
    pub(crate) fn redirects_stdout(&self) -> bool {
        self.writes_a_file() && matches!(self.descriptor, None | Some(1)) && self.kind != RedirectKind::ReadWrite
    }

    /// True if the redirection discards stdout.
    pub(crate) fn discards_stdout(&self) -> bool {
        let is_stdout = !self.replaces_stdin() && matches!(self.descriptor, None | Some(1));
        is_stdout && self.target.value.as_deref() == Some("/dev/null")
    }

    /// The text that the redirection supplies on stdin, or a placeholder for that text; `None` if neither is known.
    pub(crate) fn text(&self) -> Option<&str> {
        match self.kind {
            RedirectKind::Heredoc | RedirectKind::HereString => self.target.value_or_placeholder(),
            RedirectKind::Read | RedirectKind::ReadWrite => self.target.contents.as_deref(),
            _ => None,
        }
    }

    /// The paths that the redirection supplies on stdin, one per line.
    pub(crate) fn paths(&self) -> &[Word] {
        if self.replaces_stdin() { &self.target.possible_paths } else { &[] }
    }

    pub(crate) fn writes_a_file(&self) -> bool {
        match self.kind {
            RedirectKind::Read | RedirectKind::DuplicateInput | RedirectKind::Heredoc | RedirectKind::HereString => {
                false
            }
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
