//! Switches rules on and off: a Markdown rule in its own file, other rules in the configuration that names them.

use engine::rules::Tier;

use super::document::Document;
use super::editor::{EditOutcome, Editor, FileEdit, RuleLocation, Strictness};
use super::refusal::EditRefusal;
use crate::text::diagnostic::DiagnosticKind;
use crate::text::scalar::Scalar;

/// The keys of the configuration that list rule names.
pub(super) const NAME_LISTS: [&str; 2] = ["rules", "check_rules"];

impl Editor {
    /// Switches a rule on, unless it already is.
    pub fn enable(&self, id: &str) -> Result<EditOutcome, EditRefusal> {
        if self.locked_elsewhere(id).is_some() {
            return Ok(EditOutcome::default());
        }
        let change = match self.locate(id)? {
            RuleLocation::Markdown(path) => {
                // Rules are on by default, so the key is removed: switching off and on again restores the original
                // text.
                let is_off = |rule: &Document| rule.boolean("enabled") == Some(false);
                self.edit_markdown(path, |rule| is_off(rule).then(|| rule.remove(&[], "enabled")))?
            }
            RuleLocation::Bundled(_) | RuleLocation::Library(_) => {
                // In DeepWork's syntax `rules` has settings, so the names go to `check_rules`.
                let [rules, check_rules] = NAME_LISTS;
                let list = |config: &Document| if config.is_mapping(rules) { check_rules } else { rules };
                self.edit_config(|config| (!is_named(config, id)).then(|| config.add_item(list(config), id)))?
            }
        };
        change.map_or_else(|| Ok(EditOutcome::default()), |change| self.apply(vec![change], Strictness::NoNewErrors))
    }

    /// Switches a rule off, unless it already is.
    pub fn disable(&self, id: &str) -> Result<EditOutcome, EditRefusal> {
        if let Some(tier) = self.locked_elsewhere(id) {
            return Err(locked_refusal(id, tier));
        }
        let change = match self.locate(id)? {
            RuleLocation::Markdown(path) => {
                let is_on = |rule: &Document| rule.boolean("enabled") != Some(false);
                self.edit_markdown(path, |rule| is_on(rule).then(|| rule.set(&[], "enabled", &Scalar::Bool(false))))?
            }
            RuleLocation::Bundled(_) | RuleLocation::Library(_) => {
                let change = self.edit_config(|config| is_named(config, id).then(|| remove_name(config, id)))?;
                if change.is_none() {
                    self.refuse_if_named_elsewhere(id)?;
                }
                change
            }
        };
        change.map_or_else(|| Ok(EditOutcome::default()), |change| self.apply(vec![change], Strictness::NoNewErrors))
    }

    /// The tier in which the rule is locked, if that is another tier. A change in this tier would then have no effect.
    fn locked_elsewhere(&self, id: &str) -> Option<Tier> {
        let rules = self.loaded_before.rules.iter().map(|in_force| &in_force.definition);
        let mut locked = rules.filter(|definition| definition.rule.id == id && definition.rule.locked);
        locked.next().map(|definition| definition.file_tier).filter(|tier| *tier != self.folder.tier)
    }

    fn refuse_if_named_elsewhere(&self, id: &str) -> Result<(), EditRefusal> {
        for other in self.other_tiers() {
            let path = other.folder.config();
            let config = Document::of_yaml(&other.folder.display_name(&path), &other.read(&path)?.unwrap_or_default())?;
            if is_named(&config, id) {
                let message = format!("`{id}` is in force because the {} tier names it", self.other_tier_name());
                let help = if self.folder.tier == Tier::User {
                    "run the command without `--user`"
                } else {
                    "run the command with `--user`"
                };
                return Err(EditRefusal::new(DiagnosticKind::RuleInUse, message).help(help));
            }
        }
        Ok(())
    }

    /// Edits a Markdown rule. `edit` returns the new text, or `None` to leave the file unchanged.
    fn edit_markdown(
        &self,
        path: std::path::PathBuf,
        edit: impl FnOnce(&Document) -> Option<Result<String, EditRefusal>>,
    ) -> Result<Option<FileEdit>, EditRefusal> {
        let text = self.read(&path)?.unwrap_or_default();
        let rule = Document::of_rule(&self.folder.display_name(&path), &text)?;
        let after = edit(&rule).transpose()?;
        Ok(after.map(|after| self.file_edit(path, Some(text), Some(after))))
    }

    /// Edits the configuration. `edit` returns the new text, or `None` to leave the file unchanged.
    fn edit_config(
        &self,
        edit: impl FnOnce(&Document) -> Option<Result<String, EditRefusal>>,
    ) -> Result<Option<FileEdit>, EditRefusal> {
        let path = self.folder.config();
        let before = self.read(&path)?;
        let config = Document::of_yaml(&self.folder.display_name(&path), before.as_deref().unwrap_or_default())?;
        let after = edit(&config).transpose()?;
        Ok(after.map(|after| self.file_edit(path, before, Some(after))))
    }
}

fn is_named(config: &Document, id: &str) -> bool {
    NAME_LISTS.iter().any(|list| config.has_item(list, id))
}

fn remove_name(config: &Document, id: &str) -> Result<String, EditRefusal> {
    let mut text = config.text().to_owned();
    for list in NAME_LISTS {
        let config = config.with_text(&text)?;
        if config.has_item(list, id) {
            text = config.remove_item(list, id)?;
        }
    }
    Ok(text)
}

fn locked_refusal(id: &str, tier: Tier) -> EditRefusal {
    if tier == Tier::Bundled {
        let message = format!("`{id}` is locked and cannot be switched off");
        return EditRefusal::new(DiagnosticKind::LockedRule, message)
            .help("it protects Linchpin itself from being switched off");
    }
    let message = format!("`{id}` is locked in the {} tier and cannot be switched off in a project", tier.name());
    EditRefusal::new(DiagnosticKind::LockedRule, message)
        .help(format!("to switch it off in every project, run `linchpin rules disable {id} --user`"))
}
