//! Messages for scripts that the parser rejects.

use brush_parser::{ParseError, SourcePosition, TokenizerError};

pub(crate) fn message_of_token_error(error: &TokenizerError) -> String {
    use TokenizerError as E;
    match error {
        E::UnterminatedSingleQuote(at) | E::UnterminatedAnsiCQuote(at) => {
            format!("the single quote at {} is not closed", position(at))
        }
        E::UnterminatedDoubleQuote(at) => format!("the double quote at {} is not closed", position(at)),
        E::UnterminatedBackquote(at) => format!("the backquote near {} is not closed", position(at)),
        E::UnterminatedVariable | E::UnterminatedCommandSubstitution | E::UnterminatedExpansion => {
            "an expansion, such as `${` or `$(`, is not closed".to_owned()
        }
        E::UnterminatedEscapeSequence => "it ends with a backslash".to_owned(),
        E::UnterminatedHereDocuments(tags, _) => {
            // The error contains the tags as written, with their quotes. A tag may be empty.
            let tags = tags.replace(['"', '\'', '\\'], "");
            let missing = if tags.is_empty() { "its closing tag".to_owned() } else { format!("`{tags}`") };
            format!("the heredoc has no end: {missing} is missing")
        }
        other => other.to_string(),
    }
}

pub(crate) fn message_of_grammar_error(text: &str, error: &ParseError) -> String {
    match error {
        ParseError::ParsingNear(at) => {
            let rest = text.get(text.char_indices().nth(at.index).map_or(text.len(), |(offset, _)| offset)..);
            let word = rest.and_then(|rest| rest.split_whitespace().next()).unwrap_or_default();
            let word: String = word.chars().take(MAX_CHARACTERS).collect();
            if word.is_empty() { position(at) } else { format!("from `{word}` on, at {}", position(at)) }
        }
        ParseError::ParsingAtEndOfInput => "the script is incomplete: it ends unexpectedly".to_owned(),
        ParseError::Tokenizing { inner, .. } => message_of_token_error(inner),
    }
}

/// The maximum length of the word that the message quotes.
const MAX_CHARACTERS: usize = 20;

fn position(at: &SourcePosition) -> String {
    format!("line {}, column {}", at.line, at.column)
}
