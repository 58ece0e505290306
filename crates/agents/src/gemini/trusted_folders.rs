//! Gemini CLI's `trustedFolders.json`: which folders a person trusts, with everything below them, and which not. The longest
//! path that a folder lies under decides. A file that Gemini CLI does not understand keeps it from starting.

use std::path::Path;

use crate::install::{Document, Noted, Real, SettingsError};
use jsonc_parser::common::Ranged;

pub(super) fn read(text: &str, project: &Path, real: Real<'_>) -> Result<Noted, SettingsError> {
    let document = Document::new(text);
    let syntax = document.syntax()?;
    let project = real(project);
    let mut longest: Option<(&str, bool)> = None;
    for rule in &syntax.root.properties {
        let path = rule.name.as_str();
        let (folder, is_trusted) = match rule.value.as_string_lit().map(|level| level.value.as_ref()) {
            Some("TRUST_FOLDER") => (Path::new(path), true),
            Some("TRUST_PARENT") => (Path::new(path).parent().unwrap_or(Path::new(path)), true),
            Some("DO_NOT_TRUST") => (Path::new(path), false),
            _ => {
                let message = format!("`{path}` is neither `TRUST_FOLDER`, `TRUST_PARENT` nor `DO_NOT_TRUST`");
                return Err(document.error(rule.value.range(), message));
            }
        };
        let is_longer = longest.is_none_or(|(other, _)| path.len() > other.len());
        // Everything would lie in a folder without a name.
        if is_longer && Path::new(path).is_absolute() && project.starts_with(real(folder)) {
            longest = Some((path, is_trusted));
        }
    }
    Ok(match longest {
        None => Noted::Nothing,
        Some((_, true)) => Noted::Accepted,
        Some((path, false)) => Noted::Refused(format!(
            "`{path}` is not trusted, so where folder trust is on, it does not read the project's hooks"
        )),
    })
}
