//! The text of an expression or of a template, before the engine's parser sees it.
//!
//! That parser and everything after it recurse, so how deep the tree will become is worked out here from the tokens,
//! without recursion, and too deep is an error. Operators that the engine has and this language has not are found here
//! too, where their place is known.

use std::{borrow::Cow, ops::Range, sync::LazyLock};

use minijinja::{
    machinery::{Span, Token, tokenize},
    syntax::SyntaxConfig,
};

use super::error::ExprError;

/// A condition that is longer is a program.
pub(super) const LENGTH_LIMIT: usize = 4096;
/// Brackets within brackets; the parser takes over a dozen stack frames for each.
pub(super) const BRACKET_LIMIT: usize = 32;
/// Levels of the tree, of every kind.
pub(super) const DEPTH_LIMIT: usize = 160;

/// More than a prompt or guide that anybody reads.
pub(super) const TEMPLATE_LENGTH_LIMIT: usize = 64 * 1024;
/// Blocks in a template; each may be within the one before.
const BLOCK_LIMIT: usize = 200;

/// A line that holds nothing but a block leaves no line behind.
pub(super) static SYNTAX: LazyLock<SyntaxConfig> =
    LazyLock::new(|| SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build().unwrap_or_default());

/// The text to parse, and how to get from a place in it to the place in what was written.
#[derive(Debug)]
pub(super) struct Source<'s> {
    pub(super) text: Cow<'s, str>,
    written: &'s str,
    /// Where `()` was added, as places in what was written.
    added: Vec<usize>,
}

const ADDED: &str = "()";

impl<'s> Source<'s> {
    pub(super) fn read(written: &'s str) -> Result<Self, ExprError> {
        if written.len() > LENGTH_LIMIT {
            let message = format!("an expression is at most {LENGTH_LIMIT} bytes long; this one has {}", written.len());
            return Err(ExprError::new(0..written.len(), message));
        }
        let mut depth = Depth::default();
        let mut singleton_test = Test::None;
        let mut added = Vec::new();
        for token in tokenize(written, true, SyntaxConfig::default()) {
            let (token, span) = token.map_err(|error| syntax_error(&error, written))?;
            if let Some(error) = foreign_operator(&token, span) {
                return Err(error);
            }
            depth.add(&token, span)?;
            if let Some(end) = singleton_test.add(&token, span) {
                added.push(end);
            }
        }
        depth.finish(0..written.len())?;
        Ok(Self::with_added(written, added))
    }

    /// A text with expressions between braces and blocks around texts.
    pub(super) fn read_template(written: &'s str) -> Result<Self, ExprError> {
        if written.len() > TEMPLATE_LENGTH_LIMIT {
            let (limit, length) = (TEMPLATE_LENGTH_LIMIT, written.len());
            let message = format!("a prompt or guide is at most {limit} bytes long; this one has {length}");
            return Err(ExprError::new(0..length, message));
        }
        let mut added = Vec::new();
        let mut blocks = 0;
        let mut inside: Option<Inside> = None;
        for token in tokenize(written, false, SYNTAX.clone()) {
            let (token, span) = token.map_err(|error| syntax_error(&error, written))?;
            match (&token, &mut inside) {
                (Token::TemplateData(_), _) => {}
                (Token::VariableStart | Token::BlockStart, _) => {
                    // Every block is counted as if none ended: simpler, and a prompt has few.
                    blocks += usize::from(matches!(token, Token::BlockStart));
                    inside = Some(Inside { start: span.start_offset as usize, ..Inside::default() });
                }
                (Token::VariableEnd | Token::BlockEnd, _) => {
                    if let Some(Inside { start, depth, .. }) = inside.take() {
                        let whole = start..span.end_offset as usize;
                        if whole.len() > LENGTH_LIMIT {
                            let message = format!("an expression is at most {LENGTH_LIMIT} bytes long");
                            return Err(ExprError::new(whole, message));
                        }
                        depth.finish(whole)?;
                    }
                }
                (_, Some(inside)) => {
                    if let Some(error) = foreign_operator(&token, span) {
                        return Err(error);
                    }
                    inside.depth.add(&token, span)?;
                    added.extend(inside.singleton_test.add(&token, span));
                }
                (_, None) => {}
            }
        }
        if blocks > BLOCK_LIMIT {
            return Err(ExprError::new(
                0..written.len(),
                format!("a prompt or guide has at most {BLOCK_LIMIT} blocks"),
            ));
        }
        Ok(Self::with_added(written, added))
    }

    fn with_added(written: &'s str, added: Vec<usize>) -> Self {
        let mut text = Cow::Borrowed(written);
        for place in added.iter().rev() {
            text.to_mut().insert_str(*place, ADDED);
        }
        Self { text, written, added }
    }

    /// The place in what was written of a place in [`Self::text`].
    pub(super) fn written_span(&self, span: Range<usize>) -> Range<usize> {
        let written = |mut place: usize| {
            for (index, added) in self.added.iter().enumerate().rev() {
                let start = added + index * ADDED.len();
                if place > start {
                    place = place.saturating_sub(ADDED.len() * (index + 1)).max(*added);
                    break;
                }
            }
            place
        };
        clamp(written(span.start)..written(span.end), self.written)
    }

    pub(super) fn written_error(&self, error: ExprError) -> ExprError {
        ExprError { span: self.written_span(error.span), ..error }
    }

    pub(super) fn syntax_error(&self, error: &minijinja::Error) -> ExprError {
        self.written_error(syntax_error(error, &self.text))
    }
}

/// What is between the braces of a template.
#[derive(Default)]
struct Inside {
    start: usize,
    depth: Depth,
    singleton_test: Test,
}

/// Whatever the engine says, a span is within the text, on character boundaries, and not backwards.
fn clamp(span: Range<usize>, text: &str) -> Range<usize> {
    let start = text.floor_char_boundary(span.start);
    start..text.ceil_char_boundary(span.end.max(start)).min(text.len())
}

pub(super) fn range(span: Span) -> Range<usize> {
    span.start_offset as usize..span.end_offset as usize
}

fn foreign_operator(token: &Token, span: Span) -> Option<ExprError> {
    let (operator, help) = match token {
        Token::Div => ("/", Some("`//` divides and rounds down")),
        Token::Pow => ("**", None),
        Token::Tilde => ("~", Some("`+` joins text")),
        Token::Assign => ("=", Some("`==` compares; arguments have no names")),
        Token::TemplateData(_) | Token::VariableStart | Token::VariableEnd | Token::BlockStart | Token::BlockEnd => {
            return Some(ExprError::new(range(span), "an expression ends here, and more follows"));
        }
        _ => return None,
    };
    let message = format!("the language has no operator `{operator}`");
    Some(ExprError::new(range(span), message).with_help(help.map(str::to_owned)))
}

fn syntax_error(error: &minijinja::Error, text: &str) -> ExprError {
    let mut error = ExprError::from_engine(error, text.len());
    error.span = clamp(error.span, text);
    // The engine reports the token before or after the one that people stumble over.
    let around = text.get(clamp(error.span.start.saturating_sub(2)..error.span.end + 2, text)).unwrap_or_default();
    error.help = [("&&", "write `and`"), ("||", "write `or`"), ("!", "write `not`")]
        .into_iter()
        .find(|(sign, _)| around.contains(sign) && !around.contains("!="))
        .map(|(_, help)| help.to_owned());
    error.message = format!("syntax: {}", error.message);
    error
}

/// Finds `is None`, `is True` and `is False` before a word such as `if`, which the engine would take for an argument of
/// the test; with `()` added it does not.
#[derive(Default)]
enum Test {
    #[default]
    None,
    Is,
    Singleton(usize),
}

impl Test {
    fn add(&mut self, token: &Token, span: Span) -> Option<usize> {
        let Token::Ident(word) = token else {
            *self = Self::None;
            return None;
        };
        let place = match self {
            Self::Singleton(end) if matches!(*word, "if" | "in" | "not") => Some(*end),
            _ => None,
        };
        *self = match (&self, *word) {
            (_, "is") | (Self::Is, "not") => Self::Is,
            (Self::Is, name) if singleton(name).is_some() => Self::Singleton(span.end_offset as usize),
            _ => Self::None,
        };
        place
    }
}

/// What `is` compares with.
#[derive(Clone, Copy)]
pub(super) enum Singleton {
    None,
    True,
    False,
}

pub(super) fn singleton(name: &str) -> Option<Singleton> {
    match name {
        "None" | "none" | "null" => Some(Singleton::None),
        "True" | "true" => Some(Singleton::True),
        "False" | "false" => Some(Singleton::False),
        _ => None,
    }
}

/// From loose to tight. Operators of one row nest in each other, one level for each of them.
#[derive(Clone, Copy)]
enum Row {
    Ternary,
    Or,
    And,
    Not,
    Compare,
    Add,
    Multiply,
    Access,
}

impl Row {
    fn of(token: &Token) -> Option<Self> {
        Some(match token {
            Token::Ident("if" | "else") => Self::Ternary,
            Token::Ident("or") => Self::Or,
            Token::Ident("and") => Self::And,
            Token::Ident("not") => Self::Not,
            Token::Ident("in") | Token::Eq | Token::Ne | Token::Lt | Token::Lte | Token::Gt | Token::Gte => {
                Self::Compare
            }
            Token::Plus | Token::Minus => Self::Add,
            Token::Mul | Token::FloorDiv | Token::Mod => Self::Multiply,
            Token::Ident("is") | Token::Dot | Token::Pipe => Self::Access,
            _ => return None,
        })
    }
}

const ROWS: usize = Row::Access as usize + 1;

/// How deep the tree of what is between two brackets becomes: for each row, the longest run of its operators that no
/// looser operator interrupts. A bound, not the exact depth.
#[derive(Default)]
struct Level {
    run: [usize; ROWS],
    longest: [usize; ROWS],
    inner: usize,
}

impl Level {
    fn add(&mut self, row: Row) {
        for (index, (run, longest)) in self.run.iter_mut().zip(&mut self.longest).enumerate() {
            match index.cmp(&(row as usize)) {
                std::cmp::Ordering::Less => {}
                std::cmp::Ordering::Equal => {
                    *run += 1;
                    *longest = (*longest).max(*run);
                }
                std::cmp::Ordering::Greater => *run = 0,
            }
        }
    }

    fn depth(&self) -> usize {
        self.longest.iter().sum::<usize>() + self.inner + 1
    }
}

#[derive(Default)]
struct Depth {
    current: Level,
    outer: Vec<Level>,
}

impl Depth {
    fn add(&mut self, token: &Token, span: Span) -> Result<(), ExprError> {
        match token {
            Token::ParenOpen | Token::BracketOpen | Token::BraceOpen => {
                self.current.add(Row::Access);
                self.outer.push(std::mem::take(&mut self.current));
                if self.outer.len() > BRACKET_LIMIT {
                    return Err(too_deep(range(span)));
                }
            }
            Token::ParenClose | Token::BracketClose | Token::BraceClose => self.close(),
            Token::Comma | Token::Colon => self.current.run = [0; ROWS],
            other => {
                if let Some(row) = Row::of(other) {
                    self.current.add(row);
                }
            }
        }
        Ok(())
    }

    fn close(&mut self) {
        // A bracket too many is for the parser to report.
        if let Some(outer) = self.outer.pop() {
            let inner = std::mem::replace(&mut self.current, outer).depth();
            self.current.inner = self.current.inner.max(inner);
        }
    }

    fn finish(mut self, whole: Range<usize>) -> Result<(), ExprError> {
        while !self.outer.is_empty() {
            self.close();
        }
        if self.current.depth() > DEPTH_LIMIT { Err(too_deep(whole)) } else { Ok(()) }
    }
}

fn too_deep(span: Range<usize>) -> ExprError {
    ExprError::new(span, "the expression is nested too deeply").with_help(Some(
        "`in` with a list replaces many comparisons; two rules are better than one long one".to_owned(),
    ))
}
