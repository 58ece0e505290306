//! Path patterns: globs with variables.
//!
//! Every path pattern in a policy is a [`Pattern`]. This module owns the syntax, its errors and warnings, matching,
//! captures, and the substitution of captures into other patterns. It must not know rules, files or git: paths are
//! strings with `/`, and already normalized.
//!
//! Matching is not recursive, and its work is bounded by pattern × path, so neither a hostile pattern nor a hostile
//! path can hang it or overflow the stack.

mod captures;
mod error;
mod parse;
mod program;

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use captures::Captures;
pub use error::{FillError, PatternError, PatternWarning};
use parse::{Anchor, Parsed};
use program::Program;

/// The longest pattern in a policy. A longer one is a mistake or an attack.
pub const MAX_PATTERN_BYTES: usize = 1024;
/// Captures make a filled pattern longer than its source.
const MAX_FILLED_BYTES: usize = 64 * 1024;
/// No file system has longer paths. A longer string matches nothing.
const MAX_PATH_BYTES: usize = 64 * 1024;

#[derive(Debug, Clone)]
pub struct Pattern {
    source: String,
    anchor: Anchor,
    variables: Vec<Variable>,
    program: Program,
    literal_length: usize,
    required_literal: String,
    only_path: Option<String>,
    warnings: Vec<PatternWarning>,
}

/// A variable in the source. Its index in [`Pattern::variables`] is its slot in the program.
#[derive(Debug, Clone)]
struct Variable {
    name: String,
    span: Range<usize>,
}

impl Pattern {
    /// Parses a pattern for paths relative to the project root.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        Self::parse_within(text, Anchor::Project, MAX_PATTERN_BYTES)
    }

    /// Parses a pattern of a tool rule, which may also start with `/` or `~/`. Such a pattern matches absolute paths,
    /// or paths that start with `~/`.
    pub fn parse_anywhere(text: &str) -> Result<Self, PatternError> {
        Self::parse_within(text, Anchor::Anywhere, MAX_PATTERN_BYTES)
    }

    fn parse_within(text: &str, anchor: Anchor, limit: usize) -> Result<Self, PatternError> {
        let Parsed { nodes, variables, warnings } = parse::parse(text, anchor, limit)?;
        Ok(Self {
            source: text.to_owned(),
            anchor,
            literal_length: parse::literal_length(&nodes),
            required_literal: parse::required_literal(&nodes).to_owned(),
            only_path: parse::only_path(&nodes),
            program: Program::compile(&nodes),
            variables,
            warnings,
        })
    }

    pub fn matches(&self, path: &str) -> bool {
        path.len() <= MAX_PATH_BYTES && self.program.matches(path)
    }

    /// True if a path below this folder could match. An empty folder is the one that relative patterns start from.
    pub fn may_match_below(&self, folder: &str) -> bool {
        let is_start = folder.is_empty() || folder.ends_with('/');
        let start = if is_start { folder.to_owned() } else { format!("{folder}/") };
        start.len() <= MAX_PATH_BYTES && self.program.may_begin_with(&start)
    }

    pub fn captures(&self, path: &str) -> Option<Captures> {
        if path.len() > MAX_PATH_BYTES {
            return None;
        }
        let spans = self.program.captures(path)?;
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

    /// The minimum number of literal characters in a match. Of two patterns, the one with more is more specific.
    pub fn literal_length(&self) -> usize {
        self.literal_length
    }

    /// The longest string that every matching path contains; empty if there is none.
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

    /// Replaces the variables by captured values, as literals. Values are not parsed again: one that looks like a
    /// variable or a glob stays literal. The result never contains `..`, and is absolute only if the pattern was.
    pub fn fill(&self, captures: &Captures) -> Result<Self, FillError> {
        let mut text = String::with_capacity(self.source.len());
        let mut copied = 0;
        for Variable { name, span } in &self.variables {
            let value = captures.get(name).ok_or_else(|| FillError::Unbound { variable: name.clone() })?;
            text.push_str(self.source.get(copied..span.start).unwrap_or_default());
            parse::escape_into(value, &mut text);
            copied = span.end;
        }
        text.push_str(self.source.get(copied..).unwrap_or_default());
        // A captured value at the start could otherwise make the pattern absolute.
        let anchor = if self.variables.first().is_some_and(|first| first.span.start == 0) {
            Anchor::Project
        } else {
            self.anchor
        };
        Self::parse_within(&text, anchor, MAX_FILLED_BYTES)
            .map_err(|error| FillError::Unusable { filled: text, error: Box::new(error) })
    }

    /// Returns a pattern that matches exactly this string.
    pub fn escape(literal: &str) -> String {
        let mut text = String::with_capacity(literal.len());
        parse::escape_into(literal, &mut text);
        text
    }
}

/// Checks that the trigger binds every variable of the expected pattern. The span of the error is within `expected`.
pub fn check_bound(trigger: &Pattern, expected: &Pattern) -> Result<(), PatternError> {
    let unbound = expected.variables.iter().find(|variable| !trigger.variables().any(|name| name == variable.name));
    match unbound {
        None => Ok(()),
        Some(Variable { name, span }) => {
            let bound: Vec<_> = trigger.variables().map(|name| format!("`{{{name}}}`")).collect();
            let help = if bound.is_empty() {
                format!("the trigger `{}` binds no variables", trigger.source)
            } else {
                format!("the trigger `{}` binds {}", trigger.source, bound.join(", "))
            };
            Err(PatternError::new(span.clone(), format!("its trigger does not bind `{{{name}}}`")).with_help(help))
        }
    }
}

/// Checks that all members of a `set` have the same variables. The error names the index of the first member that
/// differs from the first one; the span is within that member.
pub fn check_set(members: &[Pattern]) -> Result<(), (usize, PatternError)> {
    let Some((first, others)) = members.split_first() else { return Ok(()) };
    let names_of = |pattern: &Pattern| {
        let mut names: Vec<_> = pattern.variables().map(str::to_owned).collect();
        names.sort_unstable();
        names
    };
    let expected = names_of(first);
    match others.iter().position(|member| names_of(member) != expected) {
        None => Ok(()),
        Some(position) => {
            let place = position + 1;
            let length = members.get(place).map_or(0, |member| member.source.len());
            let message =
                format!("the members of a `set` must have the same variables as its first, `{}`", first.source);
            Err((place, PatternError::new(0..length, message).with_help("use `pair` for files that depend one way")))
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

/// Accepts relative and absolute patterns: which of them is allowed was checked when the pattern was first parsed.
impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse_within(&text, Anchor::Anywhere, MAX_FILLED_BYTES).map_err(serde::de::Error::custom)
    }
}
