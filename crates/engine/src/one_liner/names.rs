//! What the names of a text mean.

use std::collections::BTreeMap;

use super::Language;
use super::reader::Order;
use super::token::{Kind, Token};
use super::value::Value;

/// More that one name may be are not told apart.
const MAX_LISTS: usize = 8;

#[derive(Debug, Default)]
pub(super) struct Names {
    /// Every value that a name is given, taken together.
    values: BTreeMap<String, Value>,
    /// Modules all of whose members are names.
    pub(super) opened: Vec<String>,
    pub(super) changed: bool,
    /// What is put behind lists, by their names and by the places in the text.
    appended: BTreeMap<String, BTreeMap<usize, Vec<Value>>>,
    /// What those lists are without it.
    bases: BTreeMap<String, Value>,
    /// Whether a name whose values do not stop changing is given up.
    pub(super) settling: bool,
}

/// Names that a text gives a value somewhere: `name = …`, `for name in …`, and under these words what its functions give.
pub(super) fn awaited(language: Language, tokens: &[Token]) -> impl Iterator<Item = String> {
    let follows = matches!(language, Language::Python | Language::Node);
    let mut depth = 0_usize;
    let assigned = tokens.windows(2).filter(move |pair| {
        let [name, sign] = pair else { return false };
        match &name.kind {
            Kind::Mark("(" | "[" | "{") => depth += 1,
            Kind::Mark(")" | "]" | "}") => depth = depth.saturating_sub(1),
            _ => {}
        }
        // In brackets, Python names an argument so.
        sign.is("=") && (depth == 0 || language == Language::Node)
    });
    let assigned = assigned.filter_map(|pair| pair.first().and_then(Token::name));
    let is_for = |place: usize| tokens.get(place).and_then(Token::name) == Some("for");
    let targets = (0..tokens.len()).filter(move |place| is_for(*place)).flat_map(|place| {
        let behind = tokens.get(place + 1..).unwrap_or_default().iter().take(LONGEST_TARGET);
        behind.take_while(|token| !matches!(token.name(), Some("in" | "of"))).filter_map(Token::name)
    });
    let gives = tokens.iter().filter_map(Token::name).filter(|name| matches!(*name, "return" | "yield"));
    assigned.chain(targets).chain(gives).filter(move |_| follows).map(str::to_owned)
}

/// Tokens of `a, (b, c)`.
const LONGEST_TARGET: usize = 16;

impl Names {
    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &Value> {
        self.values.values()
    }

    /// What the name meant before, and what it is given now, where these are two.
    pub(super) fn bind(&mut self, name: &str, value: Value) -> Option<(Value, Value)> {
        if value.is_pending() {
            self.changed = true;
            return None;
        }
        let value = match self.bases.get(name).cloned() {
            Some(base) => {
                let base = base.or(value);
                self.bases.insert(name.to_owned(), base.clone());
                self.with_appended(name, &base)
            }
            None => value,
        };
        let Some(known) = self.values.get(name) else {
            self.changed = true;
            self.values.insert(name.to_owned(), value);
            return None;
        };
        let both = known.clone().or(value.clone());
        if both == *known {
            return (value != *known).then(|| (known.clone(), value));
        }
        self.changed = true;
        let both = if self.settling { Value::Unknown } else { both };
        self.values.insert(name.to_owned(), both).map(|known| (known, value))
    }

    /// From here on, more may be behind a list: nobody knows by which condition.
    pub(super) fn append(&mut self, name: &str, place: usize, more: Vec<Value>, order: Order) {
        let Some(base) = self.bases.get(name).or_else(|| self.values.get(name)).cloned() else { return };
        let places = self.appended.entry(name.to_owned()).or_default();
        let is_new = places.get(&place) != Some(&more);
        let differs = is_new && places.insert(place, more).is_some();
        let differs = differs || (order == Order::Functions && places.len() > 1);
        self.bases.insert(name.to_owned(), if differs { Value::Unknown } else { base.clone() });
        if is_new {
            let value = if differs { Value::Unknown } else { self.with_appended(name, &base) };
            self.changed = true;
            self.values.insert(name.to_owned(), value);
        }
    }

    /// Every list that it may be: with each of what is put behind it, or without.
    fn with_appended(&self, name: &str, base: &Value) -> Value {
        let mut lists: Vec<Vec<Value>> = base.lists().into_iter().map(Value::into_elements).collect();
        for more in self.appended.get(name).into_iter().flat_map(BTreeMap::values) {
            if lists.len() > MAX_LISTS {
                return Value::Unknown;
            }
            lists = lists.into_iter().flat_map(|list| [list.clone(), [list, more.clone()].concat()]).collect();
        }
        lists.into_iter().map(Value::List).reduce(Value::or).unwrap_or(Value::Unknown)
    }
}
