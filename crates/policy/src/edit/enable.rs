//! A rule switched on or off: in its own file if it is a Markdown rule, in the configuration if it is named there.

use engine::rules::Tier;

use super::document::Document;
use super::editor::{Change, Changed, Demand, Editor, Place};
use super::refusal::Refusal;
use super::scalar::Scalar;
use crate::diagnostic::ErrorKind;
use crate::enforce::Reason;

/// The configuration's list of names.
pub(super) const NAMED: &str = "rules";

impl Editor {
    /// Switches a rule on. Nothing changes where it is on.
    pub fn enable(&self, id: &str) -> Result<Changed, Refusal> {
        let change = match self.place(id)? {
            Place::Markdown(path) => {
                // Rules are on unless they say otherwise, so the word goes: off and on again leaves no trace.
                let is_off = |rule: &Document| rule.flag("enabled") == Some(false);
                self.markdown(path, |rule| is_off(rule).then(|| rule.remove(&[], "enabled")))?
            }
            Place::Bundled(bundled) if self.is_locked(bundled.id) => None,
            Place::Bundled(_) | Place::Library(_) => {
                self.config(|config| (!config.has_item(NAMED, id)).then(|| config.add_item(NAMED, id)))?
            }
        };
        change.map_or_else(|| Ok(Changed::default()), |change| self.apply(vec![change], Demand::NoWorse))
    }

    /// Switches a rule off. Nothing changes where it is off.
    pub fn disable(&self, id: &str) -> Result<Changed, Refusal> {
        let change = match self.place(id)? {
            Place::Markdown(path) => {
                let is_on = |rule: &Document| rule.flag("enabled") != Some(false);
                self.markdown(path, |rule| is_on(rule).then(|| rule.set(&[], "enabled", &Scalar::Bool(false))))?
            }
            Place::Bundled(bundled) if self.is_locked(bundled.id) => {
                let message = format!("`{id}` is locked: it is in force wherever there is a policy");
                return Err(Refusal::new(ErrorKind::LockedRule, message)
                    .help("it keeps the guard itself from being switched off"));
            }
            Place::Bundled(_) | Place::Library(_) => {
                let change = self.config(|config| config.has_item(NAMED, id).then(|| config.remove_item(NAMED, id)))?;
                if change.is_none() {
                    self.refuse_if_named_elsewhere(id)?;
                }
                change
            }
        };
        change.map_or_else(|| Ok(Changed::default()), |change| self.apply(vec![change], Demand::NoWorse))
    }

    fn is_locked(&self, id: &str) -> bool {
        self.before.rules.iter().any(|in_force| in_force.definition.rule.id == id && in_force.reason == Reason::Locked)
    }

    fn refuse_if_named_elsewhere(&self, id: &str) -> Result<(), Refusal> {
        for other in self.other_tiers() {
            let path = other.folder.config();
            let config = Document::of_yaml(&other.folder.shown(&path), &other.read(&path)?.unwrap_or_default())?;
            if config.has_item(NAMED, id) {
                let message = format!("`{id}` is in force because the {} tier names it", self.other_tier_name());
                let help = if self.folder.tier == Tier::User {
                    "leave `--user` out"
                } else {
                    "pass `--user` to switch it off there"
                };
                return Err(Refusal::new(ErrorKind::RuleInUse, message).help(help));
            }
        }
        Ok(())
    }

    /// `edit` gives the new text, or nothing where nothing is to be done.
    fn markdown(
        &self,
        path: std::path::PathBuf,
        edit: impl FnOnce(&Document) -> Option<Result<String, Refusal>>,
    ) -> Result<Option<Change>, Refusal> {
        let text = self.read(&path)?.unwrap_or_default();
        let rule = Document::of_rule(&self.folder.shown(&path), &text)?;
        let after = edit(&rule).transpose()?;
        Ok(after.map(|after| self.change(path, Some(text), Some(after))))
    }

    fn config(
        &self,
        edit: impl FnOnce(&Document) -> Option<Result<String, Refusal>>,
    ) -> Result<Option<Change>, Refusal> {
        let path = self.folder.config();
        let before = self.read(&path)?;
        let config = Document::of_yaml(&self.folder.shown(&path), before.as_deref().unwrap_or_default())?;
        let after = edit(&config).transpose()?;
        Ok(after.map(|after| self.change(path, before, Some(after))))
    }
}
