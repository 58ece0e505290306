//! Deletes a rule: its file, or its entry in a library.

use super::document::Document;
use super::editor::{EditOutcome, Editor, RuleLocation, Strictness};
use super::enable::NAME_LISTS;
use super::refusal::EditRefusal;
use crate::bundled::bundled_rules;
use crate::text::diagnostic::DiagnosticKind;

impl Editor {
    pub fn delete(&self, id: &str) -> Result<EditOutcome, EditRefusal> {
        let location = self.locate(id)?;
        if let RuleLocation::Bundled(_) = location {
            let message = format!("`{id}` is a bundled rule and cannot be deleted");
            return Err(EditRefusal::new(DiagnosticKind::InvalidValue, message)
                .help(format!("to switch it off, unless it is locked, run `linchpin rules disable {id}`")));
        }
        self.refuse_if_named(id)?;
        let change = match location {
            RuleLocation::Library(path) => {
                let text = self.read(&path)?.unwrap_or_default();
                let after = Document::of_yaml(&self.folder.display_name(&path), &text)?.remove(&[], id)?;
                self.file_edit(path, Some(text), Some(after))
            }
            RuleLocation::Markdown(path) => {
                let text = self.read(&path)?;
                self.file_edit(path, text, None)
            }
            RuleLocation::Bundled(_) => return Ok(EditOutcome::default()),
        };
        self.apply(vec![change], Strictness::NoNewErrors)
    }

    /// Refuses to delete a rule that a configuration still names, because the configuration would then name an unknown
    /// rule.
    fn refuse_if_named(&self, id: &str) -> Result<(), EditRefusal> {
        let is_bundled = bundled_rules().iter().any(|rule| rule.id == id);
        let others: Vec<Self> = self.other_tiers().collect();
        if is_bundled || others.iter().any(|other| other.has_rule(id)) {
            return Ok(());
        }
        for tier in others.iter().chain([self]) {
            let path = tier.folder.config();
            let name = tier.folder.display_name(&path);
            let config = Document::of_yaml(&name, &tier.read(&path)?.unwrap_or_default())?;
            let message = format!("`{id}` is named here");
            let problem_in = |list: &str| config.item_problem(list, id, DiagnosticKind::RuleInUse, &message);
            if let Some(problem) = NAME_LISTS.iter().find_map(|list| problem_in(list)) {
                let message = format!("`{id}` is still in use: `{name}` names it");
                return Err(EditRefusal::new(DiagnosticKind::RuleInUse, message)
                    .help("remove the name from the configuration first")
                    .with_problems(vec![problem]));
            }
        }
        Ok(())
    }
}
