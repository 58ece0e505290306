//! What the analysis collects before it evaluates the tokens: functions, classes and assigned names.

use std::collections::BTreeSet;

use super::classes::Classes;
use super::dialect::Dialect;
use super::functions::{Functions, functions_only_called};
use super::statement_order::StatementOrder;
use super::token::{Token, TokenKind};
use super::{Language, file_name_filters};

/// Keywords and methods with which a program can select some of the files that it lists.
const FILTER_WORDS: &[&str] = &["if", "unless", "filter", "select", "grep"];

/// The maximum number of tokens in the loop variables of `for`: `a, (b, c)`.
const MAX_TARGET_TOKENS: usize = 16;

pub(super) struct Outline {
    /// The functions that the program defines, and only calls. The program never uses them as values.
    pub(super) functions: Functions,
    pub(super) classes: Classes,
    /// Names that are assigned somewhere, without those of functions. Empty for Perl and Ruby.
    pub(super) assigned: BTreeSet<String>,
    pub(super) order: StatementOrder,
    /// True if the program possibly selects some of the files that it lists.
    pub(super) may_filter_files: bool,
    /// Glob patterns for the file names that the program selects.
    pub(super) file_name_filters: Vec<String>,
}

impl Outline {
    pub(super) fn of(language: Language, tokens: &[Token]) -> Self {
        let dialect = Dialect::of(language);
        let functions = functions_only_called(language, tokens);
        let parameters =
            functions.values().flat_map(|function| function.parameters.iter().map(|parameter| parameter.name.clone()));
        let assigned: BTreeSet<String> = assigned_names(language, tokens).chain(parameters).collect();
        let is_function = |name: &String| dialect.function_effect(name).is_some() || functions.contains_key(name);
        Self {
            assigned: assigned.into_iter().filter(|name| !is_function(name)).collect(),
            classes: Classes::of(language, tokens),
            order: StatementOrder::of(tokens),
            may_filter_files: tokens.iter().filter_map(Token::name).any(|name| FILTER_WORDS.contains(&name)),
            file_name_filters: file_name_filters::file_name_filters(tokens),
            functions,
        }
    }
}

/// Returns the names that are assigned somewhere: `name = …`, `for name in …`. The names `return` and `yield` stand for
/// the results of functions. For Perl and Ruby, returns no names.
fn assigned_names(language: Language, tokens: &[Token]) -> impl Iterator<Item = String> {
    let is_supported = matches!(language, Language::Python | Language::JavaScript);
    let mut depth = 0_usize;
    let assigned = tokens.windows(2).filter(move |pair| {
        let [name, operator] = pair else { return false };
        match &name.kind {
            TokenKind::Punct("(" | "[" | "{") => depth += 1,
            TokenKind::Punct(")" | "]" | "}") => depth = depth.saturating_sub(1),
            _ => {}
        }
        // Inside brackets, `name=` is a keyword argument, except in JavaScript.
        operator.is("=") && (depth == 0 || language == Language::JavaScript)
    });
    let assigned = assigned.filter_map(|pair| pair.first().and_then(Token::name));
    let is_for = |index: usize| tokens.get(index).and_then(Token::name) == Some("for");
    let loop_variables = (0..tokens.len()).filter(move |index| is_for(*index)).flat_map(|index| {
        let following = tokens.get(index + 1..).unwrap_or_default().iter().take(MAX_TARGET_TOKENS);
        following.take_while(|token| !matches!(token.name(), Some("in" | "of"))).filter_map(Token::name)
    });
    let results = tokens.iter().filter_map(Token::name).filter(|name| matches!(*name, "return" | "yield"));
    assigned.chain(loop_variables).chain(results).filter(move |_| is_supported).map(str::to_owned)
}
