//! The tokens of a program while they are collected.

use std::collections::BTreeSet;

use crate::token::{Kind, Token};

/// How many tokens are searched backwards for the matching bracket.
const LONGEST_GROUP: usize = 256;

/// Returns the position of the bracket that the last token closes; `None` if it is too far away.
pub(super) fn opening_bracket(tokens: &[Token]) -> Option<usize> {
    let mut depth = 0_usize;
    for (place, token) in tokens.iter().enumerate().rev().take(LONGEST_GROUP) {
        match token.kind {
            Kind::Punct(")" | "]" | "}") => depth += 1,
            Kind::Punct("(" | "[" | "{") => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(place);
        }
    }
    None
}

/// The tokens so far, with the context that the next token depends on.
pub(super) struct TokenList {
    pub(super) tokens: Vec<Token>,
    pub(super) after_space: bool,
    /// Names that precede an equals sign.
    assigned: BTreeSet<String>,
    /// True if the bracket that was closed last was a subscript.
    pub(super) closed_a_subscript: bool,
    /// The open brackets, innermost last; true for a subscript.
    brackets: Vec<bool>,
}

impl TokenList {
    pub(super) fn new() -> Self {
        Self {
            tokens: Vec::new(),
            after_space: false,
            assigned: BTreeSet::new(),
            closed_a_subscript: false,
            brackets: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, kind: Kind) {
        if let Kind::Punct(punct) = kind {
            match punct {
                "(" | "[" | "{" => self.brackets.push(self.subscript_follows()),
                ")" | "]" | "}" => {
                    self.closed_a_subscript = self.brackets.pop().unwrap_or_default();
                }
                "=" | "," | "|" => {
                    let name = self.last_name().map(str::to_owned);
                    self.assigned.extend(name);
                }
                _ => {}
            }
        }
        self.tokens.push(Token { kind, after_space: std::mem::take(&mut self.after_space) });
    }

    fn subscript_follows(&self) -> bool {
        let is_variable = self.last_name().is_some_and(|name| name.starts_with(['$', '@', '%']));
        let is_subscript = (self.last_is("}") || self.last_is("]")) && self.closed_a_subscript;
        !self.after_space && (is_variable || is_subscript || self.last_is("->"))
    }

    pub(super) fn newline(&mut self) {
        self.after_space = true;
        if !matches!(self.tokens.last(), None | Some(Token { kind: Kind::Newline, .. })) {
            self.push(Kind::Newline);
            self.after_space = true;
        }
    }

    pub(super) fn starts_line(&self) -> bool {
        self.last().is_none_or(|token| token.kind == Kind::Newline)
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

    /// True if the last name follows a dot or arrow.
    pub(super) fn last_is_member(&self) -> bool {
        let before = self.tokens.len().checked_sub(2).and_then(|place| self.tokens.get(place));
        before.is_some_and(|token| [".", "?.", "&.", "::", "->"].iter().any(|sign| token.is(sign)))
    }

    /// True if something was assigned to the name.
    pub(super) fn is_assigned(&self, name: &str) -> bool {
        self.assigned.contains(name)
    }

    pub(super) fn in_brackets(&self) -> bool {
        !self.brackets.is_empty()
    }
}
