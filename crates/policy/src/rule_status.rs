//! The status of each rule definition: in force or not, and why.

use engine::rules::{Rule, Tier};

use crate::load::LoadedPolicy;
use crate::rule::definition::{RuleDefinition, RuleOrigin};
use crate::rules_in_force::{InForceReason, RuleInForce};
use crate::text::diagnostic::{Diagnostic, DiagnosticKind};

#[derive(Debug, Clone, PartialEq)]
pub enum RuleStatus<'a> {
    InForce(InForceReason),
    /// `enabled: false`.
    Off,
    /// Left out until a person trusts it.
    Untrusted,
    /// Another definition with the same id is in force.
    Shadowed(&'a RuleDefinition),
    /// No list names the rule.
    NotListed,
    /// The configuration has `enabled: false`.
    PolicyDisabled,
}

impl LoadedPolicy {
    pub fn rule_status(&self, definition: &RuleDefinition) -> RuleStatus<'_> {
        let in_force = self.in_force(&definition.rule.id);
        match in_force {
            Some(rule) if rule.definition.is_same_definition(definition) => RuleStatus::InForce(rule.reason),
            _ if self.untrusted_rules.iter().any(|rule| rule.is_same_definition(definition)) => RuleStatus::Untrusted,
            _ if !definition.enabled => RuleStatus::Off,
            Some(rule) => RuleStatus::Shadowed(&rule.definition),
            None if !self.config.enabled => RuleStatus::PolicyDisabled,
            None => RuleStatus::NotListed,
        }
    }

    pub fn in_force_rules(&self) -> Vec<Rule> {
        self.rules.iter().map(|rule| rule.definition.rule.clone()).collect()
    }

    /// The diagnostics of all parts that need a person's trust.
    pub fn untrusted_parts(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics
            .iter()
            .filter(|problem| problem.kind == DiagnosticKind::Untrusted && problem.full_span.is_some())
    }

    pub fn in_force(&self, id: &str) -> Option<&RuleInForce> {
        self.rules.iter().find(|rule| rule.definition.rule.id == id)
    }

    /// All definitions with this id: first the one in force, then the others, from the latest tier to the earliest.
    pub fn definitions_named<'a>(&'a self, id: &'a str) -> Vec<&'a RuleDefinition> {
        let mut definitions: Vec<&RuleDefinition> =
            self.definitions.iter().filter(|definition| definition.rule.id == id).collect();
        // The sort is stable, so it preserves the order of tiers.
        definitions.sort_by_key(|definition| !matches!(self.rule_status(definition), RuleStatus::InForce(_)));
        definitions
    }
}

impl RuleStatus<'_> {
    pub fn is_in_force(&self) -> bool {
        matches!(self, Self::InForce(_))
    }

    /// Explains the status to people.
    pub fn why(&self, definition: &RuleDefinition) -> String {
        let last_good = if definition.is_last_good { ", in its last valid version" } else { "" };
        let why = match self {
            Self::InForce(InForceReason::RuleFile) => "a rule file".to_owned(),
            Self::InForce(InForceReason::Locked) => "locked: always in force".to_owned(),
            Self::InForce(InForceReason::Named(tier)) => match (definition.origin, tier) {
                (RuleOrigin::Inline, Tier::User) => "defined in the user's config".to_owned(),
                (RuleOrigin::Inline, _) => "defined in config".to_owned(),
                (_, Tier::User) => "named in the user's config".to_owned(),
                _ => "named in config".to_owned(),
            },
            Self::Off => "switched off: `enabled: false`".to_owned(),
            Self::Untrusted => "not trusted; run `linchpin trust`".to_owned(),
            Self::Shadowed(other) => {
                format!("another `{}` is in force: {}", definition.rule.id, other.display_location())
            }
            Self::NotListed => "not named in config".to_owned(),
            Self::PolicyDisabled => "all rules are switched off: `enabled: false` in config".to_owned(),
        };
        format!("{why}{last_good}")
    }
}
