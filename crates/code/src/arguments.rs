//! The arguments of a call.

use super::function_effect::ArgumentSelector;
use super::value::{Value, value_of_key};

#[derive(Debug, Default)]
pub(super) struct Arguments {
    pub(super) positional: Vec<Value>,
    pub(super) named: Vec<(String, Value)>,
}

impl Arguments {
    /// Returns the positional argument at an index or, if it is missing, the argument with the keyword.
    pub(super) fn get(&self, (index, keyword): ArgumentSelector) -> Option<&Value> {
        self.positional.get(index).or_else(|| self.named(keyword))
    }

    /// Returns a keyword argument.
    pub(super) fn named(&self, name: &str) -> Option<&Value> {
        value_of_key(&self.named, name)
    }

    /// Returns the value of an option, which is passed as a keyword argument or in an options object.
    pub(super) fn option(&self, name: &str) -> Option<&Value> {
        self.named(name).or_else(|| self.records().find_map(|entries| value_of_key(entries, name)))
    }

    /// True if the call passes options that are spread from an unknown value: `**options`, `{...options}`.
    pub(super) fn may_have_unknown_options(&self) -> bool {
        std::iter::once(self.named.as_slice()).chain(self.records()).flatten().any(|(name, _)| name.is_empty())
    }

    fn records(&self) -> impl Iterator<Item = &[(String, Value)]> {
        self.positional.iter().rev().filter_map(|value| match value {
            Value::Record(entries) => Some(entries.as_slice()),
            _ => None,
        })
    }

    /// Returns the positional arguments without option objects. A list is replaced by its elements.
    pub(super) fn flattened(&self) -> Vec<&Value> {
        let values = self.positional.iter().filter(|value| !matches!(value, Value::Record(_)));
        values.flat_map(Value::flattened).collect()
    }
}
