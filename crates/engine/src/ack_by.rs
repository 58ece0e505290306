//! Who may acknowledge a rule.

use serde::{Deserialize, Serialize};

/// Who may acknowledge a rule instead of following it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AckBy {
    #[default]
    Agent,
    Human,
}
