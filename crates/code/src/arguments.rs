//! The arguments of a call.

use super::value::{Value, entry};

#[derive(Debug, Default)]
pub(super) struct Arguments {
    pub(super) positional: Vec<Value>,
    pub(super) named: Vec<(String, Value)>,
}

impl Arguments {
    /// Returns the argument at a position, or passed by a keyword.
    pub(super) fn get(&self, place: usize, name: &str) -> Option<&Value> {
        self.positional.get(place).or_else(|| self.named(name))
    }

    pub(super) fn named(&self, name: &str) -> Option<&Value> {
        entry(&self.named, name)
    }

    /// Returns an option, passed by a keyword or in an object.
    pub(super) fn option(&self, name: &str) -> Option<&Value> {
        self.named(name).or_else(|| self.records().find_map(|entries| entry(entries, name)))
    }

    /// True if options are spread from a value that is not known: `**options`, `{...options}`.
    pub(super) fn may_have_unknown_options(&self) -> bool {
        std::iter::once(self.named.as_slice()).chain(self.records()).flatten().any(|(name, _)| name.is_empty())
    }

    fn records(&self) -> impl Iterator<Item = &[(String, Value)]> {
        self.positional.iter().rev().filter_map(|value| match value {
            Value::Record(entries) => Some(entries.as_slice()),
            _ => None,
        })
    }

    /// Returns every positional argument, with lists flattened and option objects left out.
    pub(super) fn flattened(&self) -> Vec<&Value> {
        let values = self.positional.iter().filter(|value| !matches!(value, Value::Record(_)));
        values.flat_map(Value::flattened).collect()
    }
}
