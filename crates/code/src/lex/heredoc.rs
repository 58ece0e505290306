//! Heredocs of Perl and Ruby. Their contents begin on the line after `<<TAG`.

use super::token_list::TokenList;
use super::{Lexer, is_name_character, starts_name};
use crate::Language;
use crate::token::{Kind, Literal, LiteralKind};

/// A heredoc between `<<TAG` and its contents.
pub(super) struct PendingHeredoc {
    /// The index of the token that gets the contents.
    token_index: usize,
    tag: String,
    /// True for `<<~` and `<<-`, whose lines may be indented.
    is_indented: bool,
    /// True if code in the contents is evaluated and inserted.
    has_interpolations: bool,
    kind: LiteralKind,
}

impl Lexer<'_> {
    /// Reads `<<TAG`. Returns false, without moving, if the `<<` is an operator.
    pub(super) fn heredoc_start(&mut self, list: &mut TokenList, pending: &mut Vec<PendingHeredoc>) -> bool {
        let rest = self.cursor.rest().get(2..).unwrap_or_default();
        let is_indented = rest.starts_with(['~', '-']);
        let rest = rest.get(usize::from(is_indented)..).unwrap_or_default();
        let quote = rest.chars().next().filter(|quote| matches!(quote, '"' | '\'' | '`'));
        let (tag, length) = if let Some(quote) = quote {
            let inner = rest.get(1..).unwrap_or_default();
            let Some(end) = inner.find(quote).filter(|end| !inner.get(..*end).unwrap_or_default().contains('\n'))
            else {
                return false;
            };
            (inner.get(..end).unwrap_or_default(), end + 2)
        } else {
            let length = rest.find(|character| !is_name_character(character)).unwrap_or(rest.len());
            (rest.get(..length).unwrap_or_default(), length)
        };
        if quote.is_none() && !tag.starts_with(starts_name) {
            return false;
        }
        self.cursor.advance(2 + usize::from(is_indented) + length);
        pending.push(PendingHeredoc {
            token_index: list.tokens.len(),
            tag: tag.to_owned(),
            is_indented,
            has_interpolations: quote != Some('\''),
            kind: if quote == Some('`') { LiteralKind::ShellCommand } else { LiteralKind::String },
        });
        list.push(Kind::String(Literal::default()));
        true
    }

    /// Reads the contents of the heredocs that began on the previous line.
    pub(super) fn heredoc_bodies(
        &mut self,
        language: Language,
        list: &mut TokenList,
        pending: &mut Vec<PendingHeredoc>,
    ) {
        for heredoc in pending.drain(..) {
            let mut contents = String::new();
            loop {
                if self.cursor.peek().is_none() {
                    self.is_understood = false;
                    break;
                }
                let line = self.cursor.line();
                let unindented = if heredoc.is_indented { line.trim_start() } else { line };
                if unindented.trim_end_matches('\r') == heredoc.tag {
                    break;
                }
                contents.push_str(unindented);
                contents.push('\n');
            }
            let mut literal = if heredoc.has_interpolations {
                self.heredoc_parts(language, &contents)
            } else {
                Literal::constant(contents)
            };
            literal.kind = heredoc.kind;
            if let Some(token) = list.tokens.get_mut(heredoc.token_index) {
                token.kind = Kind::String(literal);
            }
        }
    }

    /// Splits the contents into constants and interpolations.
    fn heredoc_parts(&mut self, language: Language, contents: &str) -> Literal {
        if language == Language::Perl {
            return Literal { parts: self.perl_parts(contents, false), kind: LiteralKind::String };
        }
        let mut inner = Lexer { cursor: super::Cursor::new(contents), is_understood: true, depth: self.depth + 1 };
        let literal = inner.ruby_literal(None, super::INTERPOLATED);
        self.is_understood &= inner.is_understood;
        literal
    }
}
