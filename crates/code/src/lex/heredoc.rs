//! Heredocs of Perl and Ruby: a line starts them, and their contents follow below it.

use super::token_list::TokenList;
use super::{Lexer, is_name, starts_name};
use crate::Language;
use crate::token::{Kind, Literal, LiteralKind};

/// A heredoc whose contents have not been reached yet.
pub(super) struct PendingHeredoc {
    /// The position of its token.
    token: usize,
    tag: String,
    indented: bool,
    interpolates: bool,
    kind: LiteralKind,
}

impl Lexer<'_> {
    /// Reads `<<` and the tag. Returns false, without moving, if the `<<` is an operator.
    pub(super) fn heredoc_start(&mut self, list: &mut TokenList, pending: &mut Vec<PendingHeredoc>) -> bool {
        let rest = self.cursor.rest().get(2..).unwrap_or_default();
        let sign = rest.chars().next().filter(|sign| matches!(sign, '~' | '-'));
        let rest = rest.get(usize::from(sign.is_some())..).unwrap_or_default();
        let quote = rest.chars().next().filter(|quote| matches!(quote, '"' | '\'' | '`'));
        let (tag, length) = if let Some(quote) = quote {
            let inner = rest.get(1..).unwrap_or_default();
            let Some(end) = inner.find(quote).filter(|end| !inner.get(..*end).unwrap_or_default().contains('\n'))
            else {
                return false;
            };
            (inner.get(..end).unwrap_or_default(), end + 2)
        } else {
            let length = rest.find(|letter| !is_name(letter)).unwrap_or(rest.len());
            (rest.get(..length).unwrap_or_default(), length)
        };
        if quote.is_none() && !tag.starts_with(starts_name) {
            return false;
        }
        let taken = 2 + usize::from(sign.is_some()) + length;
        self.cursor.advance(taken);
        pending.push(PendingHeredoc {
            token: list.tokens.len(),
            tag: tag.to_owned(),
            indented: sign.is_some(),
            interpolates: quote != Some('\''),
            kind: if quote == Some('`') { LiteralKind::ShellCommand } else { LiteralKind::String },
        });
        list.push(Kind::String(Literal::default()));
        true
    }

    /// Reads the contents, after the line that started them.
    pub(super) fn heredoc_bodies(
        &mut self,
        language: Language,
        list: &mut TokenList,
        pending: &mut Vec<PendingHeredoc>,
    ) {
        for document in pending.drain(..) {
            let mut contents = String::new();
            loop {
                if self.cursor.peek().is_none() {
                    self.is_understood = false;
                    break;
                }
                let line = self.cursor.line();
                let bare = if document.indented { line.trim_start() } else { line };
                if bare.trim_end_matches('\r') == document.tag {
                    break;
                }
                contents.push_str(bare);
                contents.push('\n');
            }
            let mut literal = if document.interpolates {
                self.heredoc_parts(language, &contents)
            } else {
                Literal::constant(contents)
            };
            literal.kind = document.kind;
            if let Some(token) = list.tokens.get_mut(document.token) {
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
