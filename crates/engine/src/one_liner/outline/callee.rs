//! What is called under a name that is worked out, given or handed on.

use std::collections::HashSet;

use super::Outline;
use super::token::Token;
use super::tongue::{Deed, Modules};

/// Of longer groups and lines, only this many tokens are looked at.
const NEAR: usize = 64;

/// More names than these are not kept.
const MOST_ALIASES: usize = 32;

/// `clojure.java.shell :as s`: the name and the module.
pub(super) fn aliases<'t>(tokens: &[Token<'t>]) -> Vec<(&'t str, &'t str)> {
    let found = tokens.windows(4).filter_map(|window| match window {
        [Token::Name(module), Token::Mark(":"), Token::Name("as"), Token::Name(alias)] => Some((*alias, *module)),
        _ => None,
    });
    found.take(MOST_ALIASES).collect()
}

/// Variables that the text gives something else than a function of its own: `$f = "x"`.
pub(super) fn given<'t>(tokens: &[Token<'t>]) -> HashSet<&'t str> {
    let found = tokens.windows(4).filter_map(|window| match window {
        [Token::Mark("$"), Token::Name(_), Token::Mark("="), Token::Name("function" | "fn" | "static" | "new")] => None,
        [Token::Mark("$"), Token::Name(name), Token::Mark("="), _] => Some(*name),
        _ => None,
    });
    found.collect()
}

impl Outline<'_> {
    pub(super) fn function(&self, name: &str) -> Option<Deed> {
        self.tongue.function(name).or_else(|| {
            let (alias, function) = name.split_once('/')?;
            let (_, module) = self.aliases.iter().find(|(known, _)| *known == alias)?;
            self.tongue.function(&format!("{module}/{function}"))
        })
    }

    pub(super) fn is_mark(&self, place: usize, mark: &str) -> bool {
        self.tokens.get(place).is_some_and(|token| token.is(mark))
    }

    /// The token some places before this one.
    fn before(&self, place: usize, distance: usize) -> Option<&Token<'_>> {
        self.tokens.get(place.checked_sub(distance)?)
    }

    /// Texts that are put together, where the first of them stands: `"sys" . "tem"`.
    pub(super) fn joined(&self, place: usize) -> Option<String> {
        let concat = self.tongue.concat;
        if concat.is_empty() {
            return self.tokens.get(place).and_then(Token::text).map(str::to_owned);
        }
        if self.before(place, 1).is_some_and(|before| before.is(concat)) {
            return None;
        }
        let mut joined = String::new();
        for pair in self.tokens.get(place..)?.chunks(2) {
            joined.push_str(pair.first().and_then(Token::text)?);
            if !pair.get(1).is_some_and(|mark| mark.is(concat)) {
                break;
            }
        }
        Some(joined)
    }

    /// Whether the function that is named here is handed on.
    pub(super) fn is_value(&self, place: usize) -> bool {
        let before = self.before(place, 1);
        if before.is_some_and(|before| before.is("@")) {
            return true;
        }
        let is_named_only = before.is_some_and(|before| before.is("?"))
            || matches!(self.before(place, 2), Some(Token::Name("function" | "help" | "library" | "require")));
        let is_set = match self.tokens.get(place + 1) {
            Some(Token::Mark("<")) => self.is_mark(place + 2, "-"),
            Some(Token::Mark(next)) => matches!(*next, "=" | ":" | "::" | "->"),
            _ => false,
        };
        self.tongue.has_bare_values && !is_named_only && !is_set && !self.is_imported(place)
    }

    fn is_imported(&self, place: usize) -> bool {
        let line = self.tokens.get(..place).unwrap_or_default().iter().rev().take(NEAR);
        line.take_while(|token| **token != Token::Newline).any(|token| *token == Token::Name("import"))
    }

    /// Whether a function is called here whose name, or whose module, only the run tells.
    pub(super) fn is_computed(&self, place: usize) -> bool {
        if !self.is_mark(place + 1, "(") {
            return false;
        }
        let joint = self.tongue.joint;
        match self.tokens.get(place) {
            Some(Token::Text(None)) => self.tongue.texts_call,
            Some(Token::Mark("]")) => self.has_variables(),
            Some(Token::Mark(")")) => self.has_variables() && self.is_made_before(place),
            Some(Token::Name(name)) => match self.tongue.modules {
                Modules::Named => {
                    self.given.contains(name) && self.before(place, 1).is_some_and(|before| before.is("$"))
                }
                modules => {
                    let is_variable = |part: &str| match modules {
                        Modules::CapitalVariables => {
                            part.starts_with(|first: char| first.is_uppercase() || first == '_')
                        }
                        _ => part.starts_with(|first: char| first.is_lowercase() || first == '_'),
                    };
                    let is_atom = self.before(place, 1).is_some_and(|before| before.is(":"));
                    let has_variable = match modules {
                        Modules::CapitalVariables => name.split(joint).any(is_variable),
                        _ => name.split(joint).next().is_some_and(is_variable) && !is_atom,
                    };
                    let is_worked_out = self.before(place, 1).is_some_and(|before| before.is(joint))
                        && matches!(self.before(place, 2), Some(Token::Text(_) | Token::Mark(")" | "]" | "}")));
                    is_worked_out || has_variable && name.contains(joint)
                }
            },
            _ => false,
        }
    }

    /// Whether variables are told from functions, and texts may be called.
    fn has_variables(&self) -> bool {
        self.tongue.names_are_callable && self.tongue.members.contains(&"$")
    }

    /// Whether the parentheses that end here have a text in them, and no function.
    fn is_made_before(&self, place: usize) -> bool {
        let mut depth = 0_usize;
        let mut has_text = false;
        for token in self.tokens.get(..place).unwrap_or_default().iter().rev().take(NEAR) {
            match token {
                Token::Mark(")") => depth += 1,
                Token::Mark("(") if depth == 0 => return has_text,
                Token::Mark("(") => depth -= 1,
                Token::Name("function" | "fn" | "new") => return false,
                Token::Text(_) => has_text = true,
                Token::Mark(mark) => has_text |= *mark == self.tongue.concat,
                _ => {}
            }
        }
        true
    }
}
