//! Commands in policy files: a program and its arguments, started without a shell, or a script for `sh -c`.
//!
//! Without a shell, `&&`, `>` and `$HOME` would be passed as arguments, and the gate `true && false` would pass. So a
//! command that is written as one string must not have unquoted shell syntax.

use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::text::fields::{Fields, SpannedText};

/// A command and its words.
pub struct CommandText {
    /// The command as shown to people.
    pub text: SpannedText,
    pub words: Vec<String>,
}

/// The part of a policy file that contains a command. It determines what messages suggest instead of shell syntax.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandPlace {
    /// Besides a string, `shell` or a list of words is allowed.
    GateOrAction,
    /// Besides a string, a list of words is allowed.
    Agent,
    /// Only a string is allowed.
    SingleString,
}

/// Reads `command`: a string, which is split into words, or a list of words. `None` if it is missing or invalid.
pub fn read_command(place: CommandPlace, fields: &mut Fields) -> Option<CommandText> {
    let span = fields.key_span("command").unwrap_or_default();
    if fields.is_text("command") {
        let text = fields.text("command")?;
        let words = split_words("command", &text, place, fields)?;
        return Some(CommandText { text, words });
    }
    let texts = fields.texts("command")?;
    let (Some(program), Some(last)) = (texts.first().filter(|program| !program.value.is_empty()), texts.last()) else {
        fields.refuse(DiagnosticKind::InvalidValue, "`command` is empty", span);
        return None;
    };
    let span = program.span.start..last.span.end;
    let words: Vec<String> = texts.iter().map(|word| word.value.clone()).collect();
    Some(CommandText { text: SpannedText { value: shell_words::join(&words), span }, words })
}

/// Reads `shell`: a script for `sh -c`.
pub fn read_script(fields: &mut Fields) -> Option<CommandText> {
    let text = fields.text("shell")?;
    if text.value.trim().is_empty() {
        fields.refuse(DiagnosticKind::InvalidValue, "`shell` is empty", text.span);
        return None;
    }
    let words = vec!["sh".to_owned(), "-c".to_owned(), text.value.clone()];
    Some(CommandText { text, words })
}

/// Splits a command that is one string into words. `key`: the key of the command, for messages.
pub fn split_words(key: &str, text: &SpannedText, place: CommandPlace, fields: &mut Fields) -> Option<Vec<String>> {
    let words = match shell_words::split(&text.value) {
        Ok(words) if !words.is_empty() => words,
        Ok(_) => {
            fields.refuse(DiagnosticKind::InvalidValue, format!("`{key}` is empty"), text.span.clone());
            return None;
        }
        Err(_) => {
            fields.refuse(DiagnosticKind::InvalidValue, format!("a quote in `{key}` is not closed"), text.span.clone());
            return None;
        }
    };
    let message = match (shell_prefix(&text.value), shell_syntax(&text.value)) {
        (Some(word), _) => {
            format!("`{key}` starts with `{word}`, but no shell runs it: `{word}` would be the name of the program")
        }
        (None, Some(syntax)) if syntax == COMMENT => {
            format!("`{key}` has {syntax}, but no shell runs it: the text after it would be ignored")
        }
        (None, Some(syntax)) => {
            format!("`{key}` has {syntax}, which only a shell interprets, but no shell runs `{key}`")
        }
        (None, None) => return Some(words),
    };
    let script = join_script_lines(&text.value);
    // Placeholders are not replaced in scripts, so a command with placeholders cannot be suggested as a script.
    let script = if script.contains('{') { "…".to_owned() } else { script };
    let (in_shell, as_argument) = match place {
        CommandPlace::GateOrAction => (
            format!("write `shell: {}` instead of `command`", yaml_text(&script)),
            "quote it or write the words as a list",
        ),
        CommandPlace::Agent => ("write `[sh, -c, \"…\"]`".to_owned(), "quote it or write the words as a list"),
        CommandPlace::SingleString => ("write `sh -c '…'`".to_owned(), "quote it"),
    };
    // A quoted prefix would still be the name of the program.
    let help = if shell_prefix(&text.value).is_some() {
        format!("to run it in a shell, {in_shell}")
    } else {
        format!("to run it in a shell, {in_shell}; to pass it as an argument, {as_argument}")
    };
    let problem = Diagnostic::error(DiagnosticKind::InvalidValue, message, fields.source(), Some(text.span.clone()));
    fields.problems.push(problem.help(help));
    None
}

/// Refuses shell syntax in a string that is only the name of a program. `key`: the key of the name, for messages.
pub fn check_program(key: &str, text: &SpannedText, fields: &mut Fields) {
    // `~/` is expanded by Linchpin itself.
    let path = text.value.strip_prefix("~/").unwrap_or(&text.value);
    let Some(syntax) = shell_prefix(path).map(|word| format!("`{word}`")).or_else(|| shell_syntax(path)) else {
        return;
    };
    let message =
        format!("`{key}` has {syntax}, but no shell runs it: the whole text would be the name of the program");
    let problem = Diagnostic::error(DiagnosticKind::InvalidValue, message, fields.source(), Some(text.span.clone()));
    let help = "write the program and its arguments as a list; to run it in a shell, write `[sh, -c, \"…\"]`";
    fields.problems.push(problem.help(help));
}

/// Joins the lines of a script with `&&`, for a suggestion on one line.
fn join_script_lines(script: &str) -> String {
    let mut line = String::new();
    for next in script.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")) {
        if next.is_empty() {
            continue;
        }
        let continues = line.is_empty() || line.ends_with(['\\', '&', '|', ';']);
        line.truncate(line.trim_end_matches('\\').trim_end().len());
        line.push_str(match (line.is_empty(), continues) {
            (true, _) => "",
            (false, true) => " ",
            (false, false) => " && ",
        });
        line.push_str(&next);
    }
    line
}

/// The string as a YAML double-quoted scalar.
fn yaml_text(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Returns `!` or `NAME=value` at the start of the command, which only a shell understands.
fn shell_prefix(command: &str) -> Option<&str> {
    let word = command.split_whitespace().next()?;
    let is_name = |name: &str| {
        name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
    };
    let is_assignment = word.split_once('=').is_some_and(|(name, _)| is_name(name));
    (word == "!" || is_assignment).then_some(word)
}

const COMMENT: &str = "`#`";

/// The first shell syntax in a command. In double quotes, only variables and command substitutions count.
fn shell_syntax(command: &str) -> Option<String> {
    let command = command.trim_end();
    let mut characters = command.char_indices().peekable();
    let mut is_double_quoted = false;
    while let Some((offset, character)) = characters.next() {
        let rest = command.get(offset..).unwrap_or_default();
        let next = characters.peek().map(|(_, next)| *next);
        match character {
            '\\' => {
                characters.next();
            }
            '\'' if !is_double_quoted => {
                characters.by_ref().find(|(_, character)| *character == '\'');
            }
            '"' => is_double_quoted = !is_double_quoted,
            '`' => return Some("a backtick".to_owned()),
            '$' if begins_expansion(rest, is_double_quoted) => {
                let is_name = |character: &char| character.is_ascii_alphanumeric() || *character == '_';
                let name: String = rest.chars().skip(1).take_while(is_name).collect();
                return Some(match next {
                    Some('(') => "`$(…)`".to_owned(),
                    Some('{') => "`${…}`".to_owned(),
                    Some(quote @ ('\'' | '"')) => format!("`${quote}…{quote}`"),
                    Some(special) if name.is_empty() => format!("`${special}`"),
                    _ => format!("`${name}`"),
                });
            }
            '&' | '|' | '>' | '<' | ';' if !is_double_quoted => {
                let is_double = matches!(character, '&' | '|') && next == Some(character);
                return Some(format!(
                    "`{}`",
                    if is_double { format!("{character}{character}") } else { character.to_string() }
                ));
            }
            '(' | ')' | '*' | '?' if !is_double_quoted => return Some(format!("`{character}`")),
            '[' | '{' if !is_double_quoted => {
                if let Some(pattern) = glob_or_braces(rest) {
                    return Some(format!("`{pattern}`"));
                }
            }
            '#' if !is_double_quoted && begins_word(command, offset) => return Some(COMMENT.to_owned()),
            '~' if !is_double_quoted && begins_word(command, offset) => return Some("`~`".to_owned()),
            '\n' if !is_double_quoted && !command.get(..offset).unwrap_or_default().trim().is_empty() => {
                return Some("a line break".to_owned());
            }
            _ => {}
        }
    }
    None
}

/// True if a shell would expand the `$` at the start of `rest`. In double quotes, `$1` and other special parameters count
/// only if they are the whole string: `awk "{print $1}"` is meant for awk.
fn begins_expansion(rest: &str, is_double_quoted: bool) -> bool {
    let mut after = rest.chars().skip(1);
    let Some(next) = after.next() else { return false };
    let is_special = next.is_ascii_digit() || "@*#?$!-".contains(next);
    next.is_ascii_alphabetic()
        || "_{(".contains(next)
        || (is_special && (!is_double_quoted || after.next() == Some('"')))
        || (matches!(next, '\'' | '"') && !is_double_quoted)
}

/// Returns a glob `[ab]` or a brace expansion `{a,b}` or `{1..3}` at the start of `rest`. The placeholder `{file}` and
/// the program `[` are neither.
fn glob_or_braces(rest: &str) -> Option<&str> {
    let word = rest.split(char::is_whitespace).next()?;
    let is_glob = word.starts_with('[');
    // In `[]ab]` the first `]` is a member of the set.
    let from = if is_glob { 2 } else { 1 };
    let closing =
        word.char_indices().skip(from).find(|(_, character)| *character == if is_glob { ']' } else { '}' })?.0;
    let pattern = word.get(..=closing)?;
    (is_glob || pattern.contains(',') || pattern.contains("..")).then_some(pattern)
}

fn begins_word(command: &str, offset: usize) -> bool {
    command.get(..offset).unwrap_or_default().chars().next_back().is_none_or(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::{shell_prefix, shell_syntax};

    #[test]
    fn unquoted_shell_syntax_is_found() {
        let cases = [
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
            ("test 0 != $#", "`$#`"),
            ("grep x \"$@\"", "`$@`"),
            ("grep x $1", "`$1`"),
            ("kill $$", "`$$`"),
            ("kill $!", "`$!`"),
            ("test $? = 0", "`$?`"),
            ("echo $-", "`$-`"),
            ("echo $*", "`$*`"),
            ("echo $'a\\n'", "`$'…'`"),
            ("echo $\"a\"", "`$\"…\"`"),
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
        for (command, syntax) in cases {
            assert_eq!(shell_syntax(command).as_deref(), Some(syntax), "{command}");
        }
    }

    #[test]
    fn quoted_and_escaped_shell_syntax_is_allowed() {
        let plain = [
            "python -c 'a; b'",
            "find . -exec true {} \\;",
            "grep -c \"a|b\" x",
            "awk '{print $1}'",
            "awk \"{print $1}\" x",
            "grep \"x$\" y",
            "perl -e \"die $@ if 0\"",
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
            assert_eq!((shell_syntax(command), shell_prefix(command)), (None, None), "{command}");
        }
    }

    #[test]
    fn prefixes_that_only_a_shell_understands_are_found() {
        for (command, word) in
            [("! make", "!"), (" A_1=x make", "A_1=x"), ("A= make", "A="), ("CI='a b' make", "CI='a")]
        {
            assert_eq!(shell_prefix(command), Some(word), "{command}");
        }
    }
}
