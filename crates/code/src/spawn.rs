//! Commands that a program starts, as values. The `shell` crate decides what they do.

/// Replaces a word that is not constant in [`SpawnedCommand::CommandLine`]: a variable that no script sets.
pub const UNKNOWN_WORD: &str = "\"${UNKNOWN}\"";

/// Options that name the working directory of a spawned command.
pub(super) const DIRECTORY_OPTIONS: &[&str] = &["cwd", "chdir"];

/// A command, with its working directory, environment and stdin.
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
    /// Input of a shell, or of a function that splits a command line like one.
    CommandLine(String),
    /// The program and its arguments; `None` for a word that is not constant.
    Words(Vec<Option<String>>),
}

/// The differences between the command's environment and the program's.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SpawnEnvironment {
    pub unset: Vec<String>,
    /// True if the command gets only the variables in `set`.
    pub is_cleared: bool,
    /// In the order in which they are set: the last value of a name counts.
    pub set: Vec<(String, String)>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stdin {
    /// The program's own stdin.
    #[default]
    Inherited,
    /// `None` if it is not constant.
    Piped(Option<String>),
}

impl Spawn {
    pub fn command_line(line: impl Into<String>) -> Self {
        Self::of(SpawnedCommand::CommandLine(line.into()))
    }

    pub fn words(words: Vec<Option<String>>) -> Self {
        Self::of(SpawnedCommand::Words(words))
    }

    fn of(command: SpawnedCommand) -> Self {
        Self { command, directories: Vec::new(), environment: SpawnEnvironment::default(), stdin: Stdin::Inherited }
    }

    /// True if directory, environment and stdin are those of the program.
    pub fn is_plain(&self) -> bool {
        self.directories.is_empty() && self.environment == SpawnEnvironment::default() && self.stdin == Stdin::Inherited
    }
}
