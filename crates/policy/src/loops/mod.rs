//! The loop of a project, from `loop.yml` to a checked value.
//!
//! This knows what the file says, and what is wrong with it before anything runs. How it is run, and what of it is trusted,
//! is for others.

mod agent;
mod completion;
mod enforced;
mod faults;
mod file;
mod hats;
mod keys;
mod limits;
mod loop_source;
mod presets;
mod test_command;
mod topics;

#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;

use engine::hats::Loop;

pub use enforced::gate_files_rule;
pub use keys::LOOP;
pub use presets::{PRESETS, Preset};

use crate::files::folder::Tiers;
use crate::files::reading;
use crate::load::Loaded;
use crate::text::diagnostic::{Diagnostic, Severity};
use crate::text::source::Source;
use crate::workflow::with_surroundings;

/// What was found where the loop is written down.
#[derive(Debug)]
pub struct LoopFile {
    pub path: PathBuf,
    /// Shown in messages.
    pub source: String,
    pub text: Arc<str>,
    /// None where the file has an error.
    pub the_loop: Option<Loop>,
    pub diagnostics: Vec<Diagnostic>,
}

impl LoopFile {
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error)
    }
}

/// What is wrong with a text as a loop, where nothing else is.
#[cfg(test)]
pub fn problems(text: &str) -> Vec<Diagnostic> {
    with_surroundings(&Loaded::default(), |around| file::read(&Source::new("loop.yml", text), around)).1
}

/// The project's loop; none where it has none. `loaded`: what the rest of the policy says.
pub fn loop_file(tiers: &Tiers, loaded: &Loaded) -> Option<LoopFile> {
    let folder = tiers.project.as_ref()?;
    let path = folder.loop_file();
    let source = match reading::read(folder, &path) {
        Ok(source) => source?,
        Err(problem) => {
            let Source { name, text, .. } = problem.source.clone();
            return Some(LoopFile { path, source: name, text, the_loop: None, diagnostics: vec![*problem] });
        }
    };
    let (the_loop, diagnostics) = with_surroundings(loaded, |around| file::read(&source, around));
    let Source { name, text, .. } = source;
    Some(LoopFile { path, source: name, text, the_loop, diagnostics })
}
