//! `select NAME in …; do …; done`: a loop that asks which of its words is meant. The parser has none, but it has `for`, and a
//! loop over all words does no less.

use brush_parser::Token;

/// Words behind which a command begins.
const BEFORE_COMMANDS: &[&str] = &["do", "then", "else", "elif", "if", "while", "until", "!", "{", "time"];

/// The variable that it sets beside its own.
const ANSWER: &str = "REPLY=\"${UNKNOWN}\"";

/// The same with other loops; `None` where there are none of this kind.
pub(crate) fn as_for(text: &str, tokens: &[Token]) -> Option<Vec<Token>> {
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
            // What is answered, nobody knows.
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

/// `select NAME do`: without words it goes over those of the script.
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
