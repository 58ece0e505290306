//! TypeScript: what it adds to JavaScript is left out where a name gets its value. Little of this is valid JavaScript, and
//! where it is, nothing that does anything is left out.

use crate::token::{Kind, Token};

/// Longer types, and those behind longer parameters, are left where they are.
const LONGEST_TYPE: usize = 64;
const LONGEST_PARAMETERS: usize = 256;

pub(super) fn without(tokens: Vec<Token>) -> Vec<Token> {
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

/// From where to where a type stands that belongs to what begins here.
fn annotation(tokens: &[Token], place: usize) -> Option<(usize, usize)> {
    let is = |place: usize, mark: &str| tokens.get(place).is_some_and(|token| token.is(mark));
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
            type_until(tokens, behind_parentheses(tokens, open)?, &["{"])
        }
        // `name = (…): Type =>`, or `a ? name = (…) : b => …`
        _ if is(place + 1, "=") => {
            let open = if name(place + 2) == Some("async") { place + 3 } else { place + 2 };
            let (colon, end) = type_until(tokens, behind_parentheses(tokens, open)?, &["=>"])?;
            let does = |token: &Token| token.is("(") || matches!(token.kind, Kind::Text(_) | Kind::Newline);
            (is(end, "=>") && !tokens.get(colon..end)?.iter().any(does)).then_some((colon, end))
        }
        _ => None,
    }
}

/// From a colon to one of these marks.
fn type_until(tokens: &[Token], colon: usize, ends: &[&str]) -> Option<(usize, usize)> {
    tokens.get(colon).filter(|token| token.is(":"))?;
    let mut depth = 0_usize;
    for (place, token) in tokens.iter().enumerate().skip(colon + 1).take(LONGEST_TYPE) {
        match &token.kind {
            Kind::Mark(mark) if depth == 0 && ends.contains(mark) => return Some((colon, place)),
            Kind::Newline if depth == 0 => return Some((colon, place)),
            Kind::Mark("(" | "[" | "{" | "<") => depth += 1,
            Kind::Mark(")" | "]" | "}" | ">") => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}

fn behind_parentheses(tokens: &[Token], open: usize) -> Option<usize> {
    tokens.get(open).filter(|token| token.is("("))?;
    let mut depth = 0_usize;
    for (place, token) in tokens.iter().enumerate().skip(open).take(LONGEST_PARAMETERS) {
        match token.kind {
            Kind::Mark("(" | "[" | "{") => depth += 1,
            Kind::Mark(")" | "]" | "}") => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(place + 1);
        }
    }
    None
}
