//! How a text is written before anything is made of its letters.

use super::tongue::Spelling;

/// The text that a compiler sees.
pub(super) fn spelled(spelling: Spelling, text: &str) -> String {
    // Comments end there too.
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    match spelling {
        Spelling::Plain => text,
        Spelling::JoinedLines => text.replace("\\\n", ""),
        Spelling::Escapes => unescaped(&text),
    }
}

/// `\u0065` is `e`, even where it stands in a name; but not behind another backslash.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('\\') {
        plain.push_str(before);
        let digits = behind.trim_start_matches('u');
        let letter = digits.get(..4).and_then(|digits| u32::from_str_radix(digits, 16).ok()).and_then(char::from_u32);
        if let Some(letter) = letter.filter(|_| behind.starts_with('u')) {
            plain.push(letter);
            rest = digits.get(4..).unwrap_or_default();
        } else {
            let length = behind.chars().next().map_or(0, char::len_utf8);
            plain.push('\\');
            plain.push_str(behind.get(..length).unwrap_or_default());
            rest = behind.get(length..).unwrap_or_default();
        }
    }
    plain.push_str(rest);
    plain
}
