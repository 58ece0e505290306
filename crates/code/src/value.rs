//! The value of an expression, as far as it can be determined without running the program.

use super::spawn::DIRECTORY_OPTIONS;

/// The placeholder for a file name that is not constant.
pub(super) const NAME_PLACEHOLDER: &str = "…";

/// The placeholder for a word that is not constant, but certainly has no spaces or quotes, such as the name of a branch
/// or the hash of a commit.
pub(super) const WORD_PLACEHOLDER: &str = "‥";

/// The path of a new temporary file or directory.
pub(super) const TEMPORARY_PATH: &str = "$TMPDIR/…";

/// The maximum number of alternatives of a value. A value with more becomes unknown.
const MAX_ALTERNATIVES: usize = 16;

/// The maximum [`Value::copy_cost`] of a value. A value that costs more, or is nested more deeply than
/// [`MAX_VALUE_DEPTH`], becomes unknown.
const MAX_COPY_COST: usize = 4096;
const MAX_VALUE_DEPTH: usize = 8;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Unknown,
    /// A string, which is one of these constants.
    Strings(Vec<String>),
    /// A path object for one of these paths; `None` if the path is not constant.
    Path(Option<Vec<String>>),
    /// One of these strings or paths. In some of them, a placeholder or a glob stands for a part that is unknown.
    PartlyKnown {
        strings: Vec<String>,
        /// True if the value is a path object.
        is_path: bool,
    },
    /// The contents of one of these files, or a file object for reading one of them.
    FileContent(Vec<String>),
    /// A file object for writing one of these files.
    OutputFile(Vec<String>),
    /// A list, which is one of these lists.
    OneOfLists(Vec<Value>),
    /// A list whose elements are inserted into another list: `*words`.
    Spread(Box<Value>),
    /// A value that is not a path: a number (perhaps a file descriptor), a stream or a reference.
    NumberOrDescriptor,
    /// A module, a function or a class, by its dotted name.
    QualifiedName(String),
    List(Vec<Value>),
    /// An object or hash, as keys and values. An empty key stands for keys that are not constant.
    Record(Vec<(String, Value)>),
    /// A member of a value: the value, and the name of the member. It becomes a call if arguments follow.
    Method(Box<Value>, String),
    /// An instance of a class that the program defines.
    Instance,
    /// An element of `argv` before the first argument: the name of the interpreter or of the script.
    ArgvPrefix,
    /// Stands for the value of a name that has no value so far, but is assigned somewhere in the program.
    Pending,
}

impl Value {
    pub(super) fn string(string: impl Into<String>) -> Self {
        Self::Strings(vec![string.into()])
    }

    /// Returns the constants that the value can be; `None` if it can also be something else.
    pub(super) fn strings(&self) -> Option<Vec<String>> {
        match self {
            Self::Strings(strings) | Self::Path(Some(strings)) => Some(strings.clone()),
            _ => None,
        }
    }

    /// Returns the string if the value is a single constant.
    pub(super) fn only_string(&self) -> Option<&str> {
        match self {
            Self::Strings(strings) | Self::Path(Some(strings)) => match strings.as_slice() {
                [string] => Some(string),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns a value that stands for either of the two.
    pub(super) fn or(self, other: Self) -> Self {
        match (self, other) {
            (left, right) if left == right => left,
            (Self::Pending, value) | (value, Self::Pending) => value,
            (Self::Strings(left), Self::Strings(right)) => {
                merge_alternatives(left, right).map_or(Self::Unknown, Self::Strings)
            }
            (
                Self::PartlyKnown { strings: left, is_path },
                Self::PartlyKnown { strings: right, is_path: right_is_path },
            ) if is_path == right_is_path => {
                merge_alternatives(left, right).map_or(Self::Unknown, |strings| Self::PartlyKnown { strings, is_path })
            }
            // One of the values is fully known, and the other one partly.
            (known, Self::PartlyKnown { strings, is_path }) | (Self::PartlyKnown { strings, is_path }, known)
                if known.is_path() == is_path && known.strings().is_some() =>
            {
                let merged = merge_alternatives(strings, known.strings().unwrap_or_default());
                merged.map_or(Self::Unknown, |strings| Self::PartlyKnown { strings, is_path })
            }
            (left @ (Self::List(_) | Self::OneOfLists(_)), right @ (Self::List(_) | Self::OneOfLists(_))) => {
                let lists = left.lists().into_iter().chain(right.lists());
                lists
                    .fold(None, |all: Option<Vec<Self>>, list| merge_alternatives(all.unwrap_or_default(), vec![list]))
                    .map_or(Self::Unknown, Self::OneOfLists)
            }
            (Self::Record(left), Self::Record(right)) => merge_records(&left, &right),
            (Self::OutputFile(left), Self::OutputFile(right)) => {
                merge_alternatives(left, right).map_or(Self::Unknown, Self::OutputFile)
            }
            (Self::Path(left), Self::Path(right)) => {
                Self::Path(left.zip(right).and_then(|(left, right)| merge_alternatives(left, right)))
            }
            _ => Self::Unknown,
        }
    }

    /// Returns a value that stands for these strings or any other word.
    pub(super) fn or_unknown_word(&self) -> Self {
        match self {
            Self::Strings(strings) => {
                let strings = strings.iter().cloned().chain([WORD_PLACEHOLDER.to_owned()]).collect();
                Self::PartlyKnown { strings, is_path: false }
            }
            _ => Self::Unknown,
        }
    }

    /// Returns the lists that the value can be; empty if it is no list.
    pub(super) fn lists(&self) -> Vec<Self> {
        match self {
            Self::OneOfLists(lists) => lists.clone(),
            list @ Self::List(_) => vec![list.clone()],
            _ => Vec::new(),
        }
    }

    /// Returns the elements of a list; `None` if it does not certainly have exactly `count` elements.
    pub(super) fn destructured(&self, count: usize) -> Option<Vec<Self>> {
        if *self == Self::Pending {
            return Some(vec![Self::Pending; count]);
        }
        let elements = |list: Self| match list {
            Self::List(values) if values.len() == count => Some(values),
            _ => None,
        };
        let either = |left: Vec<Self>, right: Vec<Self>| {
            left.into_iter().zip(right).map(|(left, right)| left.or(right)).collect()
        };
        self.lists().into_iter().map(elements).reduce(|left, right| Some(either(left?, right?)))?
    }

    /// Returns the path of an unknown file in the directory.
    pub(super) fn unknown_entry(&self) -> Self {
        self.joined(&Self::Unknown, "/")
    }

    /// Returns the parent directory of a path. The result is a path object if the path is one.
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

    /// Converts a path object to a string.
    pub(super) fn path_to_string(self) -> Self {
        match self {
            Self::Path(strings) => strings.map_or(Self::Unknown, Self::Strings),
            Self::PartlyKnown { strings, .. } => Self::PartlyKnown { strings, is_path: false },
            value => value,
        }
    }

    /// Creates a list. Spread values in it are replaced by their elements.
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
            let with = |list: &Vec<Self>| {
                choices.iter().map(|elements| [list.as_slice(), elements].concat()).collect::<Vec<_>>()
            };
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

    /// Returns the strings that the value can be, even if they are only partly known.
    fn known_strings(&self) -> Option<Vec<String>> {
        match self {
            Self::PartlyKnown { strings, .. } => Some(strings.clone()),
            value => value.strings(),
        }
    }

    /// Concatenates two values with a separator between them. The separator `/` joins paths: an unknown `other` then
    /// counts as an unknown file name, and an absolute `other` replaces `self`.
    pub(super) fn joined(&self, other: &Self, separator: &str) -> Self {
        match separator {
            "/" => self.combined(other, true, join_path),
            _ => self.combined(other, false, |left, right| format!("{left}{separator}{right}")),
        }
    }

    /// Appends a path to a directory, even if the path is absolute.
    pub(super) fn appended_path(&self, other: &Self) -> Self {
        self.combined(other, true, append_path)
    }

    /// Combines each string of this value with each string of `other`. If `is_directory` is true, or all strings of
    /// this value contain a slash, an unknown `other` counts as an unknown file name.
    fn combined(&self, other: &Self, is_directory: bool, join: impl Fn(&str, &str) -> String) -> Self {
        if *self == Self::Pending || *other == Self::Pending {
            return Self::Pending;
        }
        let Some(left) = self.known_strings() else { return Self::Unknown };
        let is_partly_known = matches!(self, Self::PartlyKnown { .. }) || other.strings().is_none();
        let is_directory = is_directory || left.iter().all(|string| string.contains('/'));
        let right = other.known_strings().or_else(|| is_directory.then(|| vec![NAME_PLACEHOLDER.to_owned()]));
        let Some(right) = right else { return Self::Unknown };
        let size: usize = left.iter().chain(&right).map(String::len).sum();
        if left.len() * right.len() > MAX_ALTERNATIVES || size > super::MAX_BYTES {
            return Self::Unknown;
        }
        let join = &join;
        let strings = left.iter().flat_map(|left| right.iter().map(move |right| join(left, right)));
        // Removes duplicates.
        let Some(strings) = merge_alternatives(Vec::new(), strings.collect()) else { return Self::Unknown };
        if is_partly_known { Self::PartlyKnown { strings, is_path: false } } else { Self::Strings(strings) }
    }

    /// Returns a value that stands for any element of a list.
    pub(super) fn element(&self) -> Self {
        match self {
            Self::List(values) => values.iter().cloned().reduce(Self::or).unwrap_or(Self::Unknown),
            // Empty lists have no elements, so they are ignored.
            Self::OneOfLists(lists) => {
                let non_empty = lists.iter().filter(|list| **list != Self::List(Vec::new()));
                non_empty.map(Self::element).reduce(Self::or).unwrap_or(Self::Unknown)
            }
            Self::Path(_) => Self::Path(None),
            Self::Pending => Self::Pending,
            _ => Self::Unknown,
        }
    }

    /// Returns the list with its elements in unknown order.
    pub(super) fn reordered(&self) -> Self {
        let reorder = |list: Self| match list {
            Self::List(ref values) => Self::List(vec![list.element(); values.len()]),
            _ => Self::Unknown,
        };
        self.lists().into_iter().map(reorder).reduce(Self::or).unwrap_or(Self::Unknown)
    }

    /// Returns the cost of copying the value; `None` if the value is too large or nested too deeply to be kept.
    pub(super) fn copy_cost(&self) -> Option<usize> {
        let mut cost = 0;
        let mut unvisited = vec![(self, 0)];
        while let Some((value, depth)) = unvisited.pop() {
            cost += 1;
            match value {
                Self::List(values) | Self::OneOfLists(values) => {
                    unvisited.extend(values.iter().map(|value| (value, depth + 1)));
                }
                Self::Record(entries) => unvisited.extend(entries.iter().map(|(_, value)| (value, depth + 1))),
                Self::Strings(strings) | Self::Path(Some(strings)) | Self::PartlyKnown { strings, .. } => {
                    cost += strings.iter().map(|string| string.len() / 64).sum::<usize>();
                }
                _ => {}
            }
            if cost > MAX_COPY_COST || depth > MAX_VALUE_DEPTH {
                return None;
            }
        }
        Some(cost)
    }

    /// Converts a string to a path object.
    pub(super) fn into_path(self) -> Self {
        match self {
            Self::PartlyKnown { strings, .. } => Self::PartlyKnown { strings, is_path: true },
            Self::Pending => Self::Pending,
            value => Self::Path(value.strings()),
        }
    }

    /// True if the value, or a value in it, is [`Value::Pending`].
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

    /// Returns the elements of nested lists, or the value itself if it is not a list.
    pub(super) fn flattened(&self) -> Vec<&Self> {
        let mut elements = Vec::new();
        let mut unvisited = vec![self];
        while let Some(value) = unvisited.pop() {
            match value {
                Self::List(values) | Self::OneOfLists(values) => unvisited.extend(values.iter().rev()),
                Self::Spread(inside) => unvisited.push(inside),
                value => elements.push(value),
            }
        }
        elements
    }
}

/// Merges two objects. The value of a key that only one of them has becomes unknown. If that key is `cwd` or `chdir`,
/// the value can be the one that is known or `.`, because without the key the working directory stays unchanged.
fn merge_records(left: &[(String, Value)], right: &[(String, Value)]) -> Value {
    let all: Vec<(String, Value)> = left.iter().chain(right).cloned().collect();
    let has_unnamed = all.iter().any(|(name, _)| name.is_empty());
    if has_unnamed || all.len() > MAX_ALTERNATIVES {
        return Value::Unknown;
    }
    let mut merged: Vec<(String, Value)> = Vec::new();
    for (name, _) in &all {
        if !merged.iter().any(|(key, _)| key == name) {
            let value = match (value_of_key(left, name), value_of_key(right, name)) {
                (Some(left), Some(right)) => left.clone().or(right.clone()),
                (Some(directory), None) | (None, Some(directory)) if DIRECTORY_OPTIONS.contains(&name.as_str()) => {
                    directory.clone().or(Value::string("."))
                }
                _ => Value::Unknown,
            };
            merged.push((name.clone(), value));
        }
    }
    Value::Record(merged)
}

/// Returns the last value of a key. The value is unknown if an entry with an unknown key follows it.
pub(super) fn value_of_key<'v>(entries: &'v [(String, Value)], name: &str) -> Option<&'v Value> {
    let (index, (_, value)) = entries.iter().enumerate().rfind(|(_, (key, _))| key == name)?;
    let later = entries.get(index..).unwrap_or_default();
    Some(if later.iter().any(|(key, _)| key.is_empty()) { &Value::Unknown } else { value })
}

/// Returns all alternatives of both lists, without duplicates; `None` if there are too many.
fn merge_alternatives<T: PartialEq>(mut alternatives: Vec<T>, added: Vec<T>) -> Option<Vec<T>> {
    for alternative in added {
        if !alternatives.contains(&alternative) {
            alternatives.push(alternative);
        }
    }
    (alternatives.len() <= MAX_ALTERNATIVES).then_some(alternatives)
}

/// Returns the parent directory of a path. For a glob, returns a directory that contains all matches.
pub(super) fn directory_of(path: &str) -> String {
    let trimmed = path.trim_end_matches('/');
    let literal = trimmed.find(['*', '?', '[']).and_then(|wildcard| trimmed.get(..wildcard)).unwrap_or(trimmed);
    match literal.rsplit_once('/') {
        _ if matches!(trimmed.rsplit('/').next(), Some("." | "..")) => format!("{trimmed}/.."),
        Some(("", _)) => "/".to_owned(),
        Some((directory, _)) => directory.to_owned(),
        None if path.starts_with('/') => "/".to_owned(),
        None if path::is_rooted(path) => format!("{trimmed}/.."),
        None => ".".to_owned(),
    }
}

/// Joins paths. An absolute `name` is appended like a relative one.
pub(super) fn append_path(directory: &str, name: &str) -> String {
    match (directory, name.trim_start_matches('/')) {
        ("", _) => name.to_owned(),
        (_, "") => directory.to_owned(),
        (directory, name) if path::is_rooted(name) => format!("{}/{name}", directory.trim_end_matches('/')),
        (directory, name) => join_path(directory, name),
    }
}

/// Joins paths. An absolute `name` replaces the directory.
pub(super) fn join_path(directory: &str, name: &str) -> String {
    if directory.is_empty() || directory == "." || path::is_rooted(name) {
        return name.to_owned();
    }
    // A placeholder stands for any path below the known directory, so a second one is not appended.
    if name == NAME_PLACEHOLDER && directory.ends_with(NAME_PLACEHOLDER) {
        return directory.to_owned();
    }
    format!("{}/{name}", directory.trim_end_matches('/'))
}
