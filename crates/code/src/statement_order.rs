//! The order in which the statements of a program can run.

use super::token::Token;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StatementOrder {
    /// Statements run in source order, each at most once.
    InSourceOrder,
    /// The program has functions. The statements of a function run at each call of the function.
    Functions,
    /// The program has loops. The statements in a loop can run any number of times.
    Loops,
}

impl StatementOrder {
    pub(super) fn of(tokens: &[Token]) -> Self {
        let has_any = |words: &[&str]| tokens.iter().filter_map(Token::name).any(|name| words.contains(&name));
        let has_arrows = || tokens.iter().any(|token| token.is("=>"));
        if has_any(&["for", "while", "until", "do", "forEach", "map", "each", "reduce"]) {
            Self::Loops
        } else if has_any(&["def", "function", "lambda", "class"]) || has_arrows() {
            Self::Functions
        } else {
            Self::InSourceOrder
        }
    }
}
