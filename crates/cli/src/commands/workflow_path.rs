//! Finds the name of a workflow that the arguments name by its file: `linchpin start .linchpin/workflows/feature.yml`.

use std::path::Path;

use guard::Project;

use super::Context;
use crate::problem::Problem;

/// Returns the workflow's name: the given word, or the stem of a file in a workflow directory.
pub fn name_of(given: &str, project: &Project, context: &Context) -> Result<String, Problem> {
    let path = Path::new(given);
    let is_yaml = path.extension().is_some_and(|extension| extension == "yml" || extension == "yaml");
    let Some(stem) = path.file_stem().and_then(|stem| stem.to_str()).filter(|_| is_yaml || given.contains('/')) else {
        return Ok(given.to_owned());
    };
    let Ok(file) = context.environment.cwd.join(path).canonicalize() else {
        let known = policy::workflows(&project.tiers, &project.load(&context.environment));
        let help = match known.named(stem) {
            Some(_) => format!("start a workflow by its name: `linchpin start {stem}`"),
            None => "`linchpin workflows` lists the workflows".to_owned(),
        };
        return Err(Problem::new("NotFound", format!("file `{given}` does not exist")).help(help));
    };
    let mut later_file = None;
    for folder in project.tiers.project.iter().chain(&project.tiers.user) {
        let workflows = folder.workflows();
        if workflows.canonicalize().is_ok_and(|workflows| file.parent() == Some(&workflows)) {
            return match later_file {
                None => Ok(stem.to_owned()),
                Some(later_file) => {
                    let message = format!("the workflow `{stem}` is read from `{later_file}`, not from `{given}`");
                    Err(Problem::new("NotFound", message).help("rename one of the two files"))
                }
            };
        }
        let same_name = ["yml", "yaml"].map(|extension| workflows.join(stem).with_extension(extension));
        let existing = same_name.iter().find(|path| path.exists());
        later_file = later_file.or_else(|| existing.map(|path| folder.display_name(path)));
    }
    let message = format!("`{given}` is not in a folder from which workflows are read");
    let there = path.file_name().unwrap_or_default().to_string_lossy();
    Err(Problem::new("NotFound", message).help(format!(
        "copy it to `.linchpin/workflows/{there}`, check it with `linchpin validate`, then `linchpin start {stem}`"
    )))
}
