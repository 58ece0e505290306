//! Which names a text looks for among those of files that it finds: `if name.startswith(".env")`.
//!
//! Not followed but looked over: where it passes over what it finds, nobody knows which those are.

use super::token::Token;

/// Shorter parts of names say too little.
const SHORTEST: usize = 3;

/// As patterns.
pub(super) fn of(tokens: &[Token]) -> Vec<String> {
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
            [method, open, text] if open.is("(") => match (method.name(), part(text)) {
                (Some("startswith" | "startsWith"), Some(start)) => vec![format!("{start}*"), start.to_owned()],
                (Some("endswith" | "endsWith"), Some(end)) => vec![format!("*{end}"), end.to_owned()],
                _ => Vec::new(),
            },
            [_, sign, text] if sign.is("==") || sign.is("===") => part(text).map(str::to_owned).into_iter().collect(),
            _ => Vec::new(),
        };
        found.extend(names);
    }
    found
}

/// A constant that may be a part of a name.
fn part(token: &Token) -> Option<&str> {
    token.constant().filter(|text| text.len() >= SHORTEST && !text.contains(['*', '/']))
}
