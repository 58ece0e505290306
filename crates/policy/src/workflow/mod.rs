//! Workflows, from their files to checked values.
//!
//! They lie in the `workflows` folder of each tier, and in the box; of two with the same name the nearer counts. This
//! knows what a file says, and what is wrong with it; where a workflow stands, and what of it is trusted, is for others.

mod bundled;
mod compiled;
mod declarations;
mod file;
mod gates;
mod keys;
mod nodes;
mod observing;
mod rules;
mod shape;
mod tool_lists;
mod variables;
mod workflow_source;

#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;

use engine::rules::Tier;
use engine::workflow::Workflow;

pub use compiled::{CompiledWorkflow, compiled_workflow};
pub(crate) use gates::GateReader;
pub use keys::WORKFLOW;
pub(crate) use keys::{ANY_GATE, RULE_LISTS};
pub(crate) use observing::{Observing, read as read_observers};
pub(crate) use rules::{Owner, RuleGathering};
pub(crate) use variables::{first_value, read as read_variables};

use crate::actions::{BundledGuide, GUIDES, Guides};
use crate::catalogue::Catalogue;
use crate::files::folder::{PolicyFolder, Tiers};
use crate::files::inputs::Inputs;
use crate::files::reading;
use crate::lints;
use crate::load::Loaded;
use crate::text::diagnostic::{Diagnostic, ErrorKind, Severity};
use crate::text::source::Source;
use crate::values::rule_id;
use bundled::{BundledWorkflow, WORKFLOWS};

/// Every workflow that is written down.
#[derive(Debug, Default)]
pub struct Workflows {
    /// By name, of each the nearest first.
    pub files: Vec<WorkflowFile>,
    pub diagnostics: Vec<Diagnostic>,
    /// Every file and folder that was looked at, as it was before it was read.
    pub inputs: Inputs<'static>,
}

#[derive(Debug)]
pub struct WorkflowFile {
    pub name: String,
    pub tier: Tier,
    /// Shown in messages.
    pub source: String,
    /// As it is written.
    pub text: Arc<str>,
    /// None where the file has an error.
    pub workflow: Option<Workflow>,
}

impl Workflows {
    /// The file that a name means, sound or not.
    pub fn named(&self, name: &str) -> Option<&WorkflowFile> {
        self.files.iter().find(|file| file.name == name)
    }

    /// The names that mean something, each once.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.files.iter().map(|file| file.name.as_str()).collect();
        names.dedup();
        names
    }

    /// Those of the same name that a file hides.
    pub fn hidden_by<'a>(&'a self, file: &'a WorkflowFile) -> impl Iterator<Item = &'a WorkflowFile> {
        self.files.iter().filter(move |other| other.name == file.name && other.tier > file.tier)
    }

    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error)
    }
}

/// Reads the workflows of every tier. `loaded`: what the rest of the policy says.
pub fn workflows(tiers: &Tiers, loaded: &Loaded) -> Workflows {
    read_all(tiers, loaded, WORKFLOWS, GUIDES)
}

fn read_all(
    tiers: &Tiers,
    loaded: &Loaded,
    in_the_box: &[BundledWorkflow],
    bundled_guides: &[BundledGuide],
) -> Workflows {
    let mut found = Workflows::default();
    let catalogue = Catalogue::from_parts(&loaded.definitions, &loaded.context.libraries);
    // A workflow may name the guides of its own tier and of farther ones, as it may name rules.
    for folder in tiers.project.iter().chain(&tiers.user) {
        let own = tiers.project.iter().chain(&tiers.user).filter(|other| other.tier >= folder.tier).collect();
        let around = Around { loaded, catalogue: &catalogue, guides: Guides::new(own, bundled_guides) };
        found.read_folder(folder, &around);
        found.inputs.absorb(around.guides.into_inputs());
    }
    let around = Around { loaded, catalogue: &catalogue, guides: Guides::new(Vec::new(), bundled_guides) };
    for file in in_the_box {
        found.read(file.name, &file.source(), Tier::Bundled, &around);
    }
    found.files.sort_by(|a, b| (&a.name, a.tier).cmp(&(&b.name, b.tier)));
    found.check_claims(loaded);
    found
}

/// What is wrong with a text as the user's own workflow, where nothing else is.
#[cfg(test)]
pub fn problems(name: &str, text: &str) -> Vec<Diagnostic> {
    let (loaded, catalogue) = (Loaded::default(), Catalogue::default());
    let around = Around { loaded: &loaded, catalogue: &catalogue, guides: Guides::new(Vec::new(), &[]) };
    file::read(name, &Source::new("file", text), Tier::User, &around).1
}

/// What a workflow may speak of beside itself.
pub(crate) struct Around<'a> {
    pub(crate) loaded: &'a Loaded,
    pub(crate) catalogue: &'a Catalogue,
    guides: Guides<'a>,
}

/// For what may speak of rules as a workflow does, and has no guides.
pub(crate) fn with_surroundings<T>(loaded: &Loaded, read: impl FnOnce(&Around) -> T) -> T {
    let catalogue = Catalogue::from_parts(&loaded.definitions, &loaded.context.libraries);
    read(&Around { loaded, catalogue: &catalogue, guides: Guides::new(Vec::new(), &[]) })
}

impl Workflows {
    /// Claims that rules ask for, where every workflow can be read.
    fn check_claims(&mut self, loaded: &Loaded) {
        let Some(workflows) = self.files.iter().map(|file| file.workflow.as_ref()).collect::<Option<Vec<_>>>() else {
            return;
        };
        let claims = workflows.into_iter().flat_map(Workflow::all_claims).collect();
        self.diagnostics.extend(lints::of_claims(&loaded.rules, &claims));
    }

    fn read_folder(&mut self, folder: &PolicyFolder, around: &Around) {
        let workflows = folder.workflows();
        self.inputs.note(&workflows);
        match reading::yaml_files(&workflows) {
            Ok(mut files) => {
                let twins = reading::take_twins(&mut files);
                self.diagnostics.extend(twins.iter().map(|twin| reading::twin_problem(folder, twin, "workflows")));
                for path in &files {
                    self.read_file(folder, path, around);
                }
            }
            Err(error) => self.diagnostics.push(reading::unreadable(folder, &workflows, &error)),
        }
    }

    fn read_file(&mut self, folder: &PolicyFolder, path: &Path, around: &Around) {
        let Some(name) = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()) else { return };
        self.inputs.note(path);
        let shown = Source::new(folder.shown(path), "");
        if let Err(wrong) = rule_id::check(&name) {
            let message = format!("`{name}` cannot name a workflow");
            self.diagnostics.push(Diagnostic::error(ErrorKind::InvalidValue, message, &shown, None).help(wrong.help));
            return;
        }
        match reading::read(folder, path) {
            Ok(Some(source)) => self.read(&name, &source, folder.tier, around),
            Ok(None) => {}
            Err(problem) => {
                self.diagnostics.push(*problem);
                self.files.push(WorkflowFile {
                    name,
                    tier: folder.tier,
                    source: shown.name,
                    text: shown.text,
                    workflow: None,
                });
            }
        }
    }

    fn read(&mut self, name: &str, source: &Source, tier: Tier, around: &Around) {
        let (workflow, problems) = file::read(name, source, tier, around);
        // A guide that several workflows use is wrong only once.
        for problem in problems {
            let is_known = |known: &Diagnostic| {
                known.source.name == problem.source.name
                    && known.span == problem.span
                    && known.message == problem.message
            };
            if !self.diagnostics.iter().any(is_known) {
                self.diagnostics.push(problem);
            }
        }
        let Source { name: shown, text, .. } = source.clone();
        self.files.push(WorkflowFile { name: name.to_owned(), tier, source: shown, text, workflow });
    }
}
