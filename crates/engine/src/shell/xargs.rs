//! `xargs`: what it reads becomes words of the commands that it runs.

use super::command::Word;
use super::filling::{filled, fits};
use super::through::Input;
use crate::programs::Arguments;

/// Words of all that it runs, where it runs a command for each thing that it reads.
const MAX_WORDS: usize = 16 * 1024;
/// More commands are not told apart: nobody knows which word is in them.
const MAX_COMMANDS: usize = 32;

/// For people.
const WHAT_IT_READS: &str = "what xargs reads";

/// The commands that it runs. `words`: the command as it is written; `all`: those of `xargs` itself.
pub(super) fn commands(words: Vec<Word>, arguments: &Arguments, all: &[Word], input: Input) -> Vec<Vec<Word>> {
    let has = |flags: &[&str]| arguments.has_flag(flags);
    let value_of = |flags: &[&str]| {
        let value = arguments.flags.iter().rfind(|flag| flags.contains(&flag.name.as_str()))?.value?;
        all.get(value.word)?.value.as_deref()?.get(value.from..)
    };
    let file = arguments.flags.iter().rfind(|flag| flag.is("-a") || flag.is("--arg-file"));
    let input = match file.map(|flag| flag.value.and_then(|value| all.get(value.word))) {
        Some(Some(file)) => match &file.given {
            Some(text) => Input::Text(text),
            None if !file.given_paths.is_empty() => Input::Paths(&file.given_paths),
            None => Input::Unknown,
        },
        Some(None) => Input::Unknown,
        None => input,
    };
    let separator = match value_of(&["-d", "--delimiter"]) {
        Some("\\n") => Some('\n'),
        Some("\\0") => Some('\0'),
        Some(given) => given.chars().next().filter(|letter| *letter != '\\' && given.len() == letter.len_utf8()),
        None if has(&["-0", "--null"]) => Some('\0'),
        None => None,
    };
    let is_split_otherwise = has(&["-E", "--eof"]) || separator.is_none() && has(&["-d", "--delimiter"]);
    // Quotes would mean something to it.
    let text = match input {
        Input::Text(text) if is_split_otherwise || separator.is_none() && text.contains(['\'', '"', '\\']) => None,
        Input::Text(text) => Some(text),
        _ => None,
    };
    if has(&["-I", "-i", "--replace"]) {
        let mark = value_of(&["-I", "-i", "--replace"]).unwrap_or("{}");
        let lines = text.map(|text| {
            let lines = text.split(separator.unwrap_or('\n'));
            let lines = lines.map(|line| if separator.is_none() { line.trim_start() } else { line });
            lines.filter(|line| !line.is_empty()).collect::<Vec<_>>()
        });
        return match (lines, input) {
            (Some(lines), _) if lines.len() <= MAX_COMMANDS => {
                lines.into_iter().map(|line| replaced(words.clone(), mark, Some(&known(line)))).collect()
            }
            (_, Input::Paths(paths)) if paths.len() * words.len() <= MAX_WORDS => {
                paths.iter().map(|path| replaced(words.clone(), mark, Some(path))).collect()
            }
            _ => vec![replaced(words, mark, None)],
        };
    }
    if let (Some(text), None) = (text.filter(|_| has(&["-L", "-l", "--max-lines"])), separator) {
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let count = value_of(&["-L", "-l", "--max-lines"]).and_then(|count| count.parse().ok());
        let some = lines.chunks(count.filter(|count| *count > 0).unwrap_or(1));
        let read = some.map(|lines| lines.iter().flat_map(|line| line.split_whitespace()).map(known).collect());
        return read.map(|read: Vec<Word>| [words.as_slice(), &read].concat()).collect();
    }
    let read: Vec<Word> = match (text, separator, input) {
        (Some(text), None, _) => text.split_whitespace().map(known).collect(),
        (Some(text), Some(separator), _) => text.split(separator).filter(|part| !part.is_empty()).map(known).collect(),
        (None, _, Input::Paths(paths)) => paths.iter().map(chosen).collect(),
        _ => vec![Word { raw: WHAT_IT_READS.to_owned(), ..Word::unknown() }],
    };
    let count = value_of(&["-n", "--max-args"]).and_then(|count| count.parse().ok()).filter(|count| *count > 0);
    let count = count.or_else(|| has(&["-n", "--max-args", "-L", "-l", "--max-lines"]).then_some(1));
    match count {
        Some(count) if !read.is_empty() && read.len() * words.len() <= MAX_WORDS => {
            read.chunks(count).map(|some| [words.as_slice(), some].concat()).collect()
        }
        _ => vec![[words, read].concat()],
    }
}

fn known(text: &str) -> Word {
    Word { raw: text.to_owned(), value: Some(text.to_owned()), ..Word::default() }
}

/// All that there is, without a look at it: nobody knows what that is.
fn chosen(path: &Word) -> Word {
    if path.value.as_deref() == Some("*") && !path.glob { Word::unknown() } else { path.clone() }
}

/// `mark`: what stands for what is read.
fn replaced(mut words: Vec<Word>, mark: &str, read: Option<&Word>) -> Vec<Word> {
    let read = read.filter(|read| fits(&words, mark, read.value.as_deref().map_or(0, str::len)));
    for word in &mut words {
        let Some(text) = word.value.take_if(|value| value.contains(mark)) else { continue };
        let with = match read {
            Some(Word { value: Some(read), glob, .. }) if read != "*" || text != mark || *glob => {
                word.glob = *glob;
                Some(read.as_str())
            }
            _ => None,
        };
        word.value = with.and_then(|with| filled(&text, mark, with));
        if word.value.is_none() {
            word.raw = filled(&text, mark, WHAT_IT_READS).unwrap_or_else(|| WHAT_IT_READS.to_owned());
            word.shown = filled(&text, mark, "$…").unwrap_or_else(|| "$…".to_owned());
        }
    }
    words
}
