//! Checks the source text of expressions and templates before minijinja parses the text.
//!
//! minijinja's parser, and all later steps, are recursive. The depth of the syntax tree is therefore computed from the
//! tokens in advance, without recursion, and limited. Operators of minijinja that this language lacks are also rejected
//! in this module, because their position in the text is known at this point.

use std::{borrow::Cow, ops::Range, sync::LazyLock};

use minijinja::{
    machinery::{Span, Token, tokenize},
    syntax::SyntaxConfig,
};

use super::error::ExprError;

/// Maximum size of an expression in bytes.
pub(super) const LENGTH_LIMIT: usize = 4096;
/// Maximum nesting of brackets; the parser needs over a dozen stack frames per level.
pub(super) const BRACKET_LIMIT: usize = 32;
/// Maximum depth of the syntax tree.
pub(super) const DEPTH_LIMIT: usize = 160;

/// Maximum size of a prompt or guide in bytes.
pub(super) const TEMPLATE_LENGTH_LIMIT: usize = 64 * 1024;
/// Maximum number of block tags in a template. In the worst case, all blocks are nested.
const BLOCK_LIMIT: usize = 200;

/// The syntax of templates. A line that contains only a block tag is removed from the output.
pub(super) static SYNTAX: LazyLock<SyntaxConfig> =
    LazyLock::new(|| SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build().unwrap_or_default());

/// The text to parse, and the mapping from its positions to the original text.
#[derive(Debug)]
pub(super) struct Source<'s> {
    pub(super) text: Cow<'s, str>,
    original: &'s str,
    /// Positions in the original text where `()` was inserted.
    inserted: Vec<usize>,
}

const INSERTED: &str = "()";

impl<'s> Source<'s> {
    pub(super) fn read(original: &'s str) -> Result<Self, ExprError> {
        if original.len() > LENGTH_LIMIT {
            let message = format!("the expression has {} bytes, over the limit of {LENGTH_LIMIT}", original.len());
            return Err(ExprError::new(0..original.len(), message));
        }
        let mut depth = Depth::default();
        let mut singleton_test = SingletonTest::None;
        let mut inserted = Vec::new();
        for token in tokenize(original, true, SyntaxConfig::default()) {
            let (token, span) = token.map_err(|error| syntax_error(&error, original))?;
            if let Some(error) = unsupported_operator(&token, span) {
                return Err(error);
            }
            depth.add(&token, span)?;
            if let Some(end) = singleton_test.add(&token, span) {
                inserted.push(end);
            }
        }
        depth.finish(0..original.len())?;
        Ok(Self::with_inserted(original, inserted))
    }

    /// Reads a template: text with expressions in braces, and blocks.
    pub(super) fn read_template(original: &'s str) -> Result<Self, ExprError> {
        if original.len() > TEMPLATE_LENGTH_LIMIT {
            let (limit, length) = (TEMPLATE_LENGTH_LIMIT, original.len());
            let message = format!("the prompt or guide has {length} bytes, over the limit of {limit}");
            return Err(ExprError::new(0..length, message));
        }
        let mut inserted = Vec::new();
        let mut blocks = 0;
        let mut inside: Option<TemplateExpression> = None;
        for token in tokenize(original, false, SYNTAX.clone()) {
            let (token, span) = token.map_err(|error| syntax_error(&error, original))?;
            match (&token, &mut inside) {
                (Token::TemplateData(_), _) => {}
                (Token::VariableStart | Token::BlockStart, _) => {
                    // All block tags are counted, including tags that end a block. Counting is simpler than tracking
                    // the nesting, and templates have few blocks.
                    blocks += usize::from(matches!(token, Token::BlockStart));
                    inside =
                        Some(TemplateExpression { start: span.start_offset as usize, ..TemplateExpression::default() });
                }
                (Token::VariableEnd | Token::BlockEnd, _) => {
                    if let Some(TemplateExpression { start, depth, .. }) = inside.take() {
                        let whole = start..span.end_offset as usize;
                        if whole.len() > LENGTH_LIMIT {
                            let message = format!("the expression is longer than {LENGTH_LIMIT} bytes");
                            return Err(ExprError::new(whole, message));
                        }
                        depth.finish(whole)?;
                    }
                }
                (_, Some(inside)) => {
                    if let Some(error) = unsupported_operator(&token, span) {
                        return Err(error);
                    }
                    inside.depth.add(&token, span)?;
                    inserted.extend(inside.singleton_test.add(&token, span));
                }
                (_, None) => {}
            }
        }
        if blocks > BLOCK_LIMIT {
            return Err(ExprError::new(
                0..original.len(),
                format!("the prompt or guide has more than {BLOCK_LIMIT} blocks"),
            ));
        }
        Ok(Self::with_inserted(original, inserted))
    }

    fn with_inserted(original: &'s str, inserted: Vec<usize>) -> Self {
        let mut text = Cow::Borrowed(original);
        for position in inserted.iter().rev() {
            text.to_mut().insert_str(*position, INSERTED);
        }
        Self { text, original, inserted }
    }

    /// Maps a span in [`Self::text`] to the original text.
    pub(super) fn original_span(&self, span: Range<usize>) -> Range<usize> {
        let original = |mut position: usize| {
            for (index, inserted) in self.inserted.iter().enumerate().rev() {
                let start = inserted + index * INSERTED.len();
                if position > start {
                    position = position.saturating_sub(INSERTED.len() * (index + 1)).max(*inserted);
                    break;
                }
            }
            position
        };
        clamp(original(span.start)..original(span.end), self.original)
    }

    pub(super) fn original_error(&self, error: ExprError) -> ExprError {
        ExprError { span: self.original_span(error.span), ..error }
    }

    pub(super) fn syntax_error(&self, error: &minijinja::Error) -> ExprError {
        self.original_error(syntax_error(error, &self.text))
    }
}

/// The state of [`Source::read_template`] inside an expression or a block tag of a template.
#[derive(Default)]
struct TemplateExpression {
    start: usize,
    depth: Depth,
    singleton_test: SingletonTest,
}

/// Cuts off the part of a span from minijinja that is after the end of the text, and moves the ends of the span to
/// character boundaries.
fn clamp(span: Range<usize>, text: &str) -> Range<usize> {
    let start = text.floor_char_boundary(span.start);
    start..text.ceil_char_boundary(span.end.max(start)).min(text.len())
}

pub(super) fn range(span: Span) -> Range<usize> {
    span.start_offset as usize..span.end_offset as usize
}

fn unsupported_operator(token: &Token, span: Span) -> Option<ExprError> {
    let (operator, help) = match token {
        Token::Div => ("/", Some("use `//`, which divides and rounds down")),
        Token::Pow => ("**", None),
        Token::Tilde => ("~", Some("use `+` to join text")),
        Token::Assign => ("=", Some("use `==` to compare; named arguments are not supported")),
        Token::TemplateData(_) | Token::VariableStart | Token::VariableEnd | Token::BlockStart | Token::BlockEnd => {
            return Some(ExprError::new(range(span), "unexpected text after the end of the expression"));
        }
        _ => return None,
    };
    let message = format!("unsupported operator `{operator}`");
    Some(ExprError::new(range(span), message).with_help(help.map(str::to_owned)))
}

fn syntax_error(error: &minijinja::Error, text: &str) -> ExprError {
    let mut error = ExprError::from_engine(error, text.len());
    error.span = clamp(error.span, text);
    // minijinja sometimes reports the position of the token before or after the token that is wrong.
    let around = text.get(clamp(error.span.start.saturating_sub(2)..error.span.end + 2, text)).unwrap_or_default();
    error.help = [("&&", "write `and`"), ("||", "write `or`"), ("!", "write `not`")]
        .into_iter()
        .find(|(sign, _)| around.contains(sign) && !around.contains("!="))
        .map(|(_, help)| help.to_owned());
    error.message = format!("syntax error: {}", error.message);
    error
}

/// Tracks whether the last tokens were one of the tests `is None`, `is True` and `is False`. If a word such as `if`
/// follows the test, `()` is inserted before that word. Otherwise minijinja would parse the word as an argument of the
/// test.
#[derive(Default)]
enum SingletonTest {
    #[default]
    None,
    Is,
    Singleton(usize),
}

impl SingletonTest {
    fn add(&mut self, token: &Token, span: Span) -> Option<usize> {
        let Token::Ident(word) = token else {
            *self = Self::None;
            return None;
        };
        let insert_at = match self {
            Self::Singleton(end) if matches!(*word, "if" | "in" | "not") => Some(*end),
            _ => None,
        };
        *self = match (&self, *word) {
            (_, "is") | (Self::Is, "not") => Self::Is,
            (Self::Is, name) if singleton(name).is_some() => Self::Singleton(span.end_offset as usize),
            _ => Self::None,
        };
        insert_at
    }
}

/// The values that `is` compares with.
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

/// The precedences of operators, the loosest first. In the syntax tree, each further operator in a sequence of
/// operators with the same precedence adds one level.
#[derive(Clone, Copy)]
enum Precedence {
    Ternary,
    Or,
    And,
    Not,
    Compare,
    Add,
    Multiply,
    Access,
}

impl Precedence {
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

const PRECEDENCES: usize = Precedence::Access as usize + 1;

/// Counts the operators between an opening bracket and its closing bracket. The counts give an upper bound for the
/// depth of the syntax tree of the text between these brackets: the sum, over all precedences, of the longest sequence
/// of operators with that precedence that no looser operator interrupts.
#[derive(Default)]
struct BracketLevel {
    current: [usize; PRECEDENCES],
    longest: [usize; PRECEDENCES],
    /// The largest depth of a pair of brackets inside these brackets.
    inner: usize,
}

impl BracketLevel {
    fn add(&mut self, precedence: Precedence) {
        for (index, (current, longest)) in self.current.iter_mut().zip(&mut self.longest).enumerate() {
            match index.cmp(&(precedence as usize)) {
                std::cmp::Ordering::Less => {}
                std::cmp::Ordering::Equal => {
                    *current += 1;
                    *longest = (*longest).max(*current);
                }
                std::cmp::Ordering::Greater => *current = 0,
            }
        }
    }

    fn depth(&self) -> usize {
        self.longest.iter().sum::<usize>() + self.inner + 1
    }
}

#[derive(Default)]
struct Depth {
    innermost: BracketLevel,
    outer: Vec<BracketLevel>,
}

impl Depth {
    fn add(&mut self, token: &Token, span: Span) -> Result<(), ExprError> {
        match token {
            Token::ParenOpen | Token::BracketOpen | Token::BraceOpen => {
                self.innermost.add(Precedence::Access);
                self.outer.push(std::mem::take(&mut self.innermost));
                if self.outer.len() > BRACKET_LIMIT {
                    return Err(too_deep(range(span)));
                }
            }
            Token::ParenClose | Token::BracketClose | Token::BraceClose => self.close(),
            Token::Comma | Token::Colon => self.innermost.current = [0; PRECEDENCES],
            other => {
                if let Some(precedence) = Precedence::of(other) {
                    self.innermost.add(precedence);
                }
            }
        }
        Ok(())
    }

    fn close(&mut self) {
        // An unmatched bracket is ignored, because the parser reports it.
        if let Some(outer) = self.outer.pop() {
            let inner = std::mem::replace(&mut self.innermost, outer).depth();
            self.innermost.inner = self.innermost.inner.max(inner);
        }
    }

    fn finish(mut self, whole: Range<usize>) -> Result<(), ExprError> {
        while !self.outer.is_empty() {
            self.close();
        }
        if self.innermost.depth() > DEPTH_LIMIT { Err(too_deep(whole)) } else { Ok(()) }
    }
}

fn too_deep(span: Range<usize>) -> ExprError {
    ExprError::new(span, "the expression is nested too deeply")
        .with_help(Some("use `in` with a list instead of many comparisons, or split the rule into two".to_owned()))
}
