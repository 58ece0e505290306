//! The commands in the recipes of a justfile.

use crate::written_files::recipe::Recipe;

/// Returns the variables of the justfile as assignments for a shell, and its recipes.
pub(crate) fn read(text: &str) -> (String, Vec<Recipe>) {
    let (mut variables, mut recipes) = (String::new(), Vec::<Recipe>::new());
    for line in text.replace("\\\n", " ").lines() {
        if line.starts_with([' ', '\t']) {
            let command = to_shell_syntax(line.trim().trim_start_matches(['@', '-']));
            if let Some(recipe) = recipes.last_mut().filter(|_| !command.is_empty()) {
                recipe.commands.push(command);
            }
        } else if let Some((name, value)) = line.split_once(":=") {
            let name = name.trim().trim_start_matches("export ").trim();
            // `set` changes a setting of `just` itself.
            if !name.contains(' ') {
                variables.extend([name, "=", &to_shell_syntax(value.trim()), "\n"]);
            }
        } else if let Some((head, prerequisites)) = line.split_once(':').filter(|_| !line.starts_with('#')) {
            let name = head.split_whitespace().next().unwrap_or_default().trim_start_matches('@');
            let prerequisites =
                prerequisites.split_whitespace().map(|prerequisite| prerequisite.trim_matches(['(', ')']).to_owned());
            recipes.push(Recipe {
                names: vec![name.to_owned()],
                prerequisites: prerequisites.collect(),
                commands: Vec::new(),
            });
        }
    }
    (variables, recipes)
}

/// Replaces `{{name}}` by `${name}`.
fn to_shell_syntax(text: &str) -> String {
    text.replace("{{ ", "{{").replace(" }}", "}}").replace("{{", "${").replace("}}", "}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::written_files::recipe::commands;

    #[test]
    fn commands_of_recipes() {
        let text = "out := 'dist'\nset shell := ['bash']\n\n# all\nbuild target='x': lint\n    @cargo build\n\nlint:\n  ls {{ out }}\n";
        let (variables, recipes) = read(text);
        assert_eq!(variables, "out='dist'\n");
        assert_eq!(commands(&recipes, &[]), "cargo build\nls ${out}\n");
        assert_eq!(commands(&recipes, &["lint"]), "ls ${out}\n");
    }
}
