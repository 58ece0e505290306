//! File names that a program selects from a directory listing: `if name.startswith(".env")`.
//!
//! This is a heuristic over the tokens: a program that skips names (`continue`, `not`) gives no filters.

use super::token::Token;

/// Shorter parts of names are too unspecific.
const SHORTEST: usize = 3;

/// Returns the names as glob patterns.
pub(super) fn find(tokens: &[Token]) -> Vec<String> {
    let passes = |token: &Token| token.is("!") || matches!(token.name(), Some("continue" | "next" | "not" | "unless"));
    let lists = |token: &Token| {
        let last = token.name().map(|name| name.rsplit('.').next().unwrap_or(name));
        last.is_some_and(|name| matches!(name, "listdir" | "scandir" | "readdir" | "readdirSync" | "iterdir" | "walk"))
    };
    if !tokens.iter().any(lists) || tokens.iter().any(passes) {
        return Vec::new();
    }
    let mut found: Vec<String> = Vec::new();
    for window in tokens.windows(3) {
        let names = match window {
            [method, open, string] if open.is("(") => match (method.name(), part(string)) {
                (Some("startswith" | "startsWith"), Some(start)) => vec![format!("{start}*"), start.to_owned()],
                (Some("endswith" | "endsWith"), Some(end)) => vec![format!("*{end}"), end.to_owned()],
                _ => Vec::new(),
            },
            [_, sign, string] if sign.is("==") || sign.is("===") => {
                part(string).map(str::to_owned).into_iter().collect()
            }
            _ => Vec::new(),
        };
        found.extend(names);
    }
    found
}

/// Returns a constant that may be part of a file name.
fn part(token: &Token) -> Option<&str> {
    token.constant().filter(|string| string.len() >= SHORTEST && !string.contains(['*', '/']))
}
