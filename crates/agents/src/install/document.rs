//! Edits items of JSON text and leaves all other bytes unchanged, such as comments, unusual indentation, trailing
//! commas and CRLF.
//!
//! Removing an item exactly undoes adding it. For that, the text itself has to show whether the container of an item
//! (an object or array) existed before the item. An item that was added to an empty container directly follows the
//! opening bracket (`[{`). An item that was added together with its container begins on a new line.

use jsonc_parser::ast::{Array, Object, Value};
use jsonc_parser::common::{Range, Ranged};
use jsonc_parser::errors::ParseErrorKind;
use jsonc_parser::tokens::Token as Lexeme;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};

/// The reason why a settings file cannot be read or edited, and the place in the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct SettingsError {
    pub line: usize,
    pub column: usize,
    pub message: String,
}

pub(crate) struct Document {
    has_bom: bool,
    text: String,
}

/// The syntax tree of a document. Ranges are byte positions in the current text; an edit invalidates them.
pub(crate) struct Syntax<'a> {
    pub root: Object<'a>,
    pub tokens: Tokens,
}

/// The positions of tokens and comments.
pub(crate) struct Tokens(Vec<Token>);

#[derive(Clone, Copy)]
struct Token {
    range: Range,
    is_comma: bool,
    is_comment: bool,
}

/// An object or array, and the ranges of its children.
pub(crate) struct Container {
    range: Range,
    children: Vec<Range>,
}

impl From<&Object<'_>> for Container {
    fn from(object: &Object<'_>) -> Self {
        Self { range: object.range, children: object.properties.iter().map(Ranged::range).collect() }
    }
}

impl From<&Array<'_>> for Container {
    fn from(array: &Array<'_>) -> Self {
        Self { range: array.range, children: array.elements.iter().map(Ranged::range).collect() }
    }
}

impl Container {
    /// Returns the container without its last child. The text does not change.
    pub fn without_last(mut self) -> Self {
        self.children.pop();
        self
    }

    /// True if `child` is the container's only content and was added together with the container, so that both should
    /// be removed.
    pub fn came_with(&self, child: Range, tokens: &Tokens) -> bool {
        let follows_bracket = self.range.start + 1 == child.start;
        let has_comments = tokens.0.iter().any(|token| {
            let outside = token.range.end <= self.range.start || token.range.start >= self.range.end;
            let inside_child = token.range.start >= child.start && token.range.end <= child.end;
            token.is_comment && !outside && !inside_child
        });
        self.children.len() == 1 && !follows_bracket && !has_comments
    }
}

const BOM: char = '\u{FEFF}';

impl Document {
    pub fn new(text: &str) -> Self {
        match text.strip_prefix(BOM) {
            Some(rest) => Self { has_bom: true, text: rest.to_owned() },
            None => Self { has_bom: false, text: text.to_owned() },
        }
    }

    pub fn into_text(self) -> String {
        if self.has_bom { format!("{BOM}{}", self.text) } else { self.text }
    }

    pub fn syntax(&self) -> Result<Syntax<'_>, SettingsError> {
        let collect = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
        let json_with_comments = ParseOptions {
            allow_comments: true,
            allow_trailing_commas: true,
            allow_loose_object_property_names: false,
            allow_missing_commas: false,
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            allow_bare_decimal_point_numbers: false,
            allow_non_finite_numbers: false,
            allow_extended_string_escapes: false,
        };
        let parsed = parse_to_ast(&self.text, &collect, &json_with_comments).map_err(|error| {
            let kind = error.kind().to_string();
            let is_word = matches!(error.kind(), ParseErrorKind::UnexpectedWord);
            let word = if is_word { format!(" `{}`", self.word_at(error.range().start)) } else { String::new() };
            self.error(error.range(), format!("not valid JSON: {}{word}", kind.to_lowercase()))
        })?;
        let root = match parsed.value {
            Some(Value::Object(root)) => root,
            Some(other) => return Err(self.error(other.range(), "settings must be an object")),
            None => return Err(self.error(Range::from_byte_index(0), "settings must be an object")),
        };
        let tokens = parsed.tokens.unwrap_or_default().into_iter().map(|token| Token {
            range: token.range,
            is_comma: matches!(token.token, Lexeme::Comma),
            is_comment: matches!(token.token, Lexeme::CommentLine(_) | Lexeme::CommentBlock(_)),
        });
        Ok(Syntax { root, tokens: Tokens(tokens.collect()) })
    }

    /// Returns the first characters of the word at a position.
    fn word_at(&self, start: usize) -> &str {
        const MAX_BYTES: usize = 20;
        let rest = self.slice(start, self.text.ceil_char_boundary((start + MAX_BYTES).min(self.text.len())));
        rest.split(|char: char| !char.is_alphanumeric()).next().unwrap_or_default()
    }

    pub fn error(&self, range: Range, message: impl Into<String>) -> SettingsError {
        let before = self.slice(0, range.start);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        SettingsError {
            line: before.matches('\n').count() + 1,
            column: self.slice(line_start, range.start).chars().count() + 1,
            message: message.into(),
        }
    }

    /// Adds `item` as the last child of the container. The lines of `item` are separated by `\n` and indented by two
    /// spaces per level; both are converted to the document's own line breaks and indentation.
    pub fn append(&mut self, container: &Container, item: &str, tokens: &Tokens) {
        let Some(last) = container.children.last() else {
            let item = self.indented(item, &self.line_indent(container.range.start));
            self.text.insert_str(container.range.start + 1, &item);
            return;
        };
        let indent = self
            .own_line_indent(*last)
            .unwrap_or_else(|| self.line_indent(container.range.start) + &self.indent_unit());
        let item = self.indented(item, &indent);
        let newline = self.newline();
        let comma = tokens.next_but_comments(last.end).filter(|token| token.is_comma);
        let place = self.after_comments_of_line(comma.map_or(last.end, |comma| comma.range.end), tokens);
        if comma.is_some() {
            self.text.insert_str(place, &format!("{newline}{indent}{item},"));
        } else {
            self.text.insert_str(place, &format!("{newline}{indent}{item}"));
            self.text.insert(last.end, ',');
        }
    }

    /// Removes a child of a container, together with the child's comma and the white space before the child.
    pub fn remove(&mut self, child: Range, tokens: &Tokens) {
        let start = tokens.previous(child.start).map_or(child.start, |token| token.range.end);
        match tokens.next_but_comments(child.end) {
            Some(comma) if comma.is_comma => {
                if self.slice(child.end, comma.range.start).trim().is_empty() {
                    self.text.replace_range(start..comma.range.end, "");
                } else {
                    self.text.replace_range(comma.range.start..comma.range.end, "");
                    self.text.replace_range(start..child.end, "");
                }
            }
            _ => {
                self.text.replace_range(start..child.end, "");
                if let Some(comma) = tokens.previous_but_comments(child.start).filter(|token| token.is_comma) {
                    self.text.replace_range(comma.range.start..comma.range.end, "");
                }
            }
        }
    }

    pub fn replace(&mut self, child: Range, item: &str) {
        let item = self.indented(item, &self.line_indent(child.start));
        self.text.replace_range(child.start..child.end, &item);
    }

    /// True if the text before and after the root object is only white space.
    pub fn is_only(&self, root: Range) -> bool {
        self.slice(0, root.start).trim().is_empty() && self.slice(root.end, self.text.len()).trim().is_empty()
    }

    fn slice(&self, start: usize, end: usize) -> &str {
        self.text.get(start..end).unwrap_or_default()
    }

    fn newline(&self) -> &'static str {
        match self.text.find('\n') {
            Some(at) if self.text.as_bytes().get(at.wrapping_sub(1)) == Some(&b'\r') => "\r\n",
            _ => "\n",
        }
    }

    /// Returns the indentation of one level: the indentation of the first indented line, or two spaces if there is
    /// none.
    fn indent_unit(&self) -> String {
        let first = self.text.lines().find_map(|line| {
            let unit = leading_space(line);
            (!unit.is_empty() && line.len() > unit.len()).then(|| unit.to_owned())
        });
        first.unwrap_or_else(|| "  ".to_owned())
    }

    /// Returns the indentation of the line that contains this byte position.
    fn line_indent(&self, at: usize) -> String {
        let start = self.slice(0, at).rfind('\n').map_or(0, |newline| newline + 1);
        leading_space(self.slice(start, at)).to_owned()
    }

    /// Returns the indentation of the line on which the range starts. `None` if something precedes the range on that
    /// line, or if it is the first line of the text.
    fn own_line_indent(&self, range: Range) -> Option<String> {
        let start = self.slice(0, range.start).rfind('\n')? + 1;
        let before = self.slice(start, range.start);
        before.trim().is_empty().then(|| before.to_owned())
    }

    /// Returns the position after the comments that directly follow `at` on the same line; `at` if there are none.
    fn after_comments_of_line(&self, at: usize, tokens: &Tokens) -> usize {
        let mut end = at;
        for token in tokens.0.iter().filter(|token| token.range.start >= at) {
            if !token.is_comment || self.slice(end, token.range.start).contains('\n') {
                break;
            }
            end = token.range.end;
        }
        end
    }

    fn indented(&self, item: &str, base: &str) -> String {
        let unit = self.indent_unit();
        let mut text = String::new();
        for (index, line) in item.lines().enumerate() {
            if index > 0 {
                let content = line.trim_start_matches(' ');
                text.push_str(self.newline());
                text.push_str(base);
                text.push_str(&unit.repeat((line.len() - content.len()) / 2));
                text.push_str(content);
            } else {
                text.push_str(line);
            }
        }
        text
    }
}

fn leading_space(line: &str) -> &str {
    let content = line.trim_start_matches([' ', '\t']);
    line.strip_suffix(content).unwrap_or_default()
}

impl Tokens {
    pub fn have_comments(&self) -> bool {
        self.0.iter().any(|token| token.is_comment)
    }

    fn previous(&self, at: usize) -> Option<Token> {
        self.0.iter().copied().rfind(|token| token.range.end <= at)
    }

    fn previous_but_comments(&self, at: usize) -> Option<Token> {
        self.0.iter().copied().rfind(|token| !token.is_comment && token.range.end <= at)
    }

    fn next_but_comments(&self, at: usize) -> Option<Token> {
        self.0.iter().copied().find(|token| !token.is_comment && token.range.start >= at)
    }
}
