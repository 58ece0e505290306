//! Redirections of stdin and stdout.

use std::rc::Rc;
use std::sync::Arc;

use brush_parser::ast::{IoFileRedirectKind, IoFileRedirectTarget, IoRedirect, RedirectList};

use super::Walker;
use super::words::{known_word, word_of};
use crate::model::{Invocation, Redirect, RedirectKind, Word};
use crate::programs::Role;
use crate::syntax::word_scan::{Context, Unit};

/// The stdin that a redirection of a loop or group supplies.
pub(super) struct RedirectedInput {
    pub(super) paths: Rc<[Word]>,
    pub(super) text: Option<Arc<str>>,
}

impl Walker<'_> {
    /// Adds the redirections of a compound command as a command without words. Returns the stdin that these
    /// redirections supply.
    pub(super) fn add_redirects_of_compound(&mut self, redirects: Option<&RedirectList>) -> Option<RedirectedInput> {
        let list = redirects?;
        let alternatives = self.for_each_possible_value(&list.to_string(), |walker| {
            list.0.iter().map(|redirect| walker.expand_redirect(redirect)).collect::<Vec<Redirect>>()
        });
        let mut input = None;
        for redirects in alternatives {
            input = input.or_else(|| self.redirected_input(&redirects));
            self.dispatch(Invocation { redirects, ..Invocation::default() }.into());
        }
        input
    }

    /// Expands the target of a redirection.
    pub(super) fn expand_redirect(&mut self, redirect: &IoRedirect) -> Redirect {
        match redirect {
            IoRedirect::File(descriptor, kind, target) => {
                let target = match target {
                    IoFileRedirectTarget::Filename(word) | IoFileRedirectTarget::Duplicate(word) => {
                        self.expand_to_single_word(&word.value)
                    }
                    IoFileRedirectTarget::Fd(number) => known_word(number.to_string()),
                    IoFileRedirectTarget::ProcessSubstitution(kind, subshell) => {
                        self.walk_process_substitution(subshell, kind)
                    }
                };
                Redirect { descriptor: *descriptor, kind: file_redirect_kind(kind), target }
            }
            IoRedirect::OutputAndError(word, appends) => {
                let kind = if *appends { RedirectKind::AppendAll } else { RedirectKind::WriteAll };
                Redirect { descriptor: None, kind, target: self.expand_to_single_word(&word.value) }
            }
            IoRedirect::HereString(descriptor, word) => {
                let target = Word { role: Role::Data, ..self.expand_to_single_word(&word.value) };
                Redirect { descriptor: *descriptor, kind: RedirectKind::HereString, target }
            }
            IoRedirect::HereDocument(descriptor, heredoc) => {
                let body = &heredoc.doc.value;
                let target = if heredoc.requires_expansion {
                    let units = self.scan(body, Context::Text);
                    let is_known =
                        |unit: &Unit| !matches!(unit, Unit::Expansion(expansion) if expansion.placeholder.is_none());
                    let mut text = word_of(body.clone(), &units);
                    // In a placeholder for a path, `*` stands for unknown parts. A heredoc is not a path, so it only
                    // has a placeholder if each of its expansions has a placeholder.
                    text.placeholder = text.placeholder.filter(|_| units.iter().all(is_known));
                    text
                } else {
                    known_word(body.clone())
                };
                let target = Word { role: Role::Data, ..target };
                Redirect { descriptor: *descriptor, kind: RedirectKind::Heredoc, target }
            }
        }
    }
}

fn file_redirect_kind(kind: &IoFileRedirectKind) -> RedirectKind {
    match kind {
        IoFileRedirectKind::Read => RedirectKind::Read,
        IoFileRedirectKind::Write => RedirectKind::Write,
        IoFileRedirectKind::Append => RedirectKind::Append,
        IoFileRedirectKind::ReadAndWrite => RedirectKind::ReadWrite,
        IoFileRedirectKind::Clobber => RedirectKind::Clobber,
        IoFileRedirectKind::DuplicateInput => RedirectKind::DuplicateInput,
        IoFileRedirectKind::DuplicateOutput => RedirectKind::DuplicateOutput,
    }
}
