//! Removes TypeScript's type annotations from declarations and assignments.
//!
//! Plain JavaScript rarely has code that looks like an annotation. If it does, none of the tokens that are removed has
//! an effect.

use crate::token::{Token, TokenKind};

/// The maximum length of a type, in tokens. A longer annotation is not removed.
const MAX_TYPE_TOKENS: usize = 64;
const MAX_PARAMETER_TOKENS: usize = 256;

pub(super) fn remove_type_annotations(tokens: Vec<Token>) -> Vec<Token> {
    let annotations: Vec<(usize, usize)> =
        (0..tokens.len()).filter_map(|index| annotation_at(&tokens, index)).collect();
    if annotations.is_empty() {
        return tokens;
    }
    let mut annotations = annotations.into_iter().peekable();
    let mut end = 0;
    let mut is_in_annotation = |index: usize| {
        while let Some((_, next)) = annotations.next_if(|(start, _)| *start <= index) {
            end = end.max(next);
        }
        index < end
    };
    tokens.into_iter().enumerate().filter(|(index, _)| !is_in_annotation(*index)).map(|(_, token)| token).collect()
}

/// If a declaration with a type annotation begins at this index, returns the range of the annotation's tokens.
fn annotation_at(tokens: &[Token], index: usize) -> Option<(usize, usize)> {
    let is = |index: usize, punct: &str| tokens.get(index).is_some_and(|token| token.is(punct));
    let name = |index: usize| tokens.get(index).and_then(Token::name);
    match name(index)? {
        // `const name: Type = value`
        "const" | "let" | "var" if name(index + 1).is_some() && is(index + 2, ":") => {
            annotation_until(tokens, index + 2, &["=", ";"])
        }
        // `import name = require('fs')`
        "import" if name(index + 1).is_some() && is(index + 2, "=") => Some((index, index + 1)),
        // `function name(…): Type {`
        "function" => {
            let open = (index + 1..index + 3).find(|index| is(*index, "("))?;
            annotation_until(tokens, after_parentheses(tokens, open)?, &["{"])
        }
        // `name = (…): Type =>`, or `a ? name = (…) : b => …`
        _ if is(index + 1, "=") => {
            let open = if name(index + 2) == Some("async") { index + 3 } else { index + 2 };
            let (colon, end) = annotation_until(tokens, after_parentheses(tokens, open)?, &["=>"])?;
            let may_have_effect =
                |token: &Token| token.is("(") || matches!(token.kind, TokenKind::String(_) | TokenKind::Newline);
            (is(end, "=>") && !tokens.get(colon..end)?.iter().any(may_have_effect)).then_some((colon, end))
        }
        _ => None,
    }
}

/// Returns the range from a colon to the next of these tokens, or to the end of the line.
fn annotation_until(tokens: &[Token], colon: usize, ends: &[&str]) -> Option<(usize, usize)> {
    tokens.get(colon).filter(|token| token.is(":"))?;
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate().skip(colon + 1).take(MAX_TYPE_TOKENS) {
        match &token.kind {
            TokenKind::Punct(punct) if depth == 0 && ends.contains(punct) => return Some((colon, index)),
            TokenKind::Newline if depth == 0 => return Some((colon, index)),
            TokenKind::Punct("(" | "[" | "{" | "<") => depth += 1,
            TokenKind::Punct(")" | "]" | "}" | ">") => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}

/// Returns the index after the parentheses that open at index `open`.
fn after_parentheses(tokens: &[Token], open: usize) -> Option<usize> {
    tokens.get(open).filter(|token| token.is("("))?;
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate().skip(open).take(MAX_PARAMETER_TOKENS) {
        match token.kind {
            TokenKind::Punct("(" | "[" | "{") => depth += 1,
            TokenKind::Punct(")" | "]" | "}") => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(index + 1);
        }
    }
    None
}
