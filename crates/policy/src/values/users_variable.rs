//! Variables of the user's own policy, which a project may neither declare nor set.

use std::collections::BTreeSet;
use std::ops::Range;

use engine::rules::Tier;

use crate::text::diagnostic::{Diagnostic, ErrorKind};
use crate::text::source::Source;

/// Why a project leaves a variable alone: the user's own rules may depend on it.
pub struct UsersOwn(String);

pub fn users_own(name: &str, tier: Tier, users_variables: &BTreeSet<String>) -> Option<UsersOwn> {
    let is_users = tier == Tier::Project && users_variables.contains(name);
    is_users.then(|| UsersOwn(format!("`{name}` is a variable of the user's own policy")))
}

impl UsersOwn {
    pub fn at(self, source: &Source, span: Range<usize>) -> Diagnostic {
        Diagnostic::error(ErrorKind::Overruled, self.0, source, Some(span)).help("use a variable of another name")
    }
}
