//! Determines which of the defined rules are in force, and why.
//!
//! Tiers are applied from the farthest (bundled) to the nearest (project). A nearer rule replaces a farther one with
//! the same id, unless the farther one is locked. Project rules and settings that would weaken the user's guard or
//! start a program take effect only once a person has trusted them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use engine::Level;
use engine::rules::Tier;

use crate::config::{Config, ConfigFile, UntrustedSetting, WeakeningSetting};
use crate::rule::definition::{RuleDefinition, RuleOrigin};
use crate::text::diagnostic::{Diagnostic, ErrorKind};
use crate::text::frontmatter;
use crate::text::source::Source;
use engine::rules::BranchClause;

#[derive(Debug, Clone, PartialEq)]
pub struct RuleInForce {
    pub definition: RuleDefinition,
    pub reason: InForceReason,
}

/// The reason why a rule is in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InForceReason {
    /// A Markdown rule of its tier.
    RuleFile,
    /// Named or defined in a `rules` list. The tier is the farthest one whose configuration has the rule in a list.
    Named(Tier),
    Locked,
}

/// Collects the rules in force, tier by tier.
#[derive(Debug, Default)]
pub struct InForceBuilder {
    rules: BTreeMap<String, RuleInForce>,
    /// Rules that the user's own policy put in force. A project can replace them only with trust.
    chosen_by_user: BTreeSet<String>,
    pending: Vec<PendingChange>,
    /// The project's `variables`, `observers` and `triggers` as written: the `when` of a rule that approves calls may
    /// depend on them.
    variables: String,
    observers: String,
    triggers: String,
    pub protected_branches: Vec<String>,
    pub problems: Vec<Diagnostic>,
}

/// A rule or setting of the project that takes effect only once a person has trusted it.
#[derive(Debug)]
struct PendingChange {
    change: Change,
    effect: &'static str,
    source: Source,
    /// The part of the file that needs trust.
    part: Range<usize>,
    span: Option<Range<usize>>,
}

#[derive(Debug)]
enum Change {
    Rule(Box<RuleDefinition>, InForceReason),
    Setting(WeakeningSetting),
}

pub struct RulesInForce {
    /// Rules in byte order of their ids.
    pub rules: Vec<RuleInForce>,
    /// Everything that needs a person's trust, as one string; empty if nothing does.
    pub needs_trust: String,
    /// Rules that are left out until a person trusts them.
    pub untrusted: Vec<RuleDefinition>,
    pub problems: Vec<Diagnostic>,
}

impl InForceBuilder {
    /// Adds a rule that nothing can replace or switch off.
    pub fn lock(&mut self, definition: RuleDefinition) {
        self.rules.insert(definition.rule.id.clone(), RuleInForce { definition, reason: InForceReason::Locked });
    }

    /// Adds the project's settings that need trust.
    pub fn add_settings(&mut self, file: &ConfigFile, source: &Source) {
        self.variables.clone_from(&file.variables);
        self.observers.clone_from(&file.observers);
        self.triggers.clone_from(&file.triggers_text);
        for UntrustedSetting { setting, key, text } in &file.untrusted_settings {
            self.pending.push(PendingChange {
                effect: setting.effect(),
                change: Change::Setting(setting.clone()),
                source: source.clone(),
                part: text.clone(),
                span: Some(key.clone()),
            });
        }
    }

    /// Call this after the user's tier: from now on, replacing a rule in force needs trust.
    pub fn finish_user_tier(&mut self) {
        self.chosen_by_user = self.rules.keys().cloned().collect();
    }

    /// Adds a rule that a list of this tier names. A rule of the same tier replaces a farther one; a farther rule does
    /// not replace a nearer one.
    pub fn add_named(&mut self, definition: RuleDefinition, reason: InForceReason, tier: Tier) {
        let known = self.rules.get(&definition.rule.id);
        if known.is_some_and(|known| known.definition.is_same_text(&definition)) {
            return;
        }
        if definition.owner == tier {
            self.add(definition, reason);
        } else {
            self.rules.entry(definition.rule.id.clone()).or_insert(RuleInForce { definition, reason });
        }
    }

    pub fn add(&mut self, definition: RuleDefinition, reason: InForceReason) {
        let rule = &definition.rule;
        if let Some(farther) = self.rules.get(&rule.id).filter(|farther| farther.definition.rule.locked) {
            let tier = farther.definition.owner.name();
            let message = format!("`{}` is locked in the {tier} tier and cannot be replaced", rule.id);
            let start = definition.text.start;
            let span = (definition.origin != RuleOrigin::Markdown).then_some(start..start);
            self.problems.push(
                Diagnostic::error(ErrorKind::LockedRule, message, &definition.source, span)
                    .help("rename this rule")
                    .of_rule(&rule.id),
            );
            return;
        }
        let is_of_project = definition.owner == Tier::Project;
        let effect = match self.chosen_by_user.contains(&rule.id) {
            _ if !is_of_project => None,
            // The last good version of a broken file never replaces a rule of the user.
            true if definition.is_last_good => return,
            false if definition.is_last_good => None,
            true if definition.enabled => Some("replaces a rule that the user chose"),
            true => Some("switches off a rule that the user chose"),
            false if definition.enabled && rule.action == Level::Allow => Some("approves calls without asking"),
            false if definition.enabled && rule.runs_command() => Some("runs a command"),
            false => None,
        };
        let Some(effect) = effect else {
            self.apply(definition, reason);
            return;
        };
        let part = frontmatter::split(&definition.source).ok().map(|parts| parts.yaml);
        let part =
            part.filter(|_| definition.origin == RuleOrigin::Markdown).unwrap_or_else(|| definition.text.clone());
        let start = definition.text.start;
        let span = (definition.origin != RuleOrigin::Markdown).then_some(start..start);
        let source = definition.source.clone();
        self.pending.push(PendingChange {
            change: Change::Rule(Box::new(definition), reason),
            effect,
            source,
            part,
            span,
        });
    }

    fn apply(&mut self, definition: RuleDefinition, reason: InForceReason) {
        if definition.enabled {
            self.rules.insert(definition.rule.id.clone(), RuleInForce { definition, reason });
        } else {
            self.rules.remove(&definition.rule.id);
        }
    }

    /// Applies the pending changes if they are trusted, and reports them otherwise.
    pub fn finish(mut self, config: &mut Config, trusted: impl Fn(&str) -> bool) -> RulesInForce {
        let needs_trust = self.needs_trust();
        let accepted = self.pending.is_empty() || trusted(&needs_trust);
        let mut untrusted = Vec::new();
        for PendingChange { change, effect, source, span, part } in std::mem::take(&mut self.pending) {
            match change {
                Change::Rule(definition, reason) if accepted => self.apply(*definition, reason),
                Change::Setting(setting) if accepted => config.apply(setting),
                Change::Rule(definition, _) => untrusted.push(*definition),
                Change::Setting(_) => {}
            }
            if !accepted {
                let message = format!("ignored until a person trusts it: {effect}");
                self.problems.push(
                    Diagnostic::warning(ErrorKind::Untrusted, message, &source, span)
                        .with_part(part)
                        .help("read it, then run `linchpin trust`"),
                );
            }
        }
        if !config.enabled {
            self.rules.retain(|_, rule| rule.reason == InForceReason::Locked);
            config.triggers.clear();
        }
        for RuleInForce { definition, .. } in self.rules.values_mut() {
            definition.set_default_max_holds(config.max_holds(definition.owner));
        }
        RulesInForce { rules: self.rules.into_values().collect(), needs_trust, untrusted, problems: self.problems }
    }

    /// Everything that needs trust, as unambiguous JSON. If a rule depends on other parts of the project's policy, such
    /// as its variables, those parts are included.
    fn needs_trust(&self) -> String {
        if self.pending.is_empty() {
            return String::new();
        }
        let text =
            |pending: &PendingChange| pending.source.text.get(pending.part.clone()).unwrap_or_default().to_owned();
        let mut parts: Vec<[String; 2]> =
            self.pending.iter().map(|pending| [pending.source.name.clone(), text(pending)]).collect();
        let has_condition =
            |pending: &PendingChange| matches!(&pending.change, Change::Rule(rule, _) if rule.rule.when.is_some());
        if self.pending.iter().any(has_condition) {
            parts.push(["variables".to_owned(), self.variables.clone()]);
            parts.push(["observers".to_owned(), self.observers.clone()]);
            if !self.triggers.is_empty() {
                parts.push(["triggers".to_owned(), self.triggers.clone()]);
            }
        }
        if self.pending.iter().any(|pending| text(pending).contains(BranchClause::PROTECTED)) {
            parts.push(["protected branches".to_owned(), self.protected_branches.join(" ")]);
        }
        serde_json::to_string(&parts).unwrap_or_default()
    }
}
