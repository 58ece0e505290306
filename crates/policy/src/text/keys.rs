//! The keys that policy files may have, as tables.
//!
//! Each format's table stands beside its reader. The reader refuses what is not in it; the JSON Schemas and the reference
//! page are made from it. So what an editor offers is what is read. Nothing here knows a format.

/// The keys of a mapping, in groups that mappings share.
pub type Keys = &'static [&'static [Key]];

pub struct Key {
    pub name: &'static str,
    pub takes: Takes,
    /// What it means: lower case, no final stop.
    pub about: &'static str,
    /// What leaving it out means, as it would be written; none where no one value says it.
    pub default: Option<&'static str>,
}

impl Key {
    pub const fn new(name: &'static str, takes: Takes, about: &'static str) -> Self {
        Self { name, takes, about, default: None }
    }

    pub const fn or(self, default: &'static str) -> Self {
        Self { default: Some(default), ..self }
    }
}

/// What may stand behind a key.
pub enum Takes {
    Anything,
    Flag,
    Count,
    /// Whole or not, and not below zero.
    Number,
    /// `200K`, `5M`.
    Amount,
    Text,
    /// One or a list, as all that is plural here.
    Texts,
    Word(Words),
    Words(Words),
    Version,
    Duration,
    Size,
    Expression,
    Regex,
    Regexes,
    /// Of paths.
    Pattern,
    Patterns,
    /// Names with `*`.
    Globs,
    /// A mapping of names that people choose.
    Named(&'static Takes),
    List(&'static Takes),
    Either(&'static [Takes]),
    Mapping(&'static Mapping),
}

/// A few words, from whatever the reader takes them from.
pub type Words = fn() -> Vec<&'static str>;

/// The words of a list of choices.
pub fn words<T>(choices: &[(&'static str, T)]) -> Vec<&'static str> {
    choices.iter().map(|(word, _)| *word).collect()
}

/// A mapping with keys of ours.
pub struct Mapping {
    /// One word or two, as a heading and a schema's definition have it.
    pub name: &'static str,
    pub about: &'static str,
    pub keys: Keys,
    pub needs: &'static [Need],
    /// What stands behind every other key; none where there may be no other.
    pub others: Option<&'static Takes>,
}

/// What a mapping must have beside keys that are known.
pub enum Need {
    All(&'static [&'static str]),
    Any(Words),
    /// Keys of one of these groups, and of no other.
    ExactlyOne(&'static [&'static [&'static str]]),
    /// The first only where one of the others is.
    Beside(&'static str, &'static [&'static str]),
    /// The first ones only where the key has this value.
    OnlyWith(Words, &'static str, &'static str),
}

impl Mapping {
    pub const fn new(name: &'static str, about: &'static str, keys: Keys) -> Self {
        Self { name, about, keys, needs: &[], others: None }
    }

    pub const fn needs(self, needs: &'static [Need]) -> Self {
        Self { needs, ..self }
    }

    pub const fn others(self, others: &'static Takes) -> Self {
        Self { others: Some(others), ..self }
    }
}

/// The keys of all groups.
pub fn each(keys: Keys) -> impl Iterator<Item = &'static Key> {
    keys.iter().flat_map(|group| group.iter())
}
