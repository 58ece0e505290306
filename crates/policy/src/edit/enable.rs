//! A rule switched on or off: in its own file if it is a Markdown rule, in the configuration if it is named there.

use engine::rules::Tier;

use super::document::Document;
use super::editor::{Changed, Demand, Editor, FileEdit, Place};
use super::refusal::EditRefusal;
use crate::text::diagnostic::ErrorKind;
use crate::text::scalar::Scalar;

/// The configuration's lists of names.
pub(super) const NAMED: [&str; 2] = ["rules", "check_rules"];

impl Editor {
    /// Switches a rule on. Nothing changes where it is on.
    pub fn enable(&self, id: &str) -> Result<Changed, EditRefusal> {
        if self.locked_elsewhere(id).is_some() {
            return Ok(Changed::default());
        }
        let change = match self.place(id)? {
            Place::Markdown(path) => {
                // Rules are on unless they say otherwise, so the word goes: off and on again leaves no trace.
                let is_off = |rule: &Document| rule.flag("enabled") == Some(false);
                self.markdown(path, |rule| is_off(rule).then(|| rule.remove(&[], "enabled")))?
            }
            Place::Bundled(_) | Place::Library(_) => {
                // DeepWork has settings under `rules`, and the names then stand beside it.
                let [rules, check_rules] = NAMED;
                let list = |config: &Document| if config.is_mapping(rules) { check_rules } else { rules };
                self.config(|config| (!is_named(config, id)).then(|| config.add_item(list(config), id)))?
            }
        };
        change.map_or_else(|| Ok(Changed::default()), |change| self.apply(vec![change], Demand::NoWorse))
    }

    /// Switches a rule off. Nothing changes where it is off.
    pub fn disable(&self, id: &str) -> Result<Changed, EditRefusal> {
        if let Some(tier) = self.locked_elsewhere(id) {
            return Err(locked(id, tier));
        }
        let change = match self.place(id)? {
            Place::Markdown(path) => {
                let is_on = |rule: &Document| rule.flag("enabled") != Some(false);
                self.markdown(path, |rule| is_on(rule).then(|| rule.set(&[], "enabled", &Scalar::Bool(false))))?
            }
            Place::Bundled(_) | Place::Library(_) => {
                let change = self.config(|config| is_named(config, id).then(|| without_name(config, id)))?;
                if change.is_none() {
                    self.refuse_if_named_elsewhere(id)?;
                }
                change
            }
        };
        change.map_or_else(|| Ok(Changed::default()), |change| self.apply(vec![change], Demand::NoWorse))
    }

    /// The tier that has locked the rule, where it is not the one that is changed: nothing that is written here counts.
    fn locked_elsewhere(&self, id: &str) -> Option<Tier> {
        let rules = self.before.rules.iter().map(|in_force| &in_force.definition);
        let mut locked = rules.filter(|definition| definition.rule.id == id && definition.rule.locked);
        locked.next().map(|definition| definition.owner).filter(|owner| *owner != self.folder.tier)
    }

    fn refuse_if_named_elsewhere(&self, id: &str) -> Result<(), EditRefusal> {
        for other in self.other_tiers() {
            let path = other.folder.config();
            let config = Document::of_yaml(&other.folder.shown(&path), &other.read(&path)?.unwrap_or_default())?;
            if is_named(&config, id) {
                let message = format!("`{id}` is in force because the {} tier names it", self.other_tier_name());
                let help = if self.folder.tier == Tier::User {
                    "leave `--user` out"
                } else {
                    "pass `--user` to switch it off there"
                };
                return Err(EditRefusal::new(ErrorKind::RuleInUse, message).help(help));
            }
        }
        Ok(())
    }

    /// `edit` gives the new text, or nothing where nothing is to be done.
    fn markdown(
        &self,
        path: std::path::PathBuf,
        edit: impl FnOnce(&Document) -> Option<Result<String, EditRefusal>>,
    ) -> Result<Option<FileEdit>, EditRefusal> {
        let text = self.read(&path)?.unwrap_or_default();
        let rule = Document::of_rule(&self.folder.shown(&path), &text)?;
        let after = edit(&rule).transpose()?;
        Ok(after.map(|after| self.change(path, Some(text), Some(after))))
    }

    fn config(
        &self,
        edit: impl FnOnce(&Document) -> Option<Result<String, EditRefusal>>,
    ) -> Result<Option<FileEdit>, EditRefusal> {
        let path = self.folder.config();
        let before = self.read(&path)?;
        let config = Document::of_yaml(&self.folder.shown(&path), before.as_deref().unwrap_or_default())?;
        let after = edit(&config).transpose()?;
        Ok(after.map(|after| self.change(path, before, Some(after))))
    }
}

fn is_named(config: &Document, id: &str) -> bool {
    NAMED.iter().any(|list| config.has_item(list, id))
}

fn without_name(config: &Document, id: &str) -> Result<String, EditRefusal> {
    let mut text = config.text().to_owned();
    for list in NAMED {
        let config = config.with_text(&text)?;
        if config.has_item(list, id) {
            text = config.remove_item(list, id)?;
        }
    }
    Ok(text)
}

fn locked(id: &str, tier: Tier) -> EditRefusal {
    if tier == Tier::Bundled {
        let message = format!("`{id}` is locked: it is in force wherever there is a policy");
        return EditRefusal::new(ErrorKind::LockedRule, message)
            .help("it keeps the guard itself from being switched off");
    }
    let message = format!("`{id}` is locked in the {} tier: no project switches it off", tier.name());
    EditRefusal::new(ErrorKind::LockedRule, message)
        .help(format!("`linchpin rules disable {id} --user` switches it off in every project"))
}
