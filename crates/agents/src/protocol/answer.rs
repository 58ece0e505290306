use serde::Serialize;

/// The output of a hook process: two streams and an exit code.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answer {
    pub stdout: String,
    pub stderr: String,
    pub exit_code: u8,
}

impl Answer {
    pub fn empty() -> Self {
        Self::default()
    }

    /// Returns an answer with one JSON object on stdout and exit code 0.
    pub(crate) fn json(output: &impl Serialize) -> Self {
        match serde_json::to_string(output) {
            Ok(text) => Self { stdout: text + "\n", ..Self::default() },
            // Serialization cannot fail for the structs of this crate. If it ever does, the answer is a refusal instead
            // of a silent approval.
            Err(error) => Self::refusal(&format!("Linchpin could not write its answer: {error}")),
        }
    }

    /// Returns a refusal that agents understand at every event: exit code 2, with the reason on stderr.
    pub(crate) fn refusal(reason: &str) -> Self {
        Self { stdout: String::new(), stderr: format!("{reason}\n"), exit_code: 2 }
    }
}
