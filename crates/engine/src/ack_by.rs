use serde::{Deserialize, Serialize};

/// Who may acknowledge a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AckBy {
    #[default]
    Agent,
    Human,
}
