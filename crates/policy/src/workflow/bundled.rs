//! The workflows and guides in the box: ordinary files, embedded.

use crate::text::source::Source;

/// A file in the box, by its stem.
#[derive(Debug, Clone, Copy)]
pub struct Bundled {
    pub name: &'static str,
    pub text: &'static str,
}

macro_rules! bundled {
    ($folder:literal, $extension:literal; $($name:literal),* $(,)?) => {
        &[$(Bundled {
            name: $name,
            text: include_str!(concat!("../bundled_workflows/", $folder, $name, $extension)),
        }),*]
    };
}

pub const WORKFLOWS: &[Bundled] =
    bundled!["", ".yml"; "developer", "discovery", "execution", "quick", "refactor", "research"];
pub const GUIDES: &[Bundled] = bundled!["guides/", ".md"; "ASSESS", "CLAIMING", "CODE_REVIEW", "CODING", "COMMITTING", "LEARNINGS", "PINNING", "PLAN_WRITING", "PROTOTYPING", "QUESTIONS", "README_WRITING", "REFACTORING", "RESEARCH_PLAN", "SPEC_WRITING", "STUDY", "SURVEY", "TESTING"];

impl Bundled {
    pub fn workflow_source(&self) -> Source {
        Source::new(format!("bundled workflow {}", self.name), self.text)
    }

    pub fn guide_source(&self) -> Source {
        Source::new(format!("bundled guide {}", self.name), self.text)
    }
}
