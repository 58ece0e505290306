//! Assigns roles to the words of a command line.

use super::argument::{Argument, Flag};
use super::usage::{FlagUsage, Usage};
use super::{Role, Session};

/// A program or subcommand, the flags that select this form of it, and the usage.
type TableLine = (&'static str, &'static str, &'static str);

/// The lines of `programs.txt`, sorted by name.
static TABLE: &[TableLine] = include!(concat!(env!("OUT_DIR"), "/programs.rs"));

/// GNU programs that are installed with the prefix `g` on systems that have programs of the same names. Sorted for
/// binary search, so that a name like `git` is rejected quickly.
const COREUTILS: &[&str] = &[
    "base64",
    "cat",
    "chgrp",
    "chmod",
    "chown",
    "chroot",
    "comm",
    "cp",
    "csplit",
    "cut",
    "date",
    "dd",
    "du",
    "echo",
    "env",
    "expand",
    "fmt",
    "fold",
    "head",
    "install",
    "join",
    "link",
    "ln",
    "ls",
    "md5sum",
    "mkdir",
    "mkfifo",
    "mknod",
    "mktemp",
    "mv",
    "nice",
    "nl",
    "nohup",
    "od",
    "paste",
    "printf",
    "readlink",
    "realpath",
    "rm",
    "rmdir",
    "sha1sum",
    "sha256sum",
    "sha512sum",
    "shred",
    "shuf",
    "sort",
    "split",
    "stat",
    "stdbuf",
    "tac",
    "tail",
    "tee",
    "timeout",
    "touch",
    "tr",
    "truncate",
    "uniq",
    "unlink",
    "wc",
];

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Arguments {
    /// All arguments except flags, in word order. An argument that consists of all remaining words is listed once, for
    /// the first of them.
    pub list: Vec<Argument>,
    pub flags: Vec<Flag>,
    /// The indices of the words that are neither flags, nor values of flags, nor subcommands.
    pub operands: Vec<usize>,
    /// `push` of `git push`.
    pub subcommands: Vec<String>,
    /// Accesses to paths that are not in the words: a role, and a path.
    pub implied: Vec<(Role, &'static str)>,
    pub session: Option<Session>,
    /// True if the table has this form of the program.
    pub is_known: bool,
}

impl Arguments {
    /// Adds the words of a subcommand that is not in the table.
    fn add_guessed(&mut self, words: &[Option<&str>], from: usize) {
        let rest = UsageMatch::guessed(words, from);
        self.flags.extend(rest.flags);
        self.operands.extend(rest.operands);
    }

    pub fn has_flag(&self, names: &[&str]) -> bool {
        self.flags.iter().any(|flag| names.contains(&flag.name.as_str()))
    }
}

/// Assigns roles to the words of a command, program first; `None` stands for an unknown word. `program` is its base
/// name. Returns `None` if the program is not in the table.
pub fn arguments(program: &str, words: &[Option<&str>]) -> Option<Arguments> {
    let old_style;
    let words = match words {
        [first, Some(flags), rest @ ..] if is_tar(program) && !flags.starts_with('-') => {
            old_style = with_dash(flags);
            &[&[*first, Some(old_style.as_str())], rest].concat()
        }
        _ => words,
    };
    let program = canonical(program);
    let mut found = Arguments::default();
    let mut name = program.to_owned();
    // `cargo +nightly build`
    let names_toolchain = matches!(program, "cargo" | "rustc" | "rustup")
        && words.get(1).copied().flatten().is_some_and(|word| word.starts_with('+'));
    let mut from = if names_toolchain { 2 } else { 1 };
    // Each iteration reads one more subcommand.
    while let Some(matched) = lines(&name).iter().find_map(|line| UsageMatch::of(line, words, from, &found.flags)) {
        found.flags.extend(matched.flags);
        if let Some((known, next)) = script_form(&name, &matched.list, words) {
            (name, from) = (known, next);
            continue;
        }
        found.list.extend(matched.list);
        found.implied.extend(matched.implied);
        found.operands.extend(matched.operands);
        found.session = matched.session;
        let subcommand =
            matched.subcommand.and_then(|(index, from)| Some((index, words.get(index).copied()??.get(from..)?)));
        let Some((index, word)) = subcommand else {
            if let Some((index, _)) = matched.subcommand {
                found.add_guessed(words, index + 1);
            }
            break;
        };
        found.session = None;
        let form = format!("{name} {word}");
        let (any, other) = (format!("{name} *"), format!("{name} **"));
        if lines(&form).is_empty() && !lines(&other).is_empty() {
            (name, from) = (other, index);
            continue;
        }
        name = if lines(&form).is_empty() && !lines(&any).is_empty() { any } else { form };
        found.subcommands.push(word.to_owned());
        from = index + 1;
    }
    if lines(program).is_empty() {
        return None;
    }
    if lines(&name).is_empty() {
        // A subcommand that is not in the table may do anything with its arguments, and may itself be a path:
        // `git stash -- x`.
        let named = if found.subcommands.is_empty() { from } else { from - 1 };
        found.list.extend((named..words.len()).map(|word| Argument { role: Role::Path, word, from: 0 }));
        found.add_guessed(words, from);
    }
    found.is_known = !lines(&name).is_empty();
    Some(found)
}

/// `manage.py shell` of `python3 manage.py shell`: a script that the table lists with its subcommand. Also returns the
/// index of the word that follows.
fn script_form(program: &str, list: &[Argument], words: &[Option<&str>]) -> Option<(String, usize)> {
    let script = list.iter().find(|argument| argument.role == Role::Script)?.word;
    let path = words.get(script).copied()??;
    // `node inspect`: not a script, although it is where a script would be.
    let word = format!("{program} {path}");
    if matches!(program, "node" | "nodejs") && !lines(&word).is_empty() {
        return Some((word, script + 1));
    }
    let form = words.get(script + 1).copied()??;
    let name = format!("{program} {} {form}", path.rsplit('/').next().unwrap_or(path));
    (!lines(&name).is_empty()).then_some((name, script + 2))
}

/// Guesses the roles for a program that is not in the table: words that begin with a dash are flags, all others
/// operands.
pub fn guessed_arguments(words: &[Option<&str>]) -> Arguments {
    let UsageMatch { flags, operands, .. } = UsageMatch::guessed(words, 1);
    Arguments { flags, operands, ..Arguments::default() }
}

fn is_tar(program: &str) -> bool {
    matches!(program, "tar" | "bsdtar" | "gtar")
}

/// `tar xfz` is `tar -xzf`: the file name is the next word, wherever the `f` is.
fn with_dash(flags: &str) -> String {
    let (files, others): (String, String) = flags.chars().partition(|flag| *flag == 'f');
    format!("-{others}{files}")
}

/// The name of a program in the table: `python3.12` is `python3`, `php8.2` is `php`, and `grm` is `rm`.
pub fn canonical(program: &str) -> &str {
    if let Some(name) = program.strip_prefix('g').filter(|name| COREUTILS.binary_search(name).is_ok()) {
        return name;
    }
    if let Some(python) = python(program) {
        return python;
    }
    let bare = program.trim_end_matches(is_version_character);
    match bare {
        "perl" | "ruby" | "php" | "lua" | "node" | "pip" | "pypy" if program.len() > bare.len() => bare,
        _ => program,
    }
}

/// `python3.12`, `python3.13t` (without a global lock) and `pythonw` (without a window).
fn python(program: &str) -> Option<&'static str> {
    let version = program.strip_prefix("python")?;
    let version = version.strip_prefix('w').unwrap_or(version);
    let number = version.strip_suffix('t').filter(|number| !number.is_empty()).unwrap_or(version);
    let name = if number.starts_with('3') { "python3" } else { "python" };
    number.chars().all(is_version_character).then_some(name)
}

fn is_version_character(c: char) -> bool {
    c.is_ascii_digit() || c == '.'
}

pub fn is_known_program(name: &str) -> bool {
    !lines(canonical(name)).is_empty()
}

/// True if the program runs a script file, or its stdin without one.
pub fn is_interpreter(name: &str) -> bool {
    let runs_scripts = |(_, _, usage): &TableLine| {
        let operands = usage.rsplit(']').next().unwrap_or(usage);
        let has = |item: &str| operands.split_whitespace().any(|operand| operand == item);
        has("SCRIPT") && has("SESSION")
    };
    lines(canonical(name)).iter().any(runs_scripts)
}

/// True if some flag or operand of the program is a script for a shell: `csh -c`.
pub fn takes_shell_text(name: &str) -> bool {
    let has = |(_, _, usage): &TableLine| usage.split([' ', '[', ']']).any(|item| item == "SHELL");
    lines(canonical(name)).iter().any(has)
}

/// Returns the lines of `programs.txt` for a program or subcommand, in their order.
fn lines(name: &str) -> &'static [TableLine] {
    let first = TABLE.partition_point(|(known, _, _)| *known < name);
    let end = TABLE.partition_point(|(known, _, _)| *known <= name);
    TABLE.get(first..end).unwrap_or_default()
}

/// The words of a command, matched with one line of `programs.txt`.
#[derive(Default)]
struct UsageMatch {
    list: Vec<Argument>,
    flags: Vec<Flag>,
    /// The index of the subcommand's word, and its byte offset in the word.
    subcommand: Option<(usize, usize)>,
    implied: Vec<(Role, &'static str)>,
    session: Option<Session>,
    /// The indices of the words that are neither flags nor values of flags.
    operands: Vec<usize>,
    /// The index of `--`.
    dashes: Option<usize>,
    /// The remaining words, if all of them have the same role.
    rest: Vec<usize>,
}

impl UsageMatch {
    /// Returns `None` if a flag that selects this form is missing. `before`: the flags before the subcommand.
    fn of((_, flags, usage): &TableLine, words: &[Option<&str>], from: usize, before: &[Flag]) -> Option<Self> {
        let usage: Usage<'static> = Usage::parse(flags, usage)?;
        let mut matched = Self { implied: usage.implied.clone(), session: usage.session, ..Self::default() };
        matched.read(&usage, words, from);
        if !usage.is_for(&matched.flags) {
            // `dotenv -f FILE list`: flags that name files may also precede the subcommand.
            let before = before.iter().filter(|flag| flag.value.is_some_and(|value| value.role == Role::Read)).cloned();
            let all: Vec<Flag> = before.chain(matched.flags.iter().cloned()).collect();
            if all.len() == matched.flags.len() || !usage.is_for(&all) {
                return None;
            }
        }
        matched.assign_operand_roles(&usage, words);
        matched.list.sort_by_key(|argument| (argument.word, argument.from));
        let rest = std::mem::take(&mut matched.rest);
        matched.operands.extend(rest);
        if matched.operands.is_empty() {
            matched.implied.extend(usage.implied_without_operands);
        }
        Some(matched)
    }

    fn guessed(words: &[Option<&str>], from: usize) -> Self {
        let mut matched = Self::default();
        if let Some(usage) = Usage::parse("", "X...") {
            matched.read(&usage, words, from);
        }
        matched
    }

    fn read(&mut self, usage: &Usage<'static>, words: &[Option<&str>], from: usize) {
        let mut flags_ended = false;
        let mut index = from;
        while let Some(word) = words.get(index) {
            let text = word.unwrap_or_default();
            let rest = usage.rest_from(self.operands.len());
            // From here on, all words have the same role, even those that look like flags.
            if let Some(role) = rest.filter(|_| !usage.allows_flags_after(self.operands.len())) {
                self.take_rest(role, index, words.len());
                return;
            }
            if !flags_ended && text == "--" {
                flags_ended = true;
                self.dashes = Some(index);
            } else if !flags_ended
                && text.len() > 1
                && (text.starts_with('-') || (usage.takes_plus && text.starts_with('+')))
            {
                let Some(values) = self.flag(usage, text, index) else { return };
                index += values;
            } else if usage.takes_assignments && self.operands.is_empty() && is_assignment(text) {
                self.list.push(Argument { role: Role::Assignment, word: index, from: 0 });
            } else if let Some(role) = rest {
                self.take_rest(role, index, words.len());
                return;
            } else {
                self.operands.push(index);
            }
            index += 1;
        }
    }

    fn take_rest(&mut self, role: Role, start: usize, end: usize) {
        if role != Role::Subcommand {
            self.rest.extend(start..end);
        }
        let end = if role.takes_remaining_words() { start + 1 } else { end };
        self.list.extend((start..end).map(|word| Argument { role, word, from: 0 }));
        self.subcommand = (role == Role::Subcommand).then_some((start, 0));
    }

    /// Reads a flag, or a cluster of short flags. Returns how many of the next words are its values; `None` for all.
    fn flag(&mut self, usage: &Usage<'static>, text: &str, index: usize) -> Option<usize> {
        // In a short flag, `=` is part of the value.
        let long = text.split_once('=').filter(|(name, _)| name.len() > 2);
        let (name, attached) = long.map_or((text, None), |(name, _)| (name, Some(name.len() + 1)));
        // Also finds long flags with one dash, such as those of `find` and `java`. A cluster of short flags is never in
        // the table.
        if let Some(found) = usage.flag(name) {
            return self.known_flag(found, index, attached.filter(|from| *from < text.len()));
        }
        if text.starts_with("--") {
            let value = attached.map(|from| Argument { role: Role::Plain, word: index, from });
            self.flags.push(Flag { name: name.to_owned(), word: index, value, spellings: "" });
            return Some(0);
        }
        let mut in_number = false;
        for (at, c) in text.char_indices().skip(1) {
            if in_number && c.is_ascii_digit() {
                continue;
            }
            let name = format!("-{c}");
            let value_start = at + c.len_utf8();
            in_number = usage.flag(&name).is_some_and(|found| found.is_number);
            match usage.flag(&name) {
                Some(found) if in_number => {
                    self.known_flag(found, index, None);
                }
                Some(found) if found.role.is_some() => {
                    return self.known_flag(found, index, (value_start < text.len()).then_some(value_start));
                }
                Some(found) => {
                    self.known_flag(found, index, None);
                }
                None => self.flags.push(Flag { name, word: index, value: None, spellings: "" }),
            }
        }
        Some(0)
    }

    /// `attached`: the byte offset of a value in the same word.
    fn known_flag(&mut self, found: FlagUsage<'static>, index: usize, attached: Option<usize>) -> Option<usize> {
        let mut flag = Flag { name: found.flag.to_owned(), word: index, value: None, spellings: found.spellings };
        let mut more = 0;
        if let Some(role) = found.role
            && (attached.is_some() || !found.is_optional)
        {
            let (word, from) = attached.map_or((index + 1, 0), |from| (index, from));
            let value = Argument { role, word, from };
            flag.value = Some(value);
            self.list.push(value);
            self.list.extend(found.second.map(|role| Argument { role, word: word + 1, from: 0 }));
            more = word - index + usize::from(found.second.is_some());
        } else {
            self.implied.extend(found.role.zip(found.default_path));
        }
        if found.role == Some(Role::Subcommand) {
            self.subcommand = flag.value.map(|value| (value.word, value.from));
        }
        self.flags.push(flag);
        let mut roles = [found.role, found.second].into_iter().flatten();
        (!roles.any(Role::takes_remaining_words)).then_some(more)
    }

    fn assign_operand_roles(&mut self, usage: &Usage, words: &[Option<&str>]) {
        let expected = usage.operands(&self.flags);
        let keyed: Vec<_> = expected.iter().filter_map(|operand| Some((operand.key?, operand.role))).collect();
        let expected: Vec<_> = expected.into_iter().filter(|operand| operand.key.is_none()).collect();
        let repeating = expected.iter().position(|operand| operand.repeats);
        let count = self.operands.len();
        // The roles after the repeated one are those of the last operands.
        let last = repeating.map_or(0, |index| expected.len() - index - 1);
        for (number, word) in self.operands.iter().copied().enumerate() {
            let text = words.get(word).copied().flatten().unwrap_or_default();
            let by_key = keyed.iter().find(|(key, _)| text.split_once('=').is_some_and(|(name, _)| name == *key));
            if let Some((key, role)) = by_key {
                self.list.push(Argument { role: *role, word, from: key.len() + 1 });
                continue;
            }
            let from_end = count - number;
            let expected = match repeating {
                Some(index) if number >= index && from_end <= last => expected.get(expected.len() - from_end),
                Some(index) if number >= index => expected.get(index),
                _ => expected.get(number),
            };
            let role = expected.map_or(Role::Plain, |operand| operand.role);
            let role = usage.after_dashes.filter(|_| self.dashes.is_some_and(|dashes| word > dashes)).unwrap_or(role);
            self.list.push(Argument { role, word, from: 0 });
            if role.takes_remaining_words() {
                break;
            }
        }
    }
}

fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'%'))
    })
}
