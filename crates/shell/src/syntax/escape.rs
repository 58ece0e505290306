//! Decodes backslash escapes, which differ between `$'…'`, `echo -e`, and the format and arguments of `printf`.

use std::iter::Peekable;
use std::str::Chars;

/// The program or syntax that defines the escapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EscapeRules {
    /// `$'…'`
    AnsiCQuotes,
    /// `echo -e`
    Echo,
    /// The format of `printf`.
    PrintfFormat,
    /// An argument of `printf` for `%b`.
    PrintfArgument,
}

/// A text with its escapes replaced.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Decoded {
    pub(crate) text: String,
    /// True if the text ends with `\c`: nothing more is printed.
    pub(crate) ends_output: bool,
}

/// Returns the text that `$'…'` stands for. `None` if this text is not UTF-8, or contains a NUL, at which shells
/// truncate the word.
pub(crate) fn decode(quoted: &str) -> Option<String> {
    decode_for(EscapeRules::AnsiCQuotes, quoted).map(|decoded| decoded.text).filter(|text| !text.contains('\0'))
}

/// Decodes all escapes in a text. Returns `None` if the result is not UTF-8, or `printf` would report an error.
pub(crate) fn decode_for(rules: EscapeRules, text: &str) -> Option<Decoded> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    let mut ends_output = false;
    while let Some(character) = rest.next() {
        if character != '\\' {
            push(&mut bytes, character);
            continue;
        }
        match rest.next() {
            None | Some('\\') => bytes.push(b'\\'),
            Some('c') if matches!(rules, EscapeRules::Echo | EscapeRules::PrintfArgument) => {
                ends_output = true;
                break;
            }
            Some(character) => escape(rules, character, &mut rest, &mut bytes)?,
        }
    }
    Some(Decoded { text: String::from_utf8(bytes).ok()?, ends_output })
}

/// Decodes one escape. `character`: the character after the backslash; `rest`: the text after that character.
fn escape(rules: EscapeRules, character: char, rest: &mut Peekable<Chars>, bytes: &mut Vec<u8>) -> Option<()> {
    match character {
        'a' => bytes.push(0x07),
        'b' => bytes.push(0x08),
        'e' | 'E' => bytes.push(0x1b),
        'f' => bytes.push(0x0c),
        'n' => bytes.push(b'\n'),
        'r' => bytes.push(b'\r'),
        't' => bytes.push(b'\t'),
        'v' => bytes.push(0x0b),
        '\'' | '"' | '?' if matches!(rules, EscapeRules::AnsiCQuotes | EscapeRules::PrintfFormat) => {
            push(bytes, character);
        }
        '0'..='7' if character == '0' || rules != EscapeRules::Echo => bytes.push(octal(rules, character, rest)?),
        'x' if rules == EscapeRules::AnsiCQuotes && rest.next_if_eq(&'{').is_some() => {
            let (value, _) = number(rest, 16, u32::MAX)?;
            rest.next_if_eq(&'}');
            bytes.push(u8::try_from(value & 0xff).ok()?);
        }
        'x' => match number(rest, 16, 2) {
            Some((value, _)) => bytes.push(u8::try_from(value).ok()?),
            None if matches!(rules, EscapeRules::PrintfFormat | EscapeRules::PrintfArgument) => return None,
            None => bytes.extend(b"\\x"),
        },
        'u' | 'U' => match number(rest, 16, if character == 'u' { 4 } else { 8 }) {
            Some((value, _)) => push(bytes, char::from_u32(value)?),
            None if matches!(rules, EscapeRules::PrintfFormat | EscapeRules::PrintfArgument) => return None,
            None => bytes.extend([b'\\', u8::try_from(character).ok()?]),
        },
        'c' if rules == EscapeRules::AnsiCQuotes => bytes.push(control(rest)?),
        other => {
            bytes.push(b'\\');
            push(bytes, other);
        }
    }
    Some(())
}

/// Decodes an octal escape: `\101`. `digit`: the first digit.
fn octal(rules: EscapeRules, digit: char, rest: &mut Peekable<Chars>) -> Option<u8> {
    // `echo -e` and `%b` accept three more digits after `\0`. Other escapes have at most three digits in total.
    let is_long = digit == '0' && matches!(rules, EscapeRules::Echo | EscapeRules::PrintfArgument);
    let first = digit.to_digit(8)?;
    let value =
        number(rest, 8, if is_long { 3 } else { 2 }).map_or(first, |(value, digits)| (first << (3 * digits)) | value);
    u8::try_from(value & 0xff).ok()
}

/// Decodes the control character `\cx`, after its `c`.
fn control(rest: &mut Peekable<Chars>) -> Option<u8> {
    match rest.next()? {
        '?' => Some(0x7f),
        control => {
            rest.next_if(|next| control == '\\' && *next == '\\');
            Some(u8::try_from(control.to_ascii_uppercase()).ok()? & 0x1f)
        }
    }
}

fn push(bytes: &mut Vec<u8>, character: char) {
    bytes.extend(character.encode_utf8(&mut [0; 4]).bytes());
}

/// Reads up to `most` digits. Returns the value and the number of digits.
fn number(rest: &mut Peekable<Chars>, radix: u32, most: u32) -> Option<(u32, u32)> {
    let mut value = 0_u32;
    let mut digits = 0;
    while digits < most
        && let Some(digit) = rest.peek().and_then(|character| character.to_digit(radix))
    {
        value = value.wrapping_mul(radix) | digit;
        digits += 1;
        rest.next();
    }
    (digits > 0).then_some((value, digits))
}

#[cfg(test)]
mod tests {
    use super::{EscapeRules, decode, decode_for};

    #[test]
    fn escapes() {
        assert_eq!(decode(r"a\tb\x41\101\u65e5\'\\\q").as_deref(), Some("a\tbAA日'\\\\q"));
        assert_eq!(decode(r"\xe6\x97\xa5").as_deref(), Some("日"));
        assert_eq!(decode(r"\e[0m\ca").as_deref(), Some("\u{1b}[0m\u{1}"));
        assert_eq!(decode(r"\7x\x\u").as_deref(), Some("\u{7}x\\x\\u"));
        assert_eq!(decode(r"\xff"), None);
        assert_eq!(decode(r"a\0b"), None);
        assert_eq!(decode(r"\UFFFFFFFF"), None);
        assert_eq!(decode(r"\"), Some("\\".to_owned()));
    }

    #[test]
    fn escapes_differ_between_echo_and_printf() {
        let cases = [
            // Each case is a text, and its result in `$'…'`, `echo -e`, `printf` and `%b`.
            (r"\162m", ["rm", r"\162m", "rm", "rm"]),
            (r"\0162m", ["\u{e}2m", "rm", "\u{e}2m", "rm"]),
            (r"\x72m", ["rm", "rm", "rm", "rm"]),
            (r"\\0", [r"\0", r"\0", r"\0", r"\0"]),
            ("\\\"", ["\"", "\\\"", "\"", "\\\""]),
            (r"a\cbc", ["a\u{2}c", "a", r"a\cbc", "a"]),
            (r"\x{72}m", ["rm", r"\x{72}m", "", ""]),
        ];
        for (text, expected) in cases {
            let all_rules =
                [EscapeRules::AnsiCQuotes, EscapeRules::Echo, EscapeRules::PrintfFormat, EscapeRules::PrintfArgument];
            let found = all_rules.map(|rules| decode_for(rules, text).map(|found| found.text).unwrap_or_default());
            assert_eq!(found, expected, "{text}");
        }
    }
}
