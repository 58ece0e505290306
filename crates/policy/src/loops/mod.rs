//! Reads and checks a project's loop, `loop.yml`.
//!
//! This module reports errors before anything runs. It does not run loops, and does not decide what is trusted.

mod agent;
mod built_in_rules;
mod completion;
mod file;
mod hats;
mod keys;
mod limits;
mod loop_reader;
mod presets;
mod structure_lints;
mod test_command;
mod topics;

#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;

use engine::hats::Loop;

pub use built_in_rules::gate_files_rule;
pub use keys::LOOP;
pub use presets::{PRESETS, Preset};

use crate::files::folder::PolicyFolders;
use crate::files::reading;
use crate::load::LoadedPolicy;
use crate::text::diagnostic::{Diagnostic, Severity};
use crate::text::source::Source;
use crate::workflow::with_workflow_context;

/// The contents of `loop.yml`.
#[derive(Debug)]
pub struct LoopFile {
    pub path: PathBuf,
    /// The file's display name.
    pub source: String,
    pub text: Arc<str>,
    /// `None` if the file has errors.
    pub the_loop: Option<Loop>,
    pub diagnostics: Vec<Diagnostic>,
}

impl LoopFile {
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error)
    }
}

/// The problems of a loop in an otherwise empty project.
#[cfg(test)]
pub fn problems(text: &str) -> Vec<Diagnostic> {
    with_workflow_context(&LoadedPolicy::default(), |context| file::read(&Source::new("loop.yml", text), context)).1
}

/// Reads the project's loop; `None` if there is no `loop.yml`.
pub fn loop_file(tiers: &PolicyFolders, loaded: &LoadedPolicy) -> Option<LoopFile> {
    let folder = tiers.project.as_ref()?;
    let path = folder.loop_file();
    let source = match reading::read(folder, &path) {
        Ok(source) => source?,
        Err(problem) => {
            let Source { name, text, .. } = problem.source.clone();
            return Some(LoopFile { path, source: name, text, the_loop: None, diagnostics: vec![*problem] });
        }
    };
    let (the_loop, diagnostics) = with_workflow_context(loaded, |context| file::read(&source, context));
    let Source { name, text, .. } = source;
    Some(LoopFile { path, source: name, text, the_loop, diagnostics })
}
