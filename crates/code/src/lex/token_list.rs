//! The tokens that the lexer has read so far, and the context that the next token depends on.

use std::collections::BTreeSet;

use crate::token::{Token, TokenKind};

/// The maximum number of tokens that are searched, backwards, for an opening bracket.
const MAX_BRACKETED_TOKENS: usize = 256;

/// Returns the index of the bracket that the last token closes; `None` if it is too far away.
pub(super) fn opening_bracket(tokens: &[Token]) -> Option<usize> {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate().rev().take(MAX_BRACKETED_TOKENS) {
        match token.kind {
            TokenKind::Punct(")" | "]" | "}") => depth += 1,
            TokenKind::Punct("(" | "[" | "{") => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(index);
        }
    }
    None
}

pub(super) struct TokenList {
    pub(super) tokens: Vec<Token>,
    /// True if whitespace precedes the next token.
    pub(super) after_space: bool,
    /// The names that precede a `=`, `,` or `|`. They are possibly variables.
    variables: BTreeSet<String>,
    /// True if the last closing bracket ended a subscript.
    pub(super) last_bracket_was_subscript: bool,
    /// The brackets that are open, innermost last; true for each that began a subscript.
    open_brackets: Vec<bool>,
}

impl TokenList {
    pub(super) fn new() -> Self {
        Self {
            tokens: Vec::new(),
            after_space: false,
            variables: BTreeSet::new(),
            last_bracket_was_subscript: false,
            open_brackets: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, kind: TokenKind) {
        if let TokenKind::Punct(punct) = kind {
            match punct {
                "(" | "[" | "{" => self.open_brackets.push(self.subscript_follows()),
                ")" | "]" | "}" => {
                    self.last_bracket_was_subscript = self.open_brackets.pop().unwrap_or_default();
                }
                "=" | "," | "|" => {
                    let name = self.last_name().map(str::to_owned);
                    self.variables.extend(name);
                }
                _ => {}
            }
        }
        self.tokens.push(Token { kind, after_space: std::mem::take(&mut self.after_space) });
    }

    /// True if an opening bracket as the next token would begin a subscript.
    fn subscript_follows(&self) -> bool {
        let is_variable = self.last_name().is_some_and(|name| name.starts_with(['$', '@', '%']));
        let is_subscript = (self.last_is("}") || self.last_is("]")) && self.last_bracket_was_subscript;
        !self.after_space && (is_variable || is_subscript || self.last_is("->"))
    }

    /// Adds a newline, unless it would be the first token or follow another newline.
    pub(super) fn push_newline(&mut self) {
        self.after_space = true;
        if !matches!(self.tokens.last(), None | Some(Token { kind: TokenKind::Newline, .. })) {
            self.push(TokenKind::Newline);
            self.after_space = true;
        }
    }

    pub(super) fn starts_line(&self) -> bool {
        self.last().is_none_or(|token| token.kind == TokenKind::Newline)
    }

    pub(super) fn last(&self) -> Option<&Token> {
        self.tokens.last()
    }

    pub(super) fn after_value(&self) -> bool {
        self.last().is_some_and(Token::ends_a_value)
    }

    pub(super) fn last_name(&self) -> Option<&str> {
        self.last().and_then(Token::name)
    }

    pub(super) fn last_is(&self, punct: &str) -> bool {
        self.last().is_some_and(|token| token.is(punct))
    }

    /// True if the last token is a member: a name after a dot or arrow.
    pub(super) fn last_is_member(&self) -> bool {
        let before = self.tokens.len().checked_sub(2).and_then(|index| self.tokens.get(index));
        before.is_some_and(|token| [".", "?.", "&.", "::", "->"].iter().any(|operator| token.is(operator)))
    }

    /// True if the name is possibly a variable: it preceded a `=`, `,` or `|` somewhere.
    pub(super) fn may_be_variable(&self, name: &str) -> bool {
        self.variables.contains(name)
    }

    pub(super) fn in_brackets(&self) -> bool {
        !self.open_brackets.is_empty()
    }
}
