//! What one version of a policy takes away from another.

use engine::Level;
use engine::rules::Rule;
use serde::{Deserialize, Serialize};

/// A rule that is gone, or asks for less than it did. Every other change of a rule is none of this: who may write rules
/// may make them wrong, but nobody makes the guard milder in passing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Weakened {
    pub rule: String,
    /// Digest of its text before.
    pub from: String,
    /// Digest of its text now; none where it is gone, or switched off.
    pub to: Option<String>,
}

impl Weakened {
    /// What happened to it, for people.
    pub fn what(&self) -> &'static str {
        if self.to.is_some() { "got a milder action" } else { "was removed or switched off" }
    }
}

/// The rules of `before` that `now` lacks or has milder, each with how it was. Both are in byte order of their ids.
pub fn weakened<'a>(before: &'a [Rule], now: &[Rule]) -> Vec<(Weakened, &'a Rule)> {
    let mut found = Vec::new();
    // To approve less is no loss.
    for rule in before.iter().filter(|rule| rule.action > Level::Allow) {
        let now = now.binary_search_by(|now| now.id.cmp(&rule.id)).ok().and_then(|place| now.get(place));
        if now.is_none_or(|now| now.action < rule.action) {
            let to = now.map(|now| now.digest.clone());
            found.push((Weakened { rule: rule.id.clone(), from: rule.digest.clone(), to }, rule));
        }
    }
    found
}
