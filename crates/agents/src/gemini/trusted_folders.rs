//! Gemini CLI's `trustedFolders.json`: directories that a person trusts or does not trust, including everything below
//! them. Of the entries for directories that contain the project, the one with the longest path decides. Gemini CLI
//! does not start if it cannot parse the file.

use std::path::Path;

use crate::install::{AcceptanceRecord, Canonicalize, Document, SettingsError};
use jsonc_parser::common::Ranged;

pub(super) fn read(
    text: &str,
    project: &Path,
    canonicalize: Canonicalize<'_>,
) -> Result<AcceptanceRecord, SettingsError> {
    let document = Document::new(text);
    let syntax = document.syntax()?;
    let project = canonicalize(project);
    let mut longest: Option<(&str, bool)> = None;
    for rule in &syntax.root.properties {
        let path = rule.name.as_str();
        let (directory, is_trusted) = match rule.value.as_string_lit().map(|level| level.value.as_ref()) {
            Some("TRUST_FOLDER") => (Path::new(path), true),
            Some("TRUST_PARENT") => (Path::new(path).parent().unwrap_or(Path::new(path)), true),
            Some("DO_NOT_TRUST") => (Path::new(path), false),
            _ => {
                let message = format!("`{path}` is neither `TRUST_FOLDER`, `TRUST_PARENT` nor `DO_NOT_TRUST`");
                return Err(document.error(rule.value.range(), message));
            }
        };
        let is_longer = longest.is_none_or(|(other, _)| path.len() > other.len());
        // Only absolute paths count. In particular, an empty path would be a prefix of every path.
        if is_longer && Path::new(path).is_absolute() && project.starts_with(canonicalize(directory)) {
            longest = Some((path, is_trusted));
        }
    }
    Ok(match longest {
        None => AcceptanceRecord::Absent,
        Some((_, true)) => AcceptanceRecord::Accepted,
        Some((path, false)) => AcceptanceRecord::Refused(format!(
            "`{path}` is not trusted, so if folder trust is on, it does not read the project's hooks"
        )),
    })
}
