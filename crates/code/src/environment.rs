//! Environment variables that a program sets for the commands that it starts: `os.environ["X"] = "1"`, `env:
//! {...process.env, X: "1"}`, `$ENV{X} = 1`.
//!
//! This is a heuristic over the tokens: if the program mentions the environment at all, an assignment to a key in
//! capitals counts as a variable.

use super::token::{Kind, Token};

/// Returns the names, each with its value if that is constant.
pub(super) fn exported_variables(tokens: &[Token]) -> Vec<(String, Option<String>)> {
    if !tokens.iter().any(mentions_environment) {
        return Vec::new();
    }
    let mut set: Vec<(String, Option<String>)> = Vec::new();
    for (place, token) in tokens.iter().enumerate() {
        let Some(name) = token.name().or_else(|| token.constant()).filter(|name| is_variable(name)) else { continue };
        let behind = |steps: usize| tokens.get(place + steps);
        let is_closed = behind(1).is_some_and(|next| next.is("]") || next.is("}"));
        let sign = 1 + usize::from(is_closed);
        let is_set = behind(sign).is_some_and(|sign| ["=", ":", "=>", "||=", "??="].iter().any(|punct| sign.is(punct)));
        let called = place.checked_sub(2).and_then(|place| tokens.get(place)).and_then(Token::name);
        let is_given = called.is_some_and(|name| matches!(name, "putenv" | "setenv" | "setdefault" | "store"));
        if is_set || is_given {
            let value = behind(sign + 1).and_then(Token::constant).map(str::to_owned);
            let found = (name.to_owned(), value);
            set.extend((!set.contains(&found)).then_some(found));
        }
    }
    set
}

/// Methods that may change any environment variable.
const CHANGING: &[&str] = &["update", "putenv", "setenv", "setdefault", "unsetenv", "pop", "clear", "store", "assign"];

/// True if the program may give a variable another value than the one that it starts with.
pub(super) fn may_set(tokens: &[Token], name: &str) -> bool {
    let is_named = |token: &Token| token.name().or_else(|| token.constant()) == Some(name);
    let is_set = |place: usize| {
        let behind = |steps: usize| tokens.get(place + steps);
        let sign = 1 + usize::from(behind(1).is_some_and(|next| next.is("]") || next.is("}")));
        behind(sign).is_some_and(|sign| matches!(sign.kind, Kind::Punct(punct) if punct.ends_with('=') || punct == ":"))
    };
    tokens.iter().enumerate().any(|(place, token)| {
        token.name().is_some_and(|name| CHANGING.contains(&name)) || is_named(token) && is_set(place)
    })
}

fn mentions_environment(token: &Token) -> bool {
    let is_it =
        |name: &str| matches!(name.trim_start_matches(['$', '%']), "environ" | "env" | "ENV" | "putenv" | "setenv");
    token.name().is_some_and(|name| name.split('.').any(is_it))
}

/// `LIKE_THIS_2`
fn is_variable(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    name.len() > 1 && name.bytes().all(is_part) && name.starts_with(|first: char| first.is_ascii_uppercase())
}
