//! Settings for the programs that the policy starts.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CommandSettings {
    /// `command_env`: additional environment variables for commands of rules and gates.
    pub env: Vec<String>,
    pub sandbox: Sandbox,
    /// `progress_command`: a program that gets progress messages on stdin.
    pub progress: Option<String>,
}

/// The places to which commands of rules and gates may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sandbox {
    Off,
    /// Only in the repository and in caches, if the system supports a sandbox; otherwise anywhere.
    #[default]
    Repo,
    /// As `Repo`, but commands do not run if the system does not support a sandbox.
    Require,
}
