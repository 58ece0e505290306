//! The functions that a program defines.
//!
//! If every use of a function is a call, its parameters have exactly the values that the calls pass. A function that is
//! used as a value, as a method or with a decorator may get any arguments, and is not followed.

use std::collections::{BTreeMap, BTreeSet};

use super::Language;
use super::token::{Kind, Part, Token};

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) takes: ParameterKind,
    /// The tokens of its default value.
    pub(super) default: Vec<Token>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ParameterKind {
    One,
    /// `*names`: all remaining positional arguments.
    Rest,
    /// `**names`: keyword arguments that no other parameter has.
    Named,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Function {
    pub(super) parameters: Vec<Parameter>,
    /// True if it returns its result by `return` or `yield`.
    pub(super) is_block: bool,
}

pub(super) type Functions = BTreeMap<String, Function>;

/// Returns the functions whose every use is a call.
pub(super) fn only_called(language: Language, tokens: &[Token]) -> Functions {
    let mut defined = Functions::new();
    let mut not_only_called: BTreeSet<String> = BTreeSet::new();
    for (place, parameters) in definitions(language, tokens) {
        let Some(name) = tokens.get(place).and_then(Token::name) else { continue };
        let is_free = !is_decorated(tokens, place) && !defined.contains_key(name);
        if let Some(parameters) = parameters.filter(|_| is_free) {
            let is_block = is_block(tokens, place);
            defined.insert(name.to_owned(), Function { parameters, is_block });
        } else {
            not_only_called.insert(name.to_owned());
        }
    }
    // Methods of a class are members.
    let has_classes = tokens.iter().any(|token| token.name() == Some("class"));
    let mut called: BTreeSet<String> = BTreeSet::new();
    let mut open = vec![tokens];
    while let Some(tokens) = open.pop() {
        for (place, token) in tokens.iter().enumerate() {
            match &token.kind {
                Kind::String(literal) => open.extend(literal.parts.iter().filter_map(|part| match part {
                    Part::Interpolation(tokens) => Some(tokens.as_slice()),
                    Part::Constant(_) => None,
                })),
                Kind::Name(name) if defined.contains_key(name) => {
                    let noted = match name_use(tokens, place) {
                        NameUse::Definition => continue,
                        NameUse::Member if !has_classes => continue,
                        NameUse::Call => &mut called,
                        NameUse::Member | NameUse::Other => &mut not_only_called,
                    };
                    noted.insert(name.clone());
                }
                _ => {}
            }
        }
    }
    defined.retain(|name, _| called.contains(name) && !not_only_called.contains(name));
    defined
}

/// True if the body of the function consists of statements: it is neither a lambda, nor an arrow function with an
/// expression as its body. `name` is the position of its name.
fn is_block(tokens: &[Token], name: usize) -> bool {
    if !tokens.get(name + 1).is_some_and(|token| token.is("=")) {
        return true;
    }
    let mut behind = tokens.get(name..).unwrap_or_default().iter().skip_while(|token| !token.is("=>"));
    behind.nth(1).is_some_and(|token| token.is("{"))
}

/// Returns the position of each function's name, and its parameters if they are plain names.
fn definitions(language: Language, tokens: &[Token]) -> Vec<(usize, Option<Vec<Parameter>>)> {
    let word = match language {
        Language::Python => "def",
        Language::Node => "function",
        Language::Perl | Language::Ruby => return Vec::new(),
    };
    let starts = tokens.iter().enumerate().filter(|(_, token)| token.name() == Some(word));
    let named = starts.map(|(place, _)| {
        // `function* name`
        let name = place + 1 + usize::from(tokens.get(place + 1).is_some_and(|token| token.is("*")));
        (name, parameters(tokens.get(name + 1..).unwrap_or_default()))
    });
    let arrows = (1..tokens.len()).filter(|place| language == Language::Node && is_arrow(tokens, *place));
    let arrows = arrows.map(|place| (place, arrow_parameters(tokens.get(place + 2..).unwrap_or_default())));
    let lambdas = lambdas(tokens).into_iter().filter(|_| language == Language::Python);
    named.chain(arrows).chain(lambdas).collect()
}

/// `(a, b) =>` or `a =>`
fn arrow_parameters(tokens: &[Token]) -> Option<Vec<Parameter>> {
    match tokens.first()?.name() {
        Some(name) => Some(vec![Parameter { name: name.to_owned(), takes: ParameterKind::One, default: Vec::new() }]),
        None => parameters(tokens),
    }
}

/// Returns functions that are defined as `name = lambda a, b: …`. Inside brackets that would be a keyword argument.
fn lambdas(tokens: &[Token]) -> Vec<(usize, Option<Vec<Parameter>>)> {
    let mut found = Vec::new();
    let mut depth = 0_usize;
    for (place, token) in tokens.iter().enumerate() {
        match token.kind {
            Kind::Punct("(" | "[" | "{") => depth += 1,
            Kind::Punct(")" | "]" | "}") => depth = depth.saturating_sub(1),
            Kind::Name(_) if depth == 0 && is_lambda(tokens, place) => {
                let behind = tokens.get(place + 3..).unwrap_or_default();
                let inside = behind.iter().take_while(|token| !token.is(":")).cloned();
                let bracket = |punct| Token { kind: Kind::Punct(punct), after_space: false };
                let group: Vec<Token> = std::iter::once(bracket("(")).chain(inside).chain([bracket(")")]).collect();
                found.push((place, parameters(&group)));
            }
            _ => {}
        }
    }
    found
}

/// True if the statement at the name assigns a lambda to it.
fn is_lambda(tokens: &[Token], name: usize) -> bool {
    let is_start = match name.checked_sub(1).and_then(|before| tokens.get(before)) {
        None => true,
        Some(before) => before.kind == Kind::Newline || before.is(";"),
    };
    let is_set = tokens.get(name + 1).is_some_and(|token| token.is("="));
    is_start && is_set && tokens.get(name + 2).is_some_and(|token| token.name() == Some("lambda"))
}

/// True for the name in `const name = (…) =>` or `const name = a =>`.
fn is_arrow(tokens: &[Token], name: usize) -> bool {
    let is_declared = tokens.get(name - 1).is_some_and(|token| matches!(token.name(), Some("const" | "let" | "var")));
    let is_set = tokens.get(name + 1).is_some_and(|token| token.is("="));
    let Some(rest) = tokens.get(name + 2..).filter(|_| is_declared && is_set) else { return false };
    if rest.first().is_some_and(|token| token.name().is_some()) {
        return rest.get(1).is_some_and(|next| next.is("=>"));
    }
    let mut depth = 0_usize;
    for (place, token) in rest.iter().enumerate() {
        match token.kind {
            Kind::Punct("(" | "[" | "{") => depth += 1,
            Kind::Punct(")" | "]" | "}") => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return token.is(")") && rest.get(place + 1).is_some_and(|next| next.is("=>"));
        }
    }
    false
}

/// Reads parameters, from the opening parenthesis.
fn parameters(tokens: &[Token]) -> Option<Vec<Parameter>> {
    tokens.first().filter(|token| token.is("("))?;
    let mut found: Vec<Parameter> = Vec::new();
    let mut depth = 0_usize;
    let mut takes = ParameterKind::One;
    let mut is_start = false;
    let mut in_default = false;
    for token in tokens {
        let ends = depth == 1 && matches!(token.kind, Kind::Punct("," | ")"));
        in_default &= !ends;
        if let Some(parameter) = found.last_mut().filter(|_| in_default) {
            parameter.default.push(token.clone());
        }
        in_default |= depth == 1 && token.is("=");
        match &token.kind {
            Kind::Punct("(" | "[" | "{") => {
                // A destructuring pattern.
                if depth == 1 && is_start {
                    return None;
                }
                depth += 1;
                is_start = depth == 1;
            }
            Kind::Punct(")" | "]" | "}") => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(found);
                }
            }
            Kind::Punct(",") if depth == 1 => (is_start, takes) = (true, ParameterKind::One),
            Kind::Punct("*" | "...") if depth == 1 && is_start => takes = ParameterKind::Rest,
            Kind::Punct("**") if depth == 1 && is_start => takes = ParameterKind::Named,
            Kind::Name(name) if depth == 1 && is_start => {
                found.push(Parameter { name: name.clone(), takes, default: Vec::new() });
                is_start = false;
            }
            _ => {}
        }
    }
    None
}

/// True if the line before the definition is a decorator, which may call the function.
fn is_decorated(tokens: &[Token], name: usize) -> bool {
    let before = tokens.get(..name.saturating_sub(1)).unwrap_or_default();
    let mut lines = before.rsplit(|token| token.kind == Kind::Newline);
    let is_prefix = |line: &&[Token]| line.iter().all(|token| token.name() == Some("async"));
    lines.find(|line| !is_prefix(line)).and_then(<[Token]>::first).is_some_and(|token| token.is("@"))
}

enum NameUse {
    Definition,
    Call,
    /// A member of another object with the same name.
    Member,
    Other,
}

/// Objects whose members are the program's global names.
const GLOBAL_OBJECTS: &[&str] = &["__main__", "global", "globalThis", "self", "this", "window"];

fn name_use(tokens: &[Token], place: usize) -> NameUse {
    let before = place.checked_sub(1).and_then(|place| tokens.get(place));
    let owner = place.checked_sub(2).and_then(|place| tokens.get(place)).and_then(Token::name);
    let is_called = tokens.get(place + 1).is_some_and(|token| token.is("("));
    match before {
        Some(token) if matches!(token.name(), Some("def" | "function")) => NameUse::Definition,
        Some(token) if token.is("*") && owner == Some("function") => NameUse::Definition,
        Some(_) if is_arrow(tokens, place) => NameUse::Definition,
        _ if is_lambda(tokens, place) => NameUse::Definition,
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
