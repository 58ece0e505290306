//! The output of a command, if it is certain before the command runs: `echo x`, `printf %s x`, `cat <<E`, `base64 -d`.

use std::borrow::Cow;

use crate::model::{Redirect, SimpleCommand, Word};
use crate::programs::{Argument, Role};
use crate::special_programs::filter::{filtered, is_filter};
use crate::syntax::escape::{EscapeRules, decode_for};

/// Longer output counts as unknown.
pub(crate) const MAX_OUTPUT: usize = 64 * 1024;

/// True for programs whose output or effects depend on the contents of their files.
pub(crate) fn depends_on_file_contents(program: &str) -> bool {
    is_filter(program) || matches!(program, "xargs" | "gxargs" | "tar" | "gtar" | "bsdtar" | "rsync" | "sort" | "wc")
}

/// Returns the output of a command, if it is certain. `input`: the text that is piped into the command, if it is known.
pub(crate) fn output(command: &SimpleCommand, input: Option<&str>) -> Option<String> {
    let program = command.words().first()?.value.as_deref()?;
    if is_filter(program) {
        return filtered(program, command, &input_text(command, input)?);
    }
    // These programs print nothing, whatever their arguments are.
    if matches!(program, "true" | "false" | ":" | "test" | "[" | "unset" | "shift" | "sleep") {
        return Some(String::new());
    }
    let words = command.words().iter().map(|word| word.value.as_deref().filter(|_| !word.glob));
    let words: Vec<&str> = words.collect::<Option<_>>()?;
    let (program, arguments) = words.split_first()?;
    match *program {
        "export" | "local" => Some(String::new()),
        "cd" if arguments != ["-"] => Some(String::new()),
        "echo" => echo(arguments),
        "printf" => printf(arguments),
        "tee" if arguments.is_empty() || arguments == ["-"] => stdin_text(command, input).map(str::to_owned),
        "basename" => match arguments {
            [path] => Some(base_name(path, "").to_owned() + "\n"),
            [path, end] => Some(base_name(path, end).to_owned() + "\n"),
            _ => None,
        }
        .filter(|_| !has_flags(arguments)),
        "dirname" if !arguments.is_empty() && !has_flags(arguments) => {
            Some(arguments.iter().map(|path| directory_name(path).to_owned() + "\n").collect())
        }
        "seq" => seq(arguments),
        _ => None,
    }
}

/// Returns the stdin of a command, from a redirection or from the pipe, if it is known.
fn stdin_text<'c>(command: &'c SimpleCommand, input: Option<&'c str>) -> Option<&'c str> {
    // Redirections of output do not affect the input.
    let affects_stdin = |redirect: &&Redirect| !redirect.redirects_stdout() && redirect.descriptor != Some(2);
    match command.redirects().iter().filter(affects_stdin).collect::<Vec<_>>().as_slice() {
        [] => input,
        [redirect] => redirect.text(),
        _ => None,
    }
}

/// Returns the text that a command reads: the contents of its files, concatenated, or its stdin.
fn input_text<'c>(command: &'c SimpleCommand, input: Option<&'c str>) -> Option<Cow<'c, str>> {
    let arguments = command.arguments()?;
    let is_file = |argument: &&Argument| argument.role == Role::Read && arguments.operands.contains(&argument.word);
    let files: Vec<&Word> =
        arguments.with_roles.iter().filter(is_file).filter_map(|argument| command.words().get(argument.word)).collect();
    let text = |file: &Word| match &file.contents {
        Some(text) => Some(text.clone()),
        None if file.stands_for_stdin() => stdin_text(command, input).map(str::to_owned),
        None => None,
    };
    match files.as_slice() {
        // Unknown input counts as empty, because some programs print something whatever their input is.
        [] => Some(Cow::Borrowed(stdin_text(command, input).unwrap_or_default())),
        files => files.iter().map(|file| text(file)).collect::<Option<String>>().map(Cow::Owned),
    }
}

/// Returns the output of `seq`. Supports only integers, and short sequences.
fn seq(arguments: &[&str]) -> Option<String> {
    let numbers: Vec<i64> = arguments.iter().map(|number| number.parse().ok()).collect::<Option<_>>()?;
    let (first, step, last) = match numbers.as_slice() {
        [last] => (1, 1, *last),
        [first, last] => (*first, 1, *last),
        [first, step, last] => (*first, *step, *last),
        _ => return None,
    };
    if step > 0 && last < first || step < 0 && last > first {
        return Some(String::new());
    }
    let count = last.checked_sub(first)?.checked_div(step)?;
    let number = |index: i64| Some(first.checked_add(step.checked_mul(index)?)?.to_string() + "\n");
    (count < MAX_NUMBERS).then(|| (0..=count).map(number).collect())?
}

/// Longer sequences count as unknown.
const MAX_NUMBERS: i64 = 256;

fn has_flags(arguments: &[&str]) -> bool {
    arguments.iter().any(|argument| argument.starts_with('-'))
}

/// Returns the last segment of a path without the suffix `end`. A suffix that is the whole segment is kept.
fn base_name<'p>(path: &'p str, end: &str) -> &'p str {
    let trimmed = path.trim_end_matches('/');
    let name = match trimmed.rsplit('/').next() {
        Some("") | None => return if path.is_empty() { "" } else { "/" },
        Some(name) => name,
    };
    name.strip_suffix(end).filter(|rest| !rest.is_empty()).unwrap_or(name)
}

/// Returns what `dirname` prints for a path.
fn directory_name(path: &str) -> &str {
    let trimmed = path.trim_end_matches('/');
    match trimmed.rsplit_once('/').map(|(directory, _)| directory.trim_end_matches('/')) {
        Some(directory) if !directory.is_empty() => directory,
        Some(_) => "/",
        None if trimmed.len() < path.len() && trimmed.is_empty() => "/",
        None => ".",
    }
}

/// Returns the output of the builtin `echo` of shells. Only words before the text are flags.
fn echo(arguments: &[&str]) -> Option<String> {
    let flags = arguments.iter().take_while(|argument| is_echo_flag(argument)).count();
    let (flags, words) = arguments.split_at_checked(flags)?;
    let letters: String = flags.concat();
    let text = words.join(" ");
    let end = if letters.contains('n') { "" } else { "\n" };
    let reads_escapes = letters.chars().rfind(|letter| matches!(letter, 'e' | 'E')) == Some('e');
    if reads_escapes {
        let decoded = decode_for(EscapeRules::Echo, &text)?;
        return Some(decoded.text + if decoded.ends_output { "" } else { end });
    }
    // Some shells interpret escapes without `-e`.
    (!has_escape(&text)).then(|| text + end)
}

/// True if `echo` may interpret a backslash in the text.
fn has_escape(text: &str) -> bool {
    let is_escape = |next: char| next.is_ascii_digit() || "abceEfnrtvxuU\\".contains(next);
    let mut after_backslashes = text.split('\\').skip(1);
    after_backslashes.any(|rest| rest.chars().next().is_none_or(is_escape))
}

fn is_echo_flag(word: &str) -> bool {
    word.strip_prefix('-')
        .is_some_and(|letters| !letters.is_empty() && letters.bytes().all(|letter| b"neE".contains(&letter)))
}

/// Returns the output of `printf`. Supports only `%s`, `%b`, `%%` and escapes.
pub(crate) fn printf(arguments: &[&str]) -> Option<String> {
    let ends_flags = arguments.first() == Some(&"--");
    let arguments = if ends_flags { arguments.get(1..)? } else { arguments };
    let (format, mut values) = arguments.split_first().filter(|(format, _)| ends_flags || !format.starts_with('-'))?;
    let mut text = String::new();
    loop {
        let mut parts = format.split('%');
        text.push_str(&decode_for(EscapeRules::PrintfFormat, parts.next()?)?.text);
        let count = values.len();
        while let Some(part) = parts.next() {
            let plain = match part.chars().next() {
                // `%%`
                None => {
                    text.push('%');
                    parts.next()?
                }
                Some(kind @ ('s' | 'b')) => {
                    let (value, rest) = values.split_first().map_or(("", values), |(value, rest)| (*value, rest));
                    values = rest;
                    if kind == 's' {
                        text.push_str(value);
                    } else {
                        let decoded = decode_for(EscapeRules::PrintfArgument, value)?;
                        text.push_str(&decoded.text);
                        if decoded.ends_output {
                            return Some(text);
                        }
                    }
                    part.get(1..)?
                }
                Some(_) => return None,
            };
            text.push_str(&decode_for(EscapeRules::PrintfFormat, plain)?.text);
        }
        if text.len() > MAX_OUTPUT {
            return None;
        }
        // The format is used again for the remaining values.
        if values.is_empty() || values.len() == count {
            return Some(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{base_name, directory_name, echo, printf};

    fn words(text: &str) -> Vec<&str> {
        text.split(' ').collect()
    }

    #[test]
    fn echo_prints_like_in_bash() {
        let cases = [
            (r"-n -e \x41 b", Some("A b")),
            (r"-e -n \x41", Some("A")),
            (r"-n -n x", Some("x")),
            (r"-ne -E \x41", None),
            (r"-E -e \0101", Some("A\n")),
            (r"-n \x41", None),
            (r"-e a\cb", Some("a")),
            (r"-x -n", Some("-x -n\n")),
            (r"x -n", Some("x -n\n")),
            (r"-e \101", Some("\\101\n")),
        ];
        for (arguments, expected) in cases {
            assert_eq!(echo(&words(arguments)).as_deref(), expected, "{arguments}");
        }
    }

    #[test]
    fn printf_prints_like_in_bash() {
        let cases = [
            (r"%s a b", Some("ab")),
            (r"%s-%s\n a b c", Some("a-b\nc-\n")),
            (r"\0101", Some("\u{8}1")),
            (r"%b \0101", Some("A")),
            (r"%b%s a\cb c", Some("a")),
            (r"%%s x", Some("%s")),
            (r"%s\\0 x", Some("x\\0")),
            (r"%d 1", None),
            (r"%", None),
            (r"x\0y", Some("x\0y")),
        ];
        for (arguments, expected) in cases {
            assert_eq!(printf(&words(arguments)).as_deref(), expected, "{arguments}");
        }
    }

    #[test]
    fn parts_of_paths() {
        // Each case is a path, its directory, and its base name.
        let cases = [
            ("/", "/", "/"),
            ("//", "/", "/"),
            ("", ".", ""),
            ("a", ".", "a"),
            ("a/", ".", "a"),
            ("/a", "/", "a"),
            ("/a//", "/", "a"),
            ("//a", "/", "a"),
            ("a//b/", "a", "b"),
            ("/a/b", "/a", "b"),
        ];
        for (path, directory, name) in cases {
            assert_eq!((directory_name(path), base_name(path, "")), (directory, name), "{path}");
        }
        assert_eq!([base_name("a.b", ".b"), base_name("x/.b/", ".b"), base_name("/", "/")], ["a", ".b", "/"]);
    }
}
