//! What an expression may be worth.

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
    /// A number, or something else that stands for a file that is open already.
    Descriptor,
    /// What a dotted name means: a module, a function, a class.
    Thing(String),
    List(Vec<Value>),
    /// An object or hash, as far as its keys are constants.
    Record(Vec<(String, Value)>),
    /// A member of a value, about to be called.
    Method(Box<Value>, String),
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
            (Self::Texts(one), Self::Texts(other)) => alternatives(one, other).map_or(Self::Unknown, Self::Texts),
            (Self::Path(one), Self::Path(other)) => {
                Self::Path(one.zip(other).and_then(|(one, other)| alternatives(one, other)))
            }
            _ => Self::Unknown,
        }
    }

    /// One behind the other, `between` between them.
    pub(super) fn joined(&self, other: &Self, between: &str) -> Self {
        let (Some(ones), Some(others)) = (self.texts(), other.texts()) else { return Self::Unknown };
        let size: usize = ones.iter().chain(&others).map(String::len).sum();
        if ones.len() * others.len() > MAX_ALTERNATIVES || size > super::MAX_BYTES {
            return Self::Unknown;
        }
        let join = |one: &String, other: &String| match between {
            "/" => path_joined(one, other),
            _ => format!("{one}{between}{other}"),
        };
        Self::Texts(ones.iter().flat_map(|one| others.iter().map(move |other| join(one, other))).collect())
    }

    /// What going through it gives.
    pub(super) fn element(&self) -> Self {
        match self {
            Self::List(values) => values.iter().cloned().reduce(Self::or).unwrap_or(Self::Unknown),
            Self::Path(_) => Self::Path(None),
            _ => Self::Unknown,
        }
    }

    /// What it takes to copy it; none where it is too large or too deep to be kept.
    pub(super) fn weight(&self) -> Option<usize> {
        let mut weight = 0;
        let mut open = vec![(self, 0)];
        while let Some((value, depth)) = open.pop() {
            weight += 1;
            match value {
                Self::List(values) => open.extend(values.iter().map(|value| (value, depth + 1))),
                Self::Record(entries) => open.extend(entries.iter().map(|(_, value)| (value, depth + 1))),
                Self::Texts(texts) | Self::Path(Some(texts)) => {
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
        Self::Path(self.texts())
    }

    /// The values in it, lists taken apart.
    pub(super) fn flat(&self) -> Vec<&Self> {
        let mut found = Vec::new();
        let mut open = vec![self];
        while let Some(value) = open.pop() {
            match value {
                Self::List(values) => open.extend(values.iter().rev()),
                value => found.push(value),
            }
        }
        found
    }
}

fn alternatives(mut one: Vec<String>, other: Vec<String>) -> Option<Vec<String>> {
    for text in other {
        if !one.contains(&text) {
            one.push(text);
        }
    }
    (one.len() <= MAX_ALTERNATIVES).then_some(one)
}

/// As path functions do it: an absolute second part stands alone.
fn path_joined(folder: &str, name: &str) -> String {
    if folder.is_empty() || folder == "." || name.starts_with(['/', '~']) {
        return name.to_owned();
    }
    format!("{}/{name}", folder.trim_end_matches('/'))
}
