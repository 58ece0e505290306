//! `xargs`: its input becomes arguments of the commands that it runs.

use crate::model::{Input, Word};
use crate::programs::Arguments;
use crate::special_programs::replacement_string::{fits, insert};

/// The maximum number of words in all commands, if `xargs` runs a command for each item of its input.
const MAX_WORDS: usize = 16 * 1024;
/// If there are more commands, a single command with an unknown item stands for all commands.
const MAX_COMMANDS: usize = 32;

/// Shown in messages instead of a word that comes from the input and is not known.
const UNKNOWN_INPUT: &str = "the input of xargs";

/// Returns the commands that `xargs` runs. `words`: the command as written; `command_words`: all words of the `xargs`
/// command.
pub(crate) fn commands(
    words: Vec<Word>,
    arguments: &Arguments,
    command_words: &[Word],
    input: Input,
) -> Vec<Vec<Word>> {
    let xargs = Xargs::of(arguments, command_words, input);
    if xargs.has(REPLACE) {
        return xargs.commands_with_replacements(words);
    }
    if let (Some(text), None) = (xargs.text.filter(|_| xargs.has(LINES)), xargs.separator) {
        return xargs.commands_by_lines(text, &words);
    }
    xargs.commands_by_words(words)
}

const REPLACE: &[&str] = &["-I", "-i", "--replace"];
const LINES: &[&str] = &["-L", "-l", "--max-lines"];
const WORDS: &[&str] = &["-n", "--max-args"];

/// The arguments and the input of `xargs`.
struct Xargs<'c> {
    arguments: &'c Arguments,
    /// All words of the `xargs` command.
    command_words: &'c [Word],
    input: Input<'c>,
    /// The text of the input, if it is known and `xargs` splits it in a supported way.
    text: Option<&'c str>,
    /// The separator of the input, if a flag sets it: `-0`, `-d`.
    separator: Option<char>,
}

impl<'c> Xargs<'c> {
    fn of(arguments: &'c Arguments, command_words: &'c [Word], input: Input<'c>) -> Self {
        let mut xargs = Self { arguments, command_words, input, text: None, separator: None };
        xargs.input = xargs.input_from_file().unwrap_or(input);
        xargs.separator = match xargs.value_of(&["-d", "--delimiter"]) {
            Some("\\n") => Some('\n'),
            Some("\\0") => Some('\0'),
            Some(delimiter) => delimiter.chars().next().filter(|c| *c != '\\' && delimiter.len() == c.len_utf8()),
            None if xargs.has(&["-0", "--null"]) => Some('\0'),
            None => None,
        };
        let is_split_here = xargs.separator.is_some() || !xargs.has(&["-d", "--delimiter"]);
        let is_split_otherwise = xargs.has(&["-E", "--eof"]) || !is_split_here;
        // Without a separator, `xargs` interprets quotes, which is not supported.
        xargs.text = match xargs.input {
            Input::Text(_) if is_split_otherwise => None,
            Input::Text(text) if xargs.separator.is_none() && text.contains(['\'', '"', '\\']) => None,
            Input::Text(text) => Some(text),
            _ => None,
        };
        xargs
    }

    fn has(&self, flags: &[&str]) -> bool {
        self.arguments.has_flag(flags)
    }

    fn value_of(&self, flags: &[&str]) -> Option<&'c str> {
        let value = self.arguments.flags.iter().rfind(|flag| flags.contains(&flag.name.as_str()))?.value?;
        self.command_words.get(value.word)?.value.as_deref()?.get(value.from..)
    }

    /// Returns the number in the value of one of these flags: how many lines or words each command gets.
    fn count_of(&self, flags: &[&str]) -> Option<usize> {
        self.value_of(flags).and_then(|count| count.parse().ok()).filter(|count| *count > 0)
    }

    /// Returns the input if it comes from a file: `-a FILE`.
    fn input_from_file(&self) -> Option<Input<'c>> {
        let flag = self.arguments.flags.iter().rfind(|flag| flag.is("-a") || flag.is("--arg-file"))?;
        let Some(file) = flag.value.and_then(|value| self.command_words.get(value.word)) else {
            return Some(Input::Unknown);
        };
        Some(match &file.contents {
            Some(text) => Input::Text(text),
            None if !file.possible_paths.is_empty() => Input::Paths(&file.possible_paths),
            None => Input::Unknown,
        })
    }

    /// `-I {}`: returns one command for each line, with the line inserted for the replacement string.
    fn commands_with_replacements(&self, words: Vec<Word>) -> Vec<Vec<Word>> {
        let replace_string = self.value_of(REPLACE).unwrap_or("{}");
        let lines = self.text.map(|text| {
            let lines = text.split(self.separator.unwrap_or('\n'));
            let lines = lines.map(|line| if self.separator.is_none() { line.trim_start() } else { line });
            lines.filter(|line| !line.is_empty()).collect::<Vec<_>>()
        });
        match (lines, self.input) {
            (Some(lines), _) if lines.len() <= MAX_COMMANDS => {
                lines.into_iter().map(|line| replaced(words.clone(), replace_string, Some(&known(line)))).collect()
            }
            (_, Input::Paths(paths)) if paths.len() * words.len() <= MAX_WORDS => {
                paths.iter().map(|path| replaced(words.clone(), replace_string, Some(path))).collect()
            }
            _ => vec![replaced(words, replace_string, None)],
        }
    }

    /// `-L 2`: returns one command for every two lines.
    fn commands_by_lines(&self, text: &str, words: &[Word]) -> Vec<Vec<Word>> {
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let chunks = lines.chunks(self.count_of(LINES).unwrap_or(1));
        let read = chunks.map(|lines| lines.iter().flat_map(|line| line.split_whitespace()).map(known).collect());
        read.map(|read: Vec<Word>| [words, &read].concat()).collect()
    }

    /// `-n 2`: returns one command for every two words; without the flag, one command for all words.
    fn commands_by_words(&self, words: Vec<Word>) -> Vec<Vec<Word>> {
        let read: Vec<Word> = match (self.text, self.separator, self.input) {
            (Some(text), None, _) => text.split_whitespace().map(known).collect(),
            (Some(text), Some(separator), _) => {
                text.split(separator).filter(|part| !part.is_empty()).map(known).collect()
            }
            (None, _, Input::Paths(paths)) => paths.iter().map(argument_of_path).collect(),
            _ => vec![Word { raw: UNKNOWN_INPUT.to_owned(), ..Word::unknown() }],
        };
        let is_counted = self.has(WORDS) || self.has(LINES);
        match self.count_of(WORDS).or_else(|| is_counted.then_some(1)) {
            Some(count) if !read.is_empty() && read.len() * words.len() <= MAX_WORDS => {
                read.chunks(count).map(|chunk| [words.as_slice(), chunk].concat()).collect()
            }
            _ => vec![[words, read].concat()],
        }
    }
}

fn known(text: &str) -> Word {
    Word { raw: text.to_owned(), value: Some(text.to_owned()), ..Word::default() }
}

/// Returns the argument for a path in the input. A path that may be any entry of a directory counts as unknown.
fn argument_of_path(path: &Word) -> Word {
    if path.value.as_deref() == Some("*") && !path.glob { Word::unknown() } else { path.clone() }
}

/// Replaces `replace_string` with a line or path of the input.
fn replaced(mut words: Vec<Word>, replace_string: &str, read: Option<&Word>) -> Vec<Word> {
    let read = read.filter(|read| fits(&words, replace_string, read.value.as_deref().map_or(0, str::len)));
    for word in &mut words {
        let Some(text) = word.value.take_if(|value| value.contains(replace_string)) else { continue };
        let replacement = match read {
            Some(Word { value: Some(read), glob, .. }) if read != "*" || text != replace_string || *glob => {
                word.glob = *glob;
                Some(read.as_str())
            }
            _ => None,
        };
        word.value = replacement.and_then(|replacement| insert(&text, replace_string, replacement));
        if word.value.is_none() {
            word.raw = insert(&text, replace_string, UNKNOWN_INPUT).unwrap_or_else(|| UNKNOWN_INPUT.to_owned());
            word.shown = insert(&text, replace_string, "$…").unwrap_or_else(|| "$…".to_owned());
        }
    }
    words
}
