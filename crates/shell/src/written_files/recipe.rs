//! The recipes of build files: named lists of commands, each with its prerequisites.

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Recipe {
    pub(crate) names: Vec<String>,
    pub(crate) prerequisites: Vec<String>,
    /// Commands for a shell, one per line.
    pub(crate) commands: Vec<String>,
}

/// Returns the commands of the wanted recipes and their prerequisites, by default of the first recipe. If the file does
/// not have a wanted recipe, returns the commands of all recipes.
pub(crate) fn commands(recipes: &[Recipe], wanted: &[&str]) -> String {
    let first = recipes.iter().flat_map(|recipe| &recipe.names).find(|name| !name.starts_with('.'));
    let mut wanted: Vec<&str> = wanted.to_vec();
    if wanted.is_empty() {
        wanted.extend(first.map(String::as_str));
    }
    let all_exist = wanted.iter().all(|name| recipes_named(recipes, name).next().is_some());
    let mut next = 0;
    while let Some(name) = wanted.get(next).copied() {
        let prerequisites = recipes_named(recipes, name).flat_map(|recipe| &recipe.prerequisites).map(String::as_str);
        let new: Vec<&str> = prerequisites.filter(|prerequisite| !wanted.contains(prerequisite)).collect();
        wanted.extend(new);
        next += 1;
    }
    let is_wanted = |recipe: &&Recipe| !all_exist || recipe.names.iter().any(|name| wanted.contains(&name.as_str()));
    let lines = recipes.iter().filter(is_wanted).flat_map(|recipe| &recipe.commands).map(String::as_str);
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// Returns the recipes of this name.
fn recipes_named<'r>(recipes: &'r [Recipe], name: &'r str) -> impl Iterator<Item = &'r Recipe> {
    recipes.iter().filter(move |recipe| recipe.names.iter().any(|known| known == name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wanted_recipes_and_their_prerequisites() {
        let recipe = |name: &str, prerequisites: &[&str]| Recipe {
            names: vec![name.to_owned()],
            prerequisites: prerequisites.iter().map(|prerequisite| (*prerequisite).to_owned()).collect(),
            commands: vec![format!("echo {name}")],
        };
        let recipes = [recipe("all", &["lib"]), recipe("lib", &[]), recipe("deploy", &["all"])];
        assert_eq!(commands(&recipes, &[]), "echo all\necho lib\n");
        assert_eq!(commands(&recipes, &["lib"]), "echo lib\n");
        assert_eq!(commands(&recipes, &["deploy"]), "echo all\necho lib\necho deploy\n");
        assert_eq!(commands(&recipes, &["x.o"]), "echo all\necho lib\necho deploy\n");
    }
}
