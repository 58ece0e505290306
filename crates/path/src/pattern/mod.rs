//! The one pattern engine: globs with variables, over paths.
//!
//! Every place of the product where a team writes a path pattern uses [`Pattern`]. This module owns the syntax, its
//! errors and warnings, matching, captures and the filling of captured values into other patterns. It must not know
//! rules, files or git: paths come in as text, with `/`, already normalised.
//!
//! Matching never recurses and its work is bounded by pattern × path, so neither a hostile pattern nor a hostile path
//! can hang or overflow it.

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

/// What a person may write. Longer text is no pattern but a mistake or an attack.
pub const MAX_PATTERN_BYTES: usize = 1024;
/// Captured values make a filled pattern longer than what was written.
const MAX_FILLED_BYTES: usize = 64 * 1024;
/// No file system has longer paths; such text matches nothing.
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

/// A variable as it stands in the source; its place in [`Pattern::variables`] is its slot in the program.
#[derive(Debug, Clone)]
struct Variable {
    name: String,
    span: Range<usize>,
}

impl Pattern {
    /// A pattern for paths relative to the project root.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        Self::parse_within(text, Anchor::Project, MAX_PATTERN_BYTES)
    }

    /// A pattern of a tool rule, which may also start with `/` or `~/`. Such a pattern is matched against an absolute
    /// path, or against one that starts with `~/`.
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

    /// Whether a path below this folder could match; an empty one is where the pattern starts from.
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

    /// The text it was parsed from.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The names that a match binds, in the order they stand in the pattern.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.variables.iter().map(|variable| variable.name.as_str())
    }

    /// How many literal characters every match has: of two patterns, the one with more is the more specific.
    pub fn literal_length(&self) -> usize {
        self.literal_length
    }

    /// The longest text that every matching path contains; empty where there is none.
    pub fn required_literal(&self) -> &str {
        &self.required_literal
    }

    /// The one path that matches, where the pattern is nothing else.
    pub fn only_path(&self) -> Option<&str> {
        self.only_path.as_deref()
    }

    pub fn warnings(&self) -> &[PatternWarning] {
        &self.warnings
    }

    /// This pattern with captured values in place of its variables, as literals. One pass: a value that looks like a
    /// variable or a glob stays text. The result never holds `..`, and is absolute only where the pattern itself was.
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
        // A variable at the very start could otherwise bring a root along.
        let anchor = if self.variables.first().is_some_and(|first| first.span.start == 0) {
            Anchor::Project
        } else {
            self.anchor
        };
        Self::parse_within(&text, anchor, MAX_FILLED_BYTES)
            .map_err(|error| FillError::Unusable { filled: text, error: Box::new(error) })
    }

    /// Text as a pattern that matches exactly that text.
    pub fn escape(literal: &str) -> String {
        let mut text = String::with_capacity(literal.len());
        parse::escape_into(literal, &mut text);
        text
    }
}

/// Every variable of an expected pattern must have got its value from the trigger. The span is within `expected`.
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

/// All members of a `set` must bind the same variables. On failure: the first member that differs from the first one,
/// by its place, and why; the span is within that member.
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

/// What was serialised had been checked for its place when it was first parsed, so either kind is taken back.
impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse_within(&text, Anchor::Anywhere, MAX_FILLED_BYTES).map_err(serde::de::Error::custom)
    }
}
