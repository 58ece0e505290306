//! Finds the parts of a string that could be paths.

/// Returns the string itself, and the parts of it that look like paths: `.env` in `--file=.env` and in `open('.env')`.
pub(super) fn path_candidates(text: &str) -> impl Iterator<Item = &str> {
    let is_path_character = |c: char| c.is_alphanumeric() || "._-/~+@%*?".contains(c);
    let whole = std::iter::once(text).filter(|text| !text.is_empty() && !text.starts_with('-') && !is_url(text));
    let parts =
        text.split(move |c| !is_path_character(c)).filter(move |piece| *piece != text && looks_like_path(piece));
    whole.chain(parts)
}

/// True for any URL but a `file:` URL, which counts as a path.
fn is_url(text: &str) -> bool {
    text.contains("://") && !text.starts_with("file:")
}

/// True if a part of a string could be a path. A part that starts with `//` is the host of a URL: `//example.com` of
/// `https://example.com`.
fn looks_like_path(piece: &str) -> bool {
    !piece.starts_with('-') && !piece.starts_with("//") && piece.contains(['.', '/', '~'])
}
