//! `select NAME in …; do …; done`: a loop that asks the user to choose one of its words. The parser does not support
//! `select`, so the loop is parsed as a `for` loop over all the words, which runs at least the same commands.

use brush_parser::Token;

/// Words after which a command starts.
const BEFORE_COMMANDS: &[&str] = &["do", "then", "else", "elif", "if", "while", "until", "!", "{", "time"];

/// The assignment of the user's answer, which is not known.
const ANSWER: &str = "REPLY=\"${UNKNOWN}\"";

/// Returns the tokens with `for` in place of `select`; `None` if there is no such loop.
pub(crate) fn select_as_for(text: &str, tokens: &[Token]) -> Option<Vec<Token>> {
    let index = text.contains("select").then(|| (0..tokens.len()).find(|index| is_select(tokens, *index)))??;
    let mut changed: Vec<Token> = tokens.get(..index)?.to_vec();
    let mut open = 0_usize;
    for at in index..tokens.len() {
        let token = tokens.get(at)?;
        if is_select(tokens, at) {
            open += 1;
            changed.push(Token::Word("for".to_owned(), token.location().clone()));
            continue;
        }
        changed.push(token.clone());
        if open > 0 && is_word(token, "do") && (begins_command(tokens, at) || follows_name(tokens, at)) {
            open -= 1;
            changed.push(Token::Word(ANSWER.to_owned(), token.location().clone()));
            changed.push(Token::Operator(";".to_owned(), token.location().clone()));
        }
    }
    Some(changed)
}

fn is_select(tokens: &[Token], index: usize) -> bool {
    let is_loop = |next: &Token| is_word(next, "in") || is_word(next, "do") || matches!(next, Token::Operator(..));
    tokens.get(index).is_some_and(|token| is_word(token, "select"))
        && begins_command(tokens, index)
        && matches!(tokens.get(index + 1), Some(Token::Word(..)))
        && tokens.get(index + 2).is_some_and(is_loop)
}

/// True for the `do` in `select NAME do`. Without words, the loop is over the arguments of the script.
fn follows_name(tokens: &[Token], index: usize) -> bool {
    index.checked_sub(2).is_some_and(|before| is_select(tokens, before))
}

fn begins_command(tokens: &[Token], index: usize) -> bool {
    match index.checked_sub(1).and_then(|before| tokens.get(before)) {
        None => true,
        Some(Token::Operator(operator, _)) => !operator.contains(['<', '>']),
        Some(Token::Word(word, _)) => BEFORE_COMMANDS.contains(&word.as_str()),
    }
}

fn is_word(token: &Token, text: &str) -> bool {
    matches!(token, Token::Word(word, _) if word == text)
}
