//! A position in a list of tokens.

use super::token::{Kind, Token};

/// How many tokens are looked ahead to classify a declaration.
pub(super) const MAX_LOOKAHEAD: usize = 256;

pub(super) struct TokenCursor<'t> {
    tokens: &'t [Token],
    at: usize,
}

impl<'t> TokenCursor<'t> {
    pub(super) fn new(tokens: &'t [Token]) -> Self {
        Self { tokens, at: 0 }
    }

    pub(super) fn peek(&self) -> Option<&'t Token> {
        self.tokens.get(self.at)
    }

    pub(super) fn ahead(&self, tokens: usize) -> Option<&'t Token> {
        self.tokens.get(self.at + tokens)
    }

    pub(super) fn next(&mut self) -> Option<&'t Token> {
        let token = self.peek()?;
        self.at += 1;
        Some(token)
    }

    pub(super) fn is(&self, punct: &str) -> bool {
        self.peek().is_some_and(|token| token.is(punct))
    }

    pub(super) fn ahead_is(&self, tokens: usize, punct: &str) -> bool {
        self.ahead(tokens).is_some_and(|token| token.is(punct))
    }

    pub(super) fn name(&self) -> Option<&'t str> {
        self.peek().and_then(Token::name)
    }

    pub(super) fn take(&mut self, punct: &str) -> bool {
        let found = self.is(punct);
        self.at += usize::from(found);
        found
    }

    pub(super) fn take_name(&mut self, name: &str) -> bool {
        let found = self.name() == Some(name);
        self.at += usize::from(found);
        found
    }

    pub(super) fn take_any_name(&mut self) -> Option<&'t str> {
        let name = self.name()?;
        self.at += 1;
        Some(name)
    }

    pub(super) fn skip_newlines(&mut self) {
        while self.peek().is_some_and(|token| token.kind == Kind::Newline) {
            self.at += 1;
        }
    }

    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn move_to(&mut self, place: usize) {
        self.at = place;
    }

    pub(super) fn between(&self, from: usize, to: usize) -> &'t [Token] {
        self.tokens.get(from..to).unwrap_or_default()
    }

    pub(super) fn previous(&self) -> Option<&'t Token> {
        self.at.checked_sub(1).and_then(|place| self.tokens.get(place))
    }

    pub(super) fn finish(&mut self) {
        self.at = self.tokens.len();
    }
}
