//! The paths that a script names, whatever it does with them.
//!
//! What a program does with its arguments is not known here, so every piece of every word that could be a path is one.
//! Words that are data to their program (a message, a search pattern) name nothing.

use super::{RedirectKind, Script, Word};

impl Script {
    /// As they are written, in order; a path may come more than once.
    pub fn named_paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        for command in &self.commands {
            for word in command.words.iter().filter(|word| !word.data) {
                add_pieces(word, &mut paths);
            }
            for assignment in &command.assignments {
                add_pieces(&assignment.value, &mut paths);
            }
            for redirect in &command.redirects {
                let is_text = matches!(redirect.kind, RedirectKind::HereDocument | RedirectKind::HereString);
                if !is_text {
                    add_pieces(&redirect.target, &mut paths);
                }
            }
        }
        paths
    }
}

/// The word itself, and what stands between signs that paths rarely have: `--file=.env`, `open('.env')`, the script
/// of `sh -c`.
fn add_pieces(word: &Word, paths: &mut Vec<String>) {
    let text = word.value.as_deref().unwrap_or(&word.raw);
    let is_part = |letter: char| letter.is_alphanumeric() || "._-/~+@%*?".contains(letter);
    let whole = std::iter::once(text).filter(|text| !text.is_empty());
    let pieces = text.split(|letter| !is_part(letter)).filter(|piece| *piece != text && looks_like_path(piece));
    paths.extend(whole.chain(pieces).map(str::to_owned));
}

fn looks_like_path(piece: &str) -> bool {
    !piece.starts_with('-') && piece.contains(['.', '/', '~'])
}
