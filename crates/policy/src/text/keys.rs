//! The types of key tables. A key table describes the keys of one format of policy files.
//!
//! Each format has its table next to its reader. The reader refuses keys that are not in the table, and the JSON
//! Schemas and the reference page are generated from it, so they always agree. This module is independent of any
//! format.

/// The keys of a mapping, in groups that mappings share.
pub type Keys = &'static [&'static [Key]];

pub struct Key {
    pub name: &'static str,
    pub value_type: ValueType,
    /// The description. Starts in lower case and ends without a full stop.
    pub about: &'static str,
    /// The default value as YAML; `None` if the default cannot be written as a value.
    pub default: Option<&'static str>,
}

impl Key {
    pub const fn new(name: &'static str, value_type: ValueType, about: &'static str) -> Self {
        Self { name, value_type, about, default: None }
    }

    pub const fn with_default(self, default: &'static str) -> Self {
        Self { default: Some(default), ..self }
    }
}

/// The type of a key's value.
pub enum ValueType {
    Anything,
    Boolean,
    Integer,
    /// A non-negative integer or decimal number.
    Number,
    /// A number such as `200K` or `5M`.
    Amount,
    Text,
    /// A string or a list of strings. All plural types accept one value or a list.
    Texts,
    /// One of these words.
    Choice(Choices),
    /// One or several of these words.
    Choices(Choices),
    Version,
    Duration,
    Size,
    Expression,
    Regex,
    Regexes,
    /// A path pattern.
    Pattern,
    Patterns,
    /// Names with `*`.
    Globs,
    /// A mapping from user-defined names to values.
    Named(&'static ValueType),
    List(&'static ValueType),
    Either(&'static [ValueType]),
    Mapping(&'static Mapping),
}

/// A function that returns the accepted words. It takes them from the list that the reader uses.
pub type Choices = fn() -> Vec<&'static str>;

/// The names in a list of choices.
pub fn choice_names<T>(choices: &[(&'static str, T)]) -> Vec<&'static str> {
    choices.iter().map(|(word, _)| *word).collect()
}

/// A mapping with a fixed set of keys.
pub struct Mapping {
    /// One or two words: the heading in the reference page, and the name of the schema definition.
    pub name: &'static str,
    pub about: &'static str,
    pub keys: Keys,
    pub constraints: &'static [KeyConstraint],
    /// The value type of all other keys; `None` if other keys are not allowed.
    pub other_keys: Option<&'static ValueType>,
}

/// A constraint on the set of keys of a mapping.
pub enum KeyConstraint {
    /// All of these keys are required.
    AllOf(&'static [&'static str]),
    /// At least one of these keys is required.
    AnyOf(Choices),
    /// The mapping has keys of exactly one of these groups.
    OneGroup(&'static [&'static [&'static str]]),
    /// The first key requires one of the others.
    RequiresAnyOf(&'static str, &'static [&'static str]),
    /// The keys of the list are allowed only if the named key has this value.
    OnlyWithValue(Choices, &'static str, &'static str),
}

impl Mapping {
    pub const fn new(name: &'static str, about: &'static str, keys: Keys) -> Self {
        Self { name, about, keys, constraints: &[], other_keys: None }
    }

    pub const fn constraints(self, constraints: &'static [KeyConstraint]) -> Self {
        Self { constraints, ..self }
    }

    pub const fn other_keys(self, other_keys: &'static ValueType) -> Self {
        Self { other_keys: Some(other_keys), ..self }
    }
}

/// The keys of all groups.
pub fn all_keys(keys: Keys) -> impl Iterator<Item = &'static Key> {
    keys.iter().flat_map(|group| group.iter())
}
