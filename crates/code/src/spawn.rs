//! A program that a text starts, as a value: what runs it decides how to look into it.

/// Stands in [`SpawnedCommand::Text`] for a word that is not constant. It is a variable that no script sets.
pub const UNKNOWN_WORD: &str = "\"${UNKNOWN}\"";

/// Options of calls that name the working directory of a program.
pub(super) const DIRECTORY_OPTIONS: &[&str] = &["cwd", "chdir"];

/// A command, and the circumstances in which it starts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spawn {
    pub command: SpawnedCommand,
    /// Working directories that are entered one after the other; `None` for one that is not constant.
    pub directories: Vec<Option<String>>,
    pub environment: SpawnEnvironment,
    pub stdin: Stdin,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum SpawnedCommand {
    /// For a shell, or for something that splits a command line much like one.
    Text(String),
    /// The program and its arguments; `None` for one that is not constant.
    Words(Vec<Option<String>>),
}

/// How the environment of a program differs from that of the text.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SpawnEnvironment {
    pub unset: Vec<String>,
    /// Whether it has only the variables of `set`.
    pub is_cleared: bool,
    /// In the order in which they are set: the last of a name counts.
    pub set: Vec<(String, String)>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stdin {
    /// That of the text.
    #[default]
    Inherited,
    /// `None` where it is not constant.
    Given(Option<String>),
}

impl Spawn {
    pub fn text(text: impl Into<String>) -> Self {
        Self::of(SpawnedCommand::Text(text.into()))
    }

    pub fn words(words: Vec<Option<String>>) -> Self {
        Self::of(SpawnedCommand::Words(words))
    }

    fn of(command: SpawnedCommand) -> Self {
        Self { command, directories: Vec::new(), environment: SpawnEnvironment::default(), stdin: Stdin::Inherited }
    }

    /// Whether it starts in the same circumstances as the text.
    pub fn is_plain(&self) -> bool {
        self.directories.is_empty() && self.environment == SpawnEnvironment::default() && self.stdin == Stdin::Inherited
    }
}
