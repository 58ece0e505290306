//! `((`: arithmetic to bash only where both pairs close together. Everywhere else these are two shells, and the parser,
//! which takes any two parentheses for arithmetic, would lose the commands in them: `((rm -r x) )`.

use brush_parser::Token;

use super::Gap;

/// The same tokens, with a line break between parentheses that begin two shells: there the parser reads them so.
pub(super) fn told_apart(text: &str, tokens: Vec<Token>) -> Result<Vec<Token>, Gap> {
    let begins = |pair: &[Token]| matches!(pair, [outer, inner] if is(outer, "(") && is(inner, "("));
    if !tokens.windows(2).any(begins) {
        return Ok(tokens);
    }
    let closings = closings(&tokens);
    let mut apart = Vec::with_capacity(tokens.len() + 2);
    for (place, token) in tokens.iter().enumerate() {
        apart.push(token.clone());
        let (Some(inner), true) = (tokens.get(place + 1), is(token, "(")) else { continue };
        if !is(inner, "(") {
            continue;
        }
        let closing = closings.get(place + 1).copied().flatten();
        let ends = closing.and_then(|closing| tokens.get(closing).zip(tokens.get(closing + 1)));
        match ends.filter(|(close, next)| touch(token, inner) && is(next, ")") && touch(close, next)) {
            None => apart.push(Token::Operator("\n".to_owned(), inner.location().clone())),
            Some((close, _)) => check_plain(text, inner, close)?,
        }
    }
    Ok(apart)
}

/// Bash looks for the end among the letters, so a parenthesis in a comment or a here-document counts for it. Both end
/// with a line.
fn check_plain(text: &str, open: &Token, close: &Token) -> Result<(), Gap> {
    let (from, to) = (open.location().end.index, close.location().start.index);
    let inside = || text.chars().skip(from).take(to - from);
    let has_pair = || inside().zip(inside().skip(1)).any(|pair| pair == ('<', '<'));
    if inside().any(|letter| letter == '\n') && (inside().any(|letter| letter == '#') || has_pair()) {
        return Err(Gap::Doubtful("double parentheses"));
    }
    Ok(())
}

/// For each opening parenthesis the place of what closes it.
fn closings(tokens: &[Token]) -> Vec<Option<usize>> {
    let mut closings = vec![None; tokens.len()];
    let mut open = Vec::new();
    for (place, token) in tokens.iter().enumerate() {
        if is(token, "(") {
            open.push(place);
        } else if is(token, ")")
            && let Some(closing) = open.pop().and_then(|opened: usize| closings.get_mut(opened))
        {
            *closing = Some(place);
        }
    }
    closings
}

fn is(token: &Token, operator: &str) -> bool {
    matches!(token, Token::Operator(text, _) if text == operator)
}

fn touch(left: &Token, right: &Token) -> bool {
    left.location().end.index == right.location().start.index
}
