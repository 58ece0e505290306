//! Makes the output of programs and the contents of files safe to display: removes terminal control sequences and
//! limits the length.

/// The last lines, without control sequences.
pub fn last_lines(text: &str, lines: usize, bytes: usize) -> String {
    let text = without_controls(text);
    let all: Vec<&str> = text.trim_end().lines().map(str::trim_end).collect();
    let output = all.get(all.len().saturating_sub(lines)..).unwrap_or_default().join("\n");
    let start = output.ceil_char_boundary(output.len().saturating_sub(bytes));
    output.get(start..).unwrap_or_default().trim_start_matches('\n').to_owned()
}

/// The whole text in one line, shortened.
pub fn single_line(text: &str) -> String {
    const MAX_CHARS: usize = 200;
    let line = without_controls(text).split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

fn without_controls(text: &str) -> String {
    let mut output = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\u{1b}' if letters.next_if_eq(&'[').is_some() => {
                // The first character from `@` to `~` ends the escape sequence.
                while letters.next().is_some_and(|letter| !('\u{40}'..='\u{7e}').contains(&letter)) {}
            }
            // After a carriage return, a terminal overwrites the line, as progress bars do.
            '\r' if letters.peek() != Some(&'\n') => {
                output.truncate(output.rfind('\n').map_or(0, |end| end + 1));
            }
            '\n' | '\t' => output.push(letter),
            _ if letter.is_control() || changes_text_direction(letter) => {}
            _ => output.push(letter),
        }
    }
    output
}

/// True for Unicode characters that change the reading direction.
fn changes_text_direction(letter: char) -> bool {
    matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
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
