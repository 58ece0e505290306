//! Redirections.

use super::Word;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// The descriptor before the operator, if there is one.
    pub descriptor: Option<i32>,
    pub kind: RedirectKind,
    /// A file, a descriptor, or the contents of a heredoc or here-string.
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
    /// `>&`; a write if the target is neither a number nor `-`.
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
    /// True if it replaces stdin.
    pub(crate) fn is_input(&self) -> bool {
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

    /// True if it redirects stdout to a file.
    pub(crate) fn takes_output(&self) -> bool {
        self.writes_a_file() && matches!(self.descriptor, None | Some(1)) && self.kind != RedirectKind::ReadWrite
    }

    /// True if it discards stdout.
    pub(crate) fn drops_output(&self) -> bool {
        let is_output = !self.is_input() && matches!(self.descriptor, None | Some(1));
        is_output && self.target.value.as_deref() == Some("/dev/null")
    }

    /// The contents that it supplies, if they or a placeholder for them are known.
    pub(crate) fn text(&self) -> Option<&str> {
        match self.kind {
            RedirectKind::HereDocument | RedirectKind::HereString => self.target.meaning(),
            RedirectKind::Read | RedirectKind::ReadWrite => self.target.contents.as_deref(),
            _ => None,
        }
    }

    /// The paths that it supplies on stdin, one per line.
    pub(crate) fn paths(&self) -> &[Word] {
        if self.is_input() { &self.target.given_paths } else { &[] }
    }

    pub(crate) fn writes_a_file(&self) -> bool {
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
