//! `((` starts arithmetic in bash only if the two closing parentheses are adjacent as well. Otherwise `((` starts two
//! subshells: `((rm -r x) )`. The parser reads any two parentheses as arithmetic, and would lose the commands in the
//! subshells and the heredocs after them.

use brush_parser::Token;

use crate::limits::Gap;

/// Returns the position between the first two parentheses that start subshells, in characters. With a newline inserted
/// at this position, the parser reads the two parentheses as subshells. `None` if there are no such parentheses.
pub(crate) fn subshell_split(text: &str, tokens: &[Token]) -> Result<Option<usize>, Gap> {
    for (open, pair) in tokens.windows(2).enumerate() {
        let [outer, inner] = pair else { continue };
        if !is_operator(outer, "(") || !is_operator(inner, "(") {
            continue;
        }
        let Some(close) = end_of_arithmetic(tokens, open) else {
            // Bash first tries to read the two parentheses as arithmetic, and then forgets that the tag of a heredoc
            // was quoted.
            if are_adjacent(outer, inner) && text.contains("<<") {
                return Err(Gap::Doubtful("double parentheses and a heredoc"));
            }
            return Ok(Some(inner.location().start.index));
        };
        // Bash searches the raw text for the end, so a parenthesis in a comment or a heredoc counts for bash. A comment
        // or heredoc always extends to the end of a line.
        let is_one_line = inner.location().end.line == close.location().start.line;
        if !is_one_line && (text.contains('#') || text.contains("<<")) {
            return Err(Gap::Doubtful("double parentheses"));
        }
    }
    Ok(None)
}

/// Returns the token that closes the inner one of two parentheses, if the two parentheses start arithmetic.
fn end_of_arithmetic(tokens: &[Token], open: usize) -> Option<&Token> {
    let (outer, inner) = (tokens.get(open)?, tokens.get(open + 1)?);
    let closing = closing(tokens, open + 1)?;
    let (close, next) = (tokens.get(closing)?, tokens.get(closing + 1)?);
    (are_adjacent(outer, inner) && is_operator(next, ")") && are_adjacent(close, next)).then_some(close)
}

/// Returns the index of the token that closes this parenthesis.
fn closing(tokens: &[Token], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate().skip(open) {
        if is_operator(token, "(") {
            depth += 1;
        } else if is_operator(token, ")") {
            depth = depth.checked_sub(1)?;
            if depth == 0 {
                return Some(index);
            }
        }
    }
    None
}

fn is_operator(token: &Token, operator: &str) -> bool {
    matches!(token, Token::Operator(text, _) if text == operator)
}

fn are_adjacent(left: &Token, right: &Token) -> bool {
    left.location().end.index == right.location().start.index
}
