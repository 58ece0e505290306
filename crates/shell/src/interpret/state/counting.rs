//! Numbers that the shell works out from its variables: indices, ranges, `let` and `((…))`.

use super::expansion::{is_default, is_name};
use super::{Array, State, Value};
use crate::syntax::arithmetic::{Counted, count, sets_unnamed};

impl State {
    pub(super) fn counted(&self, expression: &str) -> Option<Counted> {
        // One that begins with a zero counts otherwise, and nobody writes it so.
        let is_plain = |text: &str| !text.trim_start_matches('-').starts_with('0') || text == "0";
        let number = |name: &str| {
            let value = self.value(name).filter(|value| !value.in_kind && is_plain(&value.text))?;
            value.text.parse().ok()
        };
        count(expression, &number)
    }

    /// What an expression comes to. The variables in it are set; where it is not known, nothing is.
    pub(crate) fn count(&mut self, expression: &str) -> Option<i64> {
        if let Some(start) = sets_unnamed(expression) {
            self.may_assign_any(start, Some(&Value::some_number()));
            return None;
        }
        let Counted { value, set } = self.counted(expression)?;
        for (name, number) in set {
            self.assign(&name, Some(Value::plain(number.to_string())));
        }
        Some(value)
    }

    /// Where it is not known, what it may set is not known either.
    pub(crate) fn count_or_forget(&mut self, expression: &str) -> Option<i64> {
        let value = self.count(expression);
        if value.is_none() {
            let names = expression.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
            for name in names.filter(|name| name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_'))
            {
                self.assign(name, None);
            }
        }
        value
    }

    /// The key that stands between brackets: a name, or what it comes to.
    pub(super) fn key(&self, key: &str, array: &Array) -> Option<String> {
        let key = key.trim_matches(['"', '\'']);
        if let Some(name) = key.strip_prefix('$').map(|name| name.trim_matches(['{', '}'])) {
            return self
                .value(name)
                .filter(|value| is_name(name) && !value.in_kind)
                .map(|value| value.text.to_string());
        }
        if key.contains(['$', '`']) {
            return None;
        }
        let counted = || self.counted(key).filter(|counted| counted.set.is_empty());
        match array {
            Array::List(elements) if elements.is_empty() => {
                Some(counted().map_or_else(|| key.to_owned(), |counted| counted.value.to_string()))
            }
            Array::List(_) => counted().map(|counted| counted.value.to_string()),
            Array::Map(_) if array.named(key).is_none() => counted().map(|counted| counted.value.to_string()),
            Array::Map(_) => Some(key.to_owned()),
        }
    }

    /// `:i:1`: with numbers for what stands in it.
    pub(super) fn counted_range(&self, operator: &str) -> Option<String> {
        let range = operator.strip_prefix(':').filter(|_| !is_default(operator))?;
        // What begins like this is another operator.
        let range = Some(range).filter(|range| !range.starts_with('+'))?;
        let (from, length) = range.split_once(':').map_or((range, None), |(from, length)| (from, Some(length)));
        let number =
            |text: &str| self.counted(text).filter(|counted| counted.set.is_empty()).map(|counted| counted.value);
        let from = number(from)?;
        match length {
            Some(length) => Some(format!(":{from}:{}", number(length)?)),
            None => Some(format!(":{from}")),
        }
    }
}
