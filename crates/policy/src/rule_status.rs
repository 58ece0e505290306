//! The status of each rule that is written down: in force or not, and why.

use engine::rules::{Rule, Tier};

use crate::enforce::{InForce, Reason};
use crate::load::Loaded;
use crate::rule::definition::{Definition, Form};
use crate::text::diagnostic::{Diagnostic, ErrorKind};

#[derive(Debug, Clone, PartialEq)]
pub enum RuleStatus<'a> {
    InForce(Reason),
    /// `enabled: false`.
    Off,
    /// Left out until a person accepts it.
    Untrusted,
    /// Another of the same name is in force.
    Shadowed(&'a Definition),
    /// Nothing names it.
    Unnamed,
    /// The configuration switches everything off.
    SetAside,
}

impl Loaded {
    pub fn rule_status(&self, definition: &Definition) -> RuleStatus<'_> {
        let in_force = self.in_force(&definition.rule.id);
        match in_force {
            Some(rule) if rule.definition.is_same_text(definition) => RuleStatus::InForce(rule.reason),
            _ if self.untrusted.iter().any(|waiting| waiting.is_same_text(definition)) => RuleStatus::Untrusted,
            _ if !definition.enabled => RuleStatus::Off,
            Some(rule) => RuleStatus::Shadowed(&rule.definition),
            None if !self.config.enabled => RuleStatus::SetAside,
            None => RuleStatus::Unnamed,
        }
    }

    pub fn in_force_rules(&self) -> Vec<Rule> {
        self.rules.iter().map(|rule| rule.definition.rule.clone()).collect()
    }

    /// What waits for a person's acceptance.
    pub fn untrusted_parts(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|problem| problem.kind == ErrorKind::Untrusted && problem.part.is_some())
    }

    pub fn in_force(&self, id: &str) -> Option<&InForce> {
        self.rules.iter().find(|rule| rule.definition.rule.id == id)
    }

    /// Every rule of a name: the one that it means first, then those that it hides, nearest first.
    pub fn named<'a>(&'a self, id: &'a str) -> Vec<&'a Definition> {
        let mut found: Vec<&Definition> =
            self.definitions.iter().filter(|definition| definition.rule.id == id).collect();
        // Stable: they are in order of their tiers.
        found.sort_by_key(|definition| !matches!(self.rule_status(definition), RuleStatus::InForce(_)));
        found
    }
}

impl RuleStatus<'_> {
    pub fn is_in_force(&self) -> bool {
        matches!(self, Self::InForce(_))
    }

    /// Why it stands so, for people.
    pub fn why(&self, definition: &Definition) -> String {
        let last_good = if definition.is_last_good { ", as it was before its file broke" } else { "" };
        let why = match self {
            Self::InForce(Reason::RuleFile) => "a rule file".to_owned(),
            Self::InForce(Reason::Locked) => "locked: always in force".to_owned(),
            Self::InForce(Reason::Named(tier)) => match (definition.form, tier) {
                (Form::Inline, Tier::User) => "written in the user's config".to_owned(),
                (Form::Inline, _) => "written in config".to_owned(),
                (_, Tier::User) => "named in the user's config".to_owned(),
                _ => "named in config".to_owned(),
            },
            Self::Off => "switched off: `enabled: false`".to_owned(),
            Self::Untrusted => "not trusted: `linchpin trust`".to_owned(),
            Self::Shadowed(other) => {
                format!("another `{}` is in force: {}", definition.rule.id, other.shown_place())
            }
            Self::Unnamed => "nothing names it".to_owned(),
            Self::SetAside => "config says `enabled: false`".to_owned(),
        };
        format!("{why}{last_good}")
    }
}
