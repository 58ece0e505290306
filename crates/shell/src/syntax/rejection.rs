//! Describes for people why the parser rejects a script.

use brush_parser::{ParseError, SourcePosition, TokenizerError};

pub(crate) fn of_tokens(error: &TokenizerError) -> String {
    use TokenizerError as E;
    match error {
        E::UnterminatedSingleQuote(at) | E::UnterminatedAnsiCQuote(at) => {
            format!("the single quote at {} is not closed", place(at))
        }
        E::UnterminatedDoubleQuote(at) => format!("the double quote at {} is not closed", place(at)),
        E::UnterminatedBackquote(at) => format!("the backquote near {} is not closed", place(at)),
        E::UnterminatedVariable | E::UnterminatedCommandSubstitution | E::UnterminatedExpansion => {
            "an expansion, such as `${` or `$(`, is not closed".to_owned()
        }
        E::UnterminatedEscapeSequence => "it ends with a backslash".to_owned(),
        E::UnterminatedHereDocuments(tags, _) => {
            // The tags as written, with their quotes. A tag may be empty.
            let tags = tags.replace(['"', '\'', '\\'], "");
            let missing = if tags.is_empty() { "the line that ends it".to_owned() } else { format!("`{tags}`") };
            format!("the here-document has no end: {missing} is missing")
        }
        other => other.to_string(),
    }
}

pub(crate) fn of_grammar(text: &str, error: &ParseError) -> String {
    match error {
        ParseError::ParsingNear(at) => {
            let rest = text.get(text.char_indices().nth(at.index).map_or(text.len(), |(place, _)| place)..);
            let word = rest.and_then(|rest| rest.split_whitespace().next()).unwrap_or_default();
            let word: String = word.chars().take(MAX_LETTERS).collect();
            if word.is_empty() { place(at) } else { format!("from `{word}` on, at {}", place(at)) }
        }
        ParseError::ParsingAtEndOfInput => "it ends where more has to follow".to_owned(),
        ParseError::Tokenizing { inner, .. } => of_tokens(inner),
    }
}

/// Long enough to find the place.
const MAX_LETTERS: usize = 20;

fn place(at: &SourcePosition) -> String {
    format!("line {}, column {}", at.line, at.column)
}
