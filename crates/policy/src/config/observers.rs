//! Reads the observers of a configuration.

use std::collections::BTreeSet;

use engine::expr::Scope;
use engine::observers::{ExternalBehavior, Observer, ObserverKind};
use engine::rules::Tier;

use super::{Config, ConfigFile, SettingNeedingTrust, SpannedSetting};
use crate::observers::{self, SpannedObserver, UncheckedExpression};
use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::text::fields::Fields;

impl Config {
    /// Checks the expressions of observers, after all names were declared, and removes observers with errors.
    pub fn check_observers(&mut self, scope: &Scope) -> Vec<Diagnostic> {
        self.variables.declared_by_user.clear();
        let mut problems = Vec::new();
        for unchecked in std::mem::take(&mut self.unchecked_expressions) {
            let expression_problems = unchecked.problems(scope);
            if !expression_problems.is_empty() {
                self.observers
                    .retain(|observer| observer.name != unchecked.observer || observer.tier != unchecked.tier);
            }
            problems.extend(expression_problems);
        }
        problems
    }

    pub(super) fn take_observers(&mut self, fields: &mut Fields, tier: Tier, file: &mut ConfigFile) {
        let key = fields.key_span("observers").unwrap_or_default();
        let text = fields.source().entry_span(key.start, fields.end_of("observers"));
        let Some(node) = fields.take("observers") else { return };
        file.observers_text.push_str(fields.source().text.get(text.clone()).unwrap_or_default());
        let mut parsed = observers::read(node, fields.source(), tier);
        fields.problems.append(&mut parsed.problems);
        for SpannedObserver { observer, span } in parsed.observers {
            if self.observers.iter().any(|other| other.tier == tier && other.name == observer.name) {
                let message = format!("duplicate observer name `{}`", observer.name);
                let problem = Diagnostic::error(DiagnosticKind::InvalidValue, message, fields.source(), Some(span));
                fields.problems.push(problem.help("change the `name` of one of them"));
                continue;
            }
            if let Some(function) = self.condition_in_use(&observer) {
                let message = format!("duplicate condition `{function}` in two behaviors");
                fields.refuse(DiagnosticKind::InvalidValue, message, span);
                continue;
            }
            if tier == Tier::Project && self.users_observers().any(|other| other.kind == observer.kind) {
                // The user's policy has the same observer.
                continue;
            }
            match self.observer_conflict(&observer) {
                Some(why) => fields.problems.push(
                    Diagnostic::warning(DiagnosticKind::Overruled, why, fields.source(), Some(span))
                        .help("set a variable with another name"),
                ),
                None if tier == Tier::Project && observer.is_external() => {
                    let setting = SettingNeedingTrust::External(Box::new(observer));
                    file.settings_needing_trust.push(SpannedSetting { setting, key_span: span, span: text.clone() });
                }
                None => self.observers.push(observer),
            }
        }
        let observers = &self.observers;
        let is_in_force = |unchecked: &UncheckedExpression| {
            observers.iter().any(|other| other.tier == unchecked.tier && other.name == unchecked.observer)
        };
        self.unchecked_expressions.extend(parsed.unchecked.into_iter().filter(is_in_force));
    }

    fn condition_in_use(&self, observer: &Observer) -> Option<String> {
        let functions = |observer: &Observer| match &observer.kind {
            ObserverKind::External(external) => external
                .conditions
                .keys()
                .map(|condition| ExternalBehavior::function(&observer.name, condition))
                .collect(),
            _ => Vec::new(),
        };
        let functions_in_use: Vec<String> = self.observers.iter().flat_map(functions).collect();
        functions(observer).into_iter().find(|function| functions_in_use.contains(function))
    }

    /// The variables that the user's policy declares, and those that its observers set. Call this before
    /// [`Self::check_observers`], which clears the declared ones.
    pub fn users_variables(&self) -> BTreeSet<String> {
        let set_by_observers = self.users_observers().flat_map(|observer| observer.variables()).map(str::to_owned);
        self.variables.declared_by_user.iter().cloned().chain(set_by_observers).collect()
    }

    pub(super) fn users_observers(&self) -> impl Iterator<Item = &Observer> {
        self.observers.iter().filter(|observer| observer.tier == Tier::User)
    }

    /// A message if a project's observer would set a variable of the user's policy, on which the user's rules may
    /// depend. Such an observer is left out.
    fn observer_conflict(&self, observer: &Observer) -> Option<String> {
        let names = if observer.tier == Tier::Project { observer.variables() } else { Vec::new() };
        names.into_iter().find_map(|variable| {
            let setter = self.users_observers().find(|other| other.variables().contains(&variable));
            let setter_or_declarer =
                setter.map(|other| format!("the user's observer `{}` sets", other.name)).or_else(|| {
                    self.variables
                        .declared_by_user
                        .contains(variable)
                        .then(|| "the user's configuration declares".to_owned())
                })?;
            Some(format!("observer `{}` is ignored: it sets `{variable}`, which {setter_or_declarer}", observer.name))
        })
    }
}
