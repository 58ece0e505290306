//! The observers of a configuration: whose they are, and what waits for acceptance.

use std::collections::BTreeSet;

use engine::expr::Scope;
use engine::observers::{ExternalBehavior, Observer, ObserverKind};
use engine::rules::Tier;

use super::{Config, ConfigFile, Setting, Unaccepted};
use crate::observers::{self, Placed, Unchecked};
use crate::text::diagnostic::{Diagnostic, ErrorKind};
use crate::text::fields::Fields;

impl Config {
    /// Checks the expressions of observers, now that all that they may name is known. An observer that cannot be
    /// evaluated is left out.
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
        for Placed { observer, span } in reading.observers {
            if self.observers.iter().any(|known| known.tier == tier && known.name == observer.name) {
                let message = format!("two observers are named `{}`", observer.name);
                let problem = Diagnostic::error(ErrorKind::InvalidValue, message, fields.source(), Some(span));
                fields.problems.push(problem.help("give one of them another `name`"));
                continue;
            }
            if let Some(function) = self.condition_in_use(&observer) {
                let message = format!("two behaviors have the condition `{function}`");
                fields.refuse(ErrorKind::InvalidValue, message, span);
                continue;
            }
            if tier == Tier::Project && self.users_observers().any(|known| known.kind == observer.kind) {
                // The very same: it runs already.
                continue;
            }
            match self.conflict_with_user(&observer) {
                Some(why) => fields.problems.push(
                    Diagnostic::warning(ErrorKind::Overruled, why, fields.source(), Some(span))
                        .help("let it set a variable of another name"),
                ),
                None if tier == Tier::Project && observer.is_external() => {
                    let setting = Setting::External(Box::new(observer));
                    file.settings.push(Unaccepted { setting, key: span, text: text.clone() });
                }
                None => self.observers.push(observer),
            }
        }
        let kept = &self.observers;
        let is_kept = |unchecked: &Unchecked| {
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

    /// What the user declared, and what the user's observers set. Known until observers are checked.
    pub fn users_variables(&self) -> BTreeSet<String> {
        let set = self.users_observers().flat_map(|observer| observer.variables()).map(str::to_owned);
        self.variables.of_user.iter().cloned().chain(set).collect()
    }

    pub(super) fn users_observers(&self) -> impl Iterator<Item = &Observer> {
        self.observers.iter().filter(|known| known.tier == Tier::User)
    }

    /// What the user's observers set and the user declared is the user's: their rules may depend on it. Why an observer of
    /// a project that would set the same is left out.
    fn conflict_with_user(&self, observer: &Observer) -> Option<String> {
        let names = if observer.tier == Tier::Project { observer.variables() } else { Vec::new() };
        names.into_iter().find_map(|variable| {
            let setter = self.users_observers().find(|known| known.variables().contains(&variable));
            let whose = setter.map(|known| format!("the user's own observer `{}` sets", known.name)).or_else(|| {
                self.variables.of_user.contains(variable).then(|| "the user's own configuration declares".to_owned())
            })?;
            Some(format!("observer `{}` sets `{variable}`, which {whose}; it is left out", observer.name))
        })
    }
}
