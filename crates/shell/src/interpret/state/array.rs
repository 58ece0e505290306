//! Indexed and associative arrays, all of whose elements are known.

use super::Value;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Array {
    List(Vec<Value>),
    /// In the order of assignment. The shell's own order is unspecified.
    Map(Vec<(String, Value)>),
}

/// Longer arrays count as unknown.
const MAX_ELEMENTS: usize = 256;

impl Array {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::List(elements) => elements.len(),
            Self::Map(elements) => elements.len(),
        }
    }

    pub(super) fn values(&self) -> Vec<Value> {
        match self {
            Self::List(elements) => elements.clone(),
            Self::Map(elements) => elements.iter().map(|(_, value)| value.clone()).collect(),
        }
    }

    /// `${!NAME[@]}`
    pub(super) fn keys(&self) -> Vec<Value> {
        match self {
            Self::List(elements) => (0..elements.len()).map(|index| Value::literal(index.to_string())).collect(),
            Self::Map(elements) => elements.iter().map(|(key, _)| Value::literal(key.as_str())).collect(),
        }
    }

    /// Returns the element with this key.
    pub(super) fn named(&self, key: &str) -> Option<Value> {
        match self {
            Self::List(_) => self.at(key.parse().ok()?),
            Self::Map(elements) => elements.iter().find(|(known, _)| known == key).map(|(_, value)| value.clone()),
        }
    }

    /// Returns the element at this index; `-1` is the last.
    pub(super) fn at(&self, index: i64) -> Option<Value> {
        let Self::List(elements) = self else { return self.named(&index.to_string()) };
        let index = match usize::try_from(index) {
            Ok(index) => index,
            Err(_) => elements.len().checked_sub(usize::try_from(index.unsigned_abs()).ok()?)?,
        };
        // A glob before the element expands to an unknown number of elements.
        let is_counted = !elements.get(..index)?.iter().any(|value| value.glob);
        elements.get(index).filter(|_| is_counted).cloned()
    }

    /// Returns the array with one element set; `None` if it gets too long.
    pub(super) fn with(self, key: &str, value: Value) -> Option<Self> {
        let mut elements = match self {
            Self::List(mut elements) => match key.parse::<usize>() {
                Ok(index) if index < elements.len() => {
                    *elements.get_mut(index)? = value;
                    return Some(Self::List(elements));
                }
                Ok(index) if index == elements.len() && index < MAX_ELEMENTS => {
                    elements.push(value);
                    return Some(Self::List(elements));
                }
                _ => elements.into_iter().enumerate().map(|(index, value)| (index.to_string(), value)).collect(),
            },
            Self::Map(elements) => elements,
        };
        elements.retain(|(known, _): &(String, Value)| known != key);
        elements.push((key.to_owned(), value));
        (elements.len() <= MAX_ELEMENTS).then_some(Self::Map(elements))
    }

    /// `NAME+=(…)`; `None` if the array gets too long.
    pub(super) fn then(self, more: Self) -> Option<Self> {
        match (self, more) {
            (Self::List(elements), Self::List(more)) if elements.len() + more.len() <= MAX_ELEMENTS => {
                Some(Self::List(elements.into_iter().chain(more).collect()))
            }
            (array, Self::Map(more)) => more.into_iter().try_fold(array, |array, (key, value)| array.with(&key, value)),
            _ => None,
        }
    }
}
