//! Regular expressions with limits on compilation and matching.
//!
//! Compiling a regex takes longer than an entire hook call should take. [`RegexHints`] are therefore computed once,
//! when a policy is compiled. They contain a list of literals, at least one of which occurs in every match. If such
//! literals are known, the regex is compiled only when it is matched against a text that contains one of these
//! literals.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use fancy_regex::{Regex, RegexBuilder};
use regex_syntax::hir::{Class, Hir, HirKind};
use serde::{Deserialize, Serialize};

/// Maximum number of backtracking steps per match. Only regexes with features such as look-around or back references
/// backtrack.
const BACKTRACK_LIMIT: usize = 10_000;
/// Maximum size of a compiled regex in bytes.
const SIZE_LIMIT: usize = 1 << 20;
const LENGTH_LIMIT: usize = 4096;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct RegexError {
    /// Byte range of the error in the regex; `None` if the error has no position.
    pub span: Option<Range<usize>>,
    pub message: String,
}

#[derive(Debug)]
pub struct BoundedRegex(Regex);

impl BoundedRegex {
    pub fn parse(source: &str) -> Result<Self, RegexError> {
        if source.len() > LENGTH_LIMIT {
            let message = format!("the regex has {} bytes, over the limit of {LENGTH_LIMIT}", source.len());
            return Err(RegexError { span: None, message });
        }
        RegexBuilder::new(source)
            .backtrack_limit(BACKTRACK_LIMIT)
            .delegate_size_limit(SIZE_LIMIT)
            .delegate_dfa_size_limit(SIZE_LIMIT)
            .build()
            .map(Self)
            .map_err(|error| describe_error(source, &error))
    }

    /// Fails only if the match exceeds the backtracking limit.
    pub fn is_match(&self, text: &str) -> Result<bool, RegexError> {
        self.0.is_match(text).map_err(|_| RegexError {
            span: None,
            message: format!(
                "regex `{}` needs more than {BACKTRACK_LIMIT} backtracking steps on this text",
                self.0.as_str()
            ),
        })
    }
}

/// A regex that is not compiled yet, with its prefilter hints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegexSource {
    pub regex: String,
    pub hints: RegexHints,
}

impl RegexSource {
    pub fn new(regex: &str) -> Self {
        Self { regex: regex.to_owned(), hints: RegexHints::of(regex) }
    }
}

/// Builds the message for a compilation error. `regex_syntax` gives better messages and positions than `fancy_regex`,
/// but cannot parse look-around or back references. For most errors in a regex that may contain look-around or back
/// references, the message of `fancy_regex` is used.
fn describe_error(source: &str, error: &fancy_regex::Error) -> RegexError {
    let may_be_fancy =
        source.contains("(?=") || source.contains("(?!") || source.contains("(?<") || source.contains('\\');
    match regex_syntax::parse(source) {
        Err(regex_syntax::Error::Parse(plain))
            if !may_be_fancy || matches!(error, fancy_regex::Error::CompileError(_)) =>
        {
            let span = plain.span();
            RegexError {
                span: Some(span.start.offset..span.end.offset),
                message: format!("invalid regex: {}", plain.kind()),
            }
        }
        Err(regex_syntax::Error::Translate(plain)) if !may_be_fancy => {
            let span = plain.span();
            RegexError {
                span: Some(span.start.offset..span.end.offset),
                message: format!("invalid regex: {}", plain.kind()),
            }
        }
        _ => match error {
            fancy_regex::Error::ParseError(at, kind) => RegexError {
                span: Some(*at..*at),
                message: format!("invalid regex: {}", lower_first(&kind.to_string())),
            },
            fancy_regex::Error::CompileError(_) => RegexError {
                span: None,
                message: format!("invalid regex: it compiles to more than {} KiB", SIZE_LIMIT / 1024),
            },
            other => RegexError { span: None, message: format!("invalid regex: {other}") },
        },
    }
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

/// Properties of a regex that show, without compiling the regex, that some texts cannot match it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegexHints {
    /// Literals, at least one of which occurs in every match; empty if none are known.
    #[serde(rename = "needs")]
    pub required_literals: Vec<String>,
    /// The literals of the regex, split at white space. To find out whether a command can match the regex although some
    /// words of the command are unknown before it runs, these parts are put in place of the unknown words. `None` if
    /// the regex has too many parts, is case-insensitive or cannot be parsed by `regex_syntax`: then every command with
    /// unknown words may match.
    #[serde(rename = "pieces")]
    pub constant_parts: Option<Vec<String>>,
}

impl RegexHints {
    pub fn of(source: &str) -> Self {
        // `regex_syntax` cannot parse look-around. Without hints, every text is matched with the regex itself.
        let Ok(hir) = regex_syntax::parse(source) else { return Self::default() };
        let mut parts = Vec::new();
        collect_constant_parts(&hir, &mut parts);
        parts.sort();
        parts.dedup();
        let is_complete = !is_case_insensitive(&hir) && parts.len() <= CONSTANT_PARTS_LIMIT;
        Self { required_literals: required_literals(&hir), constant_parts: is_complete.then_some(parts) }
    }

    /// False only if the regex cannot match the text.
    pub fn may_match(&self, text: &str) -> bool {
        self.required_literals.is_empty()
            || self.required_literals.iter().any(|literal| text.contains(literal.as_str()))
    }
}

const CONSTANT_PARTS_LIMIT: usize = 32;

/// A regex that is compiled when it is first matched against a text for which [`RegexHints::may_match`] returns true.
#[derive(Debug)]
pub struct LazyRegex<'a> {
    source: Cow<'a, str>,
    hints: Cow<'a, RegexHints>,
    compiled: OnceLock<Result<BoundedRegex, RegexError>>,
}

impl<'a> LazyRegex<'a> {
    pub fn new(source: impl Into<Cow<'a, str>>, hints: Cow<'a, RegexHints>) -> Self {
        Self { source: source.into(), hints, compiled: OnceLock::new() }
    }

    pub fn is_match(&self, text: &str) -> Result<bool, RegexError> {
        if !self.hints.may_match(text) {
            return Ok(false);
        }
        match self.compiled.get_or_init(|| BoundedRegex::parse(&self.source)) {
            Ok(regex) => regex.is_match(text),
            Err(error) => Err(error.clone()),
        }
    }
}

/// True if the regex contains a class that consists of a letter in both cases, such as `[aA]`. The parser replaces each
/// letter of a case-insensitive part (`(?i)`) by such a class.
fn is_case_insensitive(hir: &Hir) -> bool {
    let mut pending = vec![hir];
    while let Some(hir) = pending.pop() {
        match hir.kind() {
            HirKind::Class(Class::Unicode(class)) => {
                let singles = class.ranges().iter().filter(|range| range.start() == range.end());
                let mut letters = singles.map(|range| range.start().to_lowercase().to_string());
                if let (Some(one), Some(other)) = (letters.next(), letters.next())
                    && one == other
                {
                    return true;
                }
            }
            HirKind::Repetition(repetition) => pending.push(&repetition.sub),
            HirKind::Capture(capture) => pending.push(&capture.sub),
            HirKind::Concat(parts) | HirKind::Alternation(parts) => pending.extend(parts),
            HirKind::Class(_) | HirKind::Empty | HirKind::Look(_) | HirKind::Literal(_) => {}
        }
    }
    false
}

/// Literals, at least one of which occurs in every match; empty if none are known. The recursion depth is bounded by
/// the parser's nesting limit.
fn required_literals(hir: &Hir) -> Vec<String> {
    match hir.kind() {
        HirKind::Literal(literal) => std::str::from_utf8(&literal.0).map(str::to_owned).into_iter().collect(),
        HirKind::Capture(capture) => required_literals(&capture.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => required_literals(&repetition.sub),
        // A match contains a match of every part, so it is enough to use the literals of one part. The part whose
        // shortest literal is the longest is chosen.
        HirKind::Concat(parts) => {
            let shortest = |literals: &Vec<String>| literals.iter().map(String::len).min().unwrap_or(0);
            parts.iter().map(required_literals).max_by_key(shortest).unwrap_or_default()
        }
        // A match can come from any branch, so the literals of all branches are needed.
        HirKind::Alternation(branches) => {
            let by_branch: Vec<Vec<String>> = branches.iter().map(required_literals).collect();
            if by_branch.iter().any(Vec::is_empty) { Vec::new() } else { by_branch.concat() }
        }
        _ => Vec::new(),
    }
}

/// The literal text of the regex, with [`WHITESPACE_MARK`] in place of a character class that includes the space, and
/// [`VARIABLE_MARK`] in place of every other part that can match different texts. `None` if `regex_syntax` cannot parse
/// the regex, for example because of look-around.
pub fn literal_skeleton(source: &str) -> Option<String> {
    fn add(hir: &Hir, text: &mut String) {
        match hir.kind() {
            HirKind::Literal(literal) => text.push_str(&String::from_utf8_lossy(&literal.0)),
            HirKind::Class(Class::Unicode(class)) => {
                let has_space = class.ranges().iter().any(|range| (range.start()..=range.end()).contains(&' '));
                text.push(if has_space { WHITESPACE_MARK } else { VARIABLE_MARK });
            }
            HirKind::Repetition(repetition) if matches!(repetition.sub.kind(), HirKind::Class(_)) => {
                add(&repetition.sub, text);
            }
            HirKind::Repetition(repetition) if repetition.min > 0 => add(&repetition.sub, text),
            HirKind::Capture(capture) => add(&capture.sub, text),
            HirKind::Concat(parts) => parts.iter().for_each(|part| add(part, text)),
            HirKind::Empty | HirKind::Look(_) => {}
            HirKind::Alternation(_) | HirKind::Repetition(_) | HirKind::Class(_) => text.push(VARIABLE_MARK),
        }
    }
    let mut text = String::new();
    add(&regex_syntax::parse(source).ok()?, &mut text);
    Some(text)
}

/// In a [`literal_skeleton`], stands for a character class that includes the space.
pub const WHITESPACE_MARK: char = '\t';
/// In a [`literal_skeleton`], stands for any other part that can match different texts.
pub const VARIABLE_MARK: char = '\u{FFFC}';

/// Collects the literals of the regex, split at white space.
fn collect_constant_parts(hir: &Hir, parts: &mut Vec<String>) {
    let mut pending = vec![hir];
    while let Some(hir) = pending.pop() {
        match hir.kind() {
            HirKind::Literal(literal) => {
                if let Ok(text) = std::str::from_utf8(&literal.0) {
                    parts.extend(text.split_whitespace().map(str::to_owned));
                }
            }
            HirKind::Repetition(repetition) => pending.push(&repetition.sub),
            HirKind::Capture(capture) => pending.push(&capture.sub),
            HirKind::Concat(parts) | HirKind::Alternation(parts) => pending.extend(parts),
            HirKind::Empty | HirKind::Class(_) | HirKind::Look(_) => {}
        }
    }
}
