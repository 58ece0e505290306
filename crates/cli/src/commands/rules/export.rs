//! `rules export`: prints the text of rules of any tier, or writes it to files. Agents may print rules, because that
//! changes nothing; only people may write files.

use std::io::{self, IsTerminal};

use guard::Project;
use policy::PolicyFolder;
use policy::edit::{Editor, ExportedRule};
use serde_json::json;

use super::Context;
use crate::arguments::ExportRulesArguments;
use crate::exit_code::ExitCode;
use crate::person;
use crate::problem::{CommandOutcome, Problem};

pub fn run(arguments: &ExportRulesArguments, context: &Context) -> CommandOutcome {
    let output = &context.output;
    let project = Project::of_person(&context.environment);
    let project_folder = project.tiers.project.clone();
    let folder = project_folder.unwrap_or_else(|| PolicyFolder::of_user(&context.environment.config));
    let editor = Editor::open(&project.tiers, &folder);
    let rules = arguments.ids.iter().map(|id| editor.export(id)).collect::<Result<Vec<ExportedRule>, _>>()?;
    if let Some(to) = &arguments.to {
        person::required("rules export --to", &context.environment)?;
        let files = editor.write_exported(&rules, &context.environment.cwd.join(to))?;
        if output.json {
            output.value(&json!({ "written": files }));
        } else {
            for file in &files {
                output.line(file.display());
            }
        }
        return Ok(ExitCode::Done);
    }
    if output.json {
        let rules: Vec<_> = rules.iter().map(|rule| json!({ "file": rule.file_name, "text": rule.text })).collect();
        output.value(&json!({ "rules": rules }));
        return Ok(ExitCode::Done);
    }
    let [rule] = rules.as_slice() else {
        return Err(Problem::new("InvalidValue", "several rules cannot be written to one file")
            .help("name a folder for them: `--to DIR`"));
    };
    let text = rule.text.strip_suffix('\n').unwrap_or(&rule.text);
    if io::stdout().is_terminal() {
        output.line(text);
    } else {
        output.rendered(text);
    }
    Ok(ExitCode::Done)
}
