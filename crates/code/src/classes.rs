//! The classes that a program defines without a base class: their methods are all in the source.

use std::collections::BTreeSet;

use super::Language;
use super::token::Token;

#[derive(Debug, Default)]
pub(super) struct Classes {
    names: BTreeSet<String>,
    /// The names of all functions of the program, including methods.
    methods: BTreeSet<String>,
    /// True if members may be set without being named in the source.
    pub(super) are_dynamic: bool,
    /// True if any class was found so far: its members are names as well.
    pub(super) any_found: bool,
}

/// With these, an object may change its class or have methods that are not in the source.
const DYNAMIC_NAMES: &[&str] =
    &["__new__", "__getattr__", "__getattribute__", "__class__", "setattr", "metaclass", "__dict__", "vars"];

impl Classes {
    pub(super) fn of(language: Language, tokens: &[Token]) -> Self {
        let has_dynamic = tokens.iter().filter_map(Token::name).any(|name| DYNAMIC_NAMES.contains(&name));
        if language != Language::Python || has_dynamic {
            return Self { are_dynamic: has_dynamic, ..Self::default() };
        }
        let behind = |word: &'static str| {
            let starts = tokens.windows(3).filter(move |three| three.first().and_then(Token::name) == Some(word));
            starts.filter_map(|three| Some((three.get(1)?.name()?.to_owned(), three.get(2)?)))
        };
        let names = behind("class").filter(|(_, next)| next.is(":")).map(|(name, _)| name);
        let methods = behind("def").map(|(name, _)| name);
        Self { names: names.collect(), methods: methods.collect(), ..Self::default() }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    pub(super) fn has_method(&self, name: &str) -> bool {
        self.methods.contains(name)
    }
}
