//! The possible values of an expression.

use super::spawn::DIRECTORY_OPTIONS;

/// An unknown file name.
pub(super) const SOME_NAME: &str = "…";

/// An unknown word without spaces or quotes: the name of a branch, the hash of a commit.
pub(super) const SOME_WORD: &str = "‥";

/// A new temporary file or directory.
pub(super) const TEMPORARY: &str = "$TMPDIR/…";

/// A value with more alternatives than this becomes unknown.
const MAX_ALTERNATIVES: usize = 16;

const MAX_WEIGHT: usize = 4096;
const MAX_LAYERS: usize = 8;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Unknown,
    /// One of these strings.
    Strings(Vec<String>),
    /// A path object for one of these paths; `None` if the path is unknown.
    Path(Option<Vec<String>>),
    /// A string or path that is partly known: [`SOME_NAME`] or a glob replaces the rest.
    PartlyKnown {
        strings: Vec<String>,
        /// True for a path object.
        is_path: bool,
    },
    /// The contents of one of these files, or a file object that reads one of them.
    FileContent(Vec<String>),
    /// A file object that writes one of these files.
    OutputFile(Vec<String>),
    /// One of these lists.
    OneOfLists(Vec<Value>),
    /// A list whose elements are inserted in its place: `*words`.
    Spread(Box<Value>),
    /// A number, or another value that refers to a file that is already open.
    Descriptor,
    /// A module, a function or a class, by its dotted name.
    QualifiedName(String),
    List(Vec<Value>),
    /// An object or hash, as keys and values. The empty key holds values whose keys are not constant.
    Record(Vec<(String, Value)>),
    /// A member of a value, which is about to be called.
    Method(Box<Value>, String),
    /// An instance of one of the program's own classes, or another object about which nothing is known.
    Instance,
    /// A name that has no value in this round yet, but is assigned somewhere.
    Pending,
}

impl Value {
    pub(super) fn string(string: impl Into<String>) -> Self {
        Self::Strings(vec![string.into()])
    }

    /// Returns the constants that it may be; `None` if it may be something else.
    pub(super) fn strings(&self) -> Option<Vec<String>> {
        match self {
            Self::Strings(strings) | Self::Path(Some(strings)) => Some(strings.clone()),
            _ => None,
        }
    }

    /// Returns its value if it is a single constant.
    pub(super) fn only_string(&self) -> Option<&str> {
        match self {
            Self::Strings(strings) | Self::Path(Some(strings)) => match strings.as_slice() {
                [string] => Some(string),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns a value that may be either of the two.
    pub(super) fn or(self, other: Self) -> Self {
        match (self, other) {
            (one, other) if one == other => one,
            (Self::Pending, value) | (value, Self::Pending) => value,
            (Self::Strings(one), Self::Strings(other)) => alternatives(one, other).map_or(Self::Unknown, Self::Strings),
            (
                Self::PartlyKnown { strings: one, is_path },
                Self::PartlyKnown { strings: other, is_path: other_is_path },
            ) if is_path == other_is_path => {
                alternatives(one, other).map_or(Self::Unknown, |strings| Self::PartlyKnown { strings, is_path })
            }
            // One is fully known, the other partly.
            (one, Self::PartlyKnown { strings, is_path }) | (Self::PartlyKnown { strings, is_path }, one)
                if one.is_path() == is_path && one.strings().is_some() =>
            {
                let both = alternatives(strings, one.strings().unwrap_or_default());
                both.map_or(Self::Unknown, |strings| Self::PartlyKnown { strings, is_path })
            }
            (one @ (Self::List(_) | Self::OneOfLists(_)), other @ (Self::List(_) | Self::OneOfLists(_))) => {
                let lists = one.lists().into_iter().chain(other.lists());
                lists
                    .fold(None, |all: Option<Vec<Self>>, list| alternatives(all.unwrap_or_default(), vec![list]))
                    .map_or(Self::Unknown, Self::OneOfLists)
            }
            (Self::Record(one), Self::Record(other)) => either_record(&one, &other),
            (Self::OutputFile(one), Self::OutputFile(other)) => {
                alternatives(one, other).map_or(Self::Unknown, Self::OutputFile)
            }
            (Self::Path(one), Self::Path(other)) => {
                Self::Path(one.zip(other).and_then(|(one, other)| alternatives(one, other)))
            }
            _ => Self::Unknown,
        }
    }

    /// Returns this string, or an unknown one.
    pub(super) fn or_some_word(&self) -> Self {
        match self {
            Self::Strings(strings) => {
                let strings = strings.iter().cloned().chain([SOME_WORD.to_owned()]).collect();
                Self::PartlyKnown { strings, is_path: false }
            }
            _ => Self::Unknown,
        }
    }

    /// Returns the lists that it may be.
    pub(super) fn lists(&self) -> Vec<Self> {
        match self {
            Self::OneOfLists(lists) => lists.clone(),
            list @ Self::List(_) => vec![list.clone()],
            _ => Vec::new(),
        }
    }

    /// Returns the values of its elements if it has exactly `count`.
    pub(super) fn destructured(&self, count: usize) -> Option<Vec<Self>> {
        if *self == Self::Pending {
            return Some(vec![Self::Pending; count]);
        }
        let elements = |list: Self| match list {
            Self::List(values) if values.len() == count => Some(values),
            _ => None,
        };
        let either =
            |one: Vec<Self>, other: Vec<Self>| one.into_iter().zip(other).map(|(one, other)| one.or(other)).collect();
        self.lists().into_iter().map(elements).reduce(|one, other| Some(either(one?, other?)))?
    }

    /// Returns the path of an unknown entry in the directory.
    pub(super) fn any_entry(&self) -> Self {
        self.joined(&Self::Unknown, "/")
    }

    /// Returns the parent directory; of a path object, as a path object.
    pub(super) fn parent(&self) -> Self {
        let directories = |strings: &[String]| strings.iter().map(|path| directory_of(path)).collect::<Vec<_>>();
        match self {
            Self::Strings(strings) => Self::Strings(directories(strings)),
            Self::Path(strings) => Self::Path(strings.as_deref().map(directories)),
            Self::PartlyKnown { strings, is_path } => {
                Self::PartlyKnown { strings: directories(strings), is_path: *is_path }
            }
            Self::Pending => Self::Pending,
            _ => Self::Unknown,
        }
    }

    /// Returns the last segment of the path.
    pub(super) fn file_name(&self) -> Self {
        let name = |path: &String| path.rsplit('/').next().unwrap_or(path).to_owned();
        match self {
            Self::Strings(strings) | Self::Path(Some(strings)) => Self::Strings(strings.iter().map(name).collect()),
            Self::PartlyKnown { strings, .. } => {
                Self::PartlyKnown { strings: strings.iter().map(name).collect(), is_path: false }
            }
            Self::Pending => Self::Pending,
            _ => Self::Unknown,
        }
    }

    /// Returns a path object as a string.
    pub(super) fn path_to_string(self) -> Self {
        match self {
            Self::Path(strings) => strings.map_or(Self::Unknown, Self::Strings),
            Self::PartlyKnown { strings, .. } => Self::PartlyKnown { strings, is_path: false },
            value => value,
        }
    }

    /// Creates a list, and replaces each spread value by its elements.
    pub(super) fn list(values: Vec<Self>) -> Self {
        let mut lists: Vec<Vec<Self>> = vec![Vec::new()];
        for value in values {
            let Self::Spread(inside) = value else {
                for list in &mut lists {
                    list.push(value.clone());
                }
                continue;
            };
            let choices: Vec<Vec<Self>> = match inside.lists() {
                choices if choices.is_empty() => vec![vec![Self::Unknown]],
                choices => choices.into_iter().map(Self::into_elements).collect(),
            };
            if lists.len() * choices.len() > MAX_ALTERNATIVES {
                return Self::Unknown;
            }
            let with =
                |list: &Vec<Self>| choices.iter().map(|more| [list.as_slice(), more].concat()).collect::<Vec<_>>();
            lists = lists.iter().flat_map(with).collect();
        }
        lists.into_iter().map(Self::List).reduce(Self::or).unwrap_or(Self::Unknown)
    }

    /// Returns the elements of a list, or the value itself.
    pub(super) fn into_elements(self) -> Vec<Self> {
        match self {
            Self::List(values) => values,
            value => vec![value],
        }
    }

    /// Returns the constants and the partly known strings or paths.
    fn known_strings(&self) -> Option<Vec<String>> {
        match self {
            Self::PartlyKnown { strings, .. } => Some(strings.clone()),
            value => value.strings(),
        }
    }

    /// Concatenates two values with a separator. In a known directory, an unknown value is an unknown name.
    pub(super) fn joined(&self, other: &Self, between: &str) -> Self {
        match between {
            "/" => self.combined(other, true, path_joined),
            _ => self.combined(other, false, |one, other| format!("{one}{between}{other}")),
        }
    }

    /// Appends a path to a directory, even if the path is absolute.
    pub(super) fn appended_path(&self, other: &Self) -> Self {
        self.combined(other, true, path_appended)
    }

    fn combined(&self, other: &Self, is_directory: bool, join: impl Fn(&str, &str) -> String) -> Self {
        if *self == Self::Pending || *other == Self::Pending {
            return Self::Pending;
        }
        let Some(ones) = self.known_strings() else { return Self::Unknown };
        let is_like = matches!(self, Self::PartlyKnown { .. }) || other.strings().is_none();
        let is_directory = is_directory || ones.iter().all(|one| one.contains('/'));
        let others = other.known_strings().or_else(|| is_directory.then(|| vec![SOME_NAME.to_owned()]));
        let Some(others) = others else { return Self::Unknown };
        let size: usize = ones.iter().chain(&others).map(String::len).sum();
        if ones.len() * others.len() > MAX_ALTERNATIVES || size > super::MAX_BYTES {
            return Self::Unknown;
        }
        let join = &join;
        let strings = ones.iter().flat_map(|one| others.iter().map(move |other| join(one, other)));
        // Duplicates are dropped.
        let Some(strings) = alternatives(Vec::new(), strings.collect()) else { return Self::Unknown };
        if is_like { Self::PartlyKnown { strings, is_path: false } } else { Self::Strings(strings) }
    }

    /// Returns the value of an unspecified element.
    pub(super) fn element(&self) -> Self {
        match self {
            Self::List(values) => values.iter().cloned().reduce(Self::or).unwrap_or(Self::Unknown),
            // A loop over an empty list does nothing.
            Self::OneOfLists(lists) => {
                let filled = lists.iter().filter(|list| **list != Self::List(Vec::new()));
                filled.map(Self::element).reduce(Self::or).unwrap_or(Self::Unknown)
            }
            Self::Path(_) => Self::Path(None),
            Self::Pending => Self::Pending,
            _ => Self::Unknown,
        }
    }

    /// Returns the list with its elements in unknown order.
    pub(super) fn reordered(&self) -> Self {
        let mixed = |list: Self| match list {
            Self::List(ref values) => Self::List(vec![list.element(); values.len()]),
            _ => Self::Unknown,
        };
        self.lists().into_iter().map(mixed).reduce(Self::or).unwrap_or(Self::Unknown)
    }

    /// Returns the cost of a copy; `None` if the value is too large or too deep to be kept.
    pub(super) fn weight(&self) -> Option<usize> {
        let mut weight = 0;
        let mut open = vec![(self, 0)];
        while let Some((value, depth)) = open.pop() {
            weight += 1;
            match value {
                Self::List(values) | Self::OneOfLists(values) => {
                    open.extend(values.iter().map(|value| (value, depth + 1)));
                }
                Self::Record(entries) => open.extend(entries.iter().map(|(_, value)| (value, depth + 1))),
                Self::Strings(strings) | Self::Path(Some(strings)) | Self::PartlyKnown { strings, .. } => {
                    weight += strings.iter().map(|string| string.len() / 64).sum::<usize>();
                }
                _ => {}
            }
            if weight > MAX_WEIGHT || depth > MAX_LAYERS {
                return None;
            }
        }
        Some(weight)
    }

    pub(super) fn into_path(self) -> Self {
        match self {
            Self::PartlyKnown { strings, .. } => Self::PartlyKnown { strings, is_path: true },
            Self::Pending => Self::Pending,
            value => Self::Path(value.strings()),
        }
    }

    /// True if it, or a value in it, has no value in this round yet.
    pub(super) fn is_pending(&self) -> bool {
        self.flattened().into_iter().any(|value| match value {
            Self::Record(entries) => entries.iter().any(|(_, value)| *value == Self::Pending),
            Self::Method(receiver, _) => **receiver == Self::Pending,
            value => *value == Self::Pending,
        })
    }

    pub(super) fn is_path(&self) -> bool {
        matches!(self, Self::Path(_) | Self::PartlyKnown { is_path: true, .. })
    }

    /// Returns the value, or the values in it if it is a list.
    pub(super) fn flattened(&self) -> Vec<&Self> {
        let mut found = Vec::new();
        let mut open = vec![self];
        while let Some(value) = open.pop() {
            match value {
                Self::List(values) | Self::OneOfLists(values) => open.extend(values.iter().rev()),
                Self::Spread(inside) => open.push(inside),
                value => found.push(value),
            }
        }
        found
    }
}

/// Merges two objects. A key that only one of them has becomes unknown, except for the working directory, which then
/// defaults to `.`.
fn either_record(one: &[(String, Value)], other: &[(String, Value)]) -> Value {
    let all: Vec<(String, Value)> = one.iter().chain(other).cloned().collect();
    let has_unnamed = all.iter().any(|(name, _)| name.is_empty());
    if has_unnamed || all.len() > MAX_ALTERNATIVES {
        return Value::Unknown;
    }
    let mut both: Vec<(String, Value)> = Vec::new();
    for (name, _) in &all {
        if !both.iter().any(|(known, _)| known == name) {
            let value = match (entry(one, name), entry(other, name)) {
                (Some(one), Some(other)) => one.clone().or(other.clone()),
                (Some(directory), None) | (None, Some(directory)) if DIRECTORY_OPTIONS.contains(&name.as_str()) => {
                    directory.clone().or(Value::string("."))
                }
                _ => Value::Unknown,
            };
            both.push((name.clone(), value));
        }
    }
    Value::Record(both)
}

/// Returns the value of a key. The last one counts, unless a later value has an unknown key.
pub(super) fn entry<'v>(entries: &'v [(String, Value)], name: &str) -> Option<&'v Value> {
    let (place, (_, value)) = entries.iter().enumerate().rfind(|(_, (known, _))| known == name)?;
    let behind = entries.get(place..).unwrap_or_default();
    Some(if behind.iter().any(|(known, _)| known.is_empty()) { &Value::Unknown } else { value })
}

fn alternatives<T: PartialEq>(mut one: Vec<T>, other: Vec<T>) -> Option<Vec<T>> {
    for string in other {
        if !one.contains(&string) {
            one.push(string);
        }
    }
    (one.len() <= MAX_ALTERNATIVES).then_some(one)
}

/// Returns the parent directory of a path; of a glob, the directory that all its matches are below.
pub(super) fn directory_of(path: &str) -> String {
    let place = path.trim_end_matches('/');
    let first = place.find(['*', '?', '[']).and_then(|sign| place.get(..sign)).unwrap_or(place);
    match first.rsplit_once('/') {
        _ if matches!(place.rsplit('/').next(), Some("." | "..")) => format!("{place}/.."),
        Some(("", _)) => "/".to_owned(),
        Some((directory, _)) => directory.to_owned(),
        None if path.starts_with('/') => "/".to_owned(),
        None if path::is_rooted(path) => format!("{place}/.."),
        None => ".".to_owned(),
    }
}

/// Joins like functions for which an absolute second part is still relative to the first.
pub(super) fn path_appended(directory: &str, name: &str) -> String {
    match (directory, name.trim_start_matches('/')) {
        ("", _) => name.to_owned(),
        (_, "") => directory.to_owned(),
        (directory, name) if path::is_rooted(name) => format!("{}/{name}", directory.trim_end_matches('/')),
        (directory, name) => path_joined(directory, name),
    }
}

/// Joins like functions for which an absolute second part replaces the first.
pub(super) fn path_joined(directory: &str, name: &str) -> String {
    if directory.is_empty() || directory == "." || path::is_rooted(name) {
        return name.to_owned();
    }
    // An unknown entry of an unknown entry is still an unknown entry of the known directory.
    if name == SOME_NAME && directory.ends_with(SOME_NAME) {
        return directory.to_owned();
    }
    format!("{}/{name}", directory.trim_end_matches('/'))
}
