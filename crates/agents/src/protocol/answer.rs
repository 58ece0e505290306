//! What a hook process gives back to the agent.

use serde::Serialize;

/// The whole answer: two streams and an exit code, to be given back as they are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answer {
    pub stdout: String,
    pub stderr: String,
    pub exit_code: u8,
}

impl Answer {
    pub fn silence() -> Self {
        Self::default()
    }

    /// One JSON object on stdout, exit 0.
    pub(crate) fn json(output: &impl Serialize) -> Self {
        match serde_json::to_string(output) {
            Ok(text) => Self { stdout: text + "\n", ..Self::default() },
            // Plain structs of strings always serialise. If that ever changes, refuse rather than fall silent.
            Err(error) => Self::refusal(&format!("Linchpin could not write its answer: {error}")),
        }
    }

    /// A refusal in the one form that agents understand on any event: exit 2 and a reason on stderr.
    pub(crate) fn refusal(reason: &str) -> Self {
        Self { stdout: String::new(), stderr: format!("{reason}\n"), exit_code: 2 }
    }
}
