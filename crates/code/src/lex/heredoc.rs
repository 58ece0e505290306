//! Here-documents of Perl and Ruby: announced in one line, written below it.

use super::cursor::Row;
use super::{Lexer, is_name, starts_name};
use crate::Language;
use crate::token::{Kind, Literal, Usage};

/// One whose text was not reached yet.
pub(super) struct Pending {
    /// The place of its token.
    token: usize,
    tag: String,
    indented: bool,
    holes: bool,
    usage: Usage,
}

impl Lexer<'_> {
    /// At `<<`. False, with nothing taken, where that is an operator.
    pub(super) fn announced(&mut self, row: &mut Row, pending: &mut Vec<Pending>) -> bool {
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
        pending.push(Pending {
            token: row.tokens.len(),
            tag: tag.to_owned(),
            indented: sign.is_some(),
            holes: quote != Some('\''),
            usage: if quote == Some('`') { Usage::Command } else { Usage::Text },
        });
        row.push(Kind::Text(Literal::default()));
        true
    }

    /// Behind the end of the line that announced them.
    pub(super) fn written(&mut self, language: Language, row: &mut Row, pending: &mut Vec<Pending>) {
        for document in pending.drain(..) {
            let mut text = String::new();
            loop {
                if self.cursor.peek().is_none() {
                    self.sound = false;
                    break;
                }
                let line = self.cursor.line();
                let bare = if document.indented { line.trim_start() } else { line };
                if bare.trim_end_matches('\r') == document.tag {
                    break;
                }
                text.push_str(bare);
                text.push('\n');
            }
            let mut literal = if document.holes { self.parts_of(language, &text) } else { Literal::constant(text) };
            literal.usage = document.usage;
            if let Some(token) = row.tokens.get_mut(document.token) {
                token.kind = Kind::Text(literal);
            }
        }
    }

    /// A text with holes in it, whose end was found already.
    fn parts_of(&mut self, language: Language, text: &str) -> Literal {
        if language == Language::Perl {
            return Literal { parts: self.perl_parts(text, false), usage: Usage::Text };
        }
        let mut inner = Lexer { cursor: super::Cursor::new(text), sound: true, depth: self.depth + 1 };
        let literal = inner.ruby_literal(None, super::INTERPOLATED);
        self.sound &= inner.sound;
        literal
    }
}
