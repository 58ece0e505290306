//! The commands in the recipes of a justfile.

use crate::written_files::recipe::Recipe;

/// Returns the variables of the file as assignments for a shell, and the recipes.
pub(crate) fn read(text: &str) -> (String, Vec<Recipe>) {
    let (mut settings, mut recipes) = (String::new(), Vec::<Recipe>::new());
    for line in text.replace("\\\n", " ").lines() {
        if line.starts_with([' ', '\t']) {
            let command = in_shell(line.trim().trim_start_matches(['@', '-']));
            if let Some(recipe) = recipes.last_mut().filter(|_| !command.is_empty()) {
                recipe.commands.push(command);
            }
        } else if let Some((name, value)) = line.split_once(":=") {
            let name = name.trim().trim_start_matches("export ").trim();
            // `set` changes a setting of `just` itself.
            if !name.contains(' ') {
                settings.extend([name, "=", &in_shell(value.trim()), "\n"]);
            }
        } else if let Some((head, needs)) = line.split_once(':').filter(|_| !line.starts_with('#')) {
            let name = head.split_whitespace().next().unwrap_or_default().trim_start_matches('@');
            let needs = needs.split_whitespace().map(|need| need.trim_matches(['(', ')']).to_owned());
            recipes.push(Recipe { names: vec![name.to_owned()], needs: needs.collect(), commands: Vec::new() });
        }
    }
    (settings, recipes)
}

/// Replaces `{{name}}` by `${name}`.
fn in_shell(text: &str) -> String {
    text.replace("{{ ", "{{").replace(" }}", "}}").replace("{{", "${").replace("}}", "}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::written_files::recipe::commands;

    #[test]
    fn commands_of_recipes() {
        let text = "out := 'dist'\nset shell := ['bash']\n\n# all\nbuild target='x': lint\n    @cargo build\n\nlint:\n  ls {{ out }}\n";
        let (settings, recipes) = read(text);
        assert_eq!(settings, "out='dist'\n");
        assert_eq!(commands(&recipes, &[]), "cargo build\nls ${out}\n");
        assert_eq!(commands(&recipes, &["lint"]), "ls ${out}\n");
    }
}
