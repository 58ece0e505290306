//! The commands in the tasks of a Taskfile. This module is not a YAML parser: it reads only the lines that can contain
//! commands.

use crate::written_files::recipe::Recipe;

/// Returns the tasks, each with its dependencies and commands.
pub(crate) fn read(text: &str) -> Vec<Recipe> {
    let tasks = text.lines().skip_while(|line| line.trim_end() != "tasks:").skip(1);
    let tasks = tasks.take_while(|line| line.is_empty() || line.starts_with([' ', '\t', '#']));
    let mut recipes = Vec::<Recipe>::new();
    let mut depth = None;
    for line in tasks.filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#')) {
        let indent = line.len() - line.trim_start().len();
        if indent <= *depth.get_or_insert(indent) {
            let (name, rest) = line.trim().split_once(':').unwrap_or((line.trim(), ""));
            let name = name.trim_matches(['"', '\'']).to_owned();
            recipes.push(Recipe { names: vec![name], prerequisites: Vec::new(), commands: parse_list(rest) });
        } else if let Some(recipe) = recipes.last_mut() {
            let (key, rest) = line.trim().split_once(':').unwrap_or_default();
            match key {
                "deps" => recipe.prerequisites.extend(parse_list(rest)),
                "desc" | "summary" | "dir" | "silent" | "vars" | "env" | "sources" | "generates" => {}
                _ => recipe.commands.extend(parse_list(if key == "cmds" || key == "cmd" { rest } else { line })),
            }
        }
    }
    recipes
}

/// Reads `[a, "b"]`, `- a`, `- cmd: a` or `a`.
fn parse_list(text: &str) -> Vec<String> {
    let text = text.trim().trim_start_matches("- ").trim_start_matches("cmd:").trim();
    let list = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let parts: Vec<&str> = list.map_or_else(|| vec![text], |list| list.split(", ").collect());
    let parts = parts.into_iter().map(|part| part.trim().trim_matches(['"', '\'']));
    // `task: NAME` runs another task, and is left out.
    parts.filter(|part| !part.is_empty() && *part != "|" && !part.starts_with("task:")).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::written_files::recipe::commands;

    #[test]
    fn commands_of_tasks() {
        let text = "version: '3'\ntasks:\n  build:\n    deps: [lint]\n    desc: Builds it.\n    cmds:\n      - go build\n      - cmd: ls x\n  lint: golangci-lint run\n  clean:\n    cmds: [\"ls a\", 'ls b']\n";
        let recipes = read(text);
        assert_eq!(commands(&recipes, &["build"]), "go build\nls x\ngolangci-lint run\n");
        assert_eq!(commands(&recipes, &["clean"]), "ls a\nls b\n");
    }
}
