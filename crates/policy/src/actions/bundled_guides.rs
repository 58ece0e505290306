//! The bundled guides: ordinary guide files, embedded in the binary.

use crate::text::source::Source;

#[derive(Debug, Clone, Copy)]
pub struct BundledGuide {
    /// The file's stem.
    pub name: &'static str,
    pub text: &'static str,
}

macro_rules! bundled_guides {
    ($($name:literal),* $(,)?) => {
        &[$(BundledGuide { name: $name, text: include_str!(concat!("../bundled_workflows/guides/", $name, ".md")) }),*]
    };
}

pub const GUIDES: &[BundledGuide] = bundled_guides![
    "ASSESS",
    "CLAIMING",
    "CODE_REVIEW",
    "CODING",
    "COMMITTING",
    "LEARNINGS",
    "PINNING",
    "PLAN_WRITING",
    "PROTOTYPING",
    "QUESTIONS",
    "README_WRITING",
    "REFACTORING",
    "RESEARCH_PLAN",
    "SPEC_WRITING",
    "STUDY",
    "SURVEY",
    "TESTING"
];

impl BundledGuide {
    pub fn source(&self) -> Source {
        Source::new(format!("bundled guide {}", self.name), self.text)
    }
}
