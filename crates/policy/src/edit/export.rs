//! Rules as files of their own, for somewhere else.

use std::fs;
use std::path::{Path, PathBuf};

use super::document::Document;
use super::editor::{Editor, Place};
use super::file;
use super::refusal::Refusal;
use crate::diagnostic::ErrorKind;
use crate::folder::PolicyFolder;

/// A rule that stands alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    pub file_name: String,
    pub text: String,
}

impl Editor {
    /// The text of a rule of this tier, of the farther one, or of the box.
    pub fn export(&self, id: &str) -> Result<Exported, Refusal> {
        match self.place(id) {
            Ok(Place::Markdown(path)) => self.exported(&path, format!("{id}.md")),
            Ok(Place::Library(path)) => {
                let library = Document::of_yaml(&self.folder.shown(&path), &self.read(&path)?.unwrap_or_default())?;
                let text = library.entry_text(id).ok_or_else(|| library.not_editable(id))?.to_owned();
                // The last entry of a file may lack its line feed.
                let text = if text.ends_with('\n') { text } else { format!("{text}\n") };
                Ok(Exported { file_name: format!("{id}.yml"), text })
            }
            Ok(Place::Bundled(bundled)) => {
                Ok(Exported { file_name: format!("{id}.md"), text: bundled.text.to_owned() })
            }
            Err(refusal) => {
                let found = self.other_tiers().find(|other| other.own_place(id).is_ok_and(|place| place.is_some()));
                found.map_or(Err(refusal), |other| other.export(id))
            }
        }
    }

    fn exported(&self, path: &Path, file_name: String) -> Result<Exported, Refusal> {
        let text = self.read(path)?.unwrap_or_default();
        Ok(Exported { file_name, text })
    }

    /// Writes rules into a folder that is no policy's: an agent may export, and must not come to rules that way.
    pub fn write_exported(&self, rules: &[Exported], to: &Path) -> Result<Vec<PathBuf>, Refusal> {
        let shown = to.display().to_string();
        let io = |error: std::io::Error| Refusal::io(&shown, "written", &error);
        let there = to.ancestors().find(|folder| folder.exists()).unwrap_or(to).canonicalize().map_err(io)?;
        let rules_folders = self.tiers.folders().flat_map(|folder| [folder.path.clone(), folder.rules()]);
        let mut forbidden = rules_folders.chain([self.rules.clone()]).filter_map(|path| path.canonicalize().ok());
        let in_policy = there.components().any(|part| part.as_os_str() == PolicyFolder::NAME)
            || to.components().any(|part| part.as_os_str() == PolicyFolder::NAME)
            || forbidden.any(|folder| there.starts_with(folder));
        if in_policy {
            return Err(Refusal::new(ErrorKind::InvalidValue, format!("`{shown}` belongs to a policy"))
                .help("`linchpin rules import` brings rules into one"));
        }
        fs::create_dir_all(to).map_err(io)?;
        let folder = to.canonicalize().map_err(io)?;
        let files: Vec<PathBuf> = rules.iter().map(|rule| folder.join(&rule.file_name)).collect();
        if let Some(taken) = files.iter().find(|path| path.symlink_metadata().is_ok()) {
            let message = format!("there is a `{}` already", taken.display());
            return Err(Refusal::new(ErrorKind::RuleExists, message).help("export to an empty folder"));
        }
        for (rule, path) in rules.iter().zip(&files) {
            file::write(path, &rule.text).map_err(io)?;
        }
        Ok(files)
    }
}
