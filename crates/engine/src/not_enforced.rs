//! Why a verdict is not enforced. It stands as it was judged, and stops nothing.

use std::fmt;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum NotEnforced {
    /// The configuration says `mode: observe`.
    Observe,
    /// A person set the guard aside for a while.
    Paused,
    /// A person let this very call through; `refusal` is the journal's number of when it was refused.
    Allowed { refusal: i64 },
}

impl NotEnforced {
    const OBSERVE: &str = "observe";
    const PAUSED: &str = "paused";
    const ALLOWED: &str = "allowed ";

    /// As the journal keeps it: `observe`, `paused`, `allowed 17`.
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

/// For people, after "not enforced:".
impl fmt::Display for NotEnforced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Observe => f.write_str("observe mode"),
            Self::Paused => f.write_str("paused by a person"),
            Self::Allowed { refusal } => write!(f, "a person let it through (`linchpin allow {refusal}`)"),
        }
    }
}

impl From<NotEnforced> for String {
    fn from(lifted: NotEnforced) -> Self {
        lifted.code()
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
    fn what_is_kept_is_read_back() {
        for lifted in [NotEnforced::Observe, NotEnforced::Paused, NotEnforced::Allowed { refusal: 17 }] {
            assert_eq!(NotEnforced::from_code(&lifted.code()), Some(lifted));
        }
        assert_eq!(NotEnforced::from_code("allowed"), None);
    }
}
