//! The output of filters with known input: `tr a b`, `cut -c2-`, `sed s/a/b/`.

mod awk;
mod cut;
mod jq;

use data_encoding::{BASE64_MIME_PERMISSIVE, HEXLOWER_PERMISSIVE};

use crate::model::SimpleCommand;
use crate::programs::{Arguments, Role};
use crate::special_programs::sed;

pub(crate) fn is_filter(program: &str) -> bool {
    let programs =
        ["cat", "tac", "base64", "xxd", "tr", "rev", "head", "tail", "cut", "sed", "gsed", "awk", "gawk", "mawk", "jq"];
    programs.contains(&program)
}

/// Returns the output of a filter for the input `text`; `None` if the output is not known.
pub(crate) fn filtered(program: &str, command: &SimpleCommand, text: &str) -> Option<String> {
    let arguments = command.arguments()?;
    // These programs may print constants, even if the input is empty.
    match program {
        "awk" | "gawk" | "mawk" => return awk::printed(command, arguments, text),
        "jq" => return jq::printed(command, arguments, text),
        _ if text.is_empty() => return None,
        _ => {}
    }
    // The arguments that do not name files.
    let is_file = |index: usize| arguments.with_roles.iter().any(|one| one.word == index && one.role == Role::Read);
    let words = command.words().iter().enumerate().skip(1).filter(|(index, _)| !is_file(*index));
    let words: Vec<&str> =
        words.map(|(_, word)| word.value.as_deref().filter(|_| !word.glob)).collect::<Option<_>>()?;
    match program {
        "cat" => words.iter().all(|word| *word == "-").then(|| text.to_owned()),
        "tac" if words.is_empty() => Some(text.lines().rev().flat_map(|line| [line, "\n"]).collect()),
        "base64" if is_decoding(&words) => {
            // A character that is neither a newline nor in the alphabet of base64 is an error, after which the output
            // is not known.
            let encoded = Some(text.replace('\n', "")).filter(|text| !text.contains('\r'))?;
            String::from_utf8(BASE64_MIME_PERMISSIVE.decode(encoded.as_bytes()).ok()?).ok()
        }
        "xxd" if matches!(words.as_slice(), ["-r", "-p"] | ["-p", "-r"] | ["-rp" | "-pr"]) => {
            let encoded: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
            String::from_utf8(HEXLOWER_PERMISSIVE.decode(&encoded).ok()?).ok()
        }
        "tr" => match words.as_slice() {
            ["-d", from] => Some(text.replace(characters_in_set(from)?.as_slice(), "")),
            [from, to] => translated(text, from, to),
            _ => None,
        },
        "rev" if words.is_empty() => {
            Some(text.split('\n').map(|line| line.chars().rev().collect::<String>()).collect::<Vec<_>>().join("\n"))
        }
        "head" => {
            let lines = text.split_inclusive('\n');
            Some(lines.take(count(&words)?).collect())
        }
        "tail" => {
            let lines: Vec<&str> = text.split_inclusive('\n').collect();
            Some(lines.get(lines.len().saturating_sub(count(&words)?)..)?.concat())
        }
        "cut" => cut::cut(command, arguments, text),
        "sed" | "gsed" => edited(command, arguments, text),
        _ => None,
    }
}

/// Returns the number of lines that the flags of `head` or `tail` select: `-n 3`, `-3`.
fn count(words: &[&str]) -> Option<usize> {
    // `-n +2` counts from the start of the input.
    match words {
        _ if words.iter().any(|word| word.contains('+')) => None,
        [] => Some(10),
        ["-n" | "--lines", count] => count.parse().ok(),
        [flag] => {
            let count = flag.strip_prefix("--lines=").or_else(|| flag.strip_prefix("-n"));
            count.or_else(|| flag.strip_prefix('-'))?.parse().ok()
        }
        _ => None,
    }
}

/// Applies a `sed` script that consists only of substitutions.
fn edited(command: &SimpleCommand, arguments: &Arguments, text: &str) -> Option<String> {
    let is_extended = arguments.has_flag(&["-E", "-r", "--regexp-extended"]);
    let is_plain =
        |flag: &str| matches!(flag, "-E" | "-r" | "--regexp-extended" | "-e" | "--expression" | "-u" | "--unbuffered");
    if !arguments.flags.iter().all(|flag| is_plain(&flag.name)) {
        return None;
    }
    let mut scripts = arguments.with_roles.iter().filter(|argument| argument.role == Role::Data);
    scripts.try_fold(text.to_owned(), |text, script| {
        sed::apply(command.text_from(script.word, script.from)?, is_extended, &text)
    })
}

/// Applies `tr`: replaces each character of `from` by the character at the same position in `to` or, if `to` is
/// shorter, by the last character of `to`.
fn translated(input: &str, from: &str, to: &str) -> Option<String> {
    let (from, to) = (characters_in_set(from)?, characters_in_set(to)?);
    let last = *to.last()?;
    let position = |c: char| from.iter().rposition(|known| *known == c);
    Some(input.chars().map(|c| position(c).map_or(c, |at| to.get(at).copied().unwrap_or(last))).collect())
}

/// Reads a set of characters such as `a-z`; `None` for character classes, and for escapes other than `\n` and `\t`.
fn characters_in_set(set: &str) -> Option<Vec<char>> {
    let set = &set.replace("\\n", "\n").replace("\\t", "\t");
    if set.is_empty() || set.starts_with('-') || set.contains(['\\', '[']) || !set.is_ascii() {
        return None;
    }
    let set: Vec<char> = set.chars().collect();
    let mut characters = Vec::new();
    let mut rest = set.as_slice();
    while let Some((first, after)) = rest.split_first() {
        rest = if let ['-', last, after @ ..] = after {
            characters.extend(*first..=*last);
            after
        } else {
            characters.push(*first);
            after
        };
    }
    Some(characters)
}

/// True if `base64` only decodes its input.
fn is_decoding(arguments: &[&str]) -> bool {
    let decodes = |flag: &&str| matches!(*flag, "-d" | "-D" | "--decode" | "-di" | "-id");
    let is_flag = |flag: &&str| decodes(flag) || matches!(*flag, "-i" | "--ignore-garbage" | "-");
    arguments.iter().any(decodes) && arguments.iter().all(is_flag)
}
