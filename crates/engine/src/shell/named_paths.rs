//! The paths that a script names, whatever it does with them.
//!
//! What a program does with its arguments is not known here, so every piece of every word that could be a path is one.
//! Words that are data to their program (a message, a search pattern) name nothing.

use crate::programs::Role;

use super::{RedirectKind, Script, Word};

/// A path, as it is written, and the command that names it: a place in [`Script::commands`], or none for a word that
/// may come to any of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedPath {
    pub text: String,
    pub command: Option<usize>,
}

impl Script {
    /// In order; a path may come more than once.
    pub fn named_paths(&self) -> Vec<NamedPath> {
        let mut paths = Vec::new();
        for (place, command) in self.commands.iter().enumerate() {
            let words = command.words.iter().filter(|word| word.role != Role::Data);
            let assigned = command.assignments.iter().map(|assignment| &assignment.value);
            // The body of a here-document is mostly a text that mentions things.
            let redirects = command.redirects.iter().filter(|redirect| redirect.kind != RedirectKind::HereDocument);
            for word in words.chain(assigned).chain(redirects.map(|redirect| &redirect.target)) {
                add_pieces(text_of(word), Some(place), &mut paths);
            }
        }
        for word in &self.loose {
            add_pieces(word, None, &mut paths);
        }
        paths
    }
}

fn text_of(word: &Word) -> &str {
    word.value.as_deref().unwrap_or(&word.raw)
}

/// The word itself, and what stands between signs that paths rarely have: `--file=.env`, `open('.env')`, the script
/// of `sh -c`.
fn add_pieces(text: &str, command: Option<usize>, paths: &mut Vec<NamedPath>) {
    let is_part = |letter: char| letter.is_alphanumeric() || "._-/~+@%*?".contains(letter);
    let whole = std::iter::once(text).filter(|text| !text.is_empty());
    let pieces = text.split(|letter| !is_part(letter)).filter(|piece| *piece != text && looks_like_path(piece));
    paths.extend(whole.chain(pieces).map(|text| NamedPath { text: text.to_owned(), command }));
}

fn looks_like_path(piece: &str) -> bool {
    !piece.starts_with('-') && piece.contains(['.', '/', '~'])
}
