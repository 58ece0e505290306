//! Commands that print paths, one per line, which `xargs`, `while read` or `$(…)` may use.

use crate::model::{ALL_BELOW, SimpleCommand, Word};
use crate::programs::{Argument, Role};
use crate::special_programs::interpreter::is_awk;
use crate::special_programs::output_placeholder::output_placeholder;
use crate::special_programs::{awk, find, ps_output, sed};

/// Returns the paths that a command prints, as globs, if it prints nothing else. `input_paths`: the paths in the
/// command's stdin.
pub(crate) fn printed_paths(command: &SimpleCommand, input_paths: &[Word]) -> Vec<Word> {
    let Some(program) = command.program() else { return Vec::new() };
    let has = |names: &[&str]| command.arguments().is_some_and(|arguments| arguments.has_flag(names));
    match program {
        program if find::is_find(program) => find::found_paths(command),
        program if prints_input_lines(program) => {
            if reads_files(command) {
                Vec::new()
            } else {
                input_paths.to_vec()
            }
        }
        "grep" | "egrep" | "fgrep" if !input_paths.is_empty() && !reads_files(command) => {
            let mut matches: Vec<Word> = input_paths.iter().flat_map(|path| grep_matches(command, path)).collect();
            matches.dedup();
            matches
        }
        program if sed::is_sed(program) => input_paths.iter().filter_map(|path| edited_path(command, path)).collect(),
        program if is_awk(program) => match only_code(command).and_then(awk::field::pattern_and_field) {
            Some((pattern, field)) => input_paths.iter().map(|line| ps_output::field(line, pattern, field)).collect(),
            None => Vec::new(),
        },
        "comm" => comm_lines(command),
        "ps" => vec![ps_output::any_line()],
        "ls" if !has(LONG) => names_in_directory(command),
        "echo" => printed_globs(command, 1),
        // `printf` with a plain format prints each word unchanged.
        "printf" if command.words().get(1).and_then(|format| format.value.as_deref()).is_some_and(is_plain_format) => {
            printed_globs(command, 2)
        }
        "git" if lists_files(command) => globs_below(command),
        "rg" if has(&["--files", "-l", "--files-with-matches", "--files-without-match"]) => {
            if rg_searches_all_files(command) && searches_agent_settings(command) {
                everything_below(command)
            } else {
                globs_below(command)
            }
        }
        "grep" | "egrep" | "fgrep" if has(&["-l", "-L", "--files-with-matches", "--files-without-match"]) => {
            let is_recursive = has(&["-r", "-R", "--recursive", "--dereference-recursive"]);
            if is_recursive && !has(&["--include"]) && searches_agent_settings(command) {
                everything_below(command)
            } else {
                globs_below(command)
            }
        }
        // Without these flags, `fd` skips hidden files.
        "fd" | "fdfind" if has(&["-H", "--hidden", "-u", "--unrestricted"]) => {
            let wanted: Vec<Word> = globs_below(command).iter().map(|path| fd_matches(command, path)).collect();
            if wanted == globs_below(command) { everything_below(command) } else { wanted }
        }
        "fd" | "fdfind" => globs_below(command),
        // These programs print process IDs, which other commands use in the same way as paths.
        "pgrep" | "pidof" => output_placeholder(command)
            .map(|placeholder| Word { placeholder: Some(placeholder), ..Word::unknown() })
            .into_iter()
            .collect(),
        _ => Vec::new(),
    }
}

/// Returns the names that `ls` prints, including hidden names if a flag such as `-a` is given.
fn names_in_directory(command: &SimpleCommand) -> Vec<Word> {
    let has = |names: &[&str]| command.arguments().is_some_and(|arguments| arguments.has_flag(names));
    let mut names = ls_names(command);
    if names.iter().any(|name| name.value.as_deref() == Some(ANY_NAME)) {
        let is_all = has(&["-a", "-f", "--all"]);
        let is_hidden = is_all || has(&["-A", "--almost-all"]);
        names.extend(is_hidden.then(|| Word::known(HIDDEN_NAME)));
        names.extend(is_all.then(|| Word::known("..")));
    }
    names
}

/// True if git prints paths, each alone or after its status.
fn lists_files(command: &SimpleCommand) -> bool {
    let Some(arguments) = command.arguments() else { return false };
    match arguments.subcommands.first().map(String::as_str) {
        Some("ls-files") => true,
        Some("status") => arguments.has_flag(&["-s", "--short", "--porcelain"]),
        Some("grep" | "diff" | "ls-tree") => arguments.has_flag(&["--name-only", "-l", "--files-with-matches"]),
        _ => false,
    }
}

/// True if `rg` searches all files, whatever their name and type, including hidden files.
fn rg_searches_all_files(command: &SimpleCommand) -> bool {
    let Some(arguments) = command.arguments() else { return false };
    let flags = arguments.flags.iter();
    let is_unrestricted = flags.filter(|flag| flag.is("-u") || flag.is("--unrestricted")).count() > 1;
    let is_filtered = arguments.has_flag(&["-g", "--glob", "-t", "--type"]);
    !is_filtered && (is_unrestricted || arguments.has_flag(&["--hidden", "-."]))
}

/// Flags that make `ls` print more than names.
const LONG: &[&str] = &["-l", "-o", "-g", "-R", "-s", "-i", "-n", "--recursive", "--size", "--inode"];
const ANY_NAME: &str = "*";
const HIDDEN_NAME: &str = ".*";

/// True if the program prints the lines that it reads, or some of them.
fn prints_input_lines(program: &str) -> bool {
    matches!(program, "sort" | "uniq" | "head" | "tail" | "cat" | "tac" | "shuf")
}

/// True if the command reads files instead of stdin.
fn reads_files(command: &SimpleCommand) -> bool {
    let Some(arguments) = command.arguments() else { return true };
    let is_file = |argument: &Argument| {
        matches!(argument.role, Role::Read | Role::Inspect | Role::Names)
            && command.text_from(argument.word, argument.from) != Some("-")
    };
    arguments.with_roles.iter().any(is_file)
}

/// Returns the code of a command that has no other arguments.
fn only_code(command: &SimpleCommand) -> Option<&str> {
    let [Argument { role: Role::Code, word, from }] = command.arguments()?.with_roles.as_slice() else {
        return None;
    };
    command.text_from(*word, *from)
}

fn is_plain_format(format: &str) -> bool {
    matches!(format, "%s" | "%s " | "%s\\n" | "%s\\0" | "%s\n")
}

/// Returns the likely output of a command that prints the names of its arguments, which are assumed to be regular
/// files, or that prints its input.
pub(crate) fn likely_output(command: &SimpleCommand) -> Option<String> {
    let arguments = command.arguments()?;
    let prints_names = match command.program()? {
        // For a directory, `ls` prints its entries instead.
        "ls" => {
            !arguments.has_flag(LONG)
                && !command.words().iter().filter_map(Word::value_or_placeholder).any(|path| path.ends_with('/'))
        }
        "realpath" | "readlink" | "grealpath" | "greadlink" => true,
        "git" => arguments.subcommands.first().is_some_and(|form| form == "ls-files"),
        // These programs print their input, or a part of it.
        program if prints_input_lines(program) || matches!(program, "grep" | "egrep" | "fgrep") => {
            return command.stdin_text().map(str::to_owned);
        }
        _ => false,
    };
    let names = arguments.operands.iter().filter(|_| prints_names).map(|index| command.words().get(*index));
    let name = |word: Option<&Word>| Some(word.filter(|word| !word.glob)?.value.clone()? + "\n");
    names.map(name).collect::<Option<String>>().filter(|text| !text.is_empty())
}

/// Returns globs for paths below the directories in the arguments, or below the working directory.
fn globs_below(command: &SimpleCommand) -> Vec<Word> {
    let arguments = command.arguments().into_iter().flat_map(|arguments| {
        let is_operand = |argument: &Argument| arguments.operands.contains(&argument.word);
        let is_directory = move |argument: &&Argument| match argument.role {
            Role::Read | Role::Inspect => true,
            Role::Glob => is_operand(argument),
            _ => false,
        };
        arguments.with_roles.iter().filter(is_directory)
    });
    let directories = arguments.filter(|argument| argument.from == 0);
    let directories: Vec<Word> =
        directories.filter_map(|argument| command.words().get(argument.word)).cloned().collect();
    let some_of = |directory: &str| Word { glob: true, ..Word::known(&format!("{directory}/*")) };
    match directories.iter().map(Word::value_or_placeholder).collect::<Option<Vec<_>>>() {
        Some(directories) if directories.is_empty() => vec![some_of(".")],
        Some(directories) => directories.into_iter().map(some_of).collect(),
        None => Vec::new(),
    }
}

/// Words in the configuration files of agents and of Linchpin, in lower case.
const AGENT_SETTINGS_WORDS: &[&str] = &["linchpin", "hooks", "pretooluse", "posttooluse", "permissions", "matcher"];

/// True if a search may match configuration files of agents, which are hidden files.
fn searches_agent_settings(command: &SimpleCommand) -> bool {
    let mut data = command.arguments().into_iter().flat_map(|arguments| &arguments.with_roles);
    let wanted = data.find(|argument| argument.role == Role::Data);
    let wanted = wanted.and_then(|argument| command.text_from(argument.word, argument.from)).map(str::to_lowercase);
    // Also true if the text to search for is not known, or is part of one of these words.
    wanted.is_none_or(|wanted| AGENT_SETTINGS_WORDS.iter().any(|word| wanted.contains(word) || word.contains(&wanted)))
}

/// Returns all paths below the directories in the arguments, including hidden paths.
fn everything_below(command: &SimpleCommand) -> Vec<Word> {
    let all = |some: &Word| {
        let directory = some.value.as_deref().and_then(|path| path.strip_suffix("/*"));
        directory.map_or_else(|| some.clone(), |directory| Word::known(&format!("{directory}{ALL_BELOW}")))
    };
    globs_below(command).iter().map(all).collect()
}

/// Returns the lines that `comm` prints, if they come from only one of its two lists.
fn comm_lines(command: &SimpleCommand) -> Vec<Word> {
    let Some(arguments) = command.arguments() else { return Vec::new() };
    let has = |flag: &str| arguments.has_flag(&[flag]);
    let list = match (has("-1"), has("-2"), has("-3")) {
        (_, true, true) | (true, true, _) => arguments.operands.first(),
        (true, false, true) => arguments.operands.get(1),
        _ => None,
    };
    list.and_then(|index| command.words().get(*index)).map(|list| list.possible_paths.clone()).unwrap_or_default()
}

/// Returns a glob that matches at least everything that the globs in `patterns` match; `None` if these globs are not in
/// the same directory.
pub(crate) fn any_of<'p>(mut patterns: impl Iterator<Item = &'p str> + Clone) -> Option<String> {
    let end = if patterns.clone().any(|pattern| pattern.ends_with(ALL_BELOW)) { ALL_BELOW } else { "/*" };
    let directory = |pattern: &'p str| pattern.split_once("/*").map(|(directory, _)| directory);
    let first = directory(patterns.next()?)?;
    patterns.all(|pattern| directory(pattern) == Some(first)).then(|| format!("{first}{end}"))
}

/// Returns all words but the first `skipped` words: the command prints these words. Returns no words if the value of a
/// word is not known, or if none of the words is a glob.
fn printed_globs(command: &SimpleCommand, skipped: usize) -> Vec<Word> {
    let words = command.words().iter().skip(skipped);
    let words: Vec<Word> = words.filter(|word| !matches!(word.value.as_deref(), Some("-n" | "--"))).cloned().collect();
    let is_known = words.iter().all(|word| word.value.is_some()) && words.iter().any(|word| word.glob);
    if is_known { words } else { Vec::new() }
}

/// Returns the names that `ls` prints: the matches of a glob, the names in a directory, or the name of a file.
fn ls_names(command: &SimpleCommand) -> Vec<Word> {
    let operands = command.arguments().into_iter().flat_map(|arguments| &arguments.operands);
    let operands: Vec<Word> = operands.filter_map(|index| command.words().get(*index)).cloned().collect();
    let some_name = Word::known(ANY_NAME);
    match operands.as_slice() {
        [] => vec![some_name],
        [pattern] if pattern.glob => operands,
        [directory] if directory.value_or_placeholder().is_some_and(|path| path.ends_with('/')) => vec![some_name],
        [path] if path.value_or_placeholder().is_some() => vec![path.clone(), some_name],
        _ => Vec::new(),
    }
}

/// Returns globs for the names that `grep PART`, `grep ^START` or `grep END$` prints.
fn grep_matches(command: &SimpleCommand, path: &Word) -> Vec<Word> {
    let arguments = command.arguments().into_iter().flat_map(|arguments| &arguments.with_roles);
    let wanted = arguments.filter(|argument| argument.role == Role::Data);
    let wanted: Vec<Option<&str>> = wanted.map(|part| command.text_from(part.word, part.from)).collect();
    let has = |names: &[&str]| command.arguments().is_some_and(|arguments| arguments.has_flag(names));
    if has(&["-v", "--invert-match"]) {
        return vec![path.clone()];
    }
    if let ([Some(text)], true) = (wanted.as_slice(), ps_output::is_process_line(path)) {
        return vec![ps_output::with_pattern(path, text)];
    }
    let is_fixed = command.program() == Some("fgrep") || has(&["-F", "--fixed-strings"]);
    let patterns: Option<Vec<String>> = wanted.iter().map(|text| pattern((*text)?, is_fixed)).collect();
    let Some(patterns) = patterns.filter(|patterns| !patterns.is_empty()) else { return vec![path.clone()] };
    let is_any_case = has(&["-i", "-y", "--ignore-case"]);
    let cased = |pattern: &String| if is_any_case { in_any_case(pattern) } else { pattern.clone() };
    patterns.iter().map(cased).filter_map(|pattern| glob_of_matches(&pattern, path)).collect()
}

/// Returns a glob for those names that match a pattern.
fn glob_of_matches(pattern: &str, names: &Word) -> Option<Word> {
    let known = |pattern: &str| Some(Word { glob: true, ..Word::known(pattern) });
    match names.value.as_deref() {
        Some(ANY_NAME) => known(pattern),
        // The leading dot may be matched by a wildcard in the pattern.
        Some(HIDDEN_NAME) => match (pattern.strip_prefix('*'), pattern.strip_prefix('?')) {
            (Some(rest), _) if rest.starts_with('.') => known(rest),
            (Some(rest), _) => known(&format!(".*{}", rest.strip_prefix('?').unwrap_or(rest))),
            (None, Some(rest)) => known(&format!(".{rest}")),
            (None, None) => known(pattern).filter(|_| pattern.starts_with('.')),
        },
        Some("..") => known("..").filter(|_| !pattern.contains(|c: char| c.is_ascii_alphanumeric())),
        // The pattern is applied to names at any depth below the directory. A pattern with a fixed start is not
        // applied, because the start of a path is not the start of a name.
        Some(paths) => match paths.strip_suffix(ALL_BELOW).or_else(|| paths.strip_suffix("/*")) {
            Some(directory) if pattern.starts_with('*') => known(&format!("{directory}/**/{pattern}")),
            _ => Some(names.clone()),
        },
        None => Some(names.clone()),
    }
}

/// Returns a glob for the names that match `PART`, `^START` or `END$`. `is_fixed`: a dot matches only a dot.
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

/// Returns a pattern that matches each letter in upper and in lower case.
fn in_any_case(pattern: &str) -> String {
    let other_case = |c: char| match c {
        'a'..='z' => Some(c.to_ascii_uppercase()),
        'A'..='Z' => Some(c.to_ascii_lowercase()),
        _ => None,
    };
    pattern.chars().map(|c| other_case(c).map_or_else(|| c.to_string(), |other| format!("[{c}{other}]"))).collect()
}

/// Returns a glob for the files, at any depth, whose name matches the pattern of `fd`.
fn fd_matches(command: &SimpleCommand, path: &Word) -> Word {
    let mut arguments = command.arguments().into_iter().flat_map(|arguments| &arguments.with_roles);
    let wanted = arguments.find(|argument| argument.role == Role::Data);
    let text = wanted.and_then(|argument| command.text_from(argument.word, argument.from));
    let text = text.and_then(|text| pattern(text, false));
    let directory = path.value.as_deref().and_then(|path| path.strip_suffix("/*"));
    let found = directory
        .zip(text)
        .map(|(directory, name)| Word { glob: true, ..Word::known(&format!("{directory}/**/{name}")) });
    found.unwrap_or_else(|| path.clone())
}

fn is_name(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c))
}

/// Returns a path after a substitution: `s/END$/OTHER/` and `s|^./||` keep the path in its directory, `s|^|DIRECTORY/|`
/// puts the path into `DIRECTORY`.
fn edited_path(command: &SimpleCommand, path: &Word) -> Option<Word> {
    let arguments = command.arguments()?;
    let [script] = arguments.with_roles.as_slice() else { return None };
    let (from, to) = sed::only_substitution(command.text_from(script.word, script.from)?)?;
    let text = path.value.as_deref()?;
    if matches!(from, "^\\./" | "^./") && to.is_empty() {
        return Some(Word { glob: path.glob, ..Word::known(text.strip_prefix("./").unwrap_or(text)) });
    }
    if from == "^" && !to.contains(['&', '\\']) {
        return Some(Word { glob: path.glob || text.contains('*'), ..Word::known(&format!("{to}{text}")) });
    }
    if is_status_pattern(from) && to.is_empty() {
        return Some(path.clone());
    }
    let end = from.strip_suffix('$')?.replace("\\.", "");
    // A dot that matches any character could match a slash.
    let is_end = !end.contains('.') && is_name(&end);
    let directory = text.rsplit_once('/').map_or(String::new(), |(directory, _)| format!("{directory}/"));
    let is_harmless = is_end && is_name(to) && (to.is_empty() || to.contains(|c| c != '.'));
    is_harmless.then(|| Word { glob: path.glob, ..Word::known(&format!("{directory}*")) })
}

/// True for a regex such as `^?? `, which matches the status before a path in the output of `git status`.
fn is_status_pattern(regex: &str) -> bool {
    let status = regex.strip_prefix('^').and_then(|status| status.strip_suffix(' '));
    status.is_some_and(|status| status.len() == 2 && status.chars().all(|c| "?.MADRCU ".contains(c)))
}
