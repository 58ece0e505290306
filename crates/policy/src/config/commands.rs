//! How programs are started that the policy names.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CommandSettings {
    /// `command_env`: environment variables that commands of rules and gates get beside the usual ones.
    pub env: Vec<String>,
    pub sandbox: Sandbox,
    /// `progress_command`: gets progress messages on its stdin.
    pub progress: Option<String>,
}

/// What keeps commands of rules and gates from writing elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sandbox {
    Off,
    /// They write in the repository and in caches, where the system can see to it.
    #[default]
    Repo,
    /// They do not run where the system cannot.
    Require,
}
