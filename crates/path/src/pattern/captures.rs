//! The values of a pattern's variables in a matching path.

use serde::{Serialize, Serializer};

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Captures {
    /// Names and values, in the order of the variables in the pattern. With few variables, a list is faster than a map.
    values: Vec<(String, String)>,
}

impl Captures {
    pub(super) fn new(values: Vec<(String, String)>) -> Self {
        Self { values }
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.iter().find(|(variable, _)| variable == name).map(|(_, value)| value.as_str())
    }

    /// Returns names and values, in the order of the variables in the pattern.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

impl Serialize for Captures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Captures {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(values: I) -> Self {
        Self::new(values.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}
