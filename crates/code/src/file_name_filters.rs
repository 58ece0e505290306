//! Filters by which a program selects files from a directory listing: `if name.startswith(".env")`.
//!
//! This is a heuristic over the tokens. If the program possibly negates a filter (`continue`, `not`), no filters are
//! returned.

use super::token::Token;

/// The minimum length of a constant that counts as a filter. Shorter constants occur in too many file names.
const MIN_FILTER_BYTES: usize = 3;

/// Returns the filters as glob patterns for file names.
pub(super) fn file_name_filters(tokens: &[Token]) -> Vec<String> {
    let skips_names =
        |token: &Token| token.is("!") || matches!(token.name(), Some("continue" | "next" | "not" | "unless"));
    let lists_directory = |token: &Token| {
        let last = token.name().map(|name| name.rsplit('.').next().unwrap_or(name));
        last.is_some_and(|name| matches!(name, "listdir" | "scandir" | "readdir" | "readdirSync" | "iterdir" | "walk"))
    };
    if !tokens.iter().any(lists_directory) || tokens.iter().any(skips_names) {
        return Vec::new();
    }
    let mut filters: Vec<String> = Vec::new();
    for window in tokens.windows(3) {
        let patterns = match window {
            [method, open, string] if open.is("(") => match (method.name(), constant_filter(string)) {
                (Some("startswith" | "startsWith"), Some(start)) => vec![format!("{start}*"), start.to_owned()],
                (Some("endswith" | "endsWith"), Some(end)) => vec![format!("*{end}"), end.to_owned()],
                _ => Vec::new(),
            },
            [_, operator, string] if operator.is("==") || operator.is("===") => {
                constant_filter(string).map(str::to_owned).into_iter().collect()
            }
            _ => Vec::new(),
        };
        filters.extend(patterns);
    }
    filters
}

/// Returns the token's constant if it can be a part of a file name.
fn constant_filter(token: &Token) -> Option<&str> {
    token.constant().filter(|string| string.len() >= MIN_FILTER_BYTES && !string.contains(['*', '/']))
}
