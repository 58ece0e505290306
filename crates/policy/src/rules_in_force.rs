//! Determines which of the defined rules are in force, and why.
//!
//! Tiers are applied in order: bundled, user, project. A rule of a later tier replaces the rule of an earlier one with
//! the same id, unless the earlier rule is locked. Project rules and settings that would make the policy milder or
//! start a program take effect only once a person has trusted them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use engine::Level;
use engine::rules::{BranchClause, Tier};

use crate::config::{Config, ConfigFile, SettingNeedingTrust, SpannedSetting};
use crate::rule::definition::{RuleDefinition, RuleOrigin};
use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::text::frontmatter;
use crate::text::source::Source;

/// Part of the warning about an untrusted part: `this rule IGNORED_UNTIL_TRUSTED approves calls`.
pub const IGNORED_UNTIL_TRUSTED: &str = "is ignored until a person runs `linchpin trust`, because it";

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
    /// Named or defined in a `rules` list. If several tiers list the rule, this is the earliest of them.
    Named(Tier),
    Locked,
}

/// Collects the rules in force, tier by tier.
#[derive(Debug, Default)]
pub struct InForceBuilder {
    rules: BTreeMap<String, RuleInForce>,
    /// Ids of the rules that are in force after the user's tier. A project can replace these rules only with trust.
    in_force_for_user: BTreeSet<String>,
    pending: Vec<PendingChange>,
    /// The project's `variables`, `observers` and `triggers` as written: the `when` of a rule that approves calls may
    /// depend on them.
    variables_text: String,
    observers_text: String,
    triggers_text: String,
    pub protected_branches: Vec<String>,
    pub problems: Vec<Diagnostic>,
}

/// A rule or setting of the project that takes effect only once a person has trusted it.
#[derive(Debug)]
struct PendingChange {
    kind: PendingKind,
    effect: &'static str,
    source: Source,
    /// Everything in the file that needs trust.
    full_span: Range<usize>,
    span: Option<Range<usize>>,
}

#[derive(Debug)]
enum PendingKind {
    Rule(Box<RuleDefinition>, InForceReason),
    Setting(SettingNeedingTrust),
}

pub struct RulesInForce {
    /// Rules in byte order of their ids.
    pub rules: Vec<RuleInForce>,
    /// Everything that needs a person's trust, as one string; empty if nothing does.
    pub text_to_trust: String,
    /// Rules that are left out until a person trusts them.
    pub untrusted_rules: Vec<RuleDefinition>,
    pub problems: Vec<Diagnostic>,
}

impl InForceBuilder {
    /// Adds a rule that nothing can replace or switch off.
    pub fn lock(&mut self, definition: RuleDefinition) {
        self.rules.insert(definition.rule.id.clone(), RuleInForce { definition, reason: InForceReason::Locked });
    }

    /// Adds the project's settings that need trust.
    pub fn add_settings(&mut self, file: &ConfigFile, source: &Source) {
        self.variables_text.clone_from(&file.variables_text);
        self.observers_text.clone_from(&file.observers_text);
        self.triggers_text.clone_from(&file.triggers_text);
        for SpannedSetting { setting, key_span, span } in &file.settings_needing_trust {
            self.pending.push(PendingChange {
                effect: setting.effect(),
                kind: PendingKind::Setting(setting.clone()),
                source: source.clone(),
                full_span: span.clone(),
                span: Some(key_span.clone()),
            });
        }
    }

    /// Ends the user's tier: from now on, replacing a rule in force needs trust.
    pub fn finish_user_tier(&mut self) {
        self.in_force_for_user = self.rules.keys().cloned().collect();
    }

    /// Adds a rule that a list of this tier names. Only a rule that this tier defines itself replaces a rule in force.
    pub fn add_named(&mut self, definition: RuleDefinition, reason: InForceReason, tier: Tier) {
        let existing = self.rules.get(&definition.rule.id);
        if existing.is_some_and(|existing| existing.definition.is_same_definition(&definition)) {
            return;
        }
        if definition.file_tier == tier {
            self.add(definition, reason);
        } else {
            self.rules.entry(definition.rule.id.clone()).or_insert(RuleInForce { definition, reason });
        }
    }

    pub fn add(&mut self, definition: RuleDefinition, reason: InForceReason) {
        let rule = &definition.rule;
        if let Some(earlier) = self.rules.get(&rule.id).filter(|earlier| earlier.definition.rule.locked) {
            let tier = earlier.definition.file_tier.name();
            let message = format!("`{}` is locked in the {tier} tier and cannot be replaced", rule.id);
            let start = definition.span.start;
            let span = (definition.origin != RuleOrigin::Markdown).then_some(start..start);
            self.problems.push(
                Diagnostic::error(DiagnosticKind::LockedRule, message, &definition.source, span)
                    .help("rename this rule")
                    .of_rule(&rule.id),
            );
            return;
        }
        let is_of_project = definition.file_tier == Tier::Project;
        let effect = match self.in_force_for_user.contains(&rule.id) {
            _ if !is_of_project => None,
            // The last good version of a broken file was in force before, so it needs no trust now. But it never replaces
            // a rule of the user.
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
        let frontmatter = frontmatter::split(&definition.source).ok().map(|parts| parts.yaml);
        let full_span = frontmatter
            .filter(|_| definition.origin == RuleOrigin::Markdown)
            .unwrap_or_else(|| definition.span.clone());
        let start = definition.span.start;
        let span = (definition.origin != RuleOrigin::Markdown).then_some(start..start);
        let source = definition.source.clone();
        self.pending.push(PendingChange {
            kind: PendingKind::Rule(Box::new(definition), reason),
            effect,
            source,
            full_span,
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
        let text_to_trust = self.text_to_trust();
        let is_trusted = self.pending.is_empty() || trusted(&text_to_trust);
        let mut untrusted_rules = Vec::new();
        for PendingChange { kind, effect, source, span, full_span } in std::mem::take(&mut self.pending) {
            let noun = if matches!(kind, PendingKind::Rule(..)) { "rule" } else { "setting" };
            match kind {
                PendingKind::Rule(definition, reason) if is_trusted => self.apply(*definition, reason),
                PendingKind::Setting(setting) if is_trusted => config.apply(setting),
                PendingKind::Rule(definition, _) => untrusted_rules.push(*definition),
                PendingKind::Setting(_) => {}
            }
            if !is_trusted {
                let message = format!("this {noun} {IGNORED_UNTIL_TRUSTED} {effect}");
                self.problems.push(
                    Diagnostic::warning(DiagnosticKind::Untrusted, message, &source, span)
                        .with_full_span(full_span)
                        .help("read it, then run `linchpin trust`"),
                );
            }
        }
        if !config.enabled {
            self.rules.retain(|_, rule| rule.reason == InForceReason::Locked);
            config.triggers.clear();
        }
        for RuleInForce { definition, .. } in self.rules.values_mut() {
            definition.set_default_max_holds(config.max_holds(definition.file_tier));
        }
        RulesInForce {
            rules: self.rules.into_values().collect(),
            text_to_trust,
            untrusted_rules,
            problems: self.problems,
        }
    }

    /// Everything that needs trust, as JSON, which is unambiguous. Includes other parts of the project's policy that
    /// the rules depend on, such as its variables.
    fn text_to_trust(&self) -> String {
        if self.pending.is_empty() {
            return String::new();
        }
        let text =
            |pending: &PendingChange| pending.source.text.get(pending.full_span.clone()).unwrap_or_default().to_owned();
        let mut parts: Vec<[String; 2]> =
            self.pending.iter().map(|pending| [pending.source.name.clone(), text(pending)]).collect();
        let has_condition =
            |pending: &PendingChange| matches!(&pending.kind, PendingKind::Rule(rule, _) if rule.rule.when.is_some());
        if self.pending.iter().any(has_condition) {
            parts.push(["variables".to_owned(), self.variables_text.clone()]);
            parts.push(["observers".to_owned(), self.observers_text.clone()]);
            if !self.triggers_text.is_empty() {
                parts.push(["triggers".to_owned(), self.triggers_text.clone()]);
            }
        }
        if self.pending.iter().any(|pending| text(pending).contains(BranchClause::PROTECTED)) {
            parts.push(["protected branches".to_owned(), self.protected_branches.join(" ")]);
        }
        serde_json::to_string(&parts).unwrap_or_default()
    }
}
