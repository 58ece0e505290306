//! Names that a rule can have, and so a file.

use super::refusal::Refusal;
use crate::diagnostic::ErrorKind;

/// Shorter than any file system's limit, with room for an extension.
const LONGEST: usize = 100;

/// The reader of rule files asks the same but for the length.
pub fn check(id: &str) -> Result<(), Refusal> {
    let allowed = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    let is_name = id.starts_with(|first: char| first.is_ascii_alphanumeric()) && id.chars().all(allowed);
    if id == "linchpin" {
        let message = "`linchpin` cannot be a rule's id: the guard itself speaks under it";
        return Err(Refusal::new(ErrorKind::InvalidValue, message).help("choose another id"));
    }
    if id.chars().count() > LONGEST {
        let message = format!("a rule's id has at most {LONGEST} characters, and this one has {}", id.chars().count());
        return Err(Refusal::new(ErrorKind::InvalidValue, message));
    }
    if !is_name {
        let shown: String = id.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
        let message =
            if id.is_empty() { "a rule's id is empty".to_owned() } else { format!("`{shown}` cannot be a rule's id") };
        return Err(Refusal::new(ErrorKind::InvalidValue, message)
            .help("use letters, digits, `-`, `_` and `.`, beginning with a letter or digit"));
    }
    Ok(())
}
