//! `rules`: shows rules and changes them. One file per subcommand; shared code is here.

mod delete;
mod draft_text;
mod edit;
mod enable;
mod export;
mod import;
mod line_diff;
mod list;
mod new;
mod propose;
mod report;
mod show;
mod text_editor;
mod which;

use std::io;

use guard::Project;
use guard::grants::{AcceptedWeakenings, Trust};
use policy::edit::{EditOutcome, Editor};
use policy::{Diagnostic, LoadedPolicy, PolicyFolder};

use super::Context;
use crate::arguments::RulesArguments;
use crate::problem::{CommandOutcome, Problem};

pub fn run(what: &RulesArguments, context: &Context) -> CommandOutcome {
    match what {
        RulesArguments::List => list::run(context),
        RulesArguments::Which { name } => which::run(name, context),
        RulesArguments::Show { name, version } => show::run(name, version.as_deref(), context),
        RulesArguments::New(arguments) => new::run(arguments, context),
        RulesArguments::Edit(arguments) => edit::run(arguments, context),
        RulesArguments::Enable(arguments) => enable::enable(arguments, context),
        RulesArguments::Disable(arguments) => enable::disable(arguments, context),
        RulesArguments::Delete(arguments) => delete::run(arguments, context),
        RulesArguments::Import(arguments) => import::run(arguments, context),
        RulesArguments::Export(arguments) => export::run(arguments, context),
        RulesArguments::Propose(arguments) => propose::propose(arguments, context),
        RulesArguments::Accept(arguments) => propose::accept(arguments, context),
    }
}

/// The policy to change, and its project.
struct Target {
    project: Project,
    editor: Editor,
    /// True if the user's own policy is changed instead of the project's.
    is_of_user: bool,
    /// The policy before the change.
    before: LoadedPolicy,
}

impl Target {
    /// Opens the policy of this project or, if `user` is true, the user's own, which need not exist yet.
    fn open(user: bool, context: &Context) -> Result<Self, Problem> {
        let project = Project::of_person(&context.environment);
        let folder =
            if user { PolicyFolder::of_user(&context.environment.config) } else { project_folder(&project)?.clone() };
        let editor = Editor::open(&project.tiers, &folder);
        let before = project.load(&context.environment);
        Ok(Self { project, editor, is_of_user: user, before })
    }

    /// Accepts a change of rules that a person has just made. Running sessions do not keep the stricter versions of the
    /// changed rules. If nothing needed `trust` before, and now only the changed files do, they are trusted.
    fn accept_change(&self, changed: &EditOutcome, ids: &[&str], context: &Context) -> io::Result<()> {
        // The user's first rule creates a tier that did not exist when the project was opened.
        let project = Project::at(&self.project.root, &context.environment);
        let after = project.load(&context.environment);
        let is_own = |part: &Diagnostic| changed.changes.iter().any(|change| change.name == part.source.name);
        if !self.is_of_user && self.before.untrusted_parts().count() == 0 && after.untrusted_parts().all(is_own) {
            Trust::of(&project.root, &context.environment).accept(&after.text_to_trust)?;
        }
        let (before, now) = (self.before.in_force_rules(), project.load(&context.environment).in_force_rules());
        let weakened = policy::weakenings(&before, &now).into_iter().map(|(change, _)| change);
        let weakened: Vec<_> = weakened.filter(|change| ids.contains(&change.rule.as_str())).collect();
        let environment = &context.environment;
        let acceptance = if self.is_of_user {
            AcceptedWeakenings::of_user(environment)
        } else {
            AcceptedWeakenings::of(&project.root, environment)
        };
        acceptance.add(&weakened, super::now())
    }
}

fn project_folder(project: &Project) -> Result<&PolicyFolder, Problem> {
    project.tiers.project.as_ref().ok_or_else(|| {
        let message = format!("there is no policy in `{}` or above it", project.root.display());
        Problem::new("NoPolicy", message).help("`linchpin init` writes one; `--user` selects your own policy")
    })
}
