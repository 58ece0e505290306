//! Counts with a noun, and lists of names.

/// Returns a count with its noun: `1 rule`, `2 rules`.
pub fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// Returns the names in backticks, separated by commas.
pub fn code_list<'n>(names: impl IntoIterator<Item = &'n (impl AsRef<str> + 'n)>) -> String {
    names.into_iter().map(|name| format!("`{}`", name.as_ref())).collect::<Vec<_>>().join(", ")
}
