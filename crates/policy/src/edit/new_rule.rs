//! Creates rules.

use super::editor::{EditOutcome, Editor, Strictness};
use super::refusal::EditRefusal;
use crate::bundled::bundled_rules;
use crate::text::diagnostic::DiagnosticKind;
use crate::text::scalar::Scalar;
use crate::values::rule_id;

/// The fields of a new rule.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuleDraft {
    pub id: String,
    pub tools: Vec<String>,
    pub mcp_tools: Vec<String>,
    pub command_pattern: Option<String>,
    pub paths: Vec<String>,
    pub on: Vec<String>,
    pub when: Option<String>,
    pub action: Option<String>,
    pub reason: String,
}

impl RuleDraft {
    /// Renders the draft as a Markdown rule.
    pub fn text(&self) -> String {
        let scalar = |text: &String| Scalar::Text(text.clone()).render();
        let list = |names: &[String]| format!("[{}]", names.iter().map(scalar).collect::<Vec<_>>().join(", "));
        let mut lines = vec!["---".to_owned()];
        for (key, names) in [("tools", &self.tools), ("mcp_tools", &self.mcp_tools)] {
            lines.extend((!names.is_empty()).then(|| format!("{key}: {}", list(names))));
        }
        lines.extend(self.command_pattern.iter().map(|pattern| format!("command_pattern: {}", scalar(pattern))));
        if !self.paths.is_empty() {
            lines.push("paths:".to_owned());
            lines.extend(self.paths.iter().map(|path| format!("  - {}", scalar(path))));
        }
        match self.on.as_slice() {
            [] => {}
            [event] => lines.push(format!("on: {}", scalar(event))),
            events => lines.push(format!("on: {}", list(events))),
        }
        lines.extend(self.when.iter().map(|when| format!("when: {}", scalar(when))));
        lines.extend(self.action.iter().map(|action| format!("action: {}", scalar(action))));
        lines.push("---".to_owned());
        format!("{}\n{}\n", lines.join("\n"), self.reason.trim())
    }
}

impl Editor {
    /// Writes a new Markdown rule.
    pub fn create(&self, draft: &RuleDraft) -> Result<EditOutcome, EditRefusal> {
        self.refuse_existing(&draft.id)?;
        self.add_markdown(&draft.id, draft.text())
    }

    pub(super) fn add_markdown(&self, id: &str, text: String) -> Result<EditOutcome, EditRefusal> {
        let path = self.rules_dir.join(format!("{id}.md"));
        self.apply(vec![self.file_edit(path, None, Some(text))], Strictness::NoErrorsInChangedFiles)
    }

    /// Refuses an id that a rule of any tier has, so that a new rule does not replace another by accident.
    pub(super) fn refuse_existing(&self, id: &str) -> Result<(), EditRefusal> {
        rule_id::check(id)?;
        match self.tier_that_has(id)? {
            None => Ok(()),
            Some(tier) => {
                let message = format!("rule `{id}` already exists in the {tier} tier");
                Err(EditRefusal::new(DiagnosticKind::RuleExists, message).help("choose another id"))
            }
        }
    }

    pub(super) fn tier_that_has(&self, id: &str) -> Result<Option<&'static str>, EditRefusal> {
        Ok(if self.locate_in_tier(id)?.is_some() {
            Some(self.folder.tier.name())
        } else if self.other_tiers().any(|other| other.has_rule(id)) {
            Some(self.other_tier_name())
        } else {
            bundled_rules().iter().any(|rule| rule.id == id).then_some("bundled")
        })
    }
}
