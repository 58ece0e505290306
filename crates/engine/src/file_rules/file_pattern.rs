//! The file patterns of rules. A pattern is compiled only if the path of a changed file contains the pattern's literal,
//! because most rules match no changed file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Changes, Status};
use path::pattern::{Pattern, PatternError};

/// A pattern that was checked when its rule was loaded. The pattern is compiled only if a changed file could match it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilePattern {
    pub source: String,
    /// A literal that every matching path contains; empty if none is known.
    literal: String,
}

impl FilePattern {
    pub fn new(pattern: &Pattern) -> Self {
        Self { source: pattern.source().to_owned(), literal: pattern.required_literal().to_owned() }
    }

    /// Prefilter: false only if no changed file matches.
    pub fn may_match(&self, changes: &Changes) -> bool {
        changes.may_contain(&self.literal)
    }

    /// Compiles the pattern. The result keeps the literal, because every path is searched for the literal before the
    /// path is matched with the pattern.
    pub(super) fn compile(&self) -> Result<CompiledPattern<'_>, PatternError> {
        Pattern::parse(&self.source).map(|pattern| CompiledPattern { pattern, literal: &self.literal })
    }
}

pub(super) struct CompiledPattern<'a> {
    pub(super) pattern: Pattern,
    pub(super) literal: &'a str,
}

impl CompiledPattern<'_> {
    pub(super) fn matches(&self, path: &str) -> bool {
        path.contains(self.literal) && self.pattern.matches(path)
    }
}

/// The changed files that one of the patterns could match, by path. Files that other sessions changed are left out.
pub(super) fn candidates<'c>(patterns: &'c [FilePattern], changes: &'c Changes) -> BTreeMap<&'c str, Status> {
    let paths = patterns.iter().flat_map(|pattern| changes.paths_containing(&pattern.literal));
    paths.filter(|path| changes.is_own(path)).filter_map(|path| Some((path, changes.status(path)?))).collect()
}

/// Compiles the patterns that a changed file could match.
pub(super) fn compiled<'a>(
    patterns: &'a [FilePattern],
    changes: &Changes,
) -> Result<Vec<CompiledPattern<'a>>, PatternError> {
    patterns.iter().filter(|pattern| pattern.may_match(changes)).map(FilePattern::compile).collect()
}
