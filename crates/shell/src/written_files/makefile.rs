//! The commands in the recipes of a makefile.

use crate::model::Word;
use crate::written_files::recipe::Recipe;

/// Returns the variables of the makefile as assignments for a shell, and its recipes.
pub(crate) fn read(text: &str) -> (String, Vec<Recipe>) {
    let (mut variables, mut recipes) = (String::new(), Vec::<Recipe>::new());
    for line in text.replace("\\\n", " ").lines() {
        let is_rule = !line.starts_with(['\t', '#']) && assignment(line).is_none();
        if let Some((names, rest)) = line.split_once(':').filter(|_| is_rule) {
            let prerequisites = rest.split(';').next().unwrap_or_default();
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
            recipes.push(Recipe { names: words(names), prerequisites: words(prerequisites), commands: Vec::new() });
        }
        match (command(line), recipes.last_mut()) {
            (Some(command), _) if assignment(line).is_some() || included_files(line).is_some() => {
                variables.push_str(&(command + "\n"));
            }
            (Some(command), Some(recipe)) => recipe.commands.push(command),
            _ => {}
        }
    }
    (variables, recipes)
}

/// Returns all recipes as one script for a shell, whatever the target is. Variables of the makefile become shell
/// variables, and `$(shell …)` becomes a substitution. `words`: the words of the `make` command. A word `NAME=value`
/// overrides the variable in the file.
pub(crate) fn script_of_all_recipes(text: &str, words: &[Word]) -> String {
    let overrides: Vec<(&str, &str)> =
        words.iter().skip(1).filter_map(|word| assignment(word.value.as_deref()?)).collect();
    let assignments = overrides.iter().map(|(name, value)| format!("{name}={}\n", quoted(&to_shell_syntax(value))));
    let text = text.replace("\\\n", " ");
    let is_overridden = |line: &&str| {
        let name = assignment(line).filter(|_| !line.starts_with('\t')).map(|(name, _)| name);
        name.is_some_and(|name| overrides.iter().any(|(overridden, _)| *overridden == name))
    };
    let commands = text.lines().filter(|line| !is_overridden(line)).filter_map(command).map(|command| command + "\n");
    assignments.chain(commands).collect()
}

/// Returns the command or the assignment in a line.
fn command(line: &str) -> Option<String> {
    if let Some(recipe) = line.strip_prefix('\t') {
        return Some(to_shell_syntax(recipe.trim_start_matches(['@', '-', '+', ' '])));
    }
    if let Some((name, value)) = assignment(line) {
        return Some(format!("{name}={}", quoted(&to_shell_syntax(value))));
    }
    if let Some(files) = included_files(line) {
        return Some(format!("cat {}", to_shell_syntax(files)));
    }
    let (rule, recipe) = line.split_once(';')?;
    rule.contains(':').then(|| to_shell_syntax(recipe))
}

/// Returns the files that are included: `include FILE`.
fn included_files(line: &str) -> Option<&str> {
    let files = ["include ", "-include ", "sinclude "].iter().find_map(|word| line.strip_prefix(word))?;
    files.split('#').next().map(str::trim)
}

/// Reads an assignment: `NAME = value`.
fn assignment(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once('=')?;
    let name = name.trim_end_matches([':', '?', '+', '!']).trim();
    let name = name.strip_prefix("export ").unwrap_or(name);
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name.then(|| (name, value.trim()))
}

/// Replaces `$(NAME)` by `${NAME}`, `$(shell ls)` by `$(ls)`, and `$$` by `$`.
fn to_shell_syntax(text: &str) -> String {
    let mut parts = text.split("$$").map(|part| {
        let mut shown = String::new();
        let mut rest = part;
        while let Some((before, after)) = rest.split_once("$(") {
            shown.push_str(before);
            let name = after.split(')').next().unwrap_or(after);
            let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            (rest, shown) = match after.strip_prefix("shell ") {
                Some(command) => (command, shown + "$("),
                None if is_name => (after.get(name.len() + 1..).unwrap_or_default(), format!("{shown}${{{name}}}")),
                None => (after, shown + "$("),
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
            assert_eq!(script_of_all_recipes(makefile, &[]), expected, "{makefile}");
        }
    }
}
