//! Makes the output of programs and other foreign text safe to display: removes terminal control sequences, and limits
//! the length.

/// The last lines of the text, without control sequences: at most `max_lines` lines and `max_bytes` bytes.
pub fn last_lines(text: &str, max_lines: usize, max_bytes: usize) -> String {
    let text = without_controls(text);
    let all: Vec<&str> = text.trim_end().lines().map(str::trim_end).collect();
    let output = all.get(all.len().saturating_sub(max_lines)..).unwrap_or_default().join("\n");
    let start = output.ceil_char_boundary(output.len().saturating_sub(max_bytes));
    output.get(start..).unwrap_or_default().trim_start_matches('\n').to_owned()
}

/// The text as one line, without control sequences. A long text is shortened.
pub fn single_line(text: &str) -> String {
    const MAX_CHARS: usize = 200;
    let line = without_controls(text).split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

/// The text without control sequences.
fn without_controls(text: &str) -> String {
    let mut output = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\u{1b}' if characters.next_if_eq(&'[').is_some() => {
                // The first character from `@` to `~` ends the escape sequence.
                while characters.next().is_some_and(|character| !('\u{40}'..='\u{7e}').contains(&character)) {}
            }
            // After a carriage return, a terminal overwrites the line. Progress bars use this.
            '\r' if characters.peek() != Some(&'\n') => {
                output.truncate(output.rfind('\n').map_or(0, |end| end + 1));
            }
            '\n' | '\t' => output.push(character),
            _ if character.is_control() || changes_text_direction(character) => {}
            _ => output.push(character),
        }
    }
    output
}

/// True for Unicode characters that change the reading direction.
fn changes_text_direction(character: char) -> bool {
    matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_sequences_are_removed() {
        assert_eq!(
            last_lines("\u{1b}[31mred\u{1b}[0m\r\nb\u{8}ell\u{7}\u{1b}]0;title\u{7}", 9, 99),
            "red\nbell]0;title"
        );
        assert_eq!(last_lines("10 %\r50 %\r100 %\ndone\n\n", 9, 99), "100 %\ndone");
        assert_eq!(last_lines("\u{202e}txt", 9, 99), "txt");
        assert_eq!(last_lines("\u{1b}[", 9, 99), "");
    }

    #[test]
    fn last_lines_and_single_line_shorten_text() {
        assert_eq!(last_lines("a\nb\nc\n", 2, 99), "b\nc");
        assert_eq!(last_lines("äöü", 2, 3), "ü");
        assert_eq!(single_line("a\n  b\u{1b}[1m c"), "a b c");
        assert_eq!(single_line(&"x".repeat(300)).chars().count(), 201);
    }
}
