//! What a call is given.

use super::value::Value;

#[derive(Debug, Default)]
pub(super) struct Arguments {
    pub(super) positional: Vec<Value>,
    pub(super) named: Vec<(String, Value)>,
}

impl Arguments {
    /// The argument at a place, or under a name.
    pub(super) fn get(&self, place: usize, name: &str) -> Option<&Value> {
        self.positional.get(place).or_else(|| self.named(name))
    }

    pub(super) fn named(&self, name: &str) -> Option<&Value> {
        self.named.iter().find(|(found, _)| found == name).map(|(_, value)| value)
    }

    /// An option, given by name or in an object.
    pub(super) fn option(&self, name: &str) -> Option<&Value> {
        self.named(name).or_else(|| {
            let mut records = self.positional.iter().filter_map(|value| match value {
                Value::Record(entries) => Some(entries),
                _ => None,
            });
            records.find_map(|entries| entries.iter().find(|(key, _)| key == name).map(|(_, value)| value))
        })
    }

    /// Every positional argument, lists taken apart, options left out.
    pub(super) fn flat(&self) -> Vec<&Value> {
        let values = self.positional.iter().filter(|value| !matches!(value, Value::Record(_)));
        values.flat_map(Value::flat).collect()
    }
}
