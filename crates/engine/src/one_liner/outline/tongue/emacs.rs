//! The Lisp of Emacs.

use super::Tongue;
use super::lisp::LISP;

pub(super) const EMACS: Tongue = Tongue {
    programs: &["emacs", "emacsclient"],
    letter_signs: &["?", "\\"],
    unread: &["?\\C", "?\\M", "?\\S", "?\\^"],
    comments: &[(";", None)],
    ..LISP
};
