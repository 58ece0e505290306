//! The commands in the recipes of a makefile.

use crate::model::Word;
use crate::written_files::recipe::Recipe;

/// Returns the variables of the file as assignments for a shell, and the recipes.
pub(crate) fn read(text: &str) -> (String, Vec<Recipe>) {
    let (mut settings, mut recipes) = (String::new(), Vec::<Recipe>::new());
    for line in text.replace("\\\n", " ").lines() {
        let is_rule = !line.starts_with(['\t', '#']) && setting(line).is_none();
        if let Some((names, rest)) = line.split_once(':').filter(|_| is_rule) {
            let needs = rest.split(';').next().unwrap_or_default();
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
            recipes.push(Recipe { names: words(names), needs: words(needs), commands: Vec::new() });
        }
        match (command(line), recipes.last_mut()) {
            (Some(command), _) if setting(line).is_some() || included(line).is_some() => {
                settings.push_str(&(command + "\n"));
            }
            (Some(command), Some(recipe)) => recipe.commands.push(command),
            _ => {}
        }
    }
    (settings, recipes)
}

/// Returns all recipes as one script for a shell, whatever the target is. Variables of the makefile become shell
/// variables, and `$(shell …)` becomes a substitution. `words`: the words of the `make` command. A `NAME=value` among
/// them overrides the variable in the file.
pub(crate) fn recipes(text: &str, words: &[Word]) -> String {
    let given: Vec<(&str, &str)> = words.iter().skip(1).filter_map(|word| setting(word.value.as_deref()?)).collect();
    let set = given.iter().map(|(name, value)| format!("{name}={}\n", quoted(&in_shell(value))));
    let text = text.replace("\\\n", " ");
    let is_given = |line: &&str| {
        let name = setting(line).filter(|_| !line.starts_with('\t')).map(|(name, _)| name);
        name.is_some_and(|name| given.iter().any(|(given, _)| *given == name))
    };
    let commands = text.lines().filter(|line| !is_given(line)).filter_map(command).map(|command| command + "\n");
    set.chain(commands).collect()
}

/// Returns the command or the assignment in a line.
fn command(line: &str) -> Option<String> {
    if let Some(recipe) = line.strip_prefix('\t') {
        return Some(in_shell(recipe.trim_start_matches(['@', '-', '+', ' '])));
    }
    if let Some((name, value)) = setting(line) {
        return Some(format!("{name}={}", quoted(&in_shell(value))));
    }
    if let Some(files) = included(line) {
        return Some(format!("cat {}", in_shell(files)));
    }
    let (rule, recipe) = line.split_once(';')?;
    rule.contains(':').then(|| in_shell(recipe))
}

/// Returns the files that are included: `include FILE`.
fn included(line: &str) -> Option<&str> {
    let files = ["include ", "-include ", "sinclude "].iter().find_map(|word| line.strip_prefix(word))?;
    files.split('#').next().map(str::trim)
}

/// `NAME = value`
fn setting(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once('=')?;
    let name = name.trim_end_matches([':', '?', '+', '!']).trim();
    let name = name.strip_prefix("export ").unwrap_or(name);
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name.then(|| (name, value.trim()))
}

/// Replaces `$(NAME)` by `${NAME}`, `$(shell ls)` by `$(ls)`, and `$$` by `$`.
fn in_shell(text: &str) -> String {
    let mut parts = text.split("$$").map(|part| {
        let mut shown = String::new();
        let mut rest = part;
        while let Some((before, behind)) = rest.split_once("$(") {
            shown.push_str(before);
            let name = behind.split(')').next().unwrap_or(behind);
            let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            (rest, shown) = match behind.strip_prefix("shell ") {
                Some(command) => (command, shown + "$("),
                None if is_name => (behind.get(name.len() + 1..).unwrap_or_default(), format!("{shown}${{{name}}}")),
                None => (behind, shown + "$("),
            };
        }
        shown + rest
    });
    let first = parts.next().unwrap_or_default();
    parts.fold(first, |text, part| text + "$" + &part)
}

fn quoted(value: &str) -> String {
    format!("\"{}\"", value.replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_targets() {
        let cases = [
            ("all:\n\t@echo hi\n\t-ls $$HOME\n", "echo hi\nls $HOME\n"),
            ("x:;ls\n", "ls\n"),
            ("OUT := build\nclean: all\n\trm -rf $(OUT)/x\n", "OUT=\"build\"\nrm -rf ${OUT}/x\n"),
            ("V = $(shell ls a)\n", "V=\"$(ls a)\"\n"),
            ("# rm -rf x\n.PHONY: all\n", ""),
        ];
        for (makefile, expected) in cases {
            assert_eq!(recipes(makefile, &[]), expected, "{makefile}");
        }
    }
}
