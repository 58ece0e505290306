//! Reads and checks workflows.
//!
//! Workflows are in the `workflows` directory of each tier, and some are bundled. Of two workflows with the same name,
//! the one in the later tier applies. This module must not depend on the state of an active workflow, and does not
//! decide what is trusted.

mod bundled;
mod compiled;
mod declarations;
mod file;
mod gates;
mod graph_lints;
mod keys;
mod nodes;
mod observers;
mod rules;
mod tool_lists;
mod variables;
mod workflow_reader;

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
pub(crate) use observers::{ObserverList, read as read_observers};
pub(crate) use rules::{RuleCollector, RuleOwner};
pub(crate) use variables::{initial_value, read as read_variables};

use crate::actions::{BundledGuide, GUIDES, Guides};
use crate::catalogue::Catalogue;
use crate::files::folder::{PolicyFolder, PolicyFolders};
use crate::files::inputs::Inputs;
use crate::files::reading;
use crate::lints;
use crate::load::LoadedPolicy;
use crate::text::diagnostic::{Diagnostic, DiagnosticKind, Severity};
use crate::text::source::Source;
use crate::values::rule_id;
use bundled::{BundledWorkflow, WORKFLOWS};

/// The workflows of all tiers.
#[derive(Debug, Default)]
pub struct Workflows {
    /// Sorted by name; files of the same name from the latest tier to the earliest.
    pub files: Vec<WorkflowFile>,
    pub diagnostics: Vec<Diagnostic>,
    /// Files and directories that were read, with their stamps from just before they were read.
    pub inputs: Inputs<'static>,
}

#[derive(Debug)]
pub struct WorkflowFile {
    pub name: String,
    pub tier: Tier,
    /// The file's display name.
    pub source: String,
    pub text: Arc<str>,
    /// `None` if the file has errors.
    pub workflow: Option<Workflow>,
}

impl Workflows {
    /// The file of this name in the latest tier, with or without errors.
    pub fn named(&self, name: &str) -> Option<&WorkflowFile> {
        self.files.iter().find(|file| file.name == name)
    }

    /// All names, without duplicates.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.files.iter().map(|file| file.name.as_str()).collect();
        names.dedup();
        names
    }

    /// The files of the same name in earlier tiers, which do not apply because of this file.
    pub fn hidden_by<'a>(&'a self, file: &'a WorkflowFile) -> impl Iterator<Item = &'a WorkflowFile> {
        self.files.iter().filter(move |other| other.name == file.name && other.tier > file.tier)
    }

    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error)
    }
}

/// Reads the workflows of every tier. `loaded` is the rest of the policy.
pub fn workflows(tiers: &PolicyFolders, loaded: &LoadedPolicy) -> Workflows {
    read_all(tiers, loaded, WORKFLOWS, GUIDES)
}

fn read_all(
    tiers: &PolicyFolders,
    loaded: &LoadedPolicy,
    bundled_workflows: &[BundledWorkflow],
    bundled_guides: &[BundledGuide],
) -> Workflows {
    let mut workflows = Workflows::default();
    let catalogue = Catalogue::from_parts(&loaded.definitions, &loaded.context.libraries);
    // A workflow can include guides of its own tier and of earlier ones.
    for folder in tiers.project.iter().chain(&tiers.user) {
        let guide_folders = tiers.project.iter().chain(&tiers.user).filter(|other| other.tier >= folder.tier).collect();
        let context =
            WorkflowContext { loaded, catalogue: &catalogue, guides: Guides::new(guide_folders, bundled_guides) };
        workflows.read_folder(folder, &context);
        workflows.inputs.absorb(context.guides.into_inputs());
    }
    let context = WorkflowContext { loaded, catalogue: &catalogue, guides: Guides::new(Vec::new(), bundled_guides) };
    for file in bundled_workflows {
        workflows.read(file.name, &file.source(), Tier::Bundled, &context);
    }
    workflows.files.sort_by(|a, b| (&a.name, a.tier).cmp(&(&b.name, b.tier)));
    workflows.check_claims(loaded);
    workflows
}

/// The problems of a user's workflow in an otherwise empty policy.
#[cfg(test)]
pub fn problems(name: &str, text: &str) -> Vec<Diagnostic> {
    let (loaded, catalogue) = (LoadedPolicy::default(), Catalogue::default());
    let context = WorkflowContext { loaded: &loaded, catalogue: &catalogue, guides: Guides::new(Vec::new(), &[]) };
    file::read(name, &Source::new("file", text), Tier::User, &context).1
}

/// The parts of the policy that a workflow or loop can refer to.
pub(crate) struct WorkflowContext<'a> {
    pub(crate) loaded: &'a LoadedPolicy,
    pub(crate) catalogue: &'a Catalogue,
    guides: Guides<'a>,
}

/// Calls `read` with a context without guides, for loops.
pub(crate) fn with_workflow_context<T>(loaded: &LoadedPolicy, read: impl FnOnce(&WorkflowContext) -> T) -> T {
    let catalogue = Catalogue::from_parts(&loaded.definitions, &loaded.context.libraries);
    read(&WorkflowContext { loaded, catalogue: &catalogue, guides: Guides::new(Vec::new(), &[]) })
}

impl Workflows {
    /// Checks the claims that rules use, if every workflow is valid.
    fn check_claims(&mut self, loaded: &LoadedPolicy) {
        let Some(workflows) = self.files.iter().map(|file| file.workflow.as_ref()).collect::<Option<Vec<_>>>() else {
            return;
        };
        let claims = workflows.into_iter().flat_map(Workflow::all_claims).collect();
        self.diagnostics.extend(lints::unknown_claims(&loaded.rules, &claims));
    }

    fn read_folder(&mut self, folder: &PolicyFolder, context: &WorkflowContext) {
        let workflows = folder.workflows();
        self.inputs.record(&workflows);
        match reading::yaml_files(&workflows) {
            Ok(mut files) => {
                let duplicates = reading::take_duplicate_yaml(&mut files);
                self.diagnostics.extend(
                    duplicates.iter().map(|duplicate| reading::duplicate_yaml_problem(folder, duplicate, "workflows")),
                );
                for path in &files {
                    self.read_file(folder, path, context);
                }
            }
            Err(error) => self.diagnostics.push(reading::unreadable(folder, &workflows, &error)),
        }
    }

    fn read_file(&mut self, folder: &PolicyFolder, path: &Path, context: &WorkflowContext) {
        let Some(name) = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()) else { return };
        self.inputs.record(path);
        let unread_source = Source::new(folder.display_name(path), "");
        if let Err(invalid_id) = rule_id::check(&name) {
            let message = format!("invalid workflow name `{name}`");
            self.diagnostics.push(
                Diagnostic::error(DiagnosticKind::InvalidValue, message, &unread_source, None).help(invalid_id.help),
            );
            return;
        }
        match reading::read(folder, path) {
            Ok(Some(source)) => self.read(&name, &source, folder.tier, context),
            Ok(None) => {}
            Err(problem) => {
                self.diagnostics.push(*problem);
                self.files.push(WorkflowFile {
                    name,
                    tier: folder.tier,
                    source: unread_source.name,
                    text: unread_source.text,
                    workflow: None,
                });
            }
        }
    }

    fn read(&mut self, name: &str, source: &Source, tier: Tier, context: &WorkflowContext) {
        let (workflow, problems) = file::read(name, source, tier, context);
        // An error in a guide that several workflows include is reported only once.
        for problem in problems {
            let is_reported = |reported: &Diagnostic| {
                reported.source.name == problem.source.name
                    && reported.span == problem.span
                    && reported.message == problem.message
            };
            if !self.diagnostics.iter().any(is_reported) {
                self.diagnostics.push(problem);
            }
        }
        let Source { name: display_name, text, .. } = source.clone();
        self.files.push(WorkflowFile { name: name.to_owned(), tier, source: display_name, text, workflow });
    }
}
