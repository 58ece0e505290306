//! What a command prints, where that is sure before it runs: `echo x`, `printf %s x`, `cat <<E`, `base64 -d`.

use data_encoding::{BASE64_MIME_PERMISSIVE, HEXLOWER_PERMISSIVE};

use super::command::{Redirect, RedirectKind, SimpleCommand};

/// More than this is not known to be printed.
pub(super) const MAX_OUTPUT: usize = 64 * 1024;

/// `input`: what it reads, where that is known.
pub(super) fn output(command: &SimpleCommand, input: Option<&str>) -> Option<String> {
    let words = command.words.iter().map(|word| word.value.as_deref().filter(|_| !word.glob));
    let words: Vec<&str> = words.collect::<Option<_>>()?;
    let (program, arguments) = words.split_first()?;
    let is_fed = |kind| matches!(kind, RedirectKind::HereDocument | RedirectKind::HereString);
    // Where it goes is another question. What is read from elsewhere is not known.
    let comes_in = |redirect: &&Redirect| !redirect.takes_output() && redirect.descriptor != Some(2);
    let fed = match command.redirects.iter().filter(comes_in).collect::<Vec<_>>().as_slice() {
        [] => None,
        [redirect] if is_fed(redirect.kind) => Some(redirect.target.value.as_deref()?),
        _ => return None,
    };
    let input = fed.or(input);
    let flags: Vec<&str> = arguments.iter().copied().take_while(|word| word.starts_with('-')).collect();
    match *program {
        "echo" => echo(arguments),
        "printf" => printf(arguments),
        "cat" | "tee" if arguments.is_empty() || arguments == ["-"] => input.map(str::to_owned),
        "base64"
            if flags.iter().any(|flag| matches!(*flag, "-d" | "-D" | "--decode" | "-di"))
                && flags.len() == arguments.len() =>
        {
            let packed: Vec<u8> = input?.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
            String::from_utf8(BASE64_MIME_PERMISSIVE.decode(&packed).ok()?).ok()
        }
        "xxd" if matches!(arguments, ["-r", "-p"] | ["-p", "-r"] | ["-rp" | "-pr"]) => {
            let packed: Vec<u8> = input?.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
            String::from_utf8(HEXLOWER_PERMISSIVE.decode(&packed).ok()?).ok()
        }
        "basename" => {
            let (path, rest) = arguments.split_first().filter(|(path, _)| !path.starts_with('-'))?;
            let name = path.trim_end_matches('/').rsplit('/').next()?;
            Some(rest.first().and_then(|end| name.strip_suffix(end)).unwrap_or(name).to_owned())
        }
        "dirname" => match arguments {
            [path] => Some(path.trim_end_matches('/').rsplit_once('/').map_or(".", |(folder, _)| folder).to_owned()),
            _ => None,
        },
        "rev" if arguments.is_empty() => {
            Some(input?.lines().map(|line| line.chars().rev().collect::<String>() + "\n").collect())
        }
        _ => None,
    }
}

/// The variable that `printf -v` sets, and what to; `None` for a text that is not known.
pub(super) fn printed_into(command: &SimpleCommand) -> Option<(&str, Option<String>)> {
    let words: Vec<Option<&str>> = command.words.iter().map(|word| word.value.as_deref()).collect();
    let [Some("printf"), Some("-v"), Some(name), arguments @ ..] = words.as_slice() else { return None };
    let arguments: Option<Vec<&str>> = arguments.iter().copied().collect();
    Some((*name, arguments.and_then(|arguments| printf(&arguments))))
}

/// The one line that a command is given to read, where that is known.
pub(super) fn only_line(command: &SimpleCommand) -> Option<&str> {
    let is_input = |redirect: &&Redirect| redirect.is_input();
    let text = match command.redirects.iter().rev().find(is_input) {
        Some(redirect) => redirect.text().or(redirect.target.given.as_deref())?,
        None => command.input.as_deref()?,
    };
    Some(text.trim_end_matches('\n')).filter(|line| !line.contains('\n'))
}

fn echo(arguments: &[&str]) -> Option<String> {
    match arguments.split_first() {
        Some((&"-n", rest)) => Some(rest.join(" ")),
        Some((&"-e", rest)) => unescaped(&rest.join(" ")).map(|text| text + "\n"),
        Some((first, _)) if is_echo_flag(first) => None,
        // Some shells read escapes without being asked to.
        _ if arguments.iter().any(|argument| argument.contains('\\')) => None,
        _ => Some(arguments.join(" ") + "\n"),
    }
}

fn is_echo_flag(word: &str) -> bool {
    word.strip_prefix('-')
        .is_some_and(|letters| !letters.is_empty() && letters.bytes().all(|letter| b"neE".contains(&letter)))
}

/// Only what needs no more than `%s`, and escapes.
fn printf(arguments: &[&str]) -> Option<String> {
    let arguments = if arguments.first() == Some(&"--") { arguments.get(1..)? } else { arguments };
    let (format, mut values) = arguments.split_first().filter(|(format, _)| !format.starts_with('-'))?;
    let mut text = String::new();
    loop {
        let mut parts = format.split("%s");
        text.push_str(&unescaped(parts.next().filter(|part| !part.contains('%'))?)?);
        let count = values.len();
        for part in parts {
            let (value, rest) = values.split_first().map_or(("", values), |(value, rest)| (*value, rest));
            values = rest;
            text.push_str(value);
            text.push_str(&unescaped(Some(part).filter(|part| !part.contains('%'))?)?);
        }
        if text.len() > MAX_OUTPUT {
            return None;
        }
        // The format is used again for what is left.
        if values.is_empty() || values.len() == count {
            return Some(text);
        }
    }
}

/// With a NUL where `\0` stands, by which `xargs -0` and its like tell words apart.
fn unescaped(text: &str) -> Option<String> {
    let parts: Option<Vec<String>> = text.split("\\0").map(super::ansi_c::decode).collect();
    let is_number = text.split("\\0").skip(1).any(|behind| behind.starts_with(|letter: char| letter.is_digit(8)));
    if is_number { super::ansi_c::decode(text) } else { parts.map(|parts| parts.join("\0")) }
}
