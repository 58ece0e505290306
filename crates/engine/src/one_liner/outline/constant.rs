//! Variables that a text gives constants, or new files of the temporary folder, and nothing else: `p := "/tmp/x"`.
//!
//! What they are given is worked out as far as it is texts, paths that are put together and other such variables. One that is
//! also a parameter, that a loop sets or that something else may change is not known.

use std::collections::{BTreeMap, BTreeSet};

use super::super::value::{TEMPORARY, path_appended, path_joined};
use super::token::Token;
use super::tongue::{Tongue, Variables};

/// Of longer statements and groups, only this many tokens are looked at.
const NEAR: usize = 64;

/// Expressions in expressions.
const MAX_DEPTH: usize = 16;

/// More values than this are not kept apart.
const MAX_VALUES: usize = 4;

/// Words before a variable that do not declare it.
const WORDS_BEFORE_USES: &[&str] = &["return", "defer", "go", "in", "case", "else", "if", "while", "do", "throw"];

/// What each of them may be.
pub(super) type Constants<'t> = BTreeMap<&'t str, Vec<String>>;

pub(super) fn constants<'t>(tongue: &Tongue, tokens: &[Token<'t>]) -> Constants<'t> {
    let Some(variables) = &tongue.variables else { return Constants::new() };
    let mut found = Constants::new();
    let mut spoiled: BTreeSet<&str> = BTreeSet::new();
    for (place, token) in tokens.iter().enumerate() {
        let Token::Name(name) = token else { continue };
        if let Some(value) = definition(tokens, place) {
            let known = Evaluation { tongue, variables, known: &found }.all(value);
            match known {
                Some(texts) if !is_word(tokens, place, 1, "mut") => {
                    let all = found.entry(name).or_default();
                    all.extend(texts);
                    all.dedup();
                }
                _ => drop(spoiled.insert(name)),
            }
        } else if found.contains_key(name) && !is_plain_use(variables, tokens, place) {
            spoiled.insert(name);
        }
    }
    // A parameter may stand before what is set under the same name.
    for (place, token) in tokens.iter().enumerate() {
        if let Token::Name(name) = token
            && found.contains_key(name)
            && definition(tokens, place).is_none()
            && !is_plain_use(variables, tokens, place)
        {
            spoiled.insert(name);
        }
    }
    found.retain(|name, values| !spoiled.contains(name) && values.len() <= MAX_VALUES);
    found
}

/// What some tokens are worth; none where one of them is not understood.
pub(super) fn worth(tongue: &Tongue, known: &Constants<'_>, tokens: &[&Token<'_>]) -> Option<Vec<String>> {
    let variables = tongue.variables.as_ref()?;
    let tokens: Vec<Token<'_>> = tokens.iter().map(|token| (*token).clone()).collect();
    Evaluation { tongue, variables, known }.all(&tokens)
}

fn before<'a, 't>(tokens: &'a [Token<'t>], place: usize, distance: usize) -> Option<&'a Token<'t>> {
    tokens.get(place.checked_sub(distance)?)
}

fn is_word(tokens: &[Token<'_>], place: usize, distance: usize, word: &str) -> bool {
    matches!(before(tokens, place, distance), Some(Token::Name(name)) if *name == word)
}

fn is_mark(tokens: &[Token<'_>], place: usize, mark: &str) -> bool {
    tokens.get(place).is_some_and(|token| token.is(mark))
}

/// Behind the sign that gives a variable a value: `name =`, `name :=`, `name, err :=`, `name[] =`, `let name: Type =`.
fn definition<'a, 't>(tokens: &'a [Token<'t>], place: usize) -> Option<&'a [Token<'t>]> {
    if before(tokens, place, 1)
        .is_some_and(|token| token.is(".") || token.is("->") || token.is("*") && !is_declared(tokens, place))
    {
        return None;
    }
    let is_sign = |at: usize| is_mark(tokens, at, "=") && !is_mark(tokens, at + 1, "=");
    let near = |from: usize| (from..from + 8).find(|at| is_sign(*at));
    let sign = match tokens.get(place + 1)? {
        Token::Mark("=") => place + 1,
        Token::Mark(":") if is_sign(place + 2) => place + 2,
        Token::Mark(":") if is_word(tokens, place, 1, "let") => near(place + 2)?,
        Token::Mark(",")
            if matches!(tokens.get(place + 2), Some(Token::Name(_))) && is_mark(tokens, place + 3, ":") =>
        {
            place + 4
        }
        Token::Mark("[") => (place + 2..place + 5).find(|at| is_mark(tokens, *at, "]")).map(|close| close + 1)?,
        _ => return None,
    };
    let value = tokens.get(sign + 1..).filter(|_| is_sign(sign))?;
    let mut depth = 0_usize;
    let end = value.iter().take(NEAR).enumerate().position(|(at, token)| {
        match token {
            Token::Mark("(" | "[") => depth += 1,
            Token::Mark(")" | "]") if depth > 0 => depth -= 1,
            Token::Mark(";" | "," | ")" | "]" | "{" | "}") if depth == 0 => return true,
            // A chain may go on in the next line.
            Token::Newline => return depth == 0 && !is_mark(value, at + 1, "."),
            _ => {}
        }
        false
    });
    value.get(..end.unwrap_or(value.len().min(NEAR)))
}

/// `char *name`
fn is_declared(tokens: &[Token<'_>], place: usize) -> bool {
    let kind = before(tokens, place, 2);
    matches!(kind, Some(Token::Name(name)) if !WORDS_BEFORE_USES.contains(name))
}

/// Whether a variable only gives its value where it stands.
fn is_plain_use(variables: &Variables, tokens: &[Token<'_>], place: usize) -> bool {
    let behind = tokens.get(place + 1);
    match before(tokens, place, 1) {
        // Of something else.
        Some(Token::Mark("." | "->")) => return true,
        Some(Token::Mark("&")) if !variables.are_borrowed => return false,
        Some(Token::Mark("*" | "|")) => return false,
        Some(Token::Name(word)) if !WORDS_BEFORE_USES.contains(word) => return false,
        _ => {}
    }
    match behind {
        Some(Token::Name(_) | Token::Text(_) | Token::Mark("[" | ":" | "|" | "->" | "=>" | "++")) => return false,
        // `name += more`
        Some(Token::Mark(sign)) if !matches!(*sign, ")" | "," | ";" | "=" | "!") && is_mark(tokens, place + 2, "=") => {
            return false;
        }
        // `Some(name) = …`
        Some(Token::Mark(")")) if is_mark(tokens, place + 2, "=>") => return false,
        Some(Token::Mark(")")) if is_mark(tokens, place + 2, "=") && !is_mark(tokens, place + 3, "=") => return false,
        _ => {}
    }
    match callee(tokens, place) {
        Some(Callee::Definition) => false,
        Some(Callee::Function(name)) => variables.onlookers.is_empty() || variables.onlookers.contains(&name),
        None => true,
    }
}

enum Callee<'t> {
    Function(&'t str),
    /// These are parameters.
    Definition,
}

/// Whose parentheses are around a place.
fn callee<'t>(tokens: &[Token<'t>], place: usize) -> Option<Callee<'t>> {
    let mut depth = 0_usize;
    let around = tokens.get(..place)?.iter().rev().take(NEAR).position(|token| match token {
        Token::Mark(")" | "]" | "}") => {
            depth += 1;
            false
        }
        Token::Mark("(") if depth == 0 => true,
        Token::Mark("(" | "[" | "{") => {
            depth = depth.saturating_sub(1);
            false
        }
        _ => false,
    })?;
    let open = place.checked_sub(around + 1)?;
    match before(tokens, open, 1)? {
        Token::Name("func" | "fn") => Some(Callee::Definition),
        Token::Name(_) if is_word(tokens, open, 2, "func") || is_word(tokens, open, 2, "fn") => {
            Some(Callee::Definition)
        }
        // `func (r T) name(…)`
        Token::Name(_) if before(tokens, open, 2).is_some_and(|token| token.is(")")) => Some(Callee::Definition),
        Token::Name(name) => Some(Callee::Function(name)),
        _ => None,
    }
}

struct Evaluation<'e, 't> {
    tongue: &'e Tongue,
    variables: &'e Variables,
    known: &'e Constants<'t>,
}

impl Evaluation<'_, '_> {
    fn all(&self, tokens: &[Token<'_>]) -> Option<Vec<String>> {
        let tokens: Vec<&Token<'_>> = tokens.iter().filter(|token| **token != Token::Newline).collect();
        let mut at = 0;
        let texts = self.sum(&tokens, &mut at, 0)?;
        (at == tokens.len() && texts.len() <= MAX_VALUES).then_some(texts)
    }

    fn sum(&self, tokens: &[&Token<'_>], at: &mut usize, depth: usize) -> Option<Vec<String>> {
        let mut texts = self.chain(tokens, at, depth)?;
        let concat = self.tongue.concat;
        while !concat.is_empty() && tokens.get(*at).is_some_and(|token| token.is(concat)) {
            *at += 1;
            let more = self.chain(tokens, at, depth)?;
            texts = each(&texts, &more, |one, other| format!("{one}{other}"));
        }
        Some(texts)
    }

    /// With what is called on it.
    fn chain(&self, tokens: &[&Token<'_>], at: &mut usize, depth: usize) -> Option<Vec<String>> {
        let mut texts = self.one(tokens, at, depth)?;
        loop {
            match (tokens.get(*at), tokens.get(*at + 1)) {
                (Some(Token::Mark("?")), _) => *at += 1,
                (Some(Token::Mark(".")), Some(Token::Name(method))) => {
                    *at += 2;
                    let given = self.group(tokens, at, depth)?;
                    texts = match given.as_slice() {
                        [part] if self.variables.joins.contains(method) => self.joined(&texts, part),
                        _ if self.variables.keeps.contains(method) => texts,
                        _ => return None,
                    };
                }
                _ => return Some(texts),
            }
        }
    }

    fn one(&self, tokens: &[&Token<'_>], at: &mut usize, depth: usize) -> Option<Vec<String>> {
        let token = tokens.get(*at).filter(|_| depth < MAX_DEPTH)?;
        *at += 1;
        match token {
            Token::Text(Some(text)) => Some(vec![text.clone()]),
            Token::Mark("&") if self.variables.are_borrowed => self.one(tokens, at, depth + 1),
            Token::Mark("(") => {
                let inside = self.sum(tokens, at, depth + 1)?;
                let is_closed = tokens.get(*at).is_some_and(|token| token.is(")"));
                *at += 1;
                is_closed.then_some(inside)
            }
            Token::Name(name) if self.variables.temporary.contains(name) => {
                let start = *at + 1;
                skip_group(tokens, at)?;
                let given = tokens.get(start..*at - 1)?;
                let is_plain =
                    |token: &&Token<'_>| matches!(token, Token::Text(_) | Token::Mark(",") | Token::Name("null"));
                match given.first() {
                    // Where it is told another folder, it is there.
                    Some(Token::Text(Some(folder))) if self.variables.temporary_in_first && !folder.is_empty() => {
                        Some(vec![format!("{folder}/…")])
                    }
                    Some(Token::Text(Some(_))) if self.variables.temporary_in_first => Some(vec![TEMPORARY.to_owned()]),
                    _ => given.iter().all(is_plain).then(|| vec![TEMPORARY.to_owned()]),
                }
            }
            // `new File("x")`
            Token::Name("new") if matches!(tokens.get(*at), Some(Token::Name(_))) => self.one(tokens, at, depth + 1),
            Token::Name(name) if self.variables.joins.contains(name) || self.variables.keeps.contains(name) => {
                let parts = self.group(tokens, at, depth)?;
                parts.into_iter().reduce(|one, other| self.joined(&one, &other))
            }
            Token::Name(name) if self.known.contains_key(name) => self.known.get(name).cloned(),
            // `file.Name()`
            Token::Name(name) => {
                let (variable, method) = name.rsplit_once(self.tongue.joint)?;
                let texts = self.known.get(variable).filter(|_| self.variables.keeps.contains(&method))?;
                skip_group(tokens, at)?;
                Some(texts.clone())
            }
            _ => None,
        }
    }

    fn joined(&self, folders: &[String], names: &[String]) -> Vec<String> {
        each(folders, names, if self.variables.joins_append { path_appended } else { path_joined })
    }

    /// In parentheses, one by one.
    fn group(&self, tokens: &[&Token<'_>], at: &mut usize, depth: usize) -> Option<Vec<Vec<String>>> {
        tokens.get(*at).filter(|token| token.is("("))?;
        *at += 1;
        let mut parts = Vec::new();
        loop {
            match tokens.get(*at)? {
                Token::Mark(")") => {
                    *at += 1;
                    return Some(parts);
                }
                Token::Mark(",") => *at += 1,
                _ => parts.push(self.sum(tokens, at, depth + 1)?),
            }
        }
    }
}

fn each(ones: &[String], others: &[String], join: impl Fn(&str, &str) -> String) -> Vec<String> {
    let join = &join;
    ones.iter().flat_map(|one| others.iter().map(move |other| join(one, other))).take(MAX_VALUES + 1).collect()
}

/// Behind the parentheses that open here.
fn skip_group(tokens: &[&Token<'_>], at: &mut usize) -> Option<()> {
    tokens.get(*at).filter(|token| token.is("("))?;
    let mut depth = 0_usize;
    while let Some(token) = tokens.get(*at) {
        *at += 1;
        depth = match token {
            Token::Mark("(") => depth + 1,
            Token::Mark(")") => depth - 1,
            _ => depth,
        };
        if depth == 0 {
            return Some(());
        }
    }
    None
}
