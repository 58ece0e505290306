//! Parses the source of a pattern into nodes.

use std::ops::Range;

use super::Variable;
use super::error::{PatternError, PatternWarning};

/// Without this limit, braces could hold as many alternatives as the source has commas.
const MAX_ALTERNATIVES: usize = 64;
/// The characters that `\` makes literal.
const SPECIAL: &[char] = &['*', '?', '[', ']', '{', '}', ',', '!', '~', '-', '^', '\\'];

/// The folder that the paths of a pattern are relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Project,
    /// The project root, `/` or `~/`.
    Anywhere,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    Literal(String),
    /// `?`
    AnyChar,
    CharSet(CharSet),
    /// `*`
    Star,
    /// `**/`
    FoldersThenSlash,
    /// `/**` at the end of a pattern or alternative
    SlashThenSegments,
    /// `**` as a whole alternative
    Segments,
    /// `**` as the whole pattern
    AnyPath,
    Alternatives(Vec<Vec<Node>>),
    Variable {
        crosses_folders: bool,
    },
}

/// `[…]`; never contains `/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CharSet {
    negated: bool,
    ranges: Vec<(char, char)>,
}

impl CharSet {
    pub(super) fn contains(&self, character: char) -> bool {
        let listed = self.ranges.iter().any(|(low, high)| (*low..=*high).contains(&character));
        character != '/' && listed != self.negated
    }
}

pub(super) struct Parsed {
    pub(super) nodes: Vec<Node>,
    pub(super) variables: Vec<Variable>,
    pub(super) warnings: Vec<PatternWarning>,
}

pub(super) fn parse(source: &str, anchor: Anchor, limit: usize) -> Result<Parsed, PatternError> {
    if source.len() > limit {
        return Err(PatternError::new(0..source.len(), format!("a pattern is at most {limit} bytes long")));
    }
    let mut parser = Parser::new(source);
    while parser.looking_at("./") {
        parser.at += 2;
    }
    parser.check_start(anchor)?;
    while parser.at < parser.characters.len() {
        parser.node(Braces::Outside)?;
    }
    parser.check_segments()?;
    let Parser { nodes, variables, warnings, .. } = parser;
    Ok(Parsed { nodes, variables, warnings })
}

/// Appends a pattern that matches the literal.
pub(super) fn escape_into(literal: &str, text: &mut String) {
    for character in literal.chars() {
        // `-`, `^` and `,` are special only inside brackets and braces, which are escaped themselves.
        if SPECIAL.contains(&character) && !matches!(character, '-' | '^' | ',') {
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
            // Each contains one slash.
            Node::FoldersThenSlash | Node::SlashThenSegments => 1,
            Node::Alternatives(alternatives) => {
                alternatives.iter().map(|alternative| literal_length(alternative)).min().unwrap_or(0)
            }
            Node::AnyChar | Node::CharSet(_) | Node::Star | Node::Segments | Node::AnyPath | Node::Variable { .. } => 0,
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

/// Returns the string that a pattern without wildcards and variables matches.
pub(super) fn only_path(nodes: &[Node]) -> Option<String> {
    let text = |node: &Node| match node {
        Node::Literal(text) => Some(text.clone()),
        _ => None,
    };
    nodes.iter().map(text).collect()
}

/// The position of a node: outside of `{a,b}`, or inside. Inside, the flags are true if the braces are at the start or
/// end of a segment.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Braces {
    Outside,
    Inside { starts_segment: bool, ends_segment: bool },
}

struct Parser<'a> {
    source: &'a str,
    characters: Vec<(usize, char)>,
    /// The index of the next character in `characters`.
    at: usize,
    /// The nodes of the sequence that is being parsed: the pattern, or one alternative.
    nodes: Vec<Node>,
    variables: Vec<Variable>,
    warnings: Vec<PatternWarning>,
}

impl<'a> Parser<'a> {
    fn new(source: &'a str) -> Self {
        let characters = source.char_indices().collect();
        Self { source, characters, at: 0, nodes: Vec::new(), variables: Vec::new(), warnings: Vec::new() }
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.characters.get(self.at + ahead).map(|(_, character)| *character)
    }

    fn looking_at(&self, expected: &str) -> bool {
        expected.chars().enumerate().all(|(ahead, character)| self.peek(ahead) == Some(character))
    }

    /// Returns the byte offset of a character.
    fn offset(&self, at: usize) -> usize {
        self.characters.get(at).map_or(self.source.len(), |(offset, _)| *offset)
    }

    fn error(&self, from: usize, to: usize, message: impl Into<String>) -> PatternError {
        PatternError::new(self.offset(from)..self.offset(to), message)
    }

    fn check_start(&self, anchor: Anchor) -> Result<(), PatternError> {
        let start = self.at;
        if start == self.characters.len() {
            return Err(self.error(0, start, "a pattern cannot be empty"));
        }
        if self.peek(0) == Some('!') {
            return Err(self.error(start, start + 1, "a pattern cannot start with `!`").with_help(
                "to leave paths out, list them under `exclude`; write `\\!` for a name that starts with `!`",
            ));
        }
        let root = if self.looking_at("/") { 1 } else { 2 * usize::from(self.looking_at("~/")) };
        if root > 0 && anchor == Anchor::Project {
            let start_text = if root == 1 { "/" } else { "~/" };
            return Err(self
                .error(start, start + root, format!("a pattern cannot start with `{start_text}`"))
                .with_help("paths are relative to the project root"));
        }
        Ok(())
    }

    fn node(&mut self, braces: Braces) -> Result<(), PatternError> {
        match self.peek(0) {
            None => {}
            Some('\\') => self.escaped()?,
            Some('*') => self.stars(braces),
            Some('?') => {
                self.nodes.push(Node::AnyChar);
                self.at += 1;
            }
            Some('[') => {
                let set = self.char_set()?;
                self.nodes.push(Node::CharSet(set));
            }
            Some('{') => self.braces()?,
            Some('}') => {
                return Err(self
                    .error(self.at, self.at + 1, "unmatched `}`")
                    .with_help("write `\\}` for a literal brace"));
            }
            Some(character) => {
                self.literal(character);
                self.at += 1;
            }
        }
        Ok(())
    }

    fn literal(&mut self, character: char) {
        match self.nodes.last_mut() {
            Some(Node::Literal(text)) => text.push(character),
            _ => self.nodes.push(Node::Literal(character.into())),
        }
    }

    fn escaped(&mut self) -> Result<(), PatternError> {
        match self.peek(1) {
            Some(character) if SPECIAL.contains(&character) => {
                self.literal(character);
                self.at += 2;
                Ok(())
            }
            Some(character) => Err(self
                .error(self.at, self.at + 2, format!("`\\` before `{character}`, which is not special"))
                .with_help("folders are separated by `/`; a backslash itself is `\\\\`")),
            None => {
                Err(self.error(self.at, self.at + 1, "`\\` before nothing").with_help("a backslash itself is `\\\\`"))
            }
        }
    }

    fn starts_segment(&self, braces: Braces) -> bool {
        match self.nodes.last() {
            None => !matches!(braces, Braces::Inside { starts_segment: false, .. }),
            Some(Node::Literal(text)) => text.ends_with('/'),
            Some(Node::FoldersThenSlash) => true,
            Some(_) => false,
        }
    }

    /// True if a segment ends `ahead` characters from here: at the end of the pattern, or of braces that end a segment.
    fn ends_at(&self, ahead: usize, braces: Braces) -> bool {
        match (self.peek(ahead), braces) {
            (None, _) => true,
            (Some(',' | '}'), Braces::Inside { ends_segment, .. }) => ends_segment,
            _ => false,
        }
    }

    fn stars(&mut self, braces: Braces) {
        let from = self.at;
        let is_segment =
            |parser: &Self| parser.looking_at("**") && (parser.peek(2) == Some('/') || parser.ends_at(2, braces));
        if !self.starts_segment(braces) || !is_segment(self) {
            while self.peek(0) == Some('*') {
                self.at += 1;
            }
            if self.at - from > 1 {
                let span = self.offset(from)..self.offset(self.at);
                self.warnings.push(PatternWarning::DoubleStarInSegment { span });
            }
            self.nodes.push(Node::Star);
            return;
        }
        // `**/**` matches the same as `**`.
        while self.looking_at("**/**") && (self.peek(5) == Some('/') || self.ends_at(5, braces)) {
            self.at += 3;
        }
        self.at += 2;
        if self.peek(0) == Some('/') {
            self.at += 1;
            self.nodes.push(Node::FoldersThenSlash);
            return;
        }
        // `src/**` also matches `src`, so the slash is dropped. `/**` keeps its slash.
        let is_root = braces == Braces::Outside && self.nodes == [Node::Literal("/".into())];
        match self.nodes.last_mut() {
            Some(Node::Literal(text)) if !is_root => {
                text.pop();
                if text.is_empty() {
                    self.nodes.pop();
                }
                self.nodes.push(Node::SlashThenSegments);
            }
            Some(_) => self.nodes.push(Node::AnyPath),
            None if braces == Braces::Outside => self.nodes.push(Node::AnyPath),
            None => self.nodes.push(Node::Segments),
        }
    }

    /// Returns the index after the `]` that closes the `[` at `from`, within the same segment.
    fn char_set_end(&self, from: usize) -> Option<usize> {
        let mut at = from + 1;
        if matches!(self.characters.get(at)?.1, '!' | '^') {
            at += 1;
        }
        let first = at;
        loop {
            match self.characters.get(at)?.1 {
                '\\' => at += 2,
                '/' => return None,
                ']' if at > first => return Some(at + 1),
                _ => at += 1,
            }
        }
    }

    fn char_set(&mut self) -> Result<CharSet, PatternError> {
        let from = self.at;
        let Some(end) = self.char_set_end(from) else {
            return Err(self.error(from, from + 1, "unclosed `[`").with_help("write `\\[` for a literal bracket"));
        };
        self.at += 1;
        let negated = matches!(self.peek(0), Some('!' | '^'));
        self.at += usize::from(negated);
        let mut set = CharSet { negated, ranges: Vec::new() };
        while self.at + 1 < end {
            let low = self.char_of_set()?;
            let is_range = self.peek(0) == Some('-') && self.at + 2 < end;
            let high = if is_range {
                self.at += 1;
                self.char_of_set()?
            } else {
                low
            };
            set.ranges.push((low, high));
        }
        self.at = end;
        if !negated && set.ranges.iter().all(|(low, high)| low > high) {
            let span = self.offset(from)..self.offset(end);
            self.warnings.push(PatternWarning::MatchesNothing { span, why: "the range is backwards" });
        }
        Ok(set)
    }

    fn char_of_set(&mut self) -> Result<char, PatternError> {
        let escaped = self.peek(0) == Some('\\');
        let character = self.peek(usize::from(escaped)).unwrap_or('\\');
        if escaped && !SPECIAL.contains(&character) {
            return Err(self.error(self.at, self.at + 2, format!("`\\` before `{character}`, which is not special")));
        }
        self.at += 1 + usize::from(escaped);
        Ok(character)
    }

    fn braces(&mut self) -> Result<(), PatternError> {
        let open = self.at;
        let (close, has_comma) = self.closing_brace(open)?;
        self.at += 1;
        if !has_comma {
            self.variable(open, close)?;
            self.at = close + 1;
            return Ok(());
        }
        let before = std::mem::take(&mut self.nodes);
        let starts_segment = match before.last() {
            None | Some(Node::FoldersThenSlash) => true,
            Some(Node::Literal(text)) => text.ends_with('/'),
            Some(_) => false,
        };
        let ends_segment = matches!(self.characters.get(close + 1), None | Some((_, '/')));
        let mut alternatives = Vec::new();
        loop {
            match self.peek(0) {
                Some(',') => alternatives.push(std::mem::take(&mut self.nodes)),
                _ if self.at == close => break,
                _ => {
                    self.node(Braces::Inside { starts_segment, ends_segment })?;
                    continue;
                }
            }
            self.at += 1;
        }
        alternatives.push(std::mem::replace(&mut self.nodes, before));
        self.at = close + 1;
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

    /// Returns the index of the brace that closes the one at `open`, and true if there is a comma between them.
    fn closing_brace(&self, open: usize) -> Result<(usize, bool), PatternError> {
        let mut has_comma = false;
        let mut at = open + 1;
        while let Some((_, character)) = self.characters.get(at) {
            match character {
                '\\' => at += 1,
                ',' => has_comma = true,
                '}' => return Ok((at, has_comma)),
                '{' => {
                    return Err(self
                        .error(at, at + 1, "braces inside braces")
                        .with_help("write one pattern for each case, or `\\{` for a literal brace"));
                }
                // Commas and braces in a character set are ordinary characters.
                '[' => {
                    if let Some(end) = self.char_set_end(at) {
                        at = end - 1;
                    }
                }
                _ => {}
            }
            at += 1;
        }
        Err(self.error(open, open + 1, "this `{` is not closed").with_help("write `\\{` for a literal brace"))
    }

    fn variable(&mut self, open: usize, close: usize) -> Result<(), PatternError> {
        let span = self.offset(open)..self.offset(close + 1);
        let written: String =
            self.characters.iter().skip(open + 1).take(close - open - 1).map(|(_, character)| character).collect();
        let (name, crosses_folders) = match written.as_str() {
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
            return Err(PatternError::new(span, format!("ranges such as `{{{written}}}` are not supported"))
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
            return Err(PatternError::new(span, "two variables with nothing between them")
                .with_help("nothing says where the first ends and the second begins"));
        }
        self.variables.push(Variable { name: name.to_owned(), span });
        self.nodes.push(Node::Variable { crosses_folders });
        Ok(())
    }

    /// Reports invalid and suspicious segments. Works on the source, where segments are not yet split into nodes.
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
        // An absolute pattern has an empty first segment, and leading `.` segments were dropped.
        let leading = segments.iter().take_while(|range| self.source.get((*range).clone()) == Some(".")).count();
        for (place, range) in segments.into_iter().enumerate() {
            let segment = self.source.get(range.clone()).unwrap_or_default();
            if segment == ".." {
                return Err(PatternError::new(range, "`..` in a pattern")
                    .with_help("patterns are relative to the project root, and paths in it never have `..`"));
            }
            let why = match segment {
                "" if place == last && place > 0 && last > 0 => {
                    if self.source.len() > 1 {
                        let suggestion = format!("{}**", self.source);
                        self.warnings.push(PatternWarning::BareFolder { suggestion });
                    }
                    continue;
                }
                "" if place > 0 => "a folder name is empty",
                "." if place >= leading || place == last => "a folder is named `.`",
                _ => continue,
            };
            self.warnings.push(PatternWarning::MatchesNothing { span: range, why });
        }
        Ok(())
    }
}

fn is_variable_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
}
