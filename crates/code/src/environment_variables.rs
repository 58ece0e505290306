//! Environment variables that a program sets, for itself and for the commands that it starts: `os.environ["X"] = "1"`,
//! `env: {...process.env, X: "1"}`, `$ENV{X} = 1`.
//!
//! This is a heuristic over the tokens: if the program mentions the environment at all, every assignment to a name in
//! capitals counts as one that sets a variable.

use super::token::{Token, TokenKind};

/// Returns the environment variables that the program sets, each with its value; `None` if the value is not constant.
pub(super) fn exported_variables(tokens: &[Token]) -> Vec<(String, Option<String>)> {
    if !tokens.iter().any(mentions_environment) {
        return Vec::new();
    }
    let mut variables: Vec<(String, Option<String>)> = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        let Some(name) = token.name().or_else(|| token.constant()).filter(|name| is_variable_name(name)) else {
            continue;
        };
        let ahead = |count: usize| tokens.get(index + count);
        let is_subscript = ahead(1).is_some_and(|next| next.is("]") || next.is("}"));
        let operator = 1 + usize::from(is_subscript);
        let is_assigned = ahead(operator)
            .is_some_and(|operator| ["=", ":", "=>", "||=", "??="].iter().any(|punct| operator.is(punct)));
        let function = index.checked_sub(2).and_then(|index| tokens.get(index)).and_then(Token::name);
        let is_passed = function.is_some_and(|name| matches!(name, "putenv" | "setenv" | "setdefault" | "store"));
        if is_assigned || is_passed {
            let value = ahead(operator + 1).and_then(Token::constant).map(str::to_owned);
            let variable = (name.to_owned(), value);
            variables.extend((!variables.contains(&variable)).then_some(variable));
        }
    }
    variables
}

/// Methods that can change any environment variable.
const MUTATING_METHODS: &[&str] =
    &["update", "putenv", "setenv", "setdefault", "unsetenv", "pop", "clear", "store", "assign"];

/// True if the program possibly changes the environment variable, so that its initial value may not apply.
pub(super) fn may_set(tokens: &[Token], name: &str) -> bool {
    let is_name = |token: &Token| token.name().or_else(|| token.constant()) == Some(name);
    let is_assigned = |index: usize| {
        let ahead = |count: usize| tokens.get(index + count);
        let operator = 1 + usize::from(ahead(1).is_some_and(|next| next.is("]") || next.is("}")));
        ahead(operator).is_some_and(
            |operator| matches!(operator.kind, TokenKind::Punct(punct) if punct.ends_with('=') || punct == ":"),
        )
    };
    tokens.iter().enumerate().any(|(index, token)| {
        token.name().is_some_and(|name| MUTATING_METHODS.contains(&name)) || is_name(token) && is_assigned(index)
    })
}

fn mentions_environment(token: &Token) -> bool {
    let is_environment =
        |name: &str| matches!(name.trim_start_matches(['$', '%']), "environ" | "env" | "ENV" | "putenv" | "setenv");
    token.name().is_some_and(|name| name.split('.').any(is_environment))
}

/// True for names in capitals: `LIKE_THIS_2`.
fn is_variable_name(name: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    name.len() > 1 && name.bytes().all(is_allowed) && name.starts_with(|first: char| first.is_ascii_uppercase())
}
