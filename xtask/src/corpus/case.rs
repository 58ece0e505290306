//! A case of the corpus: a command, and the decision that the bundled rules must make about it.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CorpusCase {
    pub id: String,
    /// The bundled rule that the case tests. All bundled rules are in force.
    #[serde(rename = "policy")]
    pub rule: String,
    pub expect: ExpectedDecision,
    /// The branch that is checked out when the command is judged.
    pub branch: String,
    pub command: String,
    /// The reason for the expected decision, if the command alone does not explain it.
    #[expect(dead_code, reason = "for people who read the corpus")]
    note: Option<String>,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum ExpectedDecision {
    /// The command is refused, or at least a person is asked.
    Deny,
    /// The command is allowed.
    Allow,
    /// The command's effect is known only at run time, so a person is asked.
    Unknown,
}

impl ExpectedDecision {
    pub const ALL: [Self; 3] = [Self::Deny, Self::Allow, Self::Unknown];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Allow => "allow",
            Self::Unknown => "unknown",
        }
    }

    pub fn is_met_by(self, decision: &str) -> bool {
        match self {
            Self::Deny => matches!(decision, "deny" | "ask"),
            Self::Allow => decision == "allow",
            Self::Unknown => decision == "ask",
        }
    }
}

pub fn read_all(path: &Path) -> Result<Vec<CorpusCase>> {
    let text = fs::read_to_string(path).with_context(|| format!("`{}` cannot be read", path.display()))?;
    let parse = |(number, line): (usize, &str)| {
        serde_json::from_str(line).with_context(|| format!("{}:{}: invalid case", path.display(), number + 1))
    };
    text.lines().enumerate().map(parse).collect()
}
