//! Commands in policy files: the words of a program that is started without a shell, or a script for `sh -c`.
//!
//! A program that is started without a shell gets `&&`, `>` and `$HOME` as arguments, and a gate `true && false` would pass.
//! So a command that is one text must not have them outside of quotes.

use crate::text::diagnostic::{Diagnostic, ErrorKind};
use crate::text::fields::{Fields, Text};

/// A command as it is written, and the words that start it.
pub struct CommandText {
    /// For people.
    pub text: Text,
    pub words: Vec<String>,
}

/// Where a command is written: what can be written there instead of shell syntax.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandPlace {
    /// `shell` or a list of words can stand in its place.
    GateOrAction,
    /// A list of words can.
    Agent,
    /// Only one text.
    OneText,
}

/// `command`: one text, which is split into words, or a list of words. `None` where it is missing or wrong.
pub fn command(place: CommandPlace, fields: &mut Fields) -> Option<CommandText> {
    let span = fields.key_span("command").unwrap_or_default();
    if fields.is_text("command") {
        let text = fields.text("command")?;
        let words = split("command", &text, place, fields)?;
        return Some(CommandText { text, words });
    }
    let texts = fields.texts("command")?;
    let (Some(program), Some(last)) = (texts.first().filter(|program| !program.value.is_empty()), texts.last()) else {
        fields.refuse(ErrorKind::InvalidValue, "`command` is empty", span);
        return None;
    };
    let span = program.span.start..last.span.end;
    let words: Vec<String> = texts.iter().map(|word| word.value.clone()).collect();
    Some(CommandText { text: Text { value: shell_words::join(&words), span }, words })
}

/// `shell`: a script that `sh -c` runs.
pub fn shell(fields: &mut Fields) -> Option<CommandText> {
    let text = fields.text("shell")?;
    if text.value.trim().is_empty() {
        fields.refuse(ErrorKind::InvalidValue, "`shell` is empty", text.span);
        return None;
    }
    let words = vec!["sh".to_owned(), "-c".to_owned(), text.value.clone()];
    Some(CommandText { text, words })
}

/// The words of a command that is one text. `key`: where it stands.
pub fn split(key: &str, text: &Text, place: CommandPlace, fields: &mut Fields) -> Option<Vec<String>> {
    let words = match shell_words::split(&text.value) {
        Ok(words) if !words.is_empty() => words,
        Ok(_) => {
            fields.refuse(ErrorKind::InvalidValue, format!("`{key}` is empty"), text.span.clone());
            return None;
        }
        Err(_) => {
            fields.refuse(ErrorKind::InvalidValue, format!("a quote in `{key}` is not closed"), text.span.clone());
            return None;
        }
    };
    let message = match (before_program(&text.value), shell_syntax(&text.value)) {
        (Some(word), _) => {
            format!(
                "`{key}` begins with `{word}`, but no shell reads it: it would be taken for the name of the program"
            )
        }
        (None, Some(syntax)) if syntax == COMMENT => {
            format!("`{key}` has {syntax}, but no shell reads it: what stands behind it would be left out")
        }
        (None, Some(syntax)) => {
            format!("`{key}` has {syntax}, but no shell reads it: the program would get it as an argument")
        }
        (None, None) => return Some(words),
    };
    let script = one_line(&text.value);
    // A script has no placeholders.
    let script = if script.contains('{') { "…".to_owned() } else { script };
    let help = match place {
        CommandPlace::GateOrAction => format!(
            "to run it in a shell, write `shell: {}` in place of `command`; to pass it as an argument, quote it or write the \
             words as a list",
            yaml_text(&script)
        ),
        CommandPlace::Agent => {
            "to run it in a shell, write `[sh, -c, \"…\"]`; to pass it as an argument, quote it or write the words \
                         as a list"
                .to_owned()
        }
        CommandPlace::OneText => {
            "to run it in a shell, write `sh -c '…'`; to pass it as an argument, quote it".to_owned()
        }
    };
    let problem = Diagnostic::error(ErrorKind::InvalidValue, message, fields.source(), Some(text.span.clone()));
    fields.problems.push(problem.help(help));
    None
}

/// Refuses one text that is the whole name of a program, if it has what only a shell would understand. `key`: where it stands.
pub fn check_program(key: &str, text: &Text, fields: &mut Fields) {
    // A home folder is found without a shell.
    let path = text.value.strip_prefix("~/").unwrap_or(&text.value);
    let Some(syntax) = before_program(path).map(|word| format!("`{word}`")).or_else(|| shell_syntax(path)) else {
        return;
    };
    let message = format!("`{key}` has {syntax}, but no shell reads it: all of the text is the name of the program");
    let problem = Diagnostic::error(ErrorKind::InvalidValue, message, fields.source(), Some(text.span.clone()));
    let help = "write the program and its arguments as a list; to run it in a shell, write `[sh, -c, \"…\"]`";
    fields.problems.push(problem.help(help));
}

/// The lines of a script as one, which runs as long as all goes well.
fn one_line(script: &str) -> String {
    let mut line = String::new();
    for next in script.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")) {
        if next.is_empty() {
            continue;
        }
        let goes_on = line.is_empty() || line.ends_with(['\\', '&', '|', ';']);
        line.truncate(line.trim_end_matches('\\').trim_end().len());
        line.push_str(match (line.is_empty(), goes_on) {
            (true, _) => "",
            (false, true) => " ",
            (false, false) => " && ",
        });
        line.push_str(&next);
    }
    line
}

/// A text that YAML reads back as it is.
fn yaml_text(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// `!` or `NAME=value`, before the program.
fn before_program(command: &str) -> Option<&str> {
    let word = command.split_whitespace().next()?;
    let is_name = |name: &str| {
        name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    };
    let is_assignment = word.split_once('=').is_some_and(|(name, _)| is_name(name));
    (word == "!" || is_assignment).then_some(word)
}

/// Where a comment begins.
const COMMENT: &str = "`#`";

/// The first thing in a command that only a shell would understand. Between double quotes a shell still expands variables
/// and commands.
fn shell_syntax(command: &str) -> Option<String> {
    let command = command.trim_end();
    let mut letters = command.char_indices().peekable();
    let mut is_double_quoted = false;
    while let Some((place, letter)) = letters.next() {
        let rest = command.get(place..).unwrap_or_default();
        let next = letters.peek().map(|(_, next)| *next);
        match letter {
            '\\' => {
                letters.next();
            }
            '\'' if !is_double_quoted => {
                letters.by_ref().find(|(_, letter)| *letter == '\'');
            }
            '"' => is_double_quoted = !is_double_quoted,
            '`' => return Some("a backtick".to_owned()),
            '$' if next.is_some_and(|next| next.is_ascii_alphabetic() || matches!(next, '_' | '{' | '(')) => {
                let is_name = |letter: &char| letter.is_ascii_alphanumeric() || *letter == '_';
                let name: String = rest.chars().skip(1).take_while(is_name).collect();
                return Some(match next {
                    Some('(') => "`$(…)`".to_owned(),
                    Some('{') => "`${…}`".to_owned(),
                    _ => format!("`${name}`"),
                });
            }
            '&' | '|' | '>' | '<' | ';' if !is_double_quoted => {
                let is_double = matches!(letter, '&' | '|') && next == Some(letter);
                return Some(format!("`{}`", if is_double { format!("{letter}{letter}") } else { letter.to_string() }));
            }
            '(' | ')' | '*' | '?' if !is_double_quoted => return Some(format!("`{letter}`")),
            '[' | '{' if !is_double_quoted => {
                if let Some(pattern) = pattern(rest) {
                    return Some(format!("`{pattern}`"));
                }
            }
            '#' if !is_double_quoted && begins_word(command, place) => return Some(COMMENT.to_owned()),
            '~' if !is_double_quoted && begins_word(command, place) => return Some("`~`".to_owned()),
            '\n' if !is_double_quoted && !command.get(..place).unwrap_or_default().trim().is_empty() => {
                return Some("a line break".to_owned());
            }
            _ => {}
        }
    }
    None
}

/// `[ab]` and `{a,b}` or `{1..3}`, which a shell replaces by words. `{file}` is none, and neither is `[`, the program.
fn pattern(rest: &str) -> Option<&str> {
    let word = rest.split(char::is_whitespace).next()?;
    let is_set = word.starts_with('[');
    // The first letter of a set may be the bracket that closes others.
    let from = if is_set { 2 } else { 1 };
    let close = word.char_indices().skip(from).find(|(_, letter)| *letter == if is_set { ']' } else { '}' })?.0;
    let pattern = word.get(..=close)?;
    (is_set || pattern.contains(',') || pattern.contains("..")).then_some(pattern)
}

fn begins_word(command: &str, place: usize) -> bool {
    command.get(..place).unwrap_or_default().chars().next_back().is_none_or(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::{before_program, shell_syntax};

    #[test]
    fn what_only_a_shell_understands_is_found_outside_of_quotes() {
        let found = [
            ("true && false", "`&&`"),
            ("true||false", "`||`"),
            ("cat a | wc", "`|`"),
            ("make >log", "`>`"),
            ("make 2>&1", "`>`"),
            ("sort <in", "`<`"),
            ("cd x; make", "`;`"),
            ("serve &", "`&`"),
            ("ls $HOME", "`$HOME`"),
            ("ls \"$HOME/x\"", "`$HOME`"),
            ("ls ${HOME}", "`${…}`"),
            ("test $(id -u) = 0", "`$(…)`"),
            ("test `id -u` = 0", "a backtick"),
            ("make a\nmake b", "a line break"),
            ("echo 'a' && x", "`&&`"),
            ("~/bin/check", "`~`"),
            ("ls ~", "`~`"),
            ("( make )", "`(`"),
            ("(make)", "`(`"),
            ("ls *.rs", "`*`"),
            ("ls a?.rs", "`?`"),
            ("ls [ab].rs", "`[ab]`"),
            ("ls x[]].rs", "`[]]`"),
            ("pytest a.py::test[one]", "`[one]`"),
            ("ls {a,b}.rs", "`{a,b}`"),
            ("ls {file} x{1..3}", "`{1..3}`"),
            ("make # all of it", "`#`"),
            ("'x' * y", "`*`"),
        ];
        for (command, syntax) in found {
            assert_eq!(shell_syntax(command).as_deref(), Some(syntax), "{command}");
        }
    }

    #[test]
    fn quotes_and_backslashes_make_arguments() {
        let plain = [
            "python -c 'a; b'",
            "find . -exec true {} \\;",
            "grep -c \"a|b\" x",
            "awk '{print $1}'",
            "awk \"{print $1}\" x",
            "echo '$HOME'",
            "echo \\$HOME",
            "price 5$",
            "cargo test --workspace\n",
            "make {files} {file}",
            "echo \"it's; fine\"",
            "git diff HEAD~1",
            "ls '~' \\~/x \"~\"",
            "find . '(' -name x \\)",
            "env A=1 make",
            "make A=1",
            "test ! -f x",
            "--a=b c",
            "'A=1' make",
            "ls '*.rs' \"a?.rs\" \\*",
            "find . -name '[ab]*'",
            "[ -f x ]",
            "grep \\[ab] x[",
            "make '{a,b}' \"{1..3}\" {} {a b,c}",
            "make issue#5 '#5' \\#5 \"#5\"",
        ];
        for command in plain {
            assert_eq!((shell_syntax(command), before_program(command)), (None, None), "{command}");
        }
    }

    #[test]
    fn what_a_shell_reads_before_the_program() {
        for (command, word) in
            [("! make", "!"), (" A_1=x make", "A_1=x"), ("A= make", "A="), ("CI='a b' make", "CI='a")]
        {
            assert_eq!(before_program(command), Some(word), "{command}");
        }
    }
}
