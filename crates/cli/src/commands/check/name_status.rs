//! Parses lines in the format of `git diff --name-status`.

use engine::file_rules::{Change, Status, is_project_path};

/// Returns the changes that a line describes; `None` if the line has another format. A moved file is a change of both
/// of its paths.
pub fn parse(line: &str) -> Option<Vec<Change>> {
    let mut fields = line.split('\t');
    let letter = fields.next()?.trim();
    let paths: Vec<String> = fields.map(path).collect::<Option<_>>()?;
    // For moves and copies, a similarity percentage follows the letter.
    let kind = letter.trim_end_matches(|digit: char| digit.is_ascii_digit());
    let change = |status: Status, path: &String| Change { status, path: path.clone() };
    match (kind, paths.as_slice()) {
        ("T", [path]) => Some(vec![change(Status::Modified, path)]),
        ("R", [from, to]) => Some(vec![change(Status::Deleted, from), change(Status::Modified, to)]),
        ("C", [_, to]) => Some(vec![change(Status::Added, to)]),
        (_, [path]) => Some(vec![change(Status::from_letter(letter)?, path)]),
        _ => None,
    }
}

fn path(field: &str) -> Option<String> {
    let path = match field.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(quoted) => unquoted(quoted)?,
        None => field.to_owned(),
    };
    let path = path.strip_prefix("./").map(str::to_owned).unwrap_or(path);
    is_project_path(&path).then_some(path)
}

/// Removes git's quotes and C-style escapes around unusual names.
fn unquoted(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut escaped = text.bytes();
    while let Some(byte) = escaped.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        bytes.push(match escaped.next()? {
            b'a' => 7,
            b'b' => 8,
            b't' => b'\t',
            b'n' => b'\n',
            b'v' => 11,
            b'f' => 12,
            b'r' => b'\r',
            plain @ (b'"' | b'\\') => plain,
            first @ b'0'..=b'3' => {
                let digits = [first, escaped.next()?, escaped.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 8).ok()?
            }
            _ => return None,
        });
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Option<Vec<String>> {
        Some(parse(line)?.iter().map(|change| format!("{} {}", change.status.letter(), change.path)).collect())
    }

    #[test]
    fn lines_of_git_are_parsed() {
        assert_eq!(read("M\tsrc/a.rs").unwrap(), ["M src/a.rs"]);
        assert_eq!(read("A\t./b").unwrap(), ["A b"]);
        assert_eq!(read("T\tlink").unwrap(), ["M link"]);
        assert_eq!(read("R100\ta.rs\tb.rs").unwrap(), ["D a.rs", "M b.rs"]);
        assert_eq!(read("C75\ta.rs\tb.rs").unwrap(), ["A b.rs"]);
        assert_eq!(read(r#"A	"src/\303\244 \"x\".rs""#).unwrap(), ["A src/ä \"x\".rs"]);
    }

    #[test]
    fn invalid_lines_are_refused() {
        for line in ["", "M", "M src/a.rs", "X\ta", "M\t/a", "M\t../a", "M\ta\tb", "R\ta", "A\t\"\\9\"", "M1\ta"] {
            assert_eq!(read(line), None, "{line}");
        }
    }
}
