//! What an expression may be worth.

use super::spawn::DIRECTORY_OPTIONS;

/// A name that nobody knows.
pub(super) const SOME_NAME: &str = "…";

/// A word that nobody knows, and that is no more than a word: the name of a branch, a number of a commit.
pub(super) const SOME_WORD: &str = "‥";

/// A new file or folder, whichever.
pub(super) const TEMPORARY: &str = "$TMPDIR/…";

/// More alternatives than this are not kept apart.
const MAX_ALTERNATIVES: usize = 16;

const MAX_WEIGHT: usize = 4096;
const MAX_LAYERS: usize = 8;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Unknown,
    /// One of these texts.
    Texts(Vec<String>),
    /// A path object with one of these texts; none where the text is not known.
    Path(Option<Vec<String>>),
    /// A path of which only a part is known: [`SOME_NAME`] stands for the rest, or a pattern for what it matches.
    Like {
        texts: Vec<String>,
        /// Whether it is a path object.
        is_path: bool,
    },
    /// What is in one of these files, or the open file itself.
    Content(Vec<String>),
    /// A file that is open to be written, under one of these names.
    Output(Vec<String>),
    /// One of these lists.
    OneOf(Vec<Value>),
    /// A list in the place of its elements: `*words`.
    Spread(Box<Value>),
    /// A number, or something else that stands for a file that is open already.
    Descriptor,
    /// What a dotted name means: a module, a function, a class.
    Thing(String),
    List(Vec<Value>),
    /// An object or hash: what it has under keys that are constants, and under no name what may be under any.
    Record(Vec<(String, Value)>),
    /// A member of a value, about to be called.
    Method(Box<Value>, String),
    /// An object of one of the text's own classes, or another that nothing is known of but that it is one.
    Instance,
    /// What was not given any value so far, but will be.
    Pending,
}

impl Value {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Texts(vec![text.into()])
    }

    /// The constants it may be; none where it may be something else.
    pub(super) fn texts(&self) -> Option<Vec<String>> {
        match self {
            Self::Texts(texts) | Self::Path(Some(texts)) => Some(texts.clone()),
            _ => None,
        }
    }

    /// The one constant that it is.
    pub(super) fn only_text(&self) -> Option<&str> {
        match self {
            Self::Texts(texts) | Self::Path(Some(texts)) => match texts.as_slice() {
                [text] => Some(text),
                _ => None,
            },
            _ => None,
        }
    }

    /// Either of the two.
    pub(super) fn or(self, other: Self) -> Self {
        match (self, other) {
            (one, other) if one == other => one,
            (Self::Pending, value) | (value, Self::Pending) => value,
            (Self::Texts(one), Self::Texts(other)) => alternatives(one, other).map_or(Self::Unknown, Self::Texts),
            (Self::Like { texts: one, is_path }, Self::Like { texts: other, is_path: other_is_path })
                if is_path == other_is_path =>
            {
                alternatives(one, other).map_or(Self::Unknown, |texts| Self::Like { texts, is_path })
            }
            // A name that is known, or one that is known in part.
            (one, Self::Like { texts, is_path }) | (Self::Like { texts, is_path }, one)
                if one.is_path() == is_path && one.texts().is_some() =>
            {
                let both = alternatives(texts, one.texts().unwrap_or_default());
                both.map_or(Self::Unknown, |texts| Self::Like { texts, is_path })
            }
            (one @ (Self::List(_) | Self::OneOf(_)), other @ (Self::List(_) | Self::OneOf(_))) => {
                let lists = one.lists().into_iter().chain(other.lists());
                lists
                    .fold(None, |all: Option<Vec<Self>>, list| alternatives(all.unwrap_or_default(), vec![list]))
                    .map_or(Self::Unknown, Self::OneOf)
            }
            (Self::Record(one), Self::Record(other)) => either_record(&one, &other),
            (Self::Output(one), Self::Output(other)) => alternatives(one, other).map_or(Self::Unknown, Self::Output),
            (Self::Path(one), Self::Path(other)) => {
                Self::Path(one.zip(other).and_then(|(one, other)| alternatives(one, other)))
            }
            _ => Self::Unknown,
        }
    }

    /// This text, or one that nobody knows.
    pub(super) fn or_some_word(&self) -> Self {
        match self {
            Self::Texts(texts) => {
                let texts = texts.iter().cloned().chain([SOME_WORD.to_owned()]).collect();
                Self::Like { texts, is_path: false }
            }
            _ => Self::Unknown,
        }
    }

    /// The lists that it may be.
    pub(super) fn lists(&self) -> Vec<Self> {
        match self {
            Self::OneOf(lists) => lists.clone(),
            list @ Self::List(_) => vec![list.clone()],
            _ => Vec::new(),
        }
    }

    /// What its elements may be, where there are so many.
    pub(super) fn parts(&self, count: usize) -> Option<Vec<Self>> {
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

    /// Some of what lies in it.
    pub(super) fn something_in(&self) -> Self {
        self.joined(&Self::Unknown, "/")
    }

    /// The folder that it is in, as a path object where it is one.
    pub(super) fn folder(&self) -> Self {
        let folders = |texts: &[String]| texts.iter().map(|path| folder_of(path)).collect::<Vec<_>>();
        match self {
            Self::Texts(texts) => Self::Texts(folders(texts)),
            Self::Path(texts) => Self::Path(texts.as_deref().map(folders)),
            Self::Like { texts, is_path } => Self::Like { texts: folders(texts), is_path: *is_path },
            Self::Pending => Self::Pending,
            _ => Self::Unknown,
        }
    }

    /// Its name in that folder.
    pub(super) fn name(&self) -> Self {
        let name = |path: &String| path.rsplit('/').next().unwrap_or(path).to_owned();
        match self {
            Self::Texts(texts) | Self::Path(Some(texts)) => Self::Texts(texts.iter().map(name).collect()),
            Self::Like { texts, .. } => Self::Like { texts: texts.iter().map(name).collect(), is_path: false },
            Self::Pending => Self::Pending,
            _ => Self::Unknown,
        }
    }

    /// A path object as a text.
    pub(super) fn without_path(self) -> Self {
        match self {
            Self::Path(texts) => texts.map_or(Self::Unknown, Self::Texts),
            Self::Like { texts, .. } => Self::Like { texts, is_path: false },
            value => value,
        }
    }

    /// A list, with those that stand in the place of their elements taken apart.
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

    /// Of a list, those; anything else alone.
    pub(super) fn into_elements(self) -> Vec<Self> {
        match self {
            Self::List(values) => values,
            value => vec![value],
        }
    }

    /// What is known of a text, or of a path.
    fn known(&self) -> Option<Vec<String>> {
        match self {
            Self::Like { texts, .. } => Some(texts.clone()),
            value => value.texts(),
        }
    }

    /// One behind the other, `between` between them. Behind a folder that is known, what is not known is something there.
    pub(super) fn joined(&self, other: &Self, between: &str) -> Self {
        match between {
            "/" => self.combined(other, true, path_joined),
            _ => self.combined(other, false, |one, other| format!("{one}{between}{other}")),
        }
    }

    /// A path in a folder, even where it is absolute.
    pub(super) fn appended(&self, other: &Self) -> Self {
        self.combined(other, true, path_appended)
    }

    fn combined(&self, other: &Self, is_folder: bool, join: impl Fn(&str, &str) -> String) -> Self {
        if *self == Self::Pending || *other == Self::Pending {
            return Self::Pending;
        }
        let Some(ones) = self.known() else { return Self::Unknown };
        let is_like = matches!(self, Self::Like { .. }) || other.texts().is_none();
        let is_folder = is_folder || ones.iter().all(|one| one.contains('/'));
        let others = other.known().or_else(|| is_folder.then(|| vec![SOME_NAME.to_owned()]));
        let Some(others) = others else { return Self::Unknown };
        let size: usize = ones.iter().chain(&others).map(String::len).sum();
        if ones.len() * others.len() > MAX_ALTERNATIVES || size > super::MAX_BYTES {
            return Self::Unknown;
        }
        let join = &join;
        let texts = ones.iter().flat_map(|one| others.iter().map(move |other| join(one, other)));
        // Of several that are alike, one is enough.
        let Some(texts) = alternatives(Vec::new(), texts.collect()) else { return Self::Unknown };
        if is_like { Self::Like { texts, is_path: false } } else { Self::Texts(texts) }
    }

    /// What going through it gives.
    pub(super) fn element(&self) -> Self {
        match self {
            Self::List(values) => values.iter().cloned().reduce(Self::or).unwrap_or(Self::Unknown),
            // To go through an empty one is to do nothing.
            Self::OneOf(lists) => {
                let filled = lists.iter().filter(|list| **list != Self::List(Vec::new()));
                filled.map(Self::element).reduce(Self::or).unwrap_or(Self::Unknown)
            }
            Self::Path(_) => Self::Path(None),
            Self::Pending => Self::Pending,
            _ => Self::Unknown,
        }
    }

    /// Its elements in an order that nobody knows.
    pub(super) fn reordered(&self) -> Self {
        let mixed = |list: Self| match list {
            Self::List(ref values) => Self::List(vec![list.element(); values.len()]),
            _ => Self::Unknown,
        };
        self.lists().into_iter().map(mixed).reduce(Self::or).unwrap_or(Self::Unknown)
    }

    /// What it takes to copy it; none where it is too large or too deep to be kept.
    pub(super) fn weight(&self) -> Option<usize> {
        let mut weight = 0;
        let mut open = vec![(self, 0)];
        while let Some((value, depth)) = open.pop() {
            weight += 1;
            match value {
                Self::List(values) | Self::OneOf(values) => open.extend(values.iter().map(|value| (value, depth + 1))),
                Self::Record(entries) => open.extend(entries.iter().map(|(_, value)| (value, depth + 1))),
                Self::Texts(texts) | Self::Path(Some(texts)) | Self::Like { texts, .. } => {
                    weight += texts.iter().map(|text| text.len() / 64).sum::<usize>();
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
            Self::Like { texts, .. } => Self::Like { texts, is_path: true },
            Self::Pending => Self::Pending,
            value => Self::Path(value.texts()),
        }
    }

    /// Whether it, or something in it, has no value so far.
    pub(super) fn is_pending(&self) -> bool {
        self.flat().into_iter().any(|value| match value {
            Self::Record(entries) => entries.iter().any(|(_, value)| *value == Self::Pending),
            Self::Method(receiver, _) => **receiver == Self::Pending,
            value => *value == Self::Pending,
        })
    }

    pub(super) fn is_path(&self) -> bool {
        matches!(self, Self::Path(_) | Self::Like { is_path: true, .. })
    }

    /// The values in it, lists taken apart.
    pub(super) fn flat(&self) -> Vec<&Self> {
        let mut found = Vec::new();
        let mut open = vec![self];
        while let Some(value) = open.pop() {
            match value {
                Self::List(values) | Self::OneOf(values) => open.extend(values.iter().rev()),
                Self::Spread(inside) => open.push(inside),
                value => found.push(value),
            }
        }
        found
    }
}

/// What one of two objects has under each of their keys. What only one of them has, nobody knows; but where no folder is
/// said, this one is meant.
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
                (Some(folder), None) | (None, Some(folder)) if DIRECTORY_OPTIONS.contains(&name.as_str()) => {
                    folder.clone().or(Value::text("."))
                }
                _ => Value::Unknown,
            };
            both.push((name.clone(), value));
        }
    }
    Value::Record(both)
}

/// What stands under a name: the last that does counts, and behind it nothing that may be under any name.
pub(super) fn entry<'v>(entries: &'v [(String, Value)], name: &str) -> Option<&'v Value> {
    let (place, (_, value)) = entries.iter().enumerate().rfind(|(_, (known, _))| known == name)?;
    let behind = entries.get(place..).unwrap_or_default();
    Some(if behind.iter().any(|(known, _)| known.is_empty()) { &Value::Unknown } else { value })
}

fn alternatives<T: PartialEq>(mut one: Vec<T>, other: Vec<T>) -> Option<Vec<T>> {
    for text in other {
        if !one.contains(&text) {
            one.push(text);
        }
    }
    (one.len() <= MAX_ALTERNATIVES).then_some(one)
}

/// The folder of a path. Where its name may be any number of names, that is the one which all of them are in.
pub(super) fn folder_of(path: &str) -> String {
    let place = path.trim_end_matches('/');
    let first = place.find(['*', '?', '[']).and_then(|sign| place.get(..sign)).unwrap_or(place);
    match first.rsplit_once('/') {
        _ if matches!(place.rsplit('/').next(), Some("." | "..")) => format!("{place}/.."),
        Some(("", _)) => "/".to_owned(),
        Some((folder, _)) => folder.to_owned(),
        None if path.starts_with('/') => "/".to_owned(),
        None if path::is_free(path) => format!("{place}/.."),
        None => ".".to_owned(),
    }
}

/// As some path functions do it: an absolute second part is in the first one all the same.
pub(super) fn path_appended(folder: &str, name: &str) -> String {
    match (folder, name.trim_start_matches('/')) {
        ("", _) => name.to_owned(),
        (_, "") => folder.to_owned(),
        (folder, name) if path::is_free(name) => format!("{}/{name}", folder.trim_end_matches('/')),
        (folder, name) => path_joined(folder, name),
    }
}

/// As other path functions do it: an absolute second part stands alone.
pub(super) fn path_joined(folder: &str, name: &str) -> String {
    if folder.is_empty() || folder == "." || path::is_free(name) {
        return name.to_owned();
    }
    // Deeper down, it is still something there.
    if name == SOME_NAME && folder.ends_with(SOME_NAME) {
        return folder.to_owned();
    }
    format!("{}/{name}", folder.trim_end_matches('/'))
}
