//! The classes that a text defines for itself, with nothing inherited: what their methods do stands in the text.

use std::collections::BTreeSet;

use super::Language;
use super::token::Token;

#[derive(Debug, Default)]
pub(super) struct Classes {
    names: BTreeSet<String>,
    /// The names of all functions of the text, methods among them.
    methods: BTreeSet<String>,
    /// Whether members may be given to an object without being named.
    pub(super) may_change: bool,
    /// Whether classes of any kind were found so far: their names are members too.
    pub(super) are_there: bool,
}

/// By these an object of a class may be one of another, or have methods that nobody wrote down.
const CHANGING: &[&str] =
    &["__new__", "__getattr__", "__getattribute__", "__class__", "setattr", "metaclass", "__dict__", "vars"];

impl Classes {
    pub(super) fn of(language: Language, tokens: &[Token]) -> Self {
        let has_changing = tokens.iter().filter_map(Token::name).any(|name| CHANGING.contains(&name));
        if language != Language::Python || has_changing {
            return Self { may_change: has_changing, ..Self::default() };
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
