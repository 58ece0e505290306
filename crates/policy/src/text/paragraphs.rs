//! Joins the hard line breaks inside paragraphs of Markdown, so that a message wraps where it is shown.

/// Joins the lines of each paragraph and list item. Headings, tables, quotes, code and hard breaks (two spaces or a
/// backslash at the end of a line) keep their lines.
pub fn join_lines(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    let mut fence: Option<&str> = None;
    let mut can_continue = false;
    for line in text.lines() {
        let content = line.trim_start();
        let marker = ["```", "~~~"].into_iter().find(|marker| content.starts_with(marker));
        let is_code = fence.is_some() || marker.is_some() || is_indented_code(line, can_continue);
        match (fence, marker) {
            (None, Some(opening)) => fence = Some(opening),
            (Some(open), Some(closing)) if open == closing => fence = None,
            _ => {}
        }
        if can_continue && !is_code && continues_paragraph(content) {
            joined.truncate(joined.trim_end().len());
            joined.push(' ');
            joined.push_str(content);
        } else {
            if !joined.is_empty() {
                joined.push('\n');
            }
            joined.push_str(line);
        }
        let is_prose = !is_code && !content.is_empty() && (continues_paragraph(content) || is_list_item(content));
        can_continue = is_prose && !line.ends_with("  ") && !line.ends_with('\\');
    }
    joined
}

/// Four spaces begin code, except inside of a paragraph or list item.
fn is_indented_code(line: &str, in_paragraph: bool) -> bool {
    !in_paragraph && (line.starts_with("    ") || line.starts_with('\t'))
}

fn continues_paragraph(content: &str) -> bool {
    let begins_block =
        content.starts_with(['#', '>', '|', '<']) || content.chars().all(|character| "=-*_ ".contains(character));
    !content.is_empty() && !begins_block && !is_list_item(content)
}

/// `- text`, `* text`, `+ text`, `1. text`, `1) text`
fn is_list_item(content: &str) -> bool {
    let rest = content.trim_start_matches(|character: char| character.is_ascii_digit());
    let marker: &[char] = if rest.len() == content.len() { &['-', '*', '+'] } else { &['.', ')'] };
    rest.strip_prefix(marker).is_some_and(|rest| rest.starts_with(' '))
}

#[cfg(test)]
mod tests {
    use super::join_lines;

    #[test]
    fn lines_of_a_paragraph_are_joined() {
        assert_eq!(join_lines("One\n two.  \nThree\nfour.\n\nFive\nsix."), "One two.  \nThree four.\n\nFive six.");
        assert_eq!(join_lines("a\\\nb"), "a\\\nb");
        assert_eq!(join_lines("1999 was\nlong ago"), "1999 was long ago");
    }

    #[test]
    fn lists_keep_their_items() {
        assert_eq!(
            join_lines("Do:\n- one\n  and more\n- two\n1. three\n2) four"),
            "Do:\n- one and more\n- two\n1. three\n2) four"
        );
    }

    #[test]
    fn blocks_keep_their_lines() {
        let block = "# A\nb\n\n```sh\na\nb\n```\n\n| a | b |\n|---|---|\n> q\n> r\n\n    code\n    more";
        assert_eq!(join_lines(block), block);
        assert_eq!(join_lines("~~~\na\n```\nb\n~~~\nc\nd"), "~~~\na\n```\nb\n~~~\nc d");
    }

    #[test]
    fn indented_lines_go_on_with_a_paragraph() {
        assert_eq!(join_lines("a\n    b\n\n    c"), "a b\n\n    c");
    }
}
