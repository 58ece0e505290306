//! Path patterns: globs with variables.
//!
//! Every path pattern in a policy is a [`Pattern`]. This module defines the syntax, its errors and warnings, matching,
//! captures, and the substitution of captures into other patterns. It must not depend on rules, files or git: paths are
//! strings with `/`, and already normalized.
//!
//! Matching is not recursive, and takes at most pattern length × path length steps, so neither a hostile pattern nor a
//! hostile path can make it hang or overflow the stack.

mod captures;
mod error;
mod matcher;
mod parse;

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use captures::Captures;
pub use error::{FillError, PatternError, PatternWarning};
use matcher::CompiledPattern;
use parse::{AllowedPaths, Parsed};

/// The maximum length of a pattern in a policy. A longer pattern is a mistake or an attack.
pub const MAX_PATTERN_BYTES: usize = 1024;
/// The maximum length of a pattern after its variables were replaced by captures, which may be long.
const MAX_FILLED_BYTES: usize = 64 * 1024;
/// The maximum length of a path, longer than any file system supports. A longer path matches no pattern.
const MAX_PATH_BYTES: usize = 64 * 1024;

#[derive(Debug, Clone)]
pub struct Pattern {
    source: String,
    allowed_paths: AllowedPaths,
    variables: Vec<Variable>,
    compiled: CompiledPattern,
    literal_length: usize,
    required_literal: String,
    only_path: Option<String>,
    warnings: Vec<PatternWarning>,
}

/// A variable in the source. Its index in [`Pattern::variables`] is the index of its capture.
#[derive(Debug, Clone)]
struct Variable {
    name: String,
    span: Range<usize>,
}

impl Pattern {
    /// Parses a pattern for paths relative to the project root. A pattern that starts with `/` or `~/` is an error.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        Self::parse_with_limit(text, AllowedPaths::Relative, MAX_PATTERN_BYTES)
    }

    /// Parses a pattern that may also start with `/` or `~/`. Such a pattern matches only paths with the same start.
    pub fn parse_relative_or_absolute(text: &str) -> Result<Self, PatternError> {
        Self::parse_with_limit(text, AllowedPaths::RelativeAndAbsolute, MAX_PATTERN_BYTES)
    }

    fn parse_with_limit(text: &str, allowed_paths: AllowedPaths, max_bytes: usize) -> Result<Self, PatternError> {
        let Parsed { nodes, variables, warnings } = parse::parse(text, allowed_paths, max_bytes)?;
        Ok(Self {
            source: text.to_owned(),
            allowed_paths,
            literal_length: parse::literal_length(&nodes),
            required_literal: parse::required_literal(&nodes).to_owned(),
            only_path: parse::only_path(&nodes),
            compiled: CompiledPattern::compile(&nodes),
            variables,
            warnings,
        })
    }

    pub fn matches(&self, path: &str) -> bool {
        path.len() <= MAX_PATH_BYTES && self.compiled.matches(path)
    }

    /// True if some path below this directory could match. `""` is the directory that relative patterns start from.
    pub fn may_match_below(&self, directory: &str) -> bool {
        let is_complete = directory.is_empty() || directory.ends_with('/');
        let prefix = if is_complete { directory.to_owned() } else { format!("{directory}/") };
        prefix.len() <= MAX_PATH_BYTES && self.compiled.may_match_longer_path(&prefix)
    }

    pub fn captures(&self, path: &str) -> Option<Captures> {
        if path.len() > MAX_PATH_BYTES {
            return None;
        }
        let spans = self.compiled.captures(path)?;
        let values = self
            .variables
            .iter()
            .zip(spans)
            .map(|(variable, span)| Some((variable.name.clone(), path.get(span)?.to_owned())))
            .collect::<Option<Vec<_>>>()?;
        Some(Captures::new(values))
    }

    /// The string that the pattern was parsed from.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The names of the variables, in source order.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.variables.iter().map(|variable| variable.name.as_str())
    }

    /// The number of literal characters in the source, including the slash next to a `**`. Of the alternatives in
    /// `{a,b}`, only the shortest counts. A pattern with more literal characters is more specific.
    pub fn literal_length(&self) -> usize {
        self.literal_length
    }

    /// The longest literal outside of `{a,b}`, which every matching path contains; empty if there is none.
    pub fn required_literal(&self) -> &str {
        &self.required_literal
    }

    /// The only path that matches, if the pattern is a literal.
    pub fn only_path(&self) -> Option<&str> {
        self.only_path.as_deref()
    }

    pub fn warnings(&self) -> &[PatternWarning] {
        &self.warnings
    }

    /// Replaces each variable by its captured value, as a literal: a value that looks like a variable or a glob is
    /// escaped. The result never contains `..`, and is absolute only if this pattern is.
    pub fn fill(&self, captures: &Captures) -> Result<Self, FillError> {
        let mut text = String::with_capacity(self.source.len());
        let mut copied_until = 0;
        for Variable { name, span } in &self.variables {
            let value = captures.get(name).ok_or_else(|| FillError::Unbound { variable: name.clone() })?;
            text.push_str(self.source.get(copied_until..span.start).unwrap_or_default());
            parse::push_escaped(value, &mut text);
            copied_until = span.end;
        }
        text.push_str(self.source.get(copied_until..).unwrap_or_default());
        // A captured value at the start could otherwise make the pattern absolute.
        let allowed_paths = if self.variables.first().is_some_and(|first| first.span.start == 0) {
            AllowedPaths::Relative
        } else {
            self.allowed_paths
        };
        Self::parse_with_limit(&text, allowed_paths, MAX_FILLED_BYTES)
            .map_err(|error| FillError::Unusable { filled: text, error: Box::new(error) })
    }

    /// Returns the source of a pattern that matches only this string.
    pub fn escape(literal: &str) -> String {
        let mut text = String::with_capacity(literal.len());
        parse::push_escaped(literal, &mut text);
        text
    }
}

/// Checks that the trigger has every variable of the expected pattern. The span of the error is within `expected`.
pub fn check_variables_bound(trigger: &Pattern, expected: &Pattern) -> Result<(), PatternError> {
    let unbound = expected.variables.iter().find(|variable| !trigger.variables().any(|name| name == variable.name));
    match unbound {
        None => Ok(()),
        Some(Variable { name, span }) => {
            let bound: Vec<_> = trigger.variables().map(|name| format!("`{{{name}}}`")).collect();
            let put = format!("put `{{{name}}}` into the trigger");
            let help = if bound.is_empty() { put } else { format!("use {}, or {put}", bound.join(" or ")) };
            let message = format!("`{{{name}}}` is not a variable of the trigger `{}`", trigger.source);
            Err(PatternError::new(span.clone(), message).with_help(help))
        }
    }
}

/// Checks that all members of a `set`, a list of patterns in a file rule, have the same variables. The error contains
/// the index of the first member whose variables differ from those of member 0; its span is within that member.
pub fn check_same_variables(members: &[Pattern]) -> Result<(), (usize, PatternError)> {
    let Some((first, others)) = members.split_first() else { return Ok(()) };
    let names_of = |pattern: &Pattern| {
        let mut names: Vec<_> = pattern.variables().map(str::to_owned).collect();
        names.sort_unstable();
        names
    };
    let expected = names_of(first);
    match others.iter().position(|member| names_of(member) != expected) {
        None => Ok(()),
        Some(index_in_others) => {
            let index = index_in_others + 1;
            let length = members.get(index).map_or(0, |member| member.source.len());
            let message =
                format!("the members of a `set` must have the same variables as its first, `{}`", first.source);
            Err((
                index,
                PatternError::new(0..length, message)
                    .with_help("use `pair` if one file must change with the other, but not the reverse"),
            ))
        }
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Eq for Pattern {}

impl FromStr for Pattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        Self::parse(text)
    }
}

impl Serialize for Pattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.source)
    }
}

/// Accepts relative and absolute patterns: whether the pattern may be absolute was checked when the policy was loaded.
impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse_with_limit(&text, AllowedPaths::RelativeAndAbsolute, MAX_FILLED_BYTES)
            .map_err(serde::de::Error::custom)
    }
}
