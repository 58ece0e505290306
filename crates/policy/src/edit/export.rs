//! Exports rules as separate files.

use std::fs;
use std::path::{Path, PathBuf};

use super::document::Document;
use super::editor::{Editor, RuleLocation};
use super::policy_file_io;
use super::refusal::EditRefusal;
use crate::bundled::bundled_rules;
use crate::files::folder::PolicyFolder;
use crate::text::diagnostic::DiagnosticKind;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportedRule {
    pub file_name: String,
    pub text: String,
}

impl Editor {
    /// The text of a rule of this tier, or else of a bundled rule, or else of a rule of another tier.
    pub fn export(&self, id: &str) -> Result<ExportedRule, EditRefusal> {
        match self.locate(id) {
            Ok(RuleLocation::Markdown(path)) => self.export_file(&path, format!("{id}.md")),
            Ok(RuleLocation::Library(path)) => {
                let library =
                    Document::of_yaml(&self.folder.display_name(&path), &self.read(&path)?.unwrap_or_default())?;
                let text = library.entry_text(id).ok_or_else(|| library.not_editable(id))?.to_owned();
                // The last entry of a file may have no line feed.
                let text = if text.ends_with('\n') { text } else { format!("{text}\n") };
                Ok(ExportedRule { file_name: format!("{id}.yml"), text })
            }
            Ok(RuleLocation::Bundled(bundled)) => {
                Ok(ExportedRule { file_name: format!("{id}.md"), text: bundled.text.to_owned() })
            }
            Err(refusal) => {
                let other_tier = self.other_tiers().find(|other| other.has_rule(id));
                other_tier.map_or(Err(refusal), |other| other.export(id))
            }
        }
    }

    fn export_file(&self, path: &Path, file_name: String) -> Result<ExportedRule, EditRefusal> {
        let text = self.read(path)?.unwrap_or_default();
        // With `> .linchpin/rules/ID.md`, the shell creates an empty file before this command starts.
        let bundled = || bundled_rules().iter().find(|rule| file_name.strip_suffix(".md") == Some(rule.id));
        match bundled().filter(|_| text.trim().is_empty()) {
            Some(rule) => Ok(ExportedRule { file_name, text: rule.text.to_owned() }),
            None => Ok(ExportedRule { file_name, text }),
        }
    }

    /// Writes rules into the directory `to`, an absolute path outside of all policies: agents may export rules, but
    /// must not create active rules that way.
    pub fn write_exported(&self, rules: &[ExportedRule], to: &Path) -> Result<Vec<PathBuf>, EditRefusal> {
        let directory_name = to.display().to_string();
        let io = |error: std::io::Error| EditRefusal::io(&directory_name, "written", &error);
        // Checks the nearest existing ancestor before creating anything in it, and then the directory itself.
        let existing = to.ancestors().find(|ancestor| ancestor.exists()).unwrap_or(to);
        self.refuse_policy_folder(&existing.canonicalize().map_err(io)?, to)?;
        fs::create_dir_all(to).map_err(io)?;
        let directory = to.canonicalize().map_err(io)?;
        self.refuse_policy_folder(&directory, to)?;
        let files: Vec<PathBuf> = rules.iter().map(|rule| directory.join(&rule.file_name)).collect();
        if let Some(existing_file) = files.iter().find(|path| path.symlink_metadata().is_ok()) {
            let message = format!("`{}` already exists", existing_file.display());
            return Err(EditRefusal::new(DiagnosticKind::RuleExists, message).help("choose an empty folder"));
        }
        for (rule, path) in rules.iter().zip(&files) {
            policy_file_io::write(path, &rule.text).map_err(io)?;
        }
        Ok(files)
    }

    fn refuse_policy_folder(&self, directory: &Path, requested: &Path) -> Result<(), EditRefusal> {
        let is_in_policy_folder = |path: &Path| path.components().any(|part| part.as_os_str() == PolicyFolder::NAME);
        let policies = self.tiers.folders().map(|tier| tier.path.clone()).chain([self.rules_dir.clone()]);
        let mut policies = policies.filter_map(|path| path.canonicalize().ok());
        if !is_in_policy_folder(directory)
            && !is_in_policy_folder(requested)
            && !policies.any(|policy| directory.starts_with(policy))
        {
            return Ok(());
        }
        Err(EditRefusal::new(
            DiagnosticKind::InvalidValue,
            format!("`{}` is a policy folder, so rules cannot be exported there", requested.display()),
        )
        .help("to add rules to a policy, run `linchpin rules import`"))
    }
}
