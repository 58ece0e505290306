//! The classes without a base class that a Python program defines. All methods of such a class are in the source.

use std::collections::BTreeSet;

use super::Language;
use super::token::Token;

#[derive(Debug, Default)]
pub(super) struct Classes {
    names: BTreeSet<String>,
    /// The names of all functions that the program defines, including methods.
    methods: BTreeSet<String>,
    /// True if objects may have members whose names are not in the source.
    pub(super) are_dynamic: bool,
    /// True after the first `class` or `module`. After it, an assignment can set a member of a class, and code can use
    /// the assigned value without using the name.
    pub(super) has_reached_class: bool,
}

/// Names whose use lets an object change its class, or lets it have methods that are not in the source.
const DYNAMIC_NAMES: &[&str] =
    &["__new__", "__getattr__", "__getattribute__", "__class__", "setattr", "metaclass", "__dict__", "vars"];

impl Classes {
    pub(super) fn of(language: Language, tokens: &[Token]) -> Self {
        let has_dynamic = tokens.iter().filter_map(Token::name).any(|name| DYNAMIC_NAMES.contains(&name));
        if language != Language::Python || has_dynamic {
            return Self { are_dynamic: has_dynamic, ..Self::default() };
        }
        let names_after = |keyword: &'static str| {
            let definitions =
                tokens.windows(3).filter(move |window| window.first().and_then(Token::name) == Some(keyword));
            definitions.filter_map(|window| Some((window.get(1)?.name()?.to_owned(), window.get(2)?)))
        };
        let names = names_after("class").filter(|(_, next)| next.is(":")).map(|(name, _)| name);
        let methods = names_after("def").map(|(name, _)| name);
        Self { names: names.collect(), methods: methods.collect(), ..Self::default() }
    }

    pub(super) fn has_class(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    pub(super) fn has_method(&self, name: &str) -> bool {
        self.methods.contains(name)
    }
}
