//! The text of `$'…'`.

/// None where the result is no text that a shell could pass on as such: bytes that are not UTF-8, or a NUL, at which
/// shells cut the word.
pub(super) fn decode(quoted: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(quoted.len());
    let mut rest = quoted.chars().peekable();
    while let Some(character) = rest.next() {
        if character != '\\' {
            push(&mut bytes, character);
            continue;
        }
        match rest.next() {
            None => bytes.push(b'\\'),
            Some('a') => bytes.push(0x07),
            Some('b') => bytes.push(0x08),
            Some('e' | 'E') => bytes.push(0x1b),
            Some('f') => bytes.push(0x0c),
            Some('n') => bytes.push(b'\n'),
            Some('r') => bytes.push(b'\r'),
            Some('t') => bytes.push(b'\t'),
            Some('v') => bytes.push(0x0b),
            Some(character @ ('\\' | '\'' | '"' | '?')) => push(&mut bytes, character),
            Some(digit @ '0'..='7') => {
                let first = digit.to_digit(8)?;
                let value = number(&mut rest, 8, 2).map_or(first, |(value, digits)| (first << (3 * digits)) | value);
                bytes.push(u8::try_from(value & 0xff).ok()?);
            }
            Some('x') => match number(&mut rest, 16, 2) {
                Some((value, _)) => bytes.push(u8::try_from(value).ok()?),
                None => bytes.extend(b"\\x"),
            },
            Some(kind @ ('u' | 'U')) => match number(&mut rest, 16, if kind == 'u' { 4 } else { 8 }) {
                Some((value, _)) => push(&mut bytes, char::from_u32(value)?),
                None => bytes.extend([b'\\', u8::try_from(kind).ok()?]),
            },
            Some('c') => {
                let control = rest.next()?;
                bytes.push(u8::try_from(control.to_ascii_uppercase()).ok()? & 0x1f);
            }
            Some(other) => {
                bytes.push(b'\\');
                push(&mut bytes, other);
            }
        }
    }
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

fn push(bytes: &mut Vec<u8>, character: char) {
    bytes.extend(character.encode_utf8(&mut [0; 4]).bytes());
}

/// Up to `most` digits: their value and how many there were.
fn number(rest: &mut std::iter::Peekable<std::str::Chars<'_>>, radix: u32, most: u32) -> Option<(u32, u32)> {
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
    use super::decode;

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
}
