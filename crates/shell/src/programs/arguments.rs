//! Assigns roles to the words of a command line.

use super::argument::{Argument, Flag};
use super::usage::{FlagUsage, Usage};
use super::{Interactive, Role};

/// A line of `programs.txt`. The build script has a type of the same name and fields.
struct TableLine {
    /// A program, or a program with its subcommands.
    name: &'static str,
    /// The flags that a command must have for the line to apply.
    selecting_flags: &'static str,
    /// The roles of the flags' values and of the operands.
    usage: &'static str,
}

/// The lines of `programs.txt`, sorted by name. Lines with the same name are in their order in the file.
static TABLE: &[TableLine] = include!(concat!(env!("OUT_DIR"), "/programs.rs"));

/// GNU programs that are installed with the prefix `g` on systems that have other programs of the same names. Sorted
/// for binary search, so that a name like `git` is rejected quickly.
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

/// The arguments of a command line, with their roles for the program.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Arguments {
    /// The operands, the subcommands and the values of flags, each with its role, in word order. An argument that
    /// consists of all remaining words is listed once, with the index of the first of these words.
    pub with_roles: Vec<Argument>,
    pub flags: Vec<Flag>,
    /// The indices of the words that are neither flags, nor values of flags, nor subcommands.
    pub operands: Vec<usize>,
    /// The subcommands: `push` of `git push`.
    pub subcommands: Vec<String>,
    /// Accesses to paths that are not in the words: a role, and a path.
    pub implied: Vec<(Role, &'static str)>,
    /// In which cases the program runs commands that a person types; `None` if the program never does.
    pub interactive: Option<Interactive>,
    /// True if the table lists the program with these subcommands and flags.
    pub is_known: bool,
}

impl Arguments {
    /// Adds the flags and operands after a subcommand that is not in the table.
    fn add_guessed(&mut self, words: &[Option<&str>], from: usize) {
        let rest = UsageMatch::guessed(words, from);
        self.flags.extend(rest.flags);
        self.operands.extend(rest.operands);
    }

    pub fn has_flag(&self, names: &[&str]) -> bool {
        self.flags.iter().any(|flag| names.contains(&flag.name.as_str()))
    }
}

/// Assigns roles to the words of a command, program first; `None` stands for an unknown word. `program`: the base name
/// of the first word. Returns `None` if the program is not in the table.
pub fn arguments(program: &str, words: &[Option<&str>]) -> Option<Arguments> {
    let with_dash;
    let words = match words {
        [first, Some(flags), rest @ ..] if is_tar(program) && !flags.starts_with('-') => {
            with_dash = tar_flags_with_dash(flags);
            &[&[*first, Some(with_dash.as_str())], rest].concat()
        }
        _ => words,
    };
    let program = canonical(program);
    if lines(program).is_empty() {
        return None;
    }
    let mut reader = CommandLineReader {
        words,
        arguments: Arguments::default(),
        name: program.to_owned(),
        position: if names_toolchain(program, words) { 2 } else { 1 },
    };
    while reader.read_level() {}
    Some(reader.finish())
}

/// True if the first argument selects a toolchain: `cargo +nightly build`.
fn names_toolchain(program: &str, words: &[Option<&str>]) -> bool {
    matches!(program, "cargo" | "rustc" | "rustup")
        && words.get(1).copied().flatten().is_some_and(|word| word.starts_with('+'))
}

/// Reads a command line from left to right. At each level, it reads the flags and operands of the program or of one
/// subcommand.
struct CommandLineReader<'w> {
    words: &'w [Option<&'w str>],
    /// The arguments that were read so far.
    arguments: Arguments,
    /// The name of the current level in the table: `git`, then `git push`.
    name: String,
    /// The index of the first word that was not read.
    position: usize,
}

impl CommandLineReader<'_> {
    /// Reads one level. Returns true if a subcommand, and so another level, follows.
    fn read_level(&mut self) -> bool {
        let match_line = |line| UsageMatch::of(line, self.words, self.position, &self.arguments.flags);
        let Some(matched) = lines(&self.name).iter().find_map(match_line) else { return false };
        self.arguments.flags.extend(matched.flags);
        if let Some((name, position)) = script_form(&self.name, &matched.with_roles, self.words) {
            (self.name, self.position) = (name, position);
            return true;
        }
        self.arguments.with_roles.extend(matched.with_roles);
        self.arguments.implied.extend(matched.implied);
        self.arguments.operands.extend(matched.operands);
        self.arguments.interactive = matched.interactive;
        let Some((index, from)) = matched.subcommand else { return false };
        let subcommand = self.words.get(index).copied().flatten().and_then(|word| word.get(from..));
        if let Some(subcommand) = subcommand {
            self.enter_subcommand(subcommand, index);
        } else {
            // The word of the subcommand is not known.
            self.arguments.add_guessed(self.words, index + 1);
        }
        subcommand.is_some()
    }

    /// Continues with a subcommand, which is in the word at this index.
    fn enter_subcommand(&mut self, subcommand: &str, index: usize) {
        self.arguments.interactive = None;
        let listed = format!("{} {subcommand}", self.name);
        let (any, any_as_operand) = (format!("{} *", self.name), format!("{} **", self.name));
        if lines(&listed).is_empty() && !lines(&any_as_operand).is_empty() {
            (self.name, self.position) = (any_as_operand, index);
            return;
        }
        self.name = if lines(&listed).is_empty() && !lines(&any).is_empty() { any } else { listed };
        self.arguments.subcommands.push(subcommand.to_owned());
        self.position = index + 1;
    }

    fn finish(mut self) -> Arguments {
        self.arguments.is_known = !lines(&self.name).is_empty();
        if !self.arguments.is_known {
            // A subcommand that is not in the table may do anything with its arguments, and may itself be a path:
            // `git stash -- x`.
            let first = if self.arguments.subcommands.is_empty() { self.position } else { self.position - 1 };
            let paths = (first..self.words.len()).map(|word| Argument { role: Role::Path, word, from: 0 });
            self.arguments.with_roles.extend(paths);
            self.arguments.add_guessed(self.words, self.position);
        }
        self.arguments
    }
}

/// Returns the name under which the table lists a script with its subcommand (`python3 manage.py shell`), and the index
/// of the word after the subcommand.
fn script_form(program: &str, arguments: &[Argument], words: &[Option<&str>]) -> Option<(String, usize)> {
    let script = arguments.iter().find(|argument| argument.role == Role::Script)?.word;
    let path = words.get(script).copied()??;
    // In `node inspect`, `inspect` is not a script, although it stands in place of a script.
    let word = format!("{program} {path}");
    if matches!(program, "node" | "nodejs") && !lines(&word).is_empty() {
        return Some((word, script + 1));
    }
    let form = words.get(script + 1).copied()??;
    let name = format!("{program} {} {form}", path.rsplit('/').next().unwrap_or(path));
    (!lines(&name).is_empty()).then_some((name, script + 2))
}

/// Guesses the roles for a program that is not in the table: words that begin with a dash are flags, all other words
/// are operands.
pub fn guessed_arguments(words: &[Option<&str>]) -> Arguments {
    let UsageMatch { flags, operands, .. } = UsageMatch::guessed(words, 1);
    Arguments { flags, operands, ..Arguments::default() }
}

fn is_tar(program: &str) -> bool {
    matches!(program, "tar" | "bsdtar" | "gtar")
}

/// Returns the flags of `tar xfz` with a dash. The `f` moves to the end, `-xzf`, because the file name is the next word
/// wherever the `f` is.
fn tar_flags_with_dash(flags: &str) -> String {
    let (files, others): (String, String) = flags.chars().partition(|flag| *flag == 'f');
    format!("-{others}{files}")
}

/// Returns the name under which the table lists a program: `python3` for `python3.12`, `php` for `php8.2`, `ruby` for
/// `jruby`, and `rm` for `grm`.
pub fn canonical(program: &str) -> &str {
    if let Some(name) = program.strip_prefix('g').filter(|name| COREUTILS.binary_search(name).is_ok()) {
        return name;
    }
    if let Some(python) = canonical_python(program) {
        return python;
    }
    let bare = program.trim_end_matches(is_version_character);
    match bare {
        "jruby" | "truffleruby" => "ruby",
        "perl" | "ruby" | "php" | "lua" | "node" | "pip" | "pypy" if program.len() > bare.len() => bare,
        _ => program,
    }
}

/// Recognizes `python3.12`, `python3.13t` (without a global lock) and `pythonw` (without a window).
fn canonical_python(program: &str) -> Option<&'static str> {
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

/// True if the program runs a script file, or its stdin if no script file is given.
pub fn is_interpreter(name: &str) -> bool {
    let runs_scripts = |line: &TableLine| {
        let operands = line.usage.rsplit(']').next().unwrap_or(line.usage);
        let has = |item: &str| operands.split_whitespace().any(|operand| operand == item);
        has("SCRIPT") && has("INTERACTIVE")
    };
    lines(canonical(name)).iter().any(runs_scripts)
}

/// True if the program takes a script for a shell as an argument: `csh -c`.
pub fn takes_shell_text(name: &str) -> bool {
    let takes = |line: &TableLine| line.usage.split([' ', '[', ']']).any(|item| item == "SHELL");
    lines(canonical(name)).iter().any(takes)
}

/// Returns the lines of `programs.txt` for a program or subcommand, in their order.
fn lines(name: &str) -> &'static [TableLine] {
    let first = TABLE.partition_point(|line| line.name < name);
    let end = TABLE.partition_point(|line| line.name <= name);
    TABLE.get(first..end).unwrap_or_default()
}

/// The words of a command, matched with one line of `programs.txt`.
#[derive(Default)]
struct UsageMatch {
    with_roles: Vec<Argument>,
    flags: Vec<Flag>,
    /// The index of the subcommand's word, and its byte offset in the word.
    subcommand: Option<(usize, usize)>,
    implied: Vec<(Role, &'static str)>,
    interactive: Option<Interactive>,
    /// The indices of the words that are neither flags nor values of flags.
    operands: Vec<usize>,
    /// The index of `--`.
    dashes: Option<usize>,
    /// The indices of the remaining words, if all of them have the same role.
    rest: Vec<usize>,
}

impl UsageMatch {
    /// Matches the words from an index on. Returns `None` if a flag is missing that the line requires. `before`: the
    /// flags before the subcommand.
    fn of(line: &TableLine, words: &[Option<&str>], from: usize, before: &[Flag]) -> Option<Self> {
        let usage: Usage<'static> = Usage::parse(line.selecting_flags, line.usage)?;
        let mut matched = Self { implied: usage.implied.clone(), interactive: usage.interactive, ..Self::default() };
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
        matched.with_roles.sort_by_key(|argument| (argument.word, argument.from));
        let rest = std::mem::take(&mut matched.rest);
        matched.operands.extend(rest);
        if matched.operands.is_empty() {
            matched.implied.extend(usage.implied_without_operands);
        }
        Some(matched)
    }

    /// Matches the words from an index on, for a program or subcommand that is not in the table.
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
            // From this word on, all words have the same role, even those that look like flags.
            if let Some(role) = rest.filter(|_| !usage.allows_flags_after(self.operands.len())) {
                self.take_rest(role, index, words.len());
                return;
            }
            let may_be_flag = text.starts_with('-') || (usage.takes_plus && text.starts_with('+'));
            if !flags_ended && text == "--" {
                flags_ended = true;
                self.dashes = Some(index);
            } else if !flags_ended && text.len() > 1 && may_be_flag {
                let Some(value_count) = self.read_flag(usage, text, index) else { return };
                index += value_count;
            } else if usage.takes_assignments && self.operands.is_empty() && is_assignment(text) {
                self.with_roles.push(Argument { role: Role::Assignment, word: index, from: 0 });
            } else if let Some(role) = rest {
                self.take_rest(role, index, words.len());
                return;
            } else {
                self.operands.push(index);
            }
            index += 1;
        }
    }

    /// Assigns a role to all words from `start` on.
    fn take_rest(&mut self, role: Role, start: usize, end: usize) {
        if role != Role::Subcommand {
            self.rest.extend(start..end);
        }
        let end = if role.takes_remaining_words() { start + 1 } else { end };
        self.with_roles.extend((start..end).map(|word| Argument { role, word, from: 0 }));
        self.subcommand = (role == Role::Subcommand).then_some((start, 0));
    }

    /// Reads the flag or the cluster of short flags in a word. Returns how many of the following words are values of
    /// the flag; `None` if all following words are values.
    fn read_flag(&mut self, usage: &Usage<'static>, text: &str, index: usize) -> Option<usize> {
        // In a short flag, `=` is part of the value.
        let long = text.split_once('=').filter(|(name, _)| name.len() > 2);
        let (name, value_start) = long.map_or((text, None), |(name, _)| (name, Some(name.len() + 1)));
        // The table also lists long flags with one dash, such as those of `find` and `java`. The table never lists a
        // cluster of short flags.
        if let Some(known) = usage.flag(name) {
            return self.add_known_flag(known, index, value_start.filter(|start| *start < text.len()));
        }
        if text.starts_with("--") {
            let value = value_start.map(|from| Argument { role: Role::Plain, word: index, from });
            self.flags.push(Flag { name: name.to_owned(), word: index, value, spellings: "" });
            return Some(0);
        }
        self.read_cluster(usage, text, index)
    }

    /// Reads a cluster of short flags: `-fu`. The last flag may have a value. Returns the same as [`Self::read_flag`].
    fn read_cluster(&mut self, usage: &Usage<'static>, text: &str, index: usize) -> Option<usize> {
        let mut in_number = false;
        for (at, c) in text.char_indices().skip(1) {
            if in_number && c.is_ascii_digit() {
                continue;
            }
            let name = format!("-{c}");
            let known = usage.flag(&name);
            in_number = known.is_some_and(|known| known.is_number);
            match known {
                Some(known) if known.role.is_some() && !known.is_number => {
                    let value_start = at + c.len_utf8();
                    return self.add_known_flag(known, index, (value_start < text.len()).then_some(value_start));
                }
                Some(known) => {
                    self.add_known_flag(known, index, None);
                }
                None => self.flags.push(Flag { name, word: index, value: None, spellings: "" }),
            }
        }
        Some(0)
    }

    /// Adds a flag that the table lists, and its values. `value_start`: the byte offset of the value, if it is in the
    /// same word. Returns the same as [`Self::read_flag`].
    fn add_known_flag(&mut self, known: FlagUsage<'static>, index: usize, value_start: Option<usize>) -> Option<usize> {
        let mut flag = Flag { name: known.flag.to_owned(), word: index, value: None, spellings: known.spellings };
        let mut value_count = 0;
        if let Some(role) = known.role
            && (value_start.is_some() || !known.is_optional)
        {
            let (word, from) = value_start.map_or((index + 1, 0), |from| (index, from));
            let value = Argument { role, word, from };
            flag.value = Some(value);
            self.with_roles.push(value);
            self.with_roles.extend(known.second.map(|role| Argument { role, word: word + 1, from: 0 }));
            value_count = word - index + usize::from(known.second.is_some());
        } else {
            self.implied.extend(known.role.zip(known.default_path));
        }
        if known.role == Some(Role::Subcommand) {
            self.subcommand = flag.value.map(|value| (value.word, value.from));
        }
        self.flags.push(flag);
        let mut roles = [known.role, known.second].into_iter().flatten();
        (!roles.any(Role::takes_remaining_words)).then_some(value_count)
    }

    /// Assigns roles to the operands, by their order or by their keys.
    fn assign_operand_roles(&mut self, usage: &Usage, words: &[Option<&str>]) {
        let expected = usage.operands(&self.flags);
        let keyed: Vec<_> = expected.iter().filter_map(|operand| Some((operand.key?, operand.role))).collect();
        let expected: Vec<_> = expected.into_iter().filter(|operand| operand.key.is_none()).collect();
        let repeating = expected.iter().position(|operand| operand.repeats);
        let count = self.operands.len();
        // The roles after the repeated role belong to the last operands.
        let last = repeating.map_or(0, |index| expected.len() - index - 1);
        for (number, word) in self.operands.iter().copied().enumerate() {
            let text = words.get(word).copied().flatten().unwrap_or_default();
            let by_key = keyed.iter().find(|(key, _)| text.split_once('=').is_some_and(|(name, _)| name == *key));
            if let Some((key, role)) = by_key {
                self.with_roles.push(Argument { role: *role, word, from: key.len() + 1 });
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
            self.with_roles.push(Argument { role, word, from: 0 });
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
