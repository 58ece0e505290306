//! `find`: where it looks, what it runs, what it finds. Its words are an expression, which no table describes.

use super::command::{SimpleCommand, Word};

/// The words before the first condition: where it looks. Without any, where it is.
pub(super) fn starts(command: &SimpleCommand) -> Vec<Word> {
    const OPTIONS: &[&str] = &["-H", "-L", "-P", "-D", "--", "-x", "-E", "-s", "-X", "-d"];
    let is_option =
        |word: &&Word| word.value.as_deref().is_some_and(|text| OPTIONS.contains(&text) || text.starts_with("-O"));
    let is_condition =
        |word: &&Word| word.value.as_deref().is_some_and(|text| text.starts_with(['-', '(', '!', ')', ',']));
    let words = command.words.iter().skip(1).skip_while(is_option);
    let starts: Vec<Word> = words.take_while(|word| !is_condition(word)).cloned().collect();
    if starts.is_empty() { vec![path(".".to_owned(), false)] } else { starts }
}

/// Conditions by which it chooses; those of time come on top.
const TESTS: &[&str] = &["-type", "-empty", "-size", "-newer", "-perm", "-user", "-regex", "-path", "-iname", "-name"];

/// What it finds, as patterns: the one name that it looks for, where it looks; else where it looks.
pub(super) fn found(command: &SimpleCommand) -> Vec<Word> {
    let values: Vec<Option<&str>> = command.words.iter().map(|word| word.value.as_deref()).collect();
    let mut names = values.windows(2).filter(|pair| matches!(pair, [Some("-name" | "-iname"), _]));
    // Of several, or of one that is not meant, any may be the one.
    let is_simple = !values.iter().any(|word| matches!(word, Some("-o" | "-or" | "!" | "-not" | ",")));
    let name = match (names.next(), names.next()) {
        (Some([_, Some(name)]), None) if is_simple => Some(*name),
        _ => None,
    };
    let is_test = |text: &str| TESTS.contains(&text) || text.ends_with("time") || text.ends_with("min");
    let is_choosy = values.iter().flatten().any(|text| text.starts_with('-') && is_test(text));
    let mut exact = values.windows(2).filter(|pair| matches!(pair, [Some("-path" | "-wholename"), _]));
    if let (Some([_, Some(path_wanted)]), None, None, true) = (exact.next(), exact.next(), name, is_simple) {
        return vec![path((*path_wanted).to_owned(), path_wanted.contains(['*', '?', '[']))];
    }
    let below = |start: Word| match (start.meaning(), name) {
        // At any depth.
        (Some(start), Some(name)) => path(format!("{start}/**/{name}"), true),
        // Some of what is there.
        (Some(start), None) if is_choosy => path(format!("{start}/*"), false),
        _ => start,
    };
    starts(command).into_iter().map(below).collect()
}

/// The commands behind `-exec` and its like, up to `;` or `+`; `{}` is what was found.
pub(super) fn commands(command: &SimpleCommand) -> Vec<Vec<Word>> {
    let found = found(command);
    let mut commands = Vec::new();
    let mut rest = command.words.as_slice();
    while let Some((word, behind)) = rest.split_first() {
        rest = behind;
        if !matches!(word.value.as_deref(), Some("-exec" | "-execdir" | "-ok" | "-okdir")) {
            continue;
        }
        let ends = |word: &Word| matches!(word.value.as_deref(), Some(";" | "+"));
        let end = behind.iter().position(ends).unwrap_or(behind.len());
        let (words, later) = behind.split_at(end);
        rest = later;
        commands.push(words.iter().flat_map(|word| filled(word, &found)).collect());
    }
    commands
}

/// The word once for each thing that was found.
pub(super) fn filled(word: &Word, found: &[Word]) -> Vec<Word> {
    let Some(text) = word.value.as_deref().filter(|text| text.contains("{}")) else { return vec![word.clone()] };
    let with = |thing: &Word| match thing.meaning() {
        Some(value) => path(text.replace("{}", value), thing.glob),
        None => Word { raw: word.raw.clone(), shown: text.replace("{}", "$…"), ..Word::default() },
    };
    found.iter().map(with).collect()
}

fn path(text: String, glob: bool) -> Word {
    Word { raw: text.clone(), value: Some(text), glob, ..Word::default() }
}
