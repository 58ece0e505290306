//! Pieces of a text that could be paths.

/// The text itself, and what stands between signs that paths rarely have: `--file=.env`, `open('.env')`.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |letter: char| letter.is_alphanumeric() || "._-/~+@%*?".contains(letter);
    let whole = std::iter::once(text).filter(|text| !text.is_empty() && !text.starts_with('-') && !is_address(text));
    let parts =
        text.split(move |letter| !is_part(letter)).filter(move |piece| *piece != text && looks_like_path(piece));
    whole.chain(parts)
}

fn is_address(text: &str) -> bool {
    text.contains("://") && !text.starts_with("file:")
}

/// Behind `https:` stands a host, and no path.
fn looks_like_path(piece: &str) -> bool {
    !piece.starts_with('-') && !piece.starts_with("//") && piece.contains(['.', '/', '~'])
}
