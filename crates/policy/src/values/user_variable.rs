//! Refuses project variables that have the name of a variable of the user's policy.

use std::collections::BTreeSet;
use std::ops::Range;

use engine::rules::Tier;

use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::text::source::Source;

/// An error message for a project that declares or sets a variable of the user: the user's rules may depend on it.
pub struct UserVariableConflict(String);

pub fn conflict_with_user(name: &str, tier: Tier, users_variables: &BTreeSet<String>) -> Option<UserVariableConflict> {
    let is_conflict = tier == Tier::Project && users_variables.contains(name);
    is_conflict.then(|| UserVariableConflict(format!("the variable `{name}` belongs to the user's policy")))
}

impl UserVariableConflict {
    pub fn diagnostic_at(self, source: &Source, span: Range<usize>) -> Diagnostic {
        Diagnostic::error(DiagnosticKind::Overruled, self.0, source, Some(span))
            .help("use a variable with another name")
    }
}
