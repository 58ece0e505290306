//! `find`: its starting points, its commands, and the paths that it finds. Its arguments are an expression, which the
//! table of programs cannot describe.

use std::borrow::Cow;

use crate::limits::budget;
use crate::model::{ALL_BELOW, SimpleCommand, Word};
use crate::special_programs::replacement_string;

pub(crate) fn is_find(program: &str) -> bool {
    matches!(program, "find" | "gfind" | "bfs")
}

/// Returns the starting points, which precede the first condition. The default is the working directory.
pub(crate) fn starting_points(command: &SimpleCommand) -> Vec<Word> {
    const OPTIONS: &[&str] = &["-H", "-L", "-P", "-D", "--", "-x", "-E", "-s", "-X", "-d"];
    let is_option =
        |word: &&Word| word.value.as_deref().is_some_and(|text| OPTIONS.contains(&text) || text.starts_with("-O"));
    let is_condition =
        |word: &&Word| word.value.as_deref().is_some_and(|text| text.starts_with(['-', '(', '!', ')', ',']));
    let words = command.words().iter().skip(1).skip_while(is_option);
    let starting_points: Vec<Word> = words.take_while(|word| !is_condition(word)).cloned().collect();
    if starting_points.is_empty() { vec![path(".".to_owned(), false)] } else { starting_points }
}

/// A `find` command with more alternatives (`-o`) is assumed to find everything.
const MAX_ALTERNATIVES: usize = 16;

/// Returns the paths that a `find` command finds, as globs: the names that it searches for, below the starting points,
/// or everything below the starting points.
pub(crate) fn found_paths(command: &SimpleCommand) -> Vec<Word> {
    let conditions = conditions(command);
    let depth = Depth::of(&conditions);
    let alternatives: Vec<_> = unpruned(&conditions).split(|word| is_or(*word)).collect();
    let is_any = negates_several(&conditions) || alternatives.len() > MAX_ALTERNATIVES;
    let alternatives = if is_any { vec![&[][..]] } else { alternatives };
    let alternatives: Vec<Selection> = alternatives.into_iter().map(Selection::of).collect();
    let from = |start: Word| {
        let mut found_paths: Vec<Word> = alternatives.iter().map(|wanted| wanted.below(&start, depth)).collect();
        found_paths.dedup();
        found_paths
    };
    starting_points(command).into_iter().flat_map(from).collect()
}

/// How deep `find` searches.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    /// `find` tests only the starting points.
    StartingPoints,
    /// `find` tests the starting points and their direct entries.
    One,
    Any,
}

impl Depth {
    fn of(conditions: &[Option<&str>]) -> Self {
        let has = |wanted: &str| conditions.iter().flatten().any(|word| *word == wanted);
        // `-prune` without a condition applies to the starting points.
        let is_pruned = has("-prune") && !conditions.iter().flatten().any(|word| is_test(word));
        match single_value(conditions, &["-maxdepth"]) {
            _ if is_pruned => Self::StartingPoints,
            Some("0") => Self::StartingPoints,
            Some("1") => Self::One,
            _ => Self::Any,
        }
    }
}

/// True for a condition that selects files.
fn is_test(word: &str) -> bool {
    const TESTS: &[&str] =
        &["-type", "-xtype", "-empty", "-size", "-perm", "-user", "-group", "-regex", "-path", "-name", "-iname"];
    TESTS.contains(&word) || ["time", "min"].iter().any(|end| word.ends_with(end)) || word.starts_with("-newer")
}

/// The paths that one alternative of the conditions selects.
struct Selection<'v> {
    name: Option<Cow<'v, str>>,
    path: Option<&'v str>,
    /// The value of `-type`: `f` for files, `d` for directories.
    kind: Option<&'v str>,
    /// True if only empty files and directories are selected.
    is_empty: bool,
    /// True if hidden files, and everything in hidden directories, are left out.
    skips_hidden: bool,
}

impl<'v> Selection<'v> {
    fn of(conditions: &[Option<&'v str>]) -> Self {
        let only = |kind: &[&str]| single_value(conditions, kind);
        let before = std::iter::once(&None).chain(conditions);
        let is_empty = before.zip(conditions).any(|(before, word)| *word == Some("-empty") && !is_not(*before));
        let is_hidden = |path: Option<&str>| matches!(path, Some("*/.*" | "./.*"));
        let skips_hidden = conditions.windows(3).any(|words| match words {
            [not, Some("-path" | "-wholename"), path] => is_not(*not) && is_hidden(*path),
            _ => false,
        });
        let (name, path) = (only(&["-name", "-iname"]), only(&["-path", "-wholename", "-ipath", "-iwholename"]));
        let by_regex = || only(&["-regex", "-iregex"]).and_then(name_of_regex).map(Cow::Owned);
        let name = name.map(Cow::Borrowed).or_else(by_regex);
        Self { name, path, kind: only(&["-type", "-xtype"]), is_empty, skips_hidden }
    }

    /// True if no action on the results can affect a whole directory tree, because the results are empty directories,
    /// files in one directory, or special files such as symlinks.
    fn is_shallow(&self, depth: Depth) -> bool {
        self.kind.is_some_and(|kind| match (kind.contains('f'), kind.contains('d')) {
            (false, false) => true,
            (false, true) => self.is_empty,
            (true, false) => depth == Depth::One,
            (true, true) => false,
        })
    }

    /// Returns the paths that are found below one starting point, as a glob.
    fn below(&self, start: &Word, depth: Depth) -> Word {
        match (start.value_or_placeholder(), self.name.as_deref(), self.path) {
            // `-name` matches at any depth.
            (Some(start), Some(name), _) => path(format!("{start}/**/{name}"), true),
            // In `-path`, `*` also matches slashes.
            (Some(start), None, Some(whole)) if whole.starts_with('*') => {
                path(format!("{start}/**/{}", whole.strip_prefix("*/").unwrap_or(whole)), true)
            }
            (_, None, Some(whole)) => path(whole.to_owned(), whole.contains(['*', '?', '['])),
            // An action on these results cannot affect a whole directory tree, only some entries.
            (Some(start), None, None) if self.is_shallow(depth) => path(format!("{start}/*"), false),
            (Some(start), None, None) if self.skips_hidden => path(format!("{start}/*{ALL_BELOW}"), false),
            (Some(start), None, None) if depth != Depth::StartingPoints => path(format!("{start}{ALL_BELOW}"), false),
            _ => start.clone(),
        }
    }
}

/// Returns the name in a regex `.*/NAME`, in which only dots may be escaped.
fn name_of_regex(regex: &str) -> Option<String> {
    let name = regex.strip_prefix(".*/")?.trim_end_matches('$').replace("\\.", ".");
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
    is_name.then_some(name)
}

/// Returns the words of a `find` command without the commands that it runs; `None` for a word that is not known.
fn conditions(command: &SimpleCommand) -> Vec<Option<&str>> {
    let mut is_in_command = false;
    let values = command.words().iter().map(|word| word.value.as_deref());
    values
        .filter(|value| {
            let was_in_command = is_in_command;
            is_in_command = if was_in_command { !ends_command(*value) } else { begins_command(*value) };
            !was_in_command
        })
        .collect()
}

/// Returns the conditions after `… -prune -o` if only these conditions have actions, otherwise all conditions.
fn unpruned<'c, 'v>(conditions: &'c [Option<&'v str>]) -> &'c [Option<&'v str>] {
    let is_action = |word: &str| begins_command(Some(word)) || ACTIONS.iter().any(|action| word.starts_with(action));
    let acts = |conditions: &[Option<&str>]| conditions.iter().flatten().any(|word| is_action(word));
    let (mut depth, mut start) = (0_usize, 0);
    for (index, word) in conditions.iter().enumerate() {
        match *word {
            Some("(") => depth += 1,
            Some(")") => depth = depth.saturating_sub(1),
            Some("-prune") if depth == 0 && conditions.get(index + 1).is_some_and(|next| is_or(*next)) => {
                start = index + 2;
            }
            _ => {}
        }
    }
    match conditions.split_at_checked(start) {
        Some((pruned, rest)) if acts(rest) && !acts(pruned) => rest,
        _ => conditions,
    }
}

/// Prefixes of the names of actions that run no command.
const ACTIONS: &[&str] = &["-print", "-fprint", "-delete", "-ls", "-fls"];

fn is_or(word: Option<&str>) -> bool {
    matches!(word, Some("-o" | "-or" | ","))
}

fn begins_command(word: Option<&str>) -> bool {
    matches!(word, Some("-exec" | "-execdir" | "-ok" | "-okdir"))
}

fn ends_command(word: Option<&str>) -> bool {
    matches!(word, Some(";" | "+"))
}

fn is_not(word: Option<&str>) -> bool {
    matches!(word, Some("!" | "-not"))
}

/// Returns the value of a kind of condition, if exactly one such condition must hold. Negated conditions are ignored,
/// because they only exclude results.
fn single_value<'v>(values: &[Option<&'v str>], kind: &[&str]) -> Option<&'v str> {
    let before = std::iter::once(&None).chain(values);
    let mut wanted = before.zip(values.windows(2)).filter_map(|(before, pair)| match pair {
        [Some(name), value] if kind.contains(name) && !is_not(*before) => Some(*value),
        _ => None,
    });
    wanted.next().filter(|_| wanted.next().is_none()).flatten()
}

/// True if several conditions are negated together: `! ( … )`.
fn negates_several(values: &[Option<&str>]) -> bool {
    let is_several = |word: Option<&str>| word == Some("(") || is_not(word);
    values.windows(2).any(|pair| matches!(pair, [before, after] if is_not(*before) && is_several(*after)))
}

/// Returns the commands after `-exec` and similar actions, up to `;` or `+`, with `{}` replaced by the found paths.
pub(crate) fn commands(command: &SimpleCommand) -> Vec<Vec<Word>> {
    let mut found_paths = found_paths(command);
    let length = found_paths.iter().map(|found_path| budget::WORD + found_path.raw.len()).sum();
    if !replacement_string::fits(command.words(), "{}", length) {
        found_paths = vec![Word::unknown()];
    }
    let mut commands = Vec::new();
    let mut rest = command.words();
    while let Some((word, after)) = rest.split_first() {
        rest = after;
        if !begins_command(word.value.as_deref()) {
            continue;
        }
        let end = after.iter().position(|word| ends_command(word.value.as_deref())).unwrap_or(after.len());
        let (words, later) = after.split_at(end);
        rest = later;
        commands.push(words.iter().flat_map(|word| filled(word, &found_paths)).collect());
    }
    commands
}

/// Returns the word once for each found path, with the path inserted for `{}`. A word without `{}` is returned once, as
/// it is.
pub(crate) fn filled(word: &Word, found_paths: &[Word]) -> Vec<Word> {
    let Some(text) = word.value.as_deref().filter(|text| text.contains("{}")) else { return vec![word.clone()] };
    let unknown = || {
        let shown = replacement_string::insert(text, "{}", "$…").unwrap_or_else(|| "$…".to_owned());
        Word { raw: word.raw.clone(), shown, ..Word::default() }
    };
    let with = |found_path: &Word| {
        let value = found_path.value_or_placeholder().and_then(|value| replacement_string::insert(text, "{}", value));
        value.map_or_else(unknown, |value| path(value, found_path.glob))
    };
    found_paths.iter().map(with).collect()
}

fn path(text: String, glob: bool) -> Word {
    Word { raw: text.clone(), value: Some(text), glob, ..Word::default() }
}
