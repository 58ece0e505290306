//! Indexed and associative arrays, all of whose elements are known.

use super::Value;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Array {
    List(Vec<Value>),
    /// The keys and values of an associative array, in the order of their assignment. The order in which a shell lists
    /// the keys is unspecified.
    Map(Vec<(String, Value)>),
}

/// An array with more elements counts as unknown.
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

    /// Returns the keys or indices, as for `${!NAME[@]}`.
    pub(super) fn keys(&self) -> Vec<Value> {
        match self {
            Self::List(elements) => (0..elements.len()).map(|index| Value::literal(index.to_string())).collect(),
            Self::Map(elements) => elements.iter().map(|(key, _)| Value::literal(key.as_str())).collect(),
        }
    }

    /// Returns the element with this key.
    pub(super) fn element(&self, key: &str) -> Option<Value> {
        match self {
            Self::List(_) => self.element_at(key.parse().ok()?),
            Self::Map(elements) => elements.iter().find(|(known, _)| known == key).map(|(_, value)| value.clone()),
        }
    }

    /// Returns the element at this index; `-1` is the last element.
    pub(super) fn element_at(&self, index: i64) -> Option<Value> {
        let Self::List(elements) = self else { return self.element(&index.to_string()) };
        let index = match usize::try_from(index) {
            Ok(index) => index,
            Err(_) => elements.len().checked_sub(usize::try_from(index.unsigned_abs()).ok()?)?,
        };
        // A glob before the element expands to an unknown number of elements.
        let is_counted = !elements.get(..index)?.iter().any(|value| value.glob);
        elements.get(index).filter(|_| is_counted).cloned()
    }

    /// Returns the array with one element set; `None` if the array gets too long.
    pub(super) fn with_element(self, key: &str, value: Value) -> Option<Self> {
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

    /// Returns the array with another array appended, as for `NAME+=(…)`; `None` if the array gets too long.
    pub(super) fn concat(self, more: Self) -> Option<Self> {
        match (self, more) {
            (Self::List(elements), Self::List(more)) if elements.len() + more.len() <= MAX_ELEMENTS => {
                Some(Self::List(elements.into_iter().chain(more).collect()))
            }
            (array, Self::Map(more)) => {
                more.into_iter().try_fold(array, |array, (key, value)| array.with_element(&key, value))
            }
            _ => None,
        }
    }
}
