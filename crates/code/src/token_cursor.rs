//! A cursor over the tokens of a program.

use super::token::{Token, TokenKind};

/// The maximum number of tokens that are inspected after the cursor to recognize a declaration.
pub(super) const MAX_LOOKAHEAD: usize = 256;

pub(super) struct TokenCursor<'t> {
    tokens: &'t [Token],
    position: usize,
}

impl<'t> TokenCursor<'t> {
    pub(super) fn new(tokens: &'t [Token]) -> Self {
        Self { tokens, position: 0 }
    }

    /// Returns the next token without skipping it.
    pub(super) fn peek(&self) -> Option<&'t Token> {
        self.tokens.get(self.position)
    }

    /// Returns the token that is `count` tokens after the next one.
    pub(super) fn ahead(&self, count: usize) -> Option<&'t Token> {
        self.tokens.get(self.position + count)
    }

    pub(super) fn next(&mut self) -> Option<&'t Token> {
        let token = self.peek()?;
        self.position += 1;
        Some(token)
    }

    /// True if the next token is this punctuation.
    pub(super) fn is(&self, punct: &str) -> bool {
        self.peek().is_some_and(|token| token.is(punct))
    }

    pub(super) fn ahead_is(&self, count: usize, punct: &str) -> bool {
        self.ahead(count).is_some_and(|token| token.is(punct))
    }

    /// Returns the next token if it is a name.
    pub(super) fn name(&self) -> Option<&'t str> {
        self.peek().and_then(Token::name)
    }

    /// Skips the next token and returns true if it is this punctuation.
    pub(super) fn take(&mut self, punct: &str) -> bool {
        let is_next = self.is(punct);
        self.position += usize::from(is_next);
        is_next
    }

    /// Skips the next token and returns true if it is this name.
    pub(super) fn take_name(&mut self, name: &str) -> bool {
        let is_next = self.name() == Some(name);
        self.position += usize::from(is_next);
        is_next
    }

    /// Skips and returns the next token if it is a name.
    pub(super) fn take_any_name(&mut self) -> Option<&'t str> {
        let name = self.name()?;
        self.position += 1;
        Some(name)
    }

    pub(super) fn skip_newlines(&mut self) {
        while self.peek().is_some_and(|token| token.kind == TokenKind::Newline) {
            self.position += 1;
        }
    }

    pub(super) fn position(&self) -> usize {
        self.position
    }

    pub(super) fn move_to(&mut self, position: usize) {
        self.position = position;
    }

    pub(super) fn between(&self, from: usize, to: usize) -> &'t [Token] {
        self.tokens.get(from..to).unwrap_or_default()
    }

    pub(super) fn previous(&self) -> Option<&'t Token> {
        self.position.checked_sub(1).and_then(|index| self.tokens.get(index))
    }

    pub(super) fn skip_to_end(&mut self) {
        self.position = self.tokens.len();
    }
}
