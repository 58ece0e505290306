//! The bundled workflows: ordinary workflow files, embedded in the binary.

use crate::text::source::Source;

#[derive(Debug, Clone, Copy)]
pub struct BundledWorkflow {
    /// The file's stem.
    pub name: &'static str,
    pub text: &'static str,
}

macro_rules! bundled_workflows {
    ($($name:literal),* $(,)?) => {
        &[$(BundledWorkflow { name: $name, text: include_str!(concat!("../bundled_workflows/", $name, ".yml")) }),*]
    };
}

pub const WORKFLOWS: &[BundledWorkflow] =
    bundled_workflows!["developer", "discovery", "execution", "quick", "refactor", "research"];

impl BundledWorkflow {
    pub fn source(&self) -> Source {
        Source::new(format!("bundled workflow {}", self.name), self.text)
    }
}
