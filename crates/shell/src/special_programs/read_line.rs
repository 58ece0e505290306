//! The `read` builtin: the line that it reads, and the fields of the line.

use crate::model::{Redirect, SimpleCommand};

/// Returns the line that a `read` command reads, if it is known.
pub(crate) fn line_read_by(command: &SimpleCommand) -> Option<&str> {
    let flags = || command.arguments().into_iter().flat_map(|arguments| &arguments.flags);
    // With these flags, `read` does not simply read a line of its stdin: `-n` and `-N` limit the number of characters,
    // `-u` selects another file descriptor, and `-i` supplies an initial text.
    if flags().any(|flag| matches!(flag.name.as_str(), "-n" | "-N" | "-u" | "-i")) {
        return None;
    }
    let delimiter = flags().find(|flag| flag.name == "-d").map(|flag| {
        let value = flag.value?;
        command.text_from(value.word, value.from)
    });
    let redirect = command.redirects().iter().rev().find(|redirect| Redirect::replaces_stdin(redirect));
    let text = match redirect {
        Some(redirect) => redirect.text()?,
        None => command.provenance.input.as_deref()?,
    };
    match delimiter {
        // With an empty delimiter, `read` reads up to a NUL, or to the end.
        Some(Some("")) => text.split('\0').next(),
        Some(_) => None,
        None if redirect.is_some() => text.lines().next(),
        // Other commands may already have read lines from the same pipe. If the text has several lines, it is not known
        // which line `read` gets.
        None => Some(text.trim_end_matches('\n')).filter(|line| !line.contains('\n')),
    }
}

/// Splits a line into fields for `count` names; the last name gets the rest of the line.
pub(crate) fn fields<'l>(line: &'l str, separators: &str, count: usize) -> Vec<&'l str> {
    let is_separator = |c: char| separators.contains(c);
    let is_space = |c: char| is_separator(c) && c.is_whitespace();
    let mut rest = line.trim_start_matches(is_space).trim_end_matches(is_space);
    let mut fields = Vec::new();
    while !rest.is_empty() && fields.len() + 1 < count {
        let Some(end) = rest.find(is_separator) else { break };
        let (field, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        fields.push(field);
        let after = after.trim_start_matches(is_space);
        // Spaces around a separator that is not a space belong to that separator.
        let after = after.strip_prefix(|c| is_separator(c) && !is_space(c)).unwrap_or(after);
        rest = after.trim_start_matches(is_space);
    }
    if !rest.is_empty() {
        fields.push(rest);
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::fields;

    #[test]
    fn fields_are_split_like_in_bash() {
        let cases: [(&str, &str, usize, &[&str]); 8] = [
            ("  a b  c ", " \t\n", 2, &["a", "b  c"]),
            ("x/.env", "/", 2, &["x", ".env"]),
            ("a::b", ":", 9, &["a", "", "b"]),
            ("a : b", ": ", 9, &["a", "b"]),
            (" a b ", "", 1, &[" a b "]),
            ("a b", ",", 2, &["a b"]),
            ("", " ", 2, &[]),
            ("a,b,c", ",", 1, &["a,b,c"]),
        ];
        for (line, separators, count, expected) in cases {
            assert_eq!(fields(line, separators, count), expected, "{line}");
        }
    }
}
