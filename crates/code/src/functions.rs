//! The functions that a Python or JavaScript program defines.
//!
//! If every use of a function is a call, its parameters can have only the values that the calls pass, and their
//! defaults. The parameters of other functions are unknown: a function that is used as a value, as a method or with a
//! decorator may get any arguments.

use std::collections::{BTreeMap, BTreeSet};

use super::Language;
use super::token::{LiteralPart, Token, TokenKind};

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) kind: ParameterKind,
    /// The tokens of the parameter's default value; empty if it has none.
    pub(super) default: Vec<Token>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ParameterKind {
    Single,
    /// Gets all positional arguments that no other parameter gets: `*names`.
    ExtraPositional,
    /// Gets all keyword arguments that no other parameter gets: `**names`.
    ExtraKeywords,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Function {
    pub(super) parameters: Vec<Parameter>,
    /// True if the body consists of statements, so that the result is the value of `return` or `yield`.
    pub(super) has_block_body: bool,
}

pub(super) type Functions = BTreeMap<String, Function>;

/// Returns the functions that the program only calls, and never uses in another way. Leaves out functions that are
/// defined more than once or whose parameters are not plain names. For Perl and Ruby, returns no functions.
pub(super) fn functions_only_called(language: Language, tokens: &[Token]) -> Functions {
    let mut defined = Functions::new();
    let mut not_only_called: BTreeSet<String> = BTreeSet::new();
    for (index, parameters) in definitions(language, tokens) {
        let Some(name) = tokens.get(index).and_then(Token::name) else { continue };
        let is_unique = !is_decorated(tokens, index) && !defined.contains_key(name);
        if let Some(parameters) = parameters.filter(|_| is_unique) {
            let has_block_body = has_block_body(tokens, index);
            defined.insert(name.to_owned(), Function { parameters, has_block_body });
        } else {
            not_only_called.insert(name.to_owned());
        }
    }
    // In a program with classes, a member with the name of a function can be the function, used as a method.
    let has_classes = tokens.iter().any(|token| token.name() == Some("class"));
    let mut called: BTreeSet<String> = BTreeSet::new();
    let mut unvisited = vec![tokens];
    while let Some(tokens) = unvisited.pop() {
        for (index, token) in tokens.iter().enumerate() {
            match &token.kind {
                TokenKind::String(literal) => unvisited.extend(literal.parts.iter().filter_map(|part| match part {
                    LiteralPart::Interpolation(tokens) => Some(tokens.as_slice()),
                    LiteralPart::Constant(_) => None,
                })),
                TokenKind::Name(name) if defined.contains_key(name) => {
                    let names = match name_use(tokens, index) {
                        NameUse::Definition => continue,
                        NameUse::Member if !has_classes => continue,
                        NameUse::Call => &mut called,
                        NameUse::Member | NameUse::Other => &mut not_only_called,
                    };
                    names.insert(name.clone());
                }
                _ => {}
            }
        }
    }
    defined.retain(|name, _| called.contains(name) && !not_only_called.contains(name));
    defined
}

/// False for a lambda, and for an arrow function whose body is an expression. `name` is the index of the function's
/// name.
fn has_block_body(tokens: &[Token], name: usize) -> bool {
    if !tokens.get(name + 1).is_some_and(|token| token.is("=")) {
        return true;
    }
    let mut from_arrow = tokens.get(name..).unwrap_or_default().iter().skip_while(|token| !token.is("=>"));
    from_arrow.nth(1).is_some_and(|token| token.is("{"))
}

/// Returns, for each function definition, the index of the function's name, and its parameters. The parameters are
/// `None` if they are not all plain names. For Perl and Ruby, returns nothing.
fn definitions(language: Language, tokens: &[Token]) -> Vec<(usize, Option<Vec<Parameter>>)> {
    let keyword = match language {
        Language::Python => "def",
        Language::JavaScript => "function",
        Language::Perl | Language::Ruby => return Vec::new(),
    };
    let starts = tokens.iter().enumerate().filter(|(_, token)| token.name() == Some(keyword));
    let named = starts.map(|(index, _)| {
        // `function* name`
        let name = index + 1 + usize::from(tokens.get(index + 1).is_some_and(|token| token.is("*")));
        (name, parameters(tokens.get(name + 1..).unwrap_or_default()))
    });
    let arrows = (1..tokens.len()).filter(|index| language == Language::JavaScript && is_arrow(tokens, *index));
    let arrows = arrows.map(|index| (index, arrow_parameters(tokens.get(index + 2..).unwrap_or_default())));
    let lambdas = named_lambdas(tokens).into_iter().filter(|_| language == Language::Python);
    named.chain(arrows).chain(lambdas).collect()
}

/// Returns the parameters of an arrow function: `(a, b) =>` or `a =>`.
fn arrow_parameters(tokens: &[Token]) -> Option<Vec<Parameter>> {
    match tokens.first()?.name() {
        Some(name) => Some(vec![Parameter { name: name.to_owned(), kind: ParameterKind::Single, default: Vec::new() }]),
        None => parameters(tokens),
    }
}

/// Returns functions that are defined as `name = lambda a, b: …`. Inside brackets, `name =` is a keyword argument, so
/// lambdas there are left out.
fn named_lambdas(tokens: &[Token]) -> Vec<(usize, Option<Vec<Parameter>>)> {
    let mut lambdas = Vec::new();
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::Punct("(" | "[" | "{") => depth += 1,
            TokenKind::Punct(")" | "]" | "}") => depth = depth.saturating_sub(1),
            TokenKind::Name(_) if depth == 0 && is_lambda(tokens, index) => {
                let following = tokens.get(index + 3..).unwrap_or_default();
                let inside = following.iter().take_while(|token| !token.is(":")).cloned();
                let bracket = |punct| Token { kind: TokenKind::Punct(punct), after_space: false };
                let in_parentheses: Vec<Token> =
                    std::iter::once(bracket("(")).chain(inside).chain([bracket(")")]).collect();
                lambdas.push((index, parameters(&in_parentheses)));
            }
            _ => {}
        }
    }
    lambdas
}

/// True for the name in the statement `name = lambda …`.
fn is_lambda(tokens: &[Token], name: usize) -> bool {
    let is_statement_start = match name.checked_sub(1).and_then(|before| tokens.get(before)) {
        None => true,
        Some(before) => before.kind == TokenKind::Newline || before.is(";"),
    };
    let is_assigned = tokens.get(name + 1).is_some_and(|token| token.is("="));
    is_statement_start && is_assigned && tokens.get(name + 2).is_some_and(|token| token.name() == Some("lambda"))
}

/// True for the name in `const name = (…) =>` or `const name = a =>`.
fn is_arrow(tokens: &[Token], name: usize) -> bool {
    let is_declared = tokens.get(name - 1).is_some_and(|token| matches!(token.name(), Some("const" | "let" | "var")));
    let is_assigned = tokens.get(name + 1).is_some_and(|token| token.is("="));
    let Some(rest) = tokens.get(name + 2..).filter(|_| is_declared && is_assigned) else { return false };
    if rest.first().is_some_and(|token| token.name().is_some()) {
        return rest.get(1).is_some_and(|next| next.is("=>"));
    }
    let mut depth = 0_usize;
    for (index, token) in rest.iter().enumerate() {
        match token.kind {
            TokenKind::Punct("(" | "[" | "{") => depth += 1,
            TokenKind::Punct(")" | "]" | "}") => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return token.is(")") && rest.get(index + 1).is_some_and(|next| next.is("=>"));
        }
    }
    false
}

/// Returns the parameters in parentheses; `None` if they are not all plain names. The first token must be the opening
/// parenthesis.
fn parameters(tokens: &[Token]) -> Option<Vec<Parameter>> {
    tokens.first().filter(|token| token.is("("))?;
    let mut parameters: Vec<Parameter> = Vec::new();
    let mut depth = 0_usize;
    let mut kind = ParameterKind::Single;
    let mut is_parameter_start = false;
    let mut in_default = false;
    for token in tokens {
        let ends = depth == 1 && matches!(token.kind, TokenKind::Punct("," | ")"));
        in_default &= !ends;
        if let Some(parameter) = parameters.last_mut().filter(|_| in_default) {
            parameter.default.push(token.clone());
        }
        in_default |= depth == 1 && token.is("=");
        match &token.kind {
            TokenKind::Punct("(" | "[" | "{") => {
                // This parameter is a destructuring pattern, not a name.
                if depth == 1 && is_parameter_start {
                    return None;
                }
                depth += 1;
                is_parameter_start = depth == 1;
            }
            TokenKind::Punct(")" | "]" | "}") => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(parameters);
                }
            }
            TokenKind::Punct(",") if depth == 1 => (is_parameter_start, kind) = (true, ParameterKind::Single),
            TokenKind::Punct("*" | "...") if depth == 1 && is_parameter_start => kind = ParameterKind::ExtraPositional,
            TokenKind::Punct("**") if depth == 1 && is_parameter_start => kind = ParameterKind::ExtraKeywords,
            TokenKind::Name(name) if depth == 1 && is_parameter_start => {
                parameters.push(Parameter { name: name.clone(), kind, default: Vec::new() });
                is_parameter_start = false;
            }
            _ => {}
        }
    }
    None
}

/// True if the line before the definition is a decorator, which can use the function as a value.
fn is_decorated(tokens: &[Token], name: usize) -> bool {
    let before = tokens.get(..name.saturating_sub(1)).unwrap_or_default();
    let mut lines = before.rsplit(|token| token.kind == TokenKind::Newline);
    let is_only_async = |line: &&[Token]| line.iter().all(|token| token.name() == Some("async"));
    lines.find(|line| !is_only_async(line)).and_then(<[Token]>::first).is_some_and(|token| token.is("@"))
}

enum NameUse {
    Definition,
    Call,
    /// The name is that of a member of an object other than the global one.
    Member,
    Other,
}

/// Objects whose members are the global names of the program.
const GLOBAL_OBJECTS: &[&str] = &["__main__", "global", "globalThis", "self", "this", "window"];

fn name_use(tokens: &[Token], index: usize) -> NameUse {
    let before = index.checked_sub(1).and_then(|index| tokens.get(index));
    let owner = index.checked_sub(2).and_then(|index| tokens.get(index)).and_then(Token::name);
    let is_called = tokens.get(index + 1).is_some_and(|token| token.is("("));
    match before {
        Some(token) if matches!(token.name(), Some("def" | "function")) => NameUse::Definition,
        Some(token) if token.is("*") && owner == Some("function") => NameUse::Definition,
        Some(_) if is_arrow(tokens, index) => NameUse::Definition,
        _ if is_lambda(tokens, index) => NameUse::Definition,
        Some(token)
            if (token.is(".") || token.is("?.")) && !owner.is_some_and(|owner| GLOBAL_OBJECTS.contains(&owner)) =>
        {
            NameUse::Member
        }
        Some(token) if token.is(".") || token.is("?.") || token.is("@") => NameUse::Other,
        _ if is_called => NameUse::Call,
        _ => NameUse::Other,
    }
}
