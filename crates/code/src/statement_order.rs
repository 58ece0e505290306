//! The order in which the statements of a program may run.

use super::token::Token;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StatementOrder {
    /// In source order, each at most once.
    InSourceOrder,
    /// Functions run whenever they are called.
    Functions,
    /// Loops run statements any number of times.
    Loops,
}

impl StatementOrder {
    pub(super) fn of(tokens: &[Token]) -> Self {
        let has = |words: &[&str]| tokens.iter().filter_map(Token::name).any(|name| words.contains(&name));
        let has_arrows = || tokens.iter().any(|token| token.is("=>"));
        if has(&["for", "while", "until", "do", "forEach", "map", "each", "reduce"]) {
            Self::Loops
        } else if has(&["def", "function", "lambda", "class"]) || has_arrows() {
            Self::Functions
        } else {
            Self::InSourceOrder
        }
    }
}
