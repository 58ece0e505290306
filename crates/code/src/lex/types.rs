//! Removes TypeScript's type annotations from declarations and assignments.
//!
//! Little of the removed text is valid JavaScript, and no token with an effect is removed.

use crate::token::{Kind, Token};

/// Longer types, and types after longer parameter lists, are not removed.
const LONGEST_TYPE: usize = 64;
const LONGEST_PARAMETERS: usize = 256;

pub(super) fn without_types(tokens: Vec<Token>) -> Vec<Token> {
    let types: Vec<(usize, usize)> = (0..tokens.len()).filter_map(|place| annotation(&tokens, place)).collect();
    if types.is_empty() {
        return tokens;
    }
    let mut types = types.into_iter().peekable();
    let mut end = 0;
    let mut is_type = |place: usize| {
        while let Some((_, next)) = types.next_if(|(from, _)| *from <= place) {
            end = end.max(next);
        }
        place < end
    };
    tokens.into_iter().enumerate().filter(|(place, _)| !is_type(*place)).map(|(_, token)| token).collect()
}

/// Returns the range of the type annotation in the declaration that begins at a position.
fn annotation(tokens: &[Token], place: usize) -> Option<(usize, usize)> {
    let is = |place: usize, punct: &str| tokens.get(place).is_some_and(|token| token.is(punct));
    let name = |place: usize| tokens.get(place).and_then(Token::name);
    match name(place)? {
        // `const name: Type = value`
        "const" | "let" | "var" if name(place + 1).is_some() && is(place + 2, ":") => {
            type_until(tokens, place + 2, &["=", ";"])
        }
        // `import name = require('fs')`
        "import" if name(place + 1).is_some() && is(place + 2, "=") => Some((place, place + 1)),
        // `function name(…): Type {`
        "function" => {
            let open = (place + 1..place + 3).find(|place| is(*place, "("))?;
            type_until(tokens, after_parentheses(tokens, open)?, &["{"])
        }
        // `name = (…): Type =>`, or `a ? name = (…) : b => …`
        _ if is(place + 1, "=") => {
            let open = if name(place + 2) == Some("async") { place + 3 } else { place + 2 };
            let (colon, end) = type_until(tokens, after_parentheses(tokens, open)?, &["=>"])?;
            let does = |token: &Token| token.is("(") || matches!(token.kind, Kind::String(_) | Kind::Newline);
            (is(end, "=>") && !tokens.get(colon..end)?.iter().any(does)).then_some((colon, end))
        }
        _ => None,
    }
}

/// Returns the range from a colon to one of these tokens.
fn type_until(tokens: &[Token], colon: usize, ends: &[&str]) -> Option<(usize, usize)> {
    tokens.get(colon).filter(|token| token.is(":"))?;
    let mut depth = 0_usize;
    for (place, token) in tokens.iter().enumerate().skip(colon + 1).take(LONGEST_TYPE) {
        match &token.kind {
            Kind::Punct(punct) if depth == 0 && ends.contains(punct) => return Some((colon, place)),
            Kind::Newline if depth == 0 => return Some((colon, place)),
            Kind::Punct("(" | "[" | "{" | "<") => depth += 1,
            Kind::Punct(")" | "]" | "}" | ">") => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}

fn after_parentheses(tokens: &[Token], open: usize) -> Option<usize> {
    tokens.get(open).filter(|token| token.is("("))?;
    let mut depth = 0_usize;
    for (place, token) in tokens.iter().enumerate().skip(open).take(LONGEST_PARAMETERS) {
        match token.kind {
            Kind::Punct("(" | "[" | "{") => depth += 1,
            Kind::Punct(")" | "]" | "}") => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(place + 1);
        }
    }
    None
}
