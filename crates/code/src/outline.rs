//! Collected before the tokens are walked: the program's functions and classes, and the names that it assigns.

use std::collections::BTreeSet;

use super::classes::Classes;
use super::dialect::Dialect;
use super::functions::{Functions, only_called};
use super::statement_order::StatementOrder;
use super::token::{Kind, Token};
use super::{Language, name_filters};

/// Keywords and methods that select among the files that a program lists.
const FILTER_WORDS: &[&str] = &["if", "unless", "filter", "select", "grep"];

/// The longest `a, (b, c)`, in tokens.
const LONGEST_TARGET: usize = 16;

pub(super) struct Outline {
    /// The program's own functions that are only called, and never used as values.
    pub(super) functions: Functions,
    pub(super) classes: Classes,
    /// Names that are assigned somewhere.
    pub(super) assigned: BTreeSet<String>,
    pub(super) order: StatementOrder,
    /// True if the program may select among the files that it lists.
    pub(super) filters_files: bool,
    /// Patterns for the file names that it selects.
    pub(super) name_filters: Vec<String>,
}

impl Outline {
    pub(super) fn of(language: Language, tokens: &[Token]) -> Self {
        let dialect = Dialect::of(language);
        let functions = only_called(language, tokens);
        let parameters = functions.values().flat_map(|own| own.parameters.iter().map(|one| one.name.clone()));
        let assigned: BTreeSet<String> = assigned(language, tokens).chain(parameters).collect();
        let has_meaning = |name: &String| dialect.function(name).is_some() || functions.contains_key(name);
        Self {
            assigned: assigned.into_iter().filter(|name| !has_meaning(name)).collect(),
            classes: Classes::of(language, tokens),
            order: StatementOrder::of(tokens),
            filters_files: tokens.iter().filter_map(Token::name).any(|name| FILTER_WORDS.contains(&name)),
            name_filters: name_filters::find(tokens),
            functions,
        }
    }
}

/// Returns the names that are assigned somewhere: `name = …`, `for name in …`. The results of functions are kept under
/// the names `return` and `yield`.
fn assigned(language: Language, tokens: &[Token]) -> impl Iterator<Item = String> {
    let follows = matches!(language, Language::Python | Language::Node);
    let mut depth = 0_usize;
    let assigned = tokens.windows(2).filter(move |pair| {
        let [name, sign] = pair else { return false };
        match &name.kind {
            Kind::Punct("(" | "[" | "{") => depth += 1,
            Kind::Punct(")" | "]" | "}") => depth = depth.saturating_sub(1),
            _ => {}
        }
        // Inside brackets, `name=` is a keyword argument in Python.
        sign.is("=") && (depth == 0 || language == Language::Node)
    });
    let assigned = assigned.filter_map(|pair| pair.first().and_then(Token::name));
    let is_for = |place: usize| tokens.get(place).and_then(Token::name) == Some("for");
    let targets = (0..tokens.len()).filter(move |place| is_for(*place)).flat_map(|place| {
        let behind = tokens.get(place + 1..).unwrap_or_default().iter().take(LONGEST_TARGET);
        behind.take_while(|token| !matches!(token.name(), Some("in" | "of"))).filter_map(Token::name)
    });
    let gives = tokens.iter().filter_map(Token::name).filter(|name| matches!(*name, "return" | "yield"));
    assigned.chain(targets).chain(gives).filter(move |_| follows).map(str::to_owned)
}
