//! Commands that print paths, one a line: what goes to `xargs`, into a `while read` or into a `$(…)`.

use crate::model::{ALL_BELOW, SimpleCommand, Word};
use crate::programs::{Argument, Role};
use crate::special_programs::interpreter::is_awk;
use crate::special_programs::output_kind::meaning;
use crate::special_programs::{awk, find, process_line, sed};

/// The paths that a command prints, where they are all that it prints; as patterns. `read`: those that it reads.
pub(crate) fn printed(command: &SimpleCommand, read: &[Word]) -> Vec<Word> {
    let Some(program) = command.program() else { return Vec::new() };
    let has = |names: &[&str]| command.arguments().is_some_and(|arguments| arguments.has_flag(names));
    match program {
        program if find::is_find(program) => find::found(command),
        program if passes_on(program) => {
            if reads_files(command) {
                Vec::new()
            } else {
                read.to_vec()
            }
        }
        "grep" | "egrep" | "fgrep" if !read.is_empty() && !reads_files(command) => {
            let mut left: Vec<Word> = read.iter().flat_map(|path| narrowed(command, path)).collect();
            left.dedup();
            left
        }
        program if sed::is_sed(program) => read.iter().filter_map(|path| renamed(command, path)).collect(),
        program if is_awk(program) => match only_code(command).and_then(awk::field::printed) {
            Some((chosen, field)) => read.iter().map(|line| process_line::field(line, chosen, field)).collect(),
            None => Vec::new(),
        },
        "comm" => compared(command),
        "ps" => vec![process_line::any()],
        "ls" if !has(LONG) => names_in_folder(command),
        "echo" => patterns(command, 1),
        // Word by word, as they are.
        "printf" if command.words().get(1).and_then(|format| format.value.as_deref()).is_some_and(is_plain_format) => {
            patterns(command, 2)
        }
        "git" if lists_files(command) => below(command),
        "rg" if has(&["--files", "-l", "--files-with-matches", "--files-without-match"]) => {
            if rg_looks_everywhere(command) && seeks_guardrails(command) { all_below(command) } else { below(command) }
        }
        "grep" | "egrep" | "fgrep" if has(&["-l", "-L", "--files-with-matches", "--files-without-match"]) => {
            let is_recursive = has(&["-r", "-R", "--recursive", "--dereference-recursive"]);
            if is_recursive && !has(&["--include"]) && seeks_guardrails(command) {
                all_below(command)
            } else {
                below(command)
            }
        }
        // Without being told to, it passes over hidden files.
        "fd" | "fdfind" if has(&["-H", "--hidden", "-u", "--unrestricted"]) => {
            let wanted: Vec<Word> = below(command).iter().map(|path| named(command, path)).collect();
            if wanted == below(command) { all_below(command) } else { wanted }
        }
        "fd" | "fdfind" => below(command),
        // No paths, but what is known of them is as good.
        "pgrep" | "pidof" => {
            meaning(command).map(|means| Word { means: Some(means), ..Word::unknown() }).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// The names that `ls` prints, hidden ones where it is told to.
fn names_in_folder(command: &SimpleCommand) -> Vec<Word> {
    let has = |names: &[&str]| command.arguments().is_some_and(|arguments| arguments.has_flag(names));
    let mut names = listed(command);
    if names.iter().any(|name| name.value.as_deref() == Some(ANY_NAME)) {
        let is_all = has(&["-a", "-f", "--all"]);
        let is_hidden = is_all || has(&["-A", "--almost-all"]);
        names.extend(is_hidden.then(|| Word::known(HIDDEN_NAME)));
        names.extend(is_all.then(|| Word::known("..")));
    }
    names
}

/// Whether git prints paths, each alone or behind what became of it.
fn lists_files(command: &SimpleCommand) -> bool {
    let Some(arguments) = command.arguments() else { return false };
    match arguments.subcommands.first().map(String::as_str) {
        Some("ls-files") => true,
        Some("status") => arguments.has_flag(&["-s", "--short", "--porcelain"]),
        Some("grep" | "diff" | "ls-tree") => arguments.has_flag(&["--name-only", "-l", "--files-with-matches"]),
        _ => false,
    }
}

/// Whether `rg` looks into hidden files too, of any name and type.
fn rg_looks_everywhere(command: &SimpleCommand) -> bool {
    let Some(arguments) = command.arguments() else { return false };
    let flags = arguments.flags.iter();
    let is_unrestricted = flags.filter(|flag| flag.is("-u") || flag.is("--unrestricted")).count() > 1;
    let is_chosen = arguments.has_flag(&["-g", "--glob", "-t", "--type"]);
    !is_chosen && (is_unrestricted || arguments.has_flag(&["--hidden", "-."]))
}

/// Flags that make `ls` print more than names.
const LONG: &[&str] = &["-l", "-o", "-g", "-R", "-s", "-i", "-n", "--recursive", "--size", "--inode"];
const ANY_NAME: &str = "*";
const HIDDEN_NAME: &str = ".*";

/// Whether it prints the lines that it reads, or some of them.
fn passes_on(program: &str) -> bool {
    matches!(program, "sort" | "uniq" | "head" | "tail" | "cat" | "tac" | "shuf")
}

/// Whether it reads files, and not what it is given.
fn reads_files(command: &SimpleCommand) -> bool {
    let Some(arguments) = command.arguments() else { return true };
    let is_file = |argument: &Argument| {
        matches!(argument.role, Role::Read | Role::Look | Role::Names)
            && command.text_from(argument.word, argument.from) != Some("-")
    };
    arguments.list.iter().any(is_file)
}

/// The program text of a command that is told nothing else.
fn only_code(command: &SimpleCommand) -> Option<&str> {
    let [Argument { role: Role::Code, word, from }] = command.arguments()?.list.as_slice() else {
        return None;
    };
    command.text_from(*word, *from)
}

fn is_plain_format(format: &str) -> bool {
    matches!(format, "%s" | "%s " | "%s\\n" | "%s\\0" | "%s\n")
}

/// What a command prints that only looks at what it is told, if that is a file and no link: its name.
pub(crate) fn maybe(command: &SimpleCommand) -> Option<String> {
    let arguments = command.arguments()?;
    let looks = match command.program()? {
        // A folder is not named, but what is in it.
        "ls" => {
            !arguments.has_flag(LONG)
                && !command.words().iter().filter_map(Word::meaning).any(|path| path.ends_with('/'))
        }
        "realpath" | "readlink" | "grealpath" | "greadlink" => true,
        "git" => arguments.subcommands.first().is_some_and(|form| form == "ls-files"),
        // What they read, or a part of it.
        program if passes_on(program) || matches!(program, "grep" | "egrep" | "fgrep") => {
            return command.given_text().map(str::to_owned);
        }
        _ => false,
    };
    let names = arguments.operands.iter().filter(|_| looks).map(|place| command.words().get(*place));
    let name = |word: Option<&Word>| Some(word.filter(|word| !word.glob)?.value.clone()? + "\n");
    names.map(name).collect::<Option<String>>().filter(|text| !text.is_empty())
}

/// Somewhere below the folders that it is given, or below the one that it runs in.
fn below(command: &SimpleCommand) -> Vec<Word> {
    let arguments = command.arguments().into_iter().flat_map(|arguments| {
        let is_operand = |argument: &Argument| arguments.operands.contains(&argument.word);
        let is_folder = move |argument: &&Argument| match argument.role {
            Role::Read | Role::Look => true,
            Role::Glob => is_operand(argument),
            _ => false,
        };
        arguments.list.iter().filter(is_folder)
    });
    let folders = arguments.filter(|argument| argument.from == 0);
    let folders: Vec<Word> = folders.filter_map(|argument| command.words().get(argument.word)).cloned().collect();
    let some_of = |folder: &str| Word { glob: true, ..Word::known(&format!("{folder}/*")) };
    match folders.iter().map(Word::meaning).collect::<Option<Vec<_>>>() {
        Some(folders) if folders.is_empty() => vec![some_of(".")],
        Some(folders) => folders.into_iter().map(some_of).collect(),
        None => Vec::new(),
    }
}

/// Words that stand in the settings of agents, and in what guards them.
const OF_GUARDRAILS: &[&str] = &["linchpin", "hooks", "pretooluse", "posttooluse", "permissions", "matcher"];

/// Whether a search is for what stands in hidden files as well, so that these are among what it finds.
fn seeks_guardrails(command: &SimpleCommand) -> bool {
    let mut data = command.arguments().into_iter().flat_map(|arguments| &arguments.list);
    let wanted = data.find(|argument| argument.role == Role::Data);
    let wanted = wanted.and_then(|argument| command.text_from(argument.word, argument.from)).map(str::to_lowercase);
    // What nobody knows, or any text, may be one of them.
    wanted.is_none_or(|wanted| OF_GUARDRAILS.iter().any(|word| wanted.contains(word) || word.contains(&wanted)))
}

/// The same, of a search that passes over nothing: what is hidden is among it.
fn all_below(command: &SimpleCommand) -> Vec<Word> {
    let all = |some: &Word| {
        let folder = some.value.as_deref().and_then(|path| path.strip_suffix("/*"));
        folder.map_or_else(|| some.clone(), |folder| Word::known(&format!("{folder}{ALL_BELOW}")))
    };
    below(command).iter().map(all).collect()
}

/// What `comm` leaves of two lists, where that is lines of one of them.
fn compared(command: &SimpleCommand) -> Vec<Word> {
    let Some(arguments) = command.arguments() else { return Vec::new() };
    let has = |flag: &str| arguments.has_flag(&[flag]);
    let list = match (has("-1"), has("-2"), has("-3")) {
        (_, true, true) | (true, true, _) => arguments.operands.first(),
        (true, false, true) => arguments.operands.get(1),
        _ => None,
    };
    list.and_then(|place| command.words().get(*place)).map(|list| list.given_paths.clone()).unwrap_or_default()
}

/// What stands for each of several patterns, where they are in one folder.
pub(crate) fn any_of<'p>(mut patterns: impl Iterator<Item = &'p str> + Clone) -> Option<String> {
    let end = if patterns.clone().any(|pattern| pattern.ends_with(ALL_BELOW)) { ALL_BELOW } else { "/*" };
    let folder = |pattern: &'p str| pattern.split_once("/*").map(|(folder, _)| folder);
    let first = folder(patterns.next()?)?;
    patterns.all(|pattern| folder(pattern) == Some(first)).then(|| format!("{first}{end}"))
}

/// What is printed word by word behind the first `skipped`, where a pattern is among it and all of it is known.
fn patterns(command: &SimpleCommand, skipped: usize) -> Vec<Word> {
    let words = command.words().iter().skip(skipped);
    let words: Vec<Word> = words.filter(|word| !matches!(word.value.as_deref(), Some("-n" | "--"))).cloned().collect();
    let is_known = words.iter().all(|word| word.value.is_some()) && words.iter().any(|word| word.glob);
    if is_known { words } else { Vec::new() }
}

/// The names that a pattern stands for; of a folder, some names in it, and of a file its own.
fn listed(command: &SimpleCommand) -> Vec<Word> {
    let operands = command.arguments().into_iter().flat_map(|arguments| &arguments.operands);
    let operands: Vec<Word> = operands.filter_map(|place| command.words().get(*place)).cloned().collect();
    let some_name = Word::known(ANY_NAME);
    match operands.as_slice() {
        [] => vec![some_name],
        [pattern] if pattern.glob => operands,
        [folder] if folder.meaning().is_some_and(|path| path.ends_with('/')) => vec![some_name],
        [path] if path.meaning().is_some() => vec![path.clone(), some_name],
        _ => Vec::new(),
    }
}

/// Any name that is left by `grep PART`, `grep ^START` or `grep END$`.
fn narrowed(command: &SimpleCommand, path: &Word) -> Vec<Word> {
    let arguments = command.arguments().into_iter().flat_map(|arguments| &arguments.list);
    let wanted = arguments.filter(|argument| argument.role == Role::Data);
    let wanted: Vec<Option<&str>> = wanted.map(|part| command.text_from(part.word, part.from)).collect();
    let has = |names: &[&str]| command.arguments().is_some_and(|arguments| arguments.has_flag(names));
    if has(&["-v", "--invert-match"]) {
        return vec![path.clone()];
    }
    if let ([Some(text)], true) = (wanted.as_slice(), process_line::is_one(path)) {
        return vec![process_line::with(path, text)];
    }
    let is_fixed = command.program() == Some("fgrep") || has(&["-F", "--fixed-strings"]);
    let patterns: Option<Vec<String>> = wanted.iter().map(|text| pattern((*text)?, is_fixed)).collect();
    let Some(patterns) = patterns.filter(|patterns| !patterns.is_empty()) else { return vec![path.clone()] };
    let is_any_case = has(&["-i", "-y", "--ignore-case"]);
    let cased = |pattern: &String| if is_any_case { in_any_case(pattern) } else { pattern.clone() };
    patterns.iter().map(cased).filter_map(|pattern| that_match(&pattern, path)).collect()
}

/// Those of some names that match a pattern.
fn that_match(pattern: &str, names: &Word) -> Option<Word> {
    let known = |pattern: &str| Some(Word { glob: true, ..Word::known(pattern) });
    match names.value.as_deref() {
        Some(ANY_NAME) => known(pattern),
        // Its point is the first letter, which any letter may mean.
        Some(HIDDEN_NAME) => match (pattern.strip_prefix('*'), pattern.strip_prefix('?')) {
            (Some(rest), _) if rest.starts_with('.') => known(rest),
            (Some(rest), _) => known(&format!(".*{}", rest.strip_prefix('?').unwrap_or(rest))),
            (None, Some(rest)) => known(&format!(".{rest}")),
            (None, None) => known(pattern).filter(|_| pattern.starts_with('.')),
        },
        Some("..") => known("..").filter(|_| !pattern.contains(|letter: char| letter.is_ascii_alphanumeric())),
        // Of paths, at whatever depth; where the start of one is meant, that of a path is not that of a name.
        Some(paths) => match paths.strip_suffix(ALL_BELOW).or_else(|| paths.strip_suffix("/*")) {
            Some(folder) if pattern.starts_with('*') => known(&format!("{folder}/**/{pattern}")),
            _ => Some(names.clone()),
        },
        None => Some(names.clone()),
    }
}

/// What `PART`, `^START` or `END$` matches, as a pattern for names. `is_fixed`: a point is a point.
fn pattern(regex: &str, is_fixed: bool) -> Option<String> {
    let (start, text) = regex.strip_prefix('^').map_or(("*", regex), |text| ("", text));
    let (end, text) = text.strip_suffix('$').map_or(("*", text), |text| ("", text));
    let name = text.replace("\\.", ".");
    if text.is_empty() || !is_name(&name) {
        return None;
    }
    let name = if is_fixed { name } else { text.replace("\\.", "/").replace('.', "?").replace('/', ".") };
    Some(format!("{start}{name}{end}"))
}

/// The pattern, with each letter as it is or the other way.
fn in_any_case(pattern: &str) -> String {
    let other = |letter: char| match letter {
        'a'..='z' => Some(letter.to_ascii_uppercase()),
        'A'..='Z' => Some(letter.to_ascii_lowercase()),
        _ => None,
    };
    pattern
        .chars()
        .map(|letter| other(letter).map_or_else(|| letter.to_string(), |other| format!("[{letter}{other}]")))
        .collect()
}

/// Those of some files, at any depth, that have the name that `fd` looks for.
fn named(command: &SimpleCommand, path: &Word) -> Word {
    let mut arguments = command.arguments().into_iter().flat_map(|arguments| &arguments.list);
    let wanted = arguments.find(|argument| argument.role == Role::Data);
    let text = wanted.and_then(|argument| command.text_from(argument.word, argument.from));
    let text = text.and_then(|text| pattern(text, false));
    let folder = path.value.as_deref().and_then(|path| path.strip_suffix("/*"));
    let found =
        folder.zip(text).map(|(folder, name)| Word { glob: true, ..Word::known(&format!("{folder}/**/{name}")) });
    found.unwrap_or_else(|| path.clone())
}

fn is_name(text: &str) -> bool {
    text.chars().all(|letter| letter.is_ascii_alphanumeric() || "_.-".contains(letter))
}

/// What `s/END$/OTHER/` and `s|^./||` make of a path: something in the same folder; and `s|^|FOLDER/|`, in that one.
fn renamed(command: &SimpleCommand, path: &Word) -> Option<Word> {
    let arguments = command.arguments()?;
    let [script] = arguments.list.as_slice() else { return None };
    let (from, to) = sed::only_substitution(command.text_from(script.word, script.from)?)?;
    let text = path.value.as_deref()?;
    if matches!(from, "^\\./" | "^./") && to.is_empty() {
        return Some(Word { glob: path.glob, ..Word::known(text.strip_prefix("./").unwrap_or(text)) });
    }
    if from == "^" && !to.contains(['&', '\\']) {
        return Some(Word { glob: path.glob || text.contains('*'), ..Word::known(&format!("{to}{text}")) });
    }
    if is_mark(from) && to.is_empty() {
        return Some(path.clone());
    }
    let end = from.strip_suffix('$')?.replace("\\.", "");
    // A point that is any letter could be the mark of a folder.
    let is_end = !end.contains('.') && is_name(&end);
    let folder = text.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
    let is_harmless = is_end && is_name(to) && (to.is_empty() || to.contains(|letter| letter != '.'));
    is_harmless.then(|| Word { glob: path.glob, ..Word::known(&format!("{folder}*")) })
}

/// `^?? `: what became of a file, as `git status` prints it before its path.
fn is_mark(regex: &str) -> bool {
    let mark = regex.strip_prefix('^').and_then(|mark| mark.strip_suffix(' '));
    mark.is_some_and(|mark| mark.len() == 2 && mark.chars().all(|letter| "?.MADRCU ".contains(letter)))
}
