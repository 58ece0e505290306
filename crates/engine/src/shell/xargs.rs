//! `xargs`: what it reads becomes words of the commands that it runs.

use super::command::Word;
use super::filling::{filled, fits};
use super::through::Input;
use crate::programs::Arguments;

/// Words of all that it runs, where it runs a command for each thing that it reads.
const MAX_WORDS: usize = 16 * 1024;

/// The commands that it runs. `words`: the command as it is written; `all`: those of `xargs` itself.
pub(super) fn commands(words: Vec<Word>, arguments: &Arguments, all: &[Word], input: Input) -> Vec<Vec<Word>> {
    let has = |flags: &[&str]| arguments.has_flag(flags);
    let input = if has(&["-a", "--arg-file"]) { Input::Unknown } else { input };
    if let Some(flag) = arguments.flags.iter().find(|flag| matches!(flag.name.as_str(), "-I" | "-i" | "--replace")) {
        let value = flag.value.and_then(|value| all.get(value.word)?.value.as_deref()?.get(value.from..));
        let mark = value.unwrap_or("{}");
        return match input {
            Input::Paths(paths) if paths.len() * words.len() <= MAX_WORDS => paths
                .iter()
                .map(|path| replaced(words.clone(), mark, Input::Paths(std::slice::from_ref(path))))
                .collect(),
            input => vec![replaced(words, mark, input)],
        };
    }
    let read = match input {
        // Quotes would mean something to it.
        Input::Text(text)
            if !text.contains(['\'', '"', '\\']) && !has(&["-d", "--delimiter", "-0", "--null", "-E"]) =>
        {
            text.split_whitespace().map(known).collect()
        }
        Input::Text(text) if has(&["-0", "--null"]) => {
            text.split('\0').filter(|part| !part.is_empty()).map(known).collect()
        }
        Input::Paths(paths) => paths.iter().map(chosen).collect(),
        _ => vec![Word { raw: "what xargs reads".to_owned(), ..Word::unknown() }],
    };
    // One by one, or some at a time: nobody needs to know which go together.
    let some_at_a_time = has(&["-n", "--max-args", "-L", "-l", "--max-lines"]);
    if some_at_a_time && !read.is_empty() && read.len() * words.len() <= MAX_WORDS {
        return read.into_iter().map(|word| [words.as_slice(), &[word]].concat()).collect();
    }
    vec![[words, read].concat()]
}

fn known(text: &str) -> Word {
    Word { raw: text.to_owned(), value: Some(text.to_owned()), ..Word::default() }
}

/// All that there is, without a look at it: nobody knows what that is.
fn chosen(path: &Word) -> Word {
    if path.value.as_deref() == Some("*") && !path.glob { Word::unknown() } else { path.clone() }
}

/// `mark`: what stands for the line that is read.
fn replaced(mut words: Vec<Word>, mark: &str, input: Input) -> Vec<Word> {
    let line = match input {
        Input::Text(text) => Some(text.trim()).filter(|text| !text.contains(['\n', '\'', '"', '\\'])),
        _ => None,
    };
    let line = line.filter(|line| fits(&words, mark, line.len()));
    for word in &mut words {
        let Some(text) = word.value.take_if(|value| value.contains(mark)) else { continue };
        let with = match (line, input) {
            (Some(line), _) => Some(line),
            (None, Input::Paths([Word { value: Some(path), glob, .. }])) if path != "*" || text != mark || *glob => {
                word.glob = *glob;
                Some(path.as_str())
            }
            _ => None,
        };
        word.value = with.and_then(|with| filled(&text, mark, with));
        if word.value.is_none() {
            word.shown = filled(&text, mark, "$…").unwrap_or_else(|| "$…".to_owned());
        }
    }
    words
}
