use serde::Serialize;

/// The output of a hook process: two streams and an exit code.
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

    /// One JSON object on stdout, exit code 0.
    pub(crate) fn json(output: &impl Serialize) -> Self {
        match serde_json::to_string(output) {
            Ok(text) => Self { stdout: text + "\n", ..Self::default() },
            // Cannot happen for structs of strings. If that ever changes, refuse instead of allowing silently.
            Err(error) => Self::refusal(&format!("Linchpin could not write its answer: {error}")),
        }
    }

    /// A refusal in the form that agents understand at every event: exit code 2 and the reason on stderr.
    pub(crate) fn refusal(reason: &str) -> Self {
        Self { stdout: String::new(), stderr: format!("{reason}\n"), exit_code: 2 }
    }
}
