//! Other names that a text gives to what is known here. They are not followed: a text that does so is not whole.

use std::collections::{BTreeSet, HashSet};

use super::Outline;
use super::token::Token;
use super::tongue::{Deed, Renames};

/// Of longer lines, only this many tokens are looked at.
const NEAR: usize = 64;

impl Outline<'_> {
    pub(super) fn renames(&self, place: usize) -> bool {
        let at = |place: usize| self.tokens.get(place);
        match self.tongue.renames {
            Renames::Nowhere => false,
            // `import e "os/exec"`, `import . "os"`
            Renames::Imports => match (at(place), at(place + 1)) {
                (Some(Token::Name(name)), Some(Token::Text(Some(module)))) => {
                    let own = module.rsplit('/').next().unwrap_or(module);
                    !matches!(*name, "import" | "_") && *name != own && self.is_module(own)
                }
                (Some(Token::Mark(".")), Some(Token::Text(Some(module)))) => {
                    self.is_module(module.rsplit('/').next().unwrap_or(module))
                }
                _ => false,
            },
            Renames::Uses => match (at(place), at(place + 1), at(place + 2), at(place + 3)) {
                (Some(Token::Name(name)), Some(Token::Name("as")), Some(Token::Name(other)), _) => {
                    *other != "_" && self.is_in_use(place) && self.is_of_a_function(name)
                }
                (Some(Token::Name("type")), Some(Token::Name(_)), Some(Token::Mark("=")), Some(Token::Name(name))) => {
                    self.is_of_a_function(name)
                }
                _ => false,
            },
            Renames::Macros => match at(place) {
                Some(Token::Name(name)) => {
                    let does = self.function(name).is_some_and(|deed| deed.runs() || deed.deletes());
                    does && !self.is_mark(place + 1, "(") && (self.is_handed_on(place) || self.is_in_macro(place))
                }
                // `a##b`
                Some(Token::Mark("#")) => self.is_mark(place + 1, "#") && self.is_in_macro(place) && self.has_parts(),
                _ => false,
            },
        }
    }

    /// Whether functions that do something are members of this.
    fn is_module(&self, module: &str) -> bool {
        let is_its = |(known, deed): &(&str, Deed)| {
            let member = known.strip_prefix(module).is_some_and(|rest| rest.starts_with(self.tongue.joint));
            member && !deed.reads()
        };
        self.tongue.functions.iter().any(is_its)
    }

    /// Whether a name ends in that of a function, or of the type or module of one.
    fn is_of_a_function(&self, name: &str) -> bool {
        let joint = self.tongue.joint;
        let last = name.rsplit(joint).next().unwrap_or(name);
        let mut functions = self.tongue.functions.iter().filter(|(_, deed)| !deed.reads());
        functions.any(|(known, _)| known.split(joint).any(|part| part == last))
    }

    /// `use a::{b, c as d};`, and no `x as u8`.
    fn is_in_use(&self, place: usize) -> bool {
        let statement = self.tokens.get(..place).unwrap_or_default().iter().rev().take(NEAR);
        statement.take_while(|token| !token.is(";")).any(|token| *token == Token::Name("use"))
    }

    /// `= system;`, `(system)`, `, system}`
    fn is_handed_on(&self, place: usize) -> bool {
        let before = place.checked_sub(1).and_then(|before| self.tokens.get(before));
        let is_given = match before {
            Some(Token::Mark(mark)) => matches!(*mark, "=" | "," | "(" | "&" | "{" | "?" | ":"),
            Some(Token::Name(name)) => *name == "return",
            _ => false,
        };
        let ends = self.tokens.get(place + 1).is_none_or(|next| match next {
            Token::Mark(mark) => matches!(*mark, ")" | "," | ";" | "}" | ":"),
            _ => false,
        });
        is_given && ends
    }

    /// Whether names of the text, put together, are the name of a function.
    fn has_parts(&self) -> bool {
        let names: HashSet<&str> = self.tokens.iter().filter_map(Token::name).collect();
        let is_made = |function: &str| {
            // How far names lead, one behind the other; one alone is no other name.
            let mut reached: BTreeSet<usize> = BTreeSet::from([0]);
            for end in 1..=function.len() {
                let is_name = |start: &usize| function.get(*start..end).is_some_and(|part| names.contains(part));
                if reached.iter().any(|start| (*start, end) != (0, function.len()) && is_name(start)) {
                    reached.insert(end);
                }
            }
            reached.contains(&function.len())
        };
        let does = |deed: Deed| deed.runs() || deed.deletes();
        self.tongue.functions.iter().any(|(known, deed)| does(*deed) && is_made(known))
    }

    fn is_in_macro(&self, place: usize) -> bool {
        let line = self.tokens.get(..place).unwrap_or_default().iter().rev().take(NEAR);
        line.take_while(|token| **token != Token::Newline).any(|token| *token == Token::Name("define"))
    }
}
