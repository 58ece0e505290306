//! Heredocs of Perl and Ruby. Their contents begin on the line after `<<TAG`.

use super::token_list::TokenList;
use super::{Lexer, is_name_character, starts_name};
use crate::Language;
use crate::token::{Literal, LiteralKind, TokenKind};

/// A heredoc whose contents have not been read yet.
pub(super) struct PendingHeredoc {
    /// The index of the token that stands for the heredoc and gets its contents.
    token_index: usize,
    tag: String,
    /// True for `<<~` and `<<-`. The lines of such a heredoc can be indented.
    is_indented: bool,
    /// True if the contents can contain interpolations: code whose value is inserted.
    has_interpolations: bool,
    kind: LiteralKind,
}

impl Lexer<'_> {
    /// Reads `<<TAG`. If the `<<` is an operator, returns false and does not move the cursor.
    pub(super) fn read_heredoc_start(&mut self, list: &mut TokenList, pending: &mut Vec<PendingHeredoc>) -> bool {
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
        list.push(TokenKind::String(Literal::default()));
        true
    }

    /// Reads the contents of the heredocs that began on the previous line.
    pub(super) fn read_heredoc_contents(
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
                let line = self.cursor.take_line();
                let unindented = if heredoc.is_indented { line.trim_start() } else { line };
                if unindented.trim_end_matches('\r') == heredoc.tag {
                    break;
                }
                contents.push_str(unindented);
                contents.push('\n');
            }
            let mut literal = if heredoc.has_interpolations {
                self.split_heredoc(language, &contents)
            } else {
                Literal::constant(contents)
            };
            literal.kind = heredoc.kind;
            if let Some(token) = list.tokens.get_mut(heredoc.token_index) {
                token.kind = TokenKind::String(literal);
            }
        }
    }

    /// Splits the contents of a heredoc into constants and interpolations.
    fn split_heredoc(&mut self, language: Language, contents: &str) -> Literal {
        if language == Language::Perl {
            return Literal { parts: self.split_perl_string(contents, false), kind: LiteralKind::String };
        }
        let mut inner = Lexer { cursor: super::Cursor::new(contents), is_understood: true, depth: self.depth + 1 };
        let literal = inner.read_ruby_literal(None, super::INTERPOLATED);
        self.is_understood &= inner.is_understood;
        literal
    }
}
