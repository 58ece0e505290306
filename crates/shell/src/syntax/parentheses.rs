//! `((`: arithmetic to bash only where both pairs close together. Everywhere else these are two shells, and the parser,
//! which takes any two parentheses for arithmetic, would lose the commands in them, and here-documents behind them:
//! `((rm -r x) )`.

use brush_parser::Token;

use crate::limits::Gap;

/// Where a line break between the first parentheses that begin two shells makes the parser read them so: a number of
/// letters. `None` where there are no such.
pub(crate) fn to_be_parted(text: &str, tokens: &[Token]) -> Result<Option<usize>, Gap> {
    for (open, pair) in tokens.windows(2).enumerate() {
        let [outer, inner] = pair else { continue };
        if !is(outer, "(") || !is(inner, "(") {
            continue;
        }
        let Some(close) = closes_together(tokens, open) else {
            // Bash has tried to read them as arithmetic before, and forgets that the tag of a here-document was quoted.
            if touch(outer, inner) && text.contains("<<") {
                return Err(Gap::Doubtful("double parentheses and a here-document"));
            }
            return Ok(Some(inner.location().start.index));
        };
        // Bash looks for the end among the letters, so a parenthesis in a comment or a here-document counts for it. Both
        // end with a line.
        let is_one_line = inner.location().end.line == close.location().start.line;
        if !is_one_line && (text.contains('#') || text.contains("<<")) {
            return Err(Gap::Doubtful("double parentheses"));
        }
    }
    Ok(None)
}

/// What closes the inner one of two parentheses that begin arithmetic; `None` where they do not.
fn closes_together(tokens: &[Token], open: usize) -> Option<&Token> {
    let (outer, inner) = (tokens.get(open)?, tokens.get(open + 1)?);
    let closing = closing(tokens, open + 1)?;
    let (close, next) = (tokens.get(closing)?, tokens.get(closing + 1)?);
    (touch(outer, inner) && is(next, ")") && touch(close, next)).then_some(close)
}

/// The place of what closes the parenthesis at this one.
fn closing(tokens: &[Token], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (place, token) in tokens.iter().enumerate().skip(open) {
        if is(token, "(") {
            depth += 1;
        } else if is(token, ")") {
            depth = depth.checked_sub(1)?;
            if depth == 0 {
                return Some(place);
            }
        }
    }
    None
}

fn is(token: &Token, operator: &str) -> bool {
    matches!(token, Token::Operator(text, _) if text == operator)
}

fn touch(left: &Token, right: &Token) -> bool {
    left.location().end.index == right.location().start.index
}
