//! The bundled rules: ordinary rule files, embedded in the binary.

use crate::text::source::Source;

pub struct BundledRule {
    pub id: &'static str,
    pub text: &'static str,
}

macro_rules! bundled {
    ($($id:literal),* $(,)?) => {
        &[$(BundledRule { id: $id, text: include_str!(concat!("bundled/", $id, ".md")) }),*]
    };
}

const BUNDLED: &[BundledRule] = bundled![
    "delete-outside-project",
    "force-push-protected",
    "hard-reset",
    "opaque-shell",
    "people-only-commands",
    "pipe-to-shell",
    "protect-guardrails",
    "read-secrets",
    "repeated-failure",
    "unguarded-agent",
];

/// The bundled rules, in byte order of their ids.
pub fn bundled_rules() -> &'static [BundledRule] {
    BUNDLED
}

impl BundledRule {
    pub fn source(&self) -> Source {
        Source::new(format!("bundled rule {}", self.id), self.text)
    }
}
