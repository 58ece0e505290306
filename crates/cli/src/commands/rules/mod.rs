//! `rules`: the policy's rules, changed by command. One file a verb; what they share is here.

mod delete;
mod draft_text;
mod edit;
mod enable;
mod export;
mod import;
mod line_diff;
mod new;
mod propose;
mod report;
mod text_editor;

use std::io::{self, BufRead, IsTerminal, Write};

use guard::Project;
use policy::PolicyFolder;
use policy::edit::{Change, Editor};

use super::Context;
use crate::arguments::Rules;
use crate::problem::{Outcome, Problem};

pub fn run(what: &Rules, context: &Context) -> Outcome {
    match what {
        Rules::New(arguments) => new::run(arguments, context),
        Rules::Edit(arguments) => edit::run(arguments, context),
        Rules::Enable(arguments) => enable::enable(arguments, context),
        Rules::Disable(arguments) => enable::disable(arguments, context),
        Rules::Delete(arguments) => delete::run(arguments, context),
        Rules::Import(arguments) => import::run(arguments, context),
        Rules::Export(arguments) => export::run(arguments, context),
        Rules::Propose(arguments) => propose::propose(arguments, context),
        Rules::Accept(arguments) => propose::accept(arguments, context),
    }
}

/// What is changed, and what it belongs to.
struct Target {
    project: Project,
    editor: Editor,
}

impl Target {
    /// This project's policy, or the user's own, which may begin here.
    fn open(user: bool, context: &Context) -> Result<Self, Problem> {
        let project = Project::of_person(&context.environment);
        let folder =
            if user { PolicyFolder::of_user(&context.environment.config) } else { project_folder(&project)?.clone() };
        let editor = Editor::open(&project.tiers, &folder);
        Ok(Self { project, editor })
    }
}

fn project_folder(project: &Project) -> Result<&PolicyFolder, Problem> {
    project.tiers.project.as_ref().ok_or_else(|| {
        let message = format!("there is no policy in `{}` or above it", project.root.display());
        Problem::new("NoPolicy", message).help("`linchpin init` writes one; `--user` means your own")
    })
}

/// Called once a person has changed the policy by command: the place to remember that it was a person.
fn after_change(_project: &Project, _changes: &[Change], _context: &Context) {}

fn is_terminal() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Asks on the terminal; `preset` is what an empty answer means.
fn says_yes(question: &str, preset: bool) -> io::Result<bool> {
    write!(io::stdout(), "{question} [{}] ", if preset { "Y/n" } else { "y/N" })?;
    io::stdout().flush()?;
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer)?;
    Ok(match answer.trim() {
        "" => preset && read > 0,
        answer => matches!(answer, "y" | "Y" | "yes"),
    })
}
