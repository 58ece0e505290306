//! The reason why a verdict is recorded but not enforced: in spite of the verdict, the call runs or the agent can stop.

use std::fmt;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum NotEnforced {
    /// The configuration has `mode: observe`.
    Observe,
    /// A person paused the enforcement of rules.
    Paused,
    /// A person allowed this call; `refusal` is the id under which the journal stores the refusal of the call.
    Allowed { refusal: i64 },
}

impl NotEnforced {
    const OBSERVE: &str = "observe";
    const PAUSED: &str = "paused";
    const ALLOWED: &str = "allowed ";

    /// The text that the journal stores: `observe`, `paused`, `allowed 17`.
    pub fn code(self) -> String {
        match self {
            Self::Observe => Self::OBSERVE.to_owned(),
            Self::Paused => Self::PAUSED.to_owned(),
            Self::Allowed { refusal } => format!("{}{refusal}", Self::ALLOWED),
        }
    }

    pub fn from_code(code: &str) -> Option<Self> {
        match code {
            Self::OBSERVE => Some(Self::Observe),
            Self::PAUSED => Some(Self::Paused),
            _ => code.strip_prefix(Self::ALLOWED)?.parse().ok().map(|refusal| Self::Allowed { refusal }),
        }
    }
}

/// Writes the reason as messages show it after "not enforced:".
impl fmt::Display for NotEnforced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Observe => f.write_str("observe mode"),
            Self::Paused => f.write_str("paused by a person"),
            Self::Allowed { refusal } => write!(f, "allowed by a person (`linchpin allow {refusal}`)"),
        }
    }
}

impl From<NotEnforced> for String {
    fn from(reason: NotEnforced) -> Self {
        reason.code()
    }
}

impl TryFrom<String> for NotEnforced {
    type Error = String;

    fn try_from(code: String) -> Result<Self, String> {
        Self::from_code(&code).ok_or_else(|| format!("unknown reason `{code}` for a verdict that is not enforced"))
    }
}

#[cfg(test)]
mod tests {
    use super::NotEnforced;

    #[test]
    fn codes_round_trip() {
        for reason in [NotEnforced::Observe, NotEnforced::Paused, NotEnforced::Allowed { refusal: 17 }] {
            assert_eq!(NotEnforced::from_code(&reason.code()), Some(reason));
        }
        assert_eq!(NotEnforced::from_code("allowed"), None);
    }
}
