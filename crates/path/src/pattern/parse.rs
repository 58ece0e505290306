//! Parses the source of a pattern into nodes.

use std::ops::Range;

use super::Variable;
use super::error::{PatternError, PatternWarning};

/// The maximum number of alternatives in `{a,b}`. Without it, one pattern could have hundreds.
const MAX_ALTERNATIVES: usize = 64;
/// The characters that `\` may precede, to make them literal.
const ESCAPABLE: &[char] = &['*', '?', '[', ']', '{', '}', ',', '!', '~', '-', '^', '\\'];

/// The paths that a pattern may match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AllowedPaths {
    /// Paths relative to the project root.
    Relative,
    /// Also paths that start with `/` or `~/`.
    RelativeAndAbsolute,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    Literal(String),
    /// `?`, which matches one character other than `/`.
    AnyCharExceptSlash,
    CharSet(CharSet),
    /// `*` within a segment.
    Star,
    /// `**/`, which matches any number of directories, each with a slash after it.
    DirectoriesThenSlash,
    /// `/**` at the end of a pattern or alternative, which matches any number of segments, each with a slash before it.
    SlashThenSegments,
    /// `**` as a whole alternative, which matches one or more segments.
    Segments,
    /// `**` as the whole pattern, or after `/` at its start, which matches everything.
    AnyPath,
    /// `{a,b}`
    Alternatives(Vec<Vec<Node>>),
    /// `{name}`, or `{**name}`, which may match several segments.
    Variable {
        crosses_directories: bool,
    },
}

/// `[…]` or `[!…]`, which never matches `/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CharSet {
    negated: bool,
    ranges: Vec<(char, char)>,
}

impl CharSet {
    pub(super) fn contains(&self, character: char) -> bool {
        let in_ranges = self.ranges.iter().any(|(low, high)| (*low..=*high).contains(&character));
        character != '/' && in_ranges != self.negated
    }
}

pub(super) struct Parsed {
    pub(super) nodes: Vec<Node>,
    pub(super) variables: Vec<Variable>,
    pub(super) warnings: Vec<PatternWarning>,
}

pub(super) fn parse(source: &str, allowed_paths: AllowedPaths, max_bytes: usize) -> Result<Parsed, PatternError> {
    if source.len() > max_bytes {
        return Err(PatternError::new(0..source.len(), format!("a pattern is at most {max_bytes} bytes long")));
    }
    let mut parser = Parser::new(source);
    while parser.is_at("./") {
        parser.position += 2;
    }
    parser.check_start(allowed_paths)?;
    while parser.position < parser.characters.len() {
        parser.parse_node(BraceContext::Outside)?;
    }
    parser.check_segments()?;
    let Parser { nodes, variables, warnings, .. } = parser;
    Ok(Parsed { nodes, variables, warnings })
}

/// Appends the source of a pattern that matches only the literal.
pub(super) fn push_escaped(literal: &str, text: &mut String) {
    for character in literal.chars() {
        // `-`, `^` and `,` are special only inside brackets and braces, which are escaped themselves.
        if ESCAPABLE.contains(&character) && !matches!(character, '-' | '^' | ',') {
            text.push('\\');
        }
        text.push(character);
    }
}

pub(super) fn literal_length(nodes: &[Node]) -> usize {
    nodes
        .iter()
        .map(|node| match node {
            Node::Literal(text) => text.chars().count(),
            // In the source, each of the two contains one slash.
            Node::DirectoriesThenSlash | Node::SlashThenSegments => 1,
            Node::Alternatives(alternatives) => {
                alternatives.iter().map(|alternative| literal_length(alternative)).min().unwrap_or(0)
            }
            Node::AnyCharExceptSlash
            | Node::CharSet(_)
            | Node::Star
            | Node::Segments
            | Node::AnyPath
            | Node::Variable { .. } => 0,
        })
        .sum()
}

pub(super) fn required_literal(nodes: &[Node]) -> &str {
    let literals = nodes.iter().filter_map(|node| match node {
        Node::Literal(text) => Some(text.as_str()),
        _ => None,
    });
    literals.max_by_key(|text| text.len()).unwrap_or_default()
}

/// Returns the only string that a pattern without wildcards and variables matches.
pub(super) fn only_path(nodes: &[Node]) -> Option<String> {
    let text = |node: &Node| match node {
        Node::Literal(text) => Some(text.clone()),
        _ => None,
    };
    nodes.iter().map(text).collect()
}

/// Tells whether a node is outside or inside of `{a,b}`, and whether these braces start or end a segment.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BraceContext {
    Outside,
    Inside { starts_segment: bool, ends_segment: bool },
}

struct Parser<'a> {
    source: &'a str,
    characters: Vec<(usize, char)>,
    /// The index of the next character in `characters`.
    position: usize,
    /// The nodes of the sequence that is being parsed: the pattern, or one alternative.
    nodes: Vec<Node>,
    variables: Vec<Variable>,
    warnings: Vec<PatternWarning>,
}

impl<'a> Parser<'a> {
    fn new(source: &'a str) -> Self {
        let characters = source.char_indices().collect();
        Self { source, characters, position: 0, nodes: Vec::new(), variables: Vec::new(), warnings: Vec::new() }
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.characters.get(self.position + ahead).map(|(_, character)| *character)
    }

    fn is_at(&self, expected: &str) -> bool {
        expected.chars().enumerate().all(|(ahead, character)| self.peek(ahead) == Some(character))
    }

    /// Returns the byte offset of the character at an index.
    fn byte_offset(&self, index: usize) -> usize {
        self.characters.get(index).map_or(self.source.len(), |(offset, _)| *offset)
    }

    fn error(&self, from: usize, to: usize, message: impl Into<String>) -> PatternError {
        PatternError::new(self.byte_offset(from)..self.byte_offset(to), message)
    }

    fn check_start(&self, allowed_paths: AllowedPaths) -> Result<(), PatternError> {
        let start = self.position;
        if start == self.characters.len() {
            return Err(self.error(0, start, "a pattern cannot be empty"));
        }
        if self.peek(0) == Some('!') {
            return Err(self.error(start, start + 1, "a pattern cannot start with `!`").with_help(
                "to leave paths out, list them under `exclude`; write `\\!` for a name that starts with `!`",
            ));
        }
        let root_length = if self.is_at("/") { 1 } else { 2 * usize::from(self.is_at("~/")) };
        if root_length > 0 && allowed_paths == AllowedPaths::Relative {
            let root = if root_length == 1 { "/" } else { "~/" };
            return Err(self
                .error(start, start + root_length, format!("a pattern cannot start with `{root}`"))
                .with_help("paths are relative to the project root"));
        }
        Ok(())
    }

    fn parse_node(&mut self, braces: BraceContext) -> Result<(), PatternError> {
        match self.peek(0) {
            None => {}
            Some('\\') => self.parse_escape()?,
            Some('*') => self.parse_stars(braces),
            Some('?') => {
                self.nodes.push(Node::AnyCharExceptSlash);
                self.position += 1;
            }
            Some('[') => {
                let set = self.parse_char_set()?;
                self.nodes.push(Node::CharSet(set));
            }
            Some('{') => self.parse_braces()?,
            Some('}') => {
                return Err(self
                    .error(self.position, self.position + 1, "unmatched `}`")
                    .with_help("write `\\}` for a literal brace"));
            }
            Some(character) => {
                self.push_literal(character);
                self.position += 1;
            }
        }
        Ok(())
    }

    fn push_literal(&mut self, character: char) {
        match self.nodes.last_mut() {
            Some(Node::Literal(text)) => text.push(character),
            _ => self.nodes.push(Node::Literal(character.into())),
        }
    }

    fn parse_escape(&mut self) -> Result<(), PatternError> {
        match self.peek(1) {
            Some(character) if ESCAPABLE.contains(&character) => {
                self.push_literal(character);
                self.position += 2;
                Ok(())
            }
            Some(character) => Err(self
                .error(self.position, self.position + 2, unneeded_escape(character))
                .with_help("directories are separated by `/`; a backslash itself is `\\\\`")),
            None => Err(self
                .error(
                    self.position,
                    self.position + 1,
                    "the pattern ends with `\\`, which must be followed by the character to escape",
                )
                .with_help("a backslash itself is `\\\\`")),
        }
    }

    fn starts_segment(&self, braces: BraceContext) -> bool {
        match self.nodes.last() {
            None => !matches!(braces, BraceContext::Inside { starts_segment: false, .. }),
            Some(Node::Literal(text)) => text.ends_with('/'),
            Some(Node::DirectoriesThenSlash) => true,
            Some(_) => false,
        }
    }

    /// True if a segment ends `ahead` characters after the current one: at the end of the pattern, or at the end of an
    /// alternative in braces that end a segment.
    fn segment_ends_at(&self, ahead: usize, braces: BraceContext) -> bool {
        match (self.peek(ahead), braces) {
            (None, _) => true,
            (Some(',' | '}'), BraceContext::Inside { ends_segment, .. }) => ends_segment,
            _ => false,
        }
    }

    fn parse_stars(&mut self, braces: BraceContext) {
        let from = self.position;
        let is_whole_segment =
            |parser: &Self| parser.is_at("**") && (parser.peek(2) == Some('/') || parser.segment_ends_at(2, braces));
        if !self.starts_segment(braces) || !is_whole_segment(self) {
            while self.peek(0) == Some('*') {
                self.position += 1;
            }
            if self.position - from > 1 {
                let span = self.byte_offset(from)..self.byte_offset(self.position);
                self.warnings.push(PatternWarning::DoubleStarInSegment { span });
            }
            self.nodes.push(Node::Star);
            return;
        }
        // `**/**` matches the same as `**`.
        while self.is_at("**/**") && (self.peek(5) == Some('/') || self.segment_ends_at(5, braces)) {
            self.position += 3;
        }
        self.position += 2;
        if self.peek(0) == Some('/') {
            self.position += 1;
            self.nodes.push(Node::DirectoriesThenSlash);
            return;
        }
        // `src/**` also matches `src`, so its slash is removed. `/**` keeps its slash.
        let follows_root_slash = braces == BraceContext::Outside && self.nodes == [Node::Literal("/".into())];
        match self.nodes.last_mut() {
            Some(Node::Literal(text)) if !follows_root_slash => {
                text.pop();
                if text.is_empty() {
                    self.nodes.pop();
                }
                self.nodes.push(Node::SlashThenSegments);
            }
            Some(_) => self.nodes.push(Node::AnyPath),
            None if braces == BraceContext::Outside => self.nodes.push(Node::AnyPath),
            None => self.nodes.push(Node::Segments),
        }
    }

    /// Returns the index after the `]` that closes the `[` at `open`; `None` if it is not in the same segment.
    fn find_char_set_end(&self, open: usize) -> Option<usize> {
        let mut index = open + 1;
        if matches!(self.characters.get(index)?.1, '!' | '^') {
            index += 1;
        }
        let first = index;
        loop {
            match self.characters.get(index)?.1 {
                '\\' => index += 2,
                '/' => return None,
                ']' if index > first => return Some(index + 1),
                _ => index += 1,
            }
        }
    }

    fn parse_char_set(&mut self) -> Result<CharSet, PatternError> {
        let from = self.position;
        let Some(end) = self.find_char_set_end(from) else {
            return Err(self.error(from, from + 1, "unclosed `[`").with_help("write `\\[` for a literal bracket"));
        };
        self.position += 1;
        let negated = matches!(self.peek(0), Some('!' | '^'));
        self.position += usize::from(negated);
        let mut set = CharSet { negated, ranges: Vec::new() };
        while self.position + 1 < end {
            let low = self.parse_char_in_set()?;
            let is_range = self.peek(0) == Some('-') && self.position + 2 < end;
            let high = if is_range {
                self.position += 1;
                self.parse_char_in_set()?
            } else {
                low
            };
            set.ranges.push((low, high));
        }
        self.position = end;
        if !negated && set.ranges.iter().all(|(low, high)| low > high) {
            let span = self.byte_offset(from)..self.byte_offset(end);
            self.warnings.push(PatternWarning::MatchesNothing { span, reason: "the range is backwards" });
        }
        Ok(set)
    }

    fn parse_char_in_set(&mut self) -> Result<char, PatternError> {
        let is_escaped = self.peek(0) == Some('\\');
        let character = self.peek(usize::from(is_escaped)).unwrap_or('\\');
        if is_escaped && !ESCAPABLE.contains(&character) {
            let error = self.error(self.position, self.position + 2, unneeded_escape(character));
            return Err(error.with_help("remove the `\\`; a backslash itself is `\\\\`"));
        }
        self.position += 1 + usize::from(is_escaped);
        Ok(character)
    }

    fn parse_braces(&mut self) -> Result<(), PatternError> {
        let open = self.position;
        let (close, has_comma) = self.find_closing_brace(open)?;
        self.position += 1;
        if !has_comma {
            self.parse_variable(open, close)?;
            self.position = close + 1;
            return Ok(());
        }
        let nodes_before = std::mem::take(&mut self.nodes);
        let starts_segment = match nodes_before.last() {
            None | Some(Node::DirectoriesThenSlash) => true,
            Some(Node::Literal(text)) => text.ends_with('/'),
            Some(_) => false,
        };
        let ends_segment = matches!(self.characters.get(close + 1), None | Some((_, '/')));
        let mut alternatives = Vec::new();
        loop {
            match self.peek(0) {
                Some(',') => alternatives.push(std::mem::take(&mut self.nodes)),
                _ if self.position == close => break,
                _ => {
                    self.parse_node(BraceContext::Inside { starts_segment, ends_segment })?;
                    continue;
                }
            }
            self.position += 1;
        }
        alternatives.push(std::mem::replace(&mut self.nodes, nodes_before));
        self.position = close + 1;
        if alternatives.len() > MAX_ALTERNATIVES {
            return Err(self.error(open, close + 1, format!("more than {MAX_ALTERNATIVES} alternatives")));
        }
        if alternatives.iter().all(Vec::is_empty) {
            return Err(self.empty_braces(open, close));
        }
        self.nodes.push(Node::Alternatives(alternatives));
        Ok(())
    }

    fn empty_braces(&self, open: usize, close: usize) -> PatternError {
        self.error(open, close + 1, "empty braces").with_help("name a variable, `{name}`, or write `\\{\\}`")
    }

    /// Returns the index of the `}` that closes the `{` at `open`, and true if there is a comma between them.
    fn find_closing_brace(&self, open: usize) -> Result<(usize, bool), PatternError> {
        let mut has_comma = false;
        let mut index = open + 1;
        while let Some((_, character)) = self.characters.get(index) {
            match character {
                '\\' => index += 1,
                ',' => has_comma = true,
                '}' => return Ok((index, has_comma)),
                '{' => {
                    return Err(self
                        .error(index, index + 1, "braces inside braces")
                        .with_help("write one pattern for each case, or `\\{` for a literal brace"));
                }
                // Commas and braces in a character set are ordinary characters.
                '[' => {
                    if let Some(end) = self.find_char_set_end(index) {
                        index = end - 1;
                    }
                }
                _ => {}
            }
            index += 1;
        }
        Err(self.error(open, open + 1, "this `{` is not closed").with_help("write `\\{` for a literal brace"))
    }

    fn parse_variable(&mut self, open: usize, close: usize) -> Result<(), PatternError> {
        let span = self.byte_offset(open)..self.byte_offset(close + 1);
        let content: String =
            self.characters.iter().skip(open + 1).take(close - open - 1).map(|(_, character)| character).collect();
        let (name, crosses_directories) = match content.as_str() {
            "" => return Err(self.empty_braces(open, close)),
            "*" => ("name", false),
            "**" | "path" => ("path", true),
            other => match (other.strip_prefix("**"), other.strip_prefix('*')) {
                (Some(name), _) => (name, true),
                (None, Some(name)) => (name, false),
                (None, None) => (other, false),
            },
        };
        if name.contains("..") {
            return Err(PatternError::new(span, format!("ranges such as `{{{content}}}` are not supported"))
                .with_help("list the alternatives, `{1,2,3}`, or use a set, `[1-3]`"));
        }
        if !is_variable_name(name) {
            return Err(PatternError::new(span, format!("`{name}` is not a variable name")).with_help(
                "names are letters, digits and `_`, and do not start with a digit; alternatives need a comma",
            ));
        }
        if self.variables.iter().any(|variable| variable.name == name) {
            return Err(PatternError::new(span, format!("the variable `{{{name}}}` is used twice"))
                .with_help("give the second one another name"));
        }
        if matches!(self.nodes.last(), Some(Node::Variable { .. })) {
            return Err(PatternError::new(span, "two variables with nothing between them").with_help(
                "put a literal between them, such as `-`; otherwise it is unclear where the second begins",
            ));
        }
        self.variables.push(Variable { name: name.to_owned(), span });
        self.nodes.push(Node::Variable { crosses_directories });
        Ok(())
    }

    /// Reports invalid and suspicious segments. Reads the source, because a segment may be several nodes.
    fn check_segments(&mut self) -> Result<(), PatternError> {
        let mut start = 0;
        let segments: Vec<Range<usize>> = self
            .source
            .split('/')
            .map(|segment| {
                let range = start..start + segment.len();
                start = range.end + 1;
                range
            })
            .collect();
        let last = segments.len() - 1;
        // `parse` skips leading `.` segments. An absolute pattern has an empty first segment.
        let leading_dots = segments.iter().take_while(|range| self.source.get((*range).clone()) == Some(".")).count();
        for (index, range) in segments.into_iter().enumerate() {
            let segment = self.source.get(range.clone()).unwrap_or_default();
            if segment == ".." {
                return Err(PatternError::new(range, "a pattern cannot contain `..`")
                    .with_help("write the path relative to the project root, without `..`"));
            }
            let reason = match segment {
                "" if index == last && index > 0 && last > 0 => {
                    if self.source.len() > 1 {
                        let suggestion = format!("{}**", self.source);
                        self.warnings.push(PatternWarning::BareDirectory { suggestion });
                    }
                    continue;
                }
                "" if index > 0 => "a directory name is empty",
                "." if index >= leading_dots || index == last => "a directory is named `.`",
                _ => continue,
            };
            self.warnings.push(PatternWarning::MatchesNothing { span: range, reason });
        }
        Ok(())
    }
}

fn is_variable_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
}

fn unneeded_escape(character: char) -> String {
    format!("`\\` before `{character}` has no meaning, because `{character}` needs no escape")
}
