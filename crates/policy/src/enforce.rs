//! Which of the rules that are written down are in force, and why.
//!
//! Tiers are laid over each other from the farthest to the nearest. A nearer rule takes the place of a farther one of
//! the same name, a locked one never; and what a project would take away from the user's own guard, or start, waits
//! until a person has accepted it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use engine::Level;
use engine::rules::Tier;

use crate::config::{Config, ConfigFile, Setting, Unaccepted};
use crate::rule::definition::{Definition, Form};
use crate::text::diagnostic::{Diagnostic, ErrorKind};
use crate::text::frontmatter;
use crate::text::source::Source;
use engine::rules::BranchClause;

#[derive(Debug, Clone, PartialEq)]
pub struct InForce {
    pub definition: Definition,
    pub reason: Reason,
}

/// Why a rule is in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// A Markdown rule of its tier.
    RuleFile,
    /// A `rules` list names it, or holds it. The tier is that of the farthest configuration that does.
    Named(Tier),
    Locked,
}

/// What is in force so far.
#[derive(Debug, Default)]
pub struct Enforcement {
    rules: BTreeMap<String, InForce>,
    /// The rules that a user's own policy put in force: a project does not replace them unasked.
    chosen_by_user: BTreeSet<String>,
    pending: Vec<Weakening>,
    /// Of the project: what the `when` of a rule that approves may depend on.
    variables: String,
    observers: String,
    triggers: String,
    pub protected_branches: Vec<String>,
    pub problems: Vec<Diagnostic>,
}

/// Something of a project's policy that counts only once a person has accepted it.
#[derive(Debug)]
struct Weakening {
    change: Change,
    effect: &'static str,
    source: Source,
    /// The part of the file that is to be accepted.
    part: Range<usize>,
    span: Option<Range<usize>>,
}

#[derive(Debug)]
enum Change {
    Rule(Box<Definition>, Reason),
    Setting(Setting),
}

/// What came of it.
pub struct Enforced {
    /// In byte order of their ids.
    pub rules: Vec<InForce>,
    /// All that a person has to accept, as one text; empty: nothing.
    pub weakening: String,
    /// The rules that are left out until a person accepts them.
    pub untrusted: Vec<Definition>,
    pub problems: Vec<Diagnostic>,
}

impl Enforcement {
    /// A rule that is in force whatever anybody says.
    pub fn lock(&mut self, definition: Definition) {
        self.rules.insert(definition.rule.id.clone(), InForce { definition, reason: Reason::Locked });
    }

    /// The settings of a project that need a person's acceptance.
    pub fn add_settings(&mut self, file: &ConfigFile, source: &Source) {
        self.variables.clone_from(&file.variables);
        self.observers.clone_from(&file.observers);
        self.triggers.clone_from(&file.triggers_text);
        for Unaccepted { setting, key, text } in &file.settings {
            self.pending.push(Weakening {
                effect: setting.effect(),
                change: Change::Setting(setting.clone()),
                source: source.clone(),
                part: text.clone(),
                span: Some(key.clone()),
            });
        }
    }

    /// Everything in force now is what the user wants.
    pub fn end_of_user_tier(&mut self) {
        self.chosen_by_user = self.rules.keys().cloned().collect();
    }

    /// A rule that a list names: one of the same tier takes the place of a farther one, a farther one does not take
    /// that of a nearer one.
    pub fn choose(&mut self, definition: Definition, reason: Reason, tier: Tier) {
        let known = self.rules.get(&definition.rule.id);
        if known.is_some_and(|known| known.definition.is_same_text(&definition)) {
            return;
        }
        if definition.owner == tier {
            self.add(definition, reason);
        } else {
            self.rules.entry(definition.rule.id.clone()).or_insert(InForce { definition, reason });
        }
    }

    pub fn add(&mut self, definition: Definition, reason: Reason) {
        let rule = &definition.rule;
        if let Some(farther) = self.rules.get(&rule.id).filter(|farther| farther.definition.rule.locked) {
            let tier = farther.definition.owner.name();
            let message = format!("`{}` is locked in the {tier} tier and cannot be replaced", rule.id);
            let start = definition.text.start;
            let span = (definition.form != Form::Markdown).then_some(start..start);
            self.problems.push(
                Diagnostic::error(ErrorKind::LockedRule, message, &definition.source, span)
                    .help("give this rule another name")
                    .of_rule(&rule.id),
            );
            return;
        }
        let is_of_project = definition.owner == Tier::Project;
        let effect = match self.chosen_by_user.contains(&rule.id) {
            _ if !is_of_project => None,
            // What a broken file once said takes nothing from the user.
            true if definition.is_last_good => return,
            false if definition.is_last_good => None,
            true if definition.enabled => Some("takes the place of a rule that the user chose"),
            true => Some("switches off a rule that the user chose"),
            false if definition.enabled && rule.action == Level::Allow => Some("approves calls without asking"),
            false if definition.enabled && rule.runs_command() => Some("runs a command"),
            false => None,
        };
        let Some(effect) = effect else {
            self.put(definition, reason);
            return;
        };
        let part = frontmatter::split(&definition.source).ok().map(|parts| parts.yaml);
        let part = part.filter(|_| definition.form == Form::Markdown).unwrap_or_else(|| definition.text.clone());
        let start = definition.text.start;
        let span = (definition.form != Form::Markdown).then_some(start..start);
        let source = definition.source.clone();
        self.pending.push(Weakening { change: Change::Rule(Box::new(definition), reason), effect, source, part, span });
    }

    fn put(&mut self, definition: Definition, reason: Reason) {
        if definition.enabled {
            self.rules.insert(definition.rule.id.clone(), InForce { definition, reason });
        } else {
            self.rules.remove(&definition.rule.id);
        }
    }

    /// Adds what a person has accepted to the rules and to the configuration, and says what is still to be accepted.
    pub fn finish(mut self, config: &mut Config, trusted: impl Fn(&str) -> bool) -> Enforced {
        let weakening = self.weakening();
        let accepted = self.pending.is_empty() || trusted(&weakening);
        let mut untrusted = Vec::new();
        for Weakening { change, effect, source, span, part } in std::mem::take(&mut self.pending) {
            match change {
                Change::Rule(definition, reason) if accepted => self.put(*definition, reason),
                Change::Setting(setting) if accepted => config.accept(setting),
                Change::Rule(definition, _) => untrusted.push(*definition),
                Change::Setting(_) => {}
            }
            if !accepted {
                let message = format!("{effect}; it is not in force until a person accepts it");
                self.problems.push(
                    Diagnostic::warning(ErrorKind::Untrusted, message, &source, span)
                        .about(part)
                        .help("run `linchpin trust` once you have read it"),
                );
            }
        }
        if !config.enabled {
            self.rules.retain(|_, rule| rule.reason == Reason::Locked);
            config.triggers.clear();
        }
        for InForce { definition, .. } in self.rules.values_mut() {
            definition.complete(config.max_holds(definition.owner));
        }
        Enforced { rules: self.rules.into_values().collect(), weakening, untrusted, problems: self.problems }
    }

    /// All that has to be accepted, as one text that can be read in one way only. What a rule approves may depend on what
    /// else the project says, which is then accepted with it.
    fn weakening(&self) -> String {
        if self.pending.is_empty() {
            return String::new();
        }
        let text = |change: &Weakening| change.source.text.get(change.part.clone()).unwrap_or_default().to_owned();
        let mut parts: Vec<[String; 2]> =
            self.pending.iter().map(|change| [change.source.name.clone(), text(change)]).collect();
        let has_condition =
            |change: &Weakening| matches!(&change.change, Change::Rule(rule, _) if rule.rule.when.is_some());
        if self.pending.iter().any(has_condition) {
            parts.push(["variables".to_owned(), self.variables.clone()]);
            parts.push(["observers".to_owned(), self.observers.clone()]);
            if !self.triggers.is_empty() {
                parts.push(["triggers".to_owned(), self.triggers.clone()]);
            }
        }
        if self.pending.iter().any(|change| text(change).contains(BranchClause::PROTECTED)) {
            parts.push(["protected branches".to_owned(), self.protected_branches.join(" ")]);
        }
        serde_json::to_string(&parts).unwrap_or_default()
    }
}
