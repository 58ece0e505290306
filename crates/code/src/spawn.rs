//! Commands that a program starts. The `shell` crate determines their effects.

/// Stands for a word that is not constant in [`SpawnedCommand::CommandLine`]. It is a variable that no script sets.
pub const UNKNOWN_WORD: &str = "\"${UNKNOWN}\"";

/// Names of the option for the working directory of a spawned command.
pub(super) const DIRECTORY_OPTIONS: &[&str] = &["cwd", "chdir"];

/// A command, with its working directory, environment and stdin.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spawn {
    pub command: SpawnedCommand,
    /// The changes of directory before the command starts, each relative to the previous one; `None` for one that is
    /// not constant.
    pub directories: Vec<Option<String>>,
    pub environment: SpawnEnvironment,
    pub stdin: Stdin,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum SpawnedCommand {
    /// A script for a shell, or for a function that splits a command line like a shell.
    CommandLine(String),
    /// A program and its arguments, as words; `None` for a word that is not constant.
    Words(Vec<Option<String>>),
}

/// How the environment of a command differs from that of the analyzed program.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SpawnEnvironment {
    pub unset: Vec<String>,
    /// True if the command gets only the variables in `set`.
    pub is_cleared: bool,
    /// Names and values in the order in which they are set: the last value of a name applies.
    pub set: Vec<(String, String)>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stdin {
    /// The command inherits the stdin of the analyzed program.
    #[default]
    Inherited,
    /// The command reads a string from stdin; `None` if the string is not constant.
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

    /// True if the command has the working directory, environment and stdin of the analyzed program.
    pub fn inherits_everything(&self) -> bool {
        self.directories.is_empty() && self.environment == SpawnEnvironment::default() && self.stdin == Stdin::Inherited
    }
}
