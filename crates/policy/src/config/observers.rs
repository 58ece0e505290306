//! Reads the observers of a configuration.

use std::collections::BTreeSet;

use engine::expr::Scope;
use engine::observers::{ExternalBehavior, Observer, ObserverKind};
use engine::rules::Tier;

use super::{Config, ConfigFile, UntrustedSetting, WeakeningSetting};
use crate::observers::{self, SpannedObserver, UncheckedExpression};
use crate::text::diagnostic::{Diagnostic, ErrorKind};
use crate::text::fields::Fields;

impl Config {
    /// Checks the expressions of observers, once all names are known. Observers with errors are left out.
    pub fn check_observers(&mut self, scope: &Scope) -> Vec<Diagnostic> {
        self.variables.of_user.clear();
        let mut problems = Vec::new();
        for unchecked in std::mem::take(&mut self.unchecked) {
            let found = unchecked.problems(scope);
            if !found.is_empty() {
                self.observers.retain(|known| known.name != unchecked.observer || known.tier != unchecked.tier);
            }
            problems.extend(found);
        }
        problems
    }

    pub(super) fn take_observers(&mut self, fields: &mut Fields, tier: Tier, file: &mut ConfigFile) {
        let key = fields.key_span("observers").unwrap_or_default();
        let text = fields.source().extent(key.start, fields.end_of("observers"));
        let Some(node) = fields.take("observers") else { return };
        file.observers.push_str(fields.source().text.get(text.clone()).unwrap_or_default());
        let mut reading = observers::read(node, fields.source(), tier);
        fields.problems.append(&mut reading.problems);
        for SpannedObserver { observer, span } in reading.observers {
            if self.observers.iter().any(|known| known.tier == tier && known.name == observer.name) {
                let message = format!("duplicate observer name `{}`", observer.name);
                let problem = Diagnostic::error(ErrorKind::InvalidValue, message, fields.source(), Some(span));
                fields.problems.push(problem.help("change the `name` of one of them"));
                continue;
            }
            if let Some(function) = self.condition_in_use(&observer) {
                let message = format!("duplicate condition `{function}` in two behaviors");
                fields.refuse(ErrorKind::InvalidValue, message, span);
                continue;
            }
            if tier == Tier::Project && self.users_observers().any(|known| known.kind == observer.kind) {
                // The user's policy has the same observer.
                continue;
            }
            match self.observer_conflict(&observer) {
                Some(why) => fields.problems.push(
                    Diagnostic::warning(ErrorKind::Overruled, why, fields.source(), Some(span))
                        .help("set a variable with another name"),
                ),
                None if tier == Tier::Project && observer.is_external() => {
                    let setting = WeakeningSetting::External(Box::new(observer));
                    file.untrusted_settings.push(UntrustedSetting { setting, key: span, text: text.clone() });
                }
                None => self.observers.push(observer),
            }
        }
        let kept = &self.observers;
        let is_kept = |unchecked: &UncheckedExpression| {
            kept.iter().any(|known| known.tier == unchecked.tier && known.name == unchecked.observer)
        };
        self.unchecked.extend(reading.unchecked.into_iter().filter(is_kept));
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
        let known: Vec<String> = self.observers.iter().flat_map(functions).collect();
        functions(observer).into_iter().find(|function| known.contains(function))
    }

    /// The variables that the user's policy declares, and those that its observers set. Call this before
    /// [`Self::check_observers`], which clears the declared ones.
    pub fn users_variables(&self) -> BTreeSet<String> {
        let set = self.users_observers().flat_map(|observer| observer.variables()).map(str::to_owned);
        self.variables.of_user.iter().cloned().chain(set).collect()
    }

    pub(super) fn users_observers(&self) -> impl Iterator<Item = &Observer> {
        self.observers.iter().filter(|known| known.tier == Tier::User)
    }

    /// A message if a project's observer would set a variable of the user's policy, on which the user's rules may
    /// depend. Such an observer is left out.
    fn observer_conflict(&self, observer: &Observer) -> Option<String> {
        let names = if observer.tier == Tier::Project { observer.variables() } else { Vec::new() };
        names.into_iter().find_map(|variable| {
            let setter = self.users_observers().find(|known| known.variables().contains(&variable));
            let setter_or_declarer =
                setter.map(|known| format!("the user's observer `{}` sets", known.name)).or_else(|| {
                    self.variables.of_user.contains(variable).then(|| "the user's configuration declares".to_owned())
                })?;
            Some(format!("observer `{}` is ignored: it sets `{variable}`, which {setter_or_declarer}", observer.name))
        })
    }
}
