//! What one version of a policy takes away from another.

use engine::Level;
use engine::rules::Rule;
use serde::{Deserialize, Serialize};

use crate::config::Mode;

/// A rule that is gone, has a milder action, or, where it is about files, asks for less than it did. Every other change of
/// a rule counts at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Weakened {
    pub rule: String,
    /// Digest of its text before.
    pub from: String,
    /// Digest of its text now; none where it is gone, or switched off.
    pub to: Option<String>,
}

impl Weakened {
    /// Not a rule, but all of them: a policy that only observes now.
    pub fn observing() -> Self {
        Self {
            rule: "mode".to_owned(),
            from: Mode::Enforce.name().to_owned(),
            to: Some(Mode::Observe.name().to_owned()),
        }
    }

    /// What happened, for people.
    pub fn what(&self) -> String {
        let rule = &self.rule;
        match &self.to {
            _ if *self == Self::observing() => "`mode` became `observe`".to_owned(),
            Some(_) => format!("rule `{rule}` got milder"),
            None => format!("rule `{rule}` was removed or switched off"),
        }
    }
}

/// The rules of `before` that `now` lacks or has milder, each with how it was. Both are in byte order of their ids.
pub fn weakened<'a>(before: &'a [Rule], now: &[Rule]) -> Vec<(Weakened, &'a Rule)> {
    let mut found = Vec::new();
    // To approve less is no loss.
    for rule in before.iter().filter(|rule| rule.action > Level::Allow) {
        let now = now.binary_search_by(|now| now.id.cmp(&rule.id)).ok().and_then(|place| now.get(place));
        if now.is_none_or(|now| now.action < rule.action || looks_at_less(now, rule)) {
            let to = now.map(|now| now.digest.clone());
            found.push((Weakened { rule: rule.id.clone(), from: rule.digest.clone(), to }, rule));
        }
    }
    found
}

/// A file rule with narrower patterns, or one that is no file rule any more.
fn looks_at_less(now: &Rule, before: &Rule) -> bool {
    let Some(before) = before.as_file_rule() else { return false };
    now.as_file_rule().is_none_or(|now| !now.asks_no_less_than(before))
}
