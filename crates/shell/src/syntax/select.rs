//! `select NAME in …; do …; done`: a loop that asks for one of its words. The parser does not support it, so it is
//! parsed as a `for` loop over all the words, which runs at least the same commands.

use brush_parser::Token;

/// Words after which a command starts.
const BEFORE_COMMANDS: &[&str] = &["do", "then", "else", "elif", "if", "while", "until", "!", "{", "time"];

/// `select` also sets this variable to the answer.
const ANSWER: &str = "REPLY=\"${UNKNOWN}\"";

/// Returns the tokens with `for` in place of `select`; `None` if there is no such loop.
pub(crate) fn select_as_for(text: &str, tokens: &[Token]) -> Option<Vec<Token>> {
    let place = text.contains("select").then(|| (0..tokens.len()).find(|place| is_select(tokens, *place)))??;
    let mut changed: Vec<Token> = tokens.get(..place)?.to_vec();
    let mut open = 0_usize;
    for at in place..tokens.len() {
        let token = tokens.get(at)?;
        if is_select(tokens, at) {
            open += 1;
            changed.push(Token::Word("for".to_owned(), token.location().clone()));
            continue;
        }
        changed.push(token.clone());
        if open > 0 && is_word(token, "do") && (begins_command(tokens, at) || is_behind_name(tokens, at)) {
            open -= 1;
            // The answer is not known.
            changed.push(Token::Word(ANSWER.to_owned(), token.location().clone()));
            changed.push(Token::Operator(";".to_owned(), token.location().clone()));
        }
    }
    Some(changed)
}

fn is_select(tokens: &[Token], place: usize) -> bool {
    let is_loop = |next: &Token| is_word(next, "in") || is_word(next, "do") || matches!(next, Token::Operator(..));
    tokens.get(place).is_some_and(|token| is_word(token, "select"))
        && begins_command(tokens, place)
        && matches!(tokens.get(place + 1), Some(Token::Word(..)))
        && tokens.get(place + 2).is_some_and(is_loop)
}

/// True for the `do` in `select NAME do`. Without words, the loop is over the arguments of the script.
fn is_behind_name(tokens: &[Token], place: usize) -> bool {
    place.checked_sub(2).is_some_and(|before| is_select(tokens, before))
}

fn begins_command(tokens: &[Token], place: usize) -> bool {
    match place.checked_sub(1).and_then(|before| tokens.get(before)) {
        None => true,
        Some(Token::Operator(sign, _)) => !sign.contains(['<', '>']),
        Some(Token::Word(word, _)) => BEFORE_COMMANDS.contains(&word.as_str()),
    }
}

fn is_word(token: &Token, wanted: &str) -> bool {
    matches!(token, Token::Word(word, _) if word == wanted)
}
