//! Parses a `sed` script into its commands, with the syntax of POSIX and GNU.

/// A command, and whether addresses precede it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Step<'t> {
    pub(super) is_addressed: bool,
    pub(super) command: Command<'t>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Command<'t> {
    /// `s/from/to/flags`, and the file of the flag `w`.
    Substitute { from: &'t str, to: &'t str, flags: &'t str, file: Option<&'t str> },
    /// Any other command: its letter, and the file, text or label that follows.
    Other(char, &'t str),
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Steps<'t> {
    pub(super) list: Vec<Step<'t>>,
    /// True if the whole script was parsed.
    pub(super) is_whole: bool,
}

/// Braces need not be balanced, because a script may be given in pieces: `-e '1{' -e p -e '}'`.
pub(super) fn steps(script: &str) -> Steps<'_> {
    let mut cursor = Cursor { rest: script };
    let mut list = Vec::new();
    loop {
        cursor.skip(|letter| letter.is_whitespace() || letter == ';');
        if cursor.rest.is_empty() {
            return Steps { list, is_whole: true };
        }
        let Some(step) = cursor.step() else { return Steps { list, is_whole: false } };
        list.push(step);
    }
}

struct Cursor<'t> {
    rest: &'t str,
}

impl<'t> Cursor<'t> {
    fn step(&mut self) -> Option<Step<'t>> {
        let is_addressed = self.addresses()?;
        let command = match self.next()? {
            's' => self.substitution()?,
            'y' => {
                let mark = self.mark()?;
                let from = self.part(mark)?;
                self.part(mark)?;
                Command::Other('y', from)
            }
            // The text of `a`, `i` and `c` may start on the next line. A backslash at the end of a line continues it.
            name @ ('a' | 'i' | 'c' | 'e') => Command::Other(name, self.text().trim_start_matches([' ', '\t'])),
            // The file name is the rest of the line, whatever it contains.
            name @ ('r' | 'R' | 'w' | 'W') => Command::Other(name, self.line().trim_start()).naming_something()?,
            name @ ('#' | 'v') => Command::Other(name, self.line()),
            name @ (':' | 'b' | 't' | 'T') => {
                self.skip(|letter| matches!(letter, ' ' | '\t'));
                Command::Other(name, self.take(|letter| !letter.is_whitespace() && !matches!(letter, ';' | '}')))
            }
            name @ ('q' | 'Q' | 'l' | 'L') => {
                self.skip(|letter| matches!(letter, ' ' | '\t'));
                Command::Other(name, self.take(|letter| letter.is_ascii_digit()))
            }
            name if "{}=dDgGhHnNpPxzF".contains(name) => Command::Other(name, ""),
            _ => return None,
        };
        Some(Step { is_addressed, command })
    }

    /// Skips addresses: `1,$`, `/re/I`, `\,re,`, `/re/,+2`, `0~4`, `2!`. Returns true if there were any.
    fn addresses(&mut self) -> Option<bool> {
        let start = self.rest;
        loop {
            self.skip(|letter| letter.is_ascii_digit() || " \t,$!~+".contains(letter));
            let mark = match self.rest.chars().next() {
                Some('/') => self.mark()?,
                Some('\\') => {
                    self.next();
                    self.mark()?
                }
                _ => break,
            };
            self.pattern(mark)?;
            self.skip(|letter| matches!(letter, ' ' | '\t' | 'I' | 'M'));
        }
        Some(self.rest.len() < start.len())
    }

    fn substitution(&mut self) -> Option<Command<'t>> {
        let mark = self.mark()?;
        let from = self.pattern(mark)?;
        let to = self.part(mark)?;
        let flags = self.take(|letter| letter.is_ascii_digit() || " \tgpiImMe".contains(letter));
        let is_end = |letter: char| letter.is_whitespace() || matches!(letter, ';' | '}' | '#');
        let file = match self.rest.chars().next() {
            Some('w') => Some(self.line().get(1..)?.trim_start()),
            Some(letter) if !is_end(letter) => return None,
            _ => None,
        };
        Some(Command::Substitute { from, to, flags: flags.trim(), file })
    }

    /// Reads the delimiter between the parts of a command.
    fn mark(&mut self) -> Option<char> {
        self.next().filter(|mark| !matches!(mark, '\n' | '\\'))
    }

    /// Reads up to the next delimiter without a backslash, and skips the delimiter.
    fn part(&mut self, mark: char) -> Option<&'t str> {
        let mut is_escaped = false;
        let is_end = |letter: char| {
            let ends = letter == mark && !is_escaped;
            is_escaped = letter == '\\' && !is_escaped;
            ends
        };
        let (part, rest) = self.rest.split_once(is_end)?;
        self.rest = rest;
        Some(part)
    }

    /// Like [`Self::part`], but a delimiter inside brackets is part of the pattern: `s/[/]/-/`.
    fn pattern(&mut self, mark: char) -> Option<&'t str> {
        let start = self.rest;
        loop {
            match self.next()? {
                letter if letter == mark => break,
                '\\' => {
                    self.next()?;
                }
                '[' => self.brackets(mark),
                '\n' => return None,
                _ => {}
            }
        }
        start.get(..start.len() - self.rest.len() - mark.len_utf8())
    }

    /// Skips a bracket expression, after its opening bracket. Without a closing bracket, the opening one is an ordinary
    /// character.
    fn brackets(&mut self, mark: char) {
        let before = self.rest;
        if self.rest.starts_with('^') {
            self.next();
        }
        let mut is_first = true;
        while let Some(letter) = self.next() {
            let class = self.rest.chars().next().filter(|kind| letter == '[' && matches!(kind, ':' | '.' | '='));
            match (letter, class) {
                (']', _) if !is_first => return,
                ('\n', _) => break,
                // An escaped delimiter: implementations differ on whether it would end the pattern here.
                ('\\', _) if self.rest.starts_with(mark) => {
                    self.next();
                }
                (_, Some(kind)) => {
                    let end = self.rest.get(1..).and_then(|inside| inside.find(&format!("{kind}]")));
                    self.rest = end.and_then(|end| self.rest.get(end + 3..)).unwrap_or(self.rest);
                }
                _ => {}
            }
            is_first = false;
        }
        self.rest = before;
    }

    /// Reads to the end of the line, and on if a backslash continues it.
    fn text(&mut self) -> &'t str {
        let mut is_escaped = false;
        self.take(|letter| {
            let goes_on = letter != '\n' || is_escaped;
            is_escaped = letter == '\\' && !is_escaped;
            goes_on
        })
    }

    fn line(&mut self) -> &'t str {
        self.take(|letter| letter != '\n')
    }

    fn next(&mut self) -> Option<char> {
        let mut letters = self.rest.chars();
        let letter = letters.next();
        self.rest = letters.as_str();
        letter
    }

    fn take(&mut self, mut is_part: impl FnMut(char) -> bool) -> &'t str {
        let end = self.rest.find(|letter| !is_part(letter)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        self.rest = rest;
        taken
    }

    fn skip(&mut self, is_part: impl FnMut(char) -> bool) {
        self.take(is_part);
    }
}

impl Command<'_> {
    /// Returns `None` if the file name is empty.
    fn naming_something(self) -> Option<Self> {
        match self {
            Self::Other(_, "") => None,
            command => Some(command),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(script: &str) -> String {
        let Steps { list, is_whole } = steps(script);
        let step = |step: &Step| {
            let address = if step.is_addressed { "@" } else { "" };
            match step.command {
                Command::Substitute { from, to, flags, file } => {
                    let file = file.map(|file| format!(" w {file}")).unwrap_or_default();
                    format!("{address}s<{from}><{to}>{flags}{file}")
                }
                Command::Other(name, "") => format!("{address}{name}"),
                Command::Other(name, text) => format!("{address}{name}<{text}>"),
            }
        };
        let steps: Vec<String> = list.iter().map(step).collect();
        steps.join(" ") + if is_whole { "" } else { " ?" }
    }

    #[test]
    fn commands() {
        let cases = [
            ("p;p", "p p"),
            ("s/;e x/{}/g;d", "s<;e x><{}>g d"),
            ("y/;{/}e/;p", "y<;{> p"),
            ("\\,x,I,/y/M{p;d}", "@{ p d }"),
            ("1,$!s|a/b|c|2p", "@s<a/b><c>2p"),
            ("/a/,+3d;0~4p;2,~4 ! p", "@d @p @p"),
            ("s/[/]/x/;/[^]/]/d;s/[[:space:]/]/-/", "s<[/]><x> @d s<[[:space:]/]><->"),
            ("s,a\\,b,c,e", "s<a\\,b><c>e"),
            ("s/\\[/x/;p", "s<\\[><x> p"),
            ("a foo;e bar\np", "a<foo;e bar> p"),
            ("i\\\n  foo\\\ne bar\np", "i<\\\n  foo\\\ne bar> p"),
            (":a;N;$!ba;s/\\n/ /g", ":<a> N @b<a> s<\\n>< >g"),
            ("/x/{bend};e ls", "@{ b<end> } e<ls>"),
            ("r a;b}\np", "r<a;b}> p"),
            ("s/a/b/w out;p\np", "s<a><b> w out;p p"),
            ("#n e rm\np#x\nq5", "#<n e rm> p #<x> q<5>"),
            ("s/a/b", " ?"),
            ("r", " ?"),
            ("s/a/b/k", " ?"),
            ("k", " ?"),
        ];
        for (script, expected) in cases {
            assert_eq!(shown(script), expected, "{script}");
        }
    }
}
