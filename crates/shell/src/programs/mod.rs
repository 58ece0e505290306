//! Knowledge of programs, as data: what each argument is to the program that gets it.
//!
//! `programs.txt` has a line for every program, or for every form of one, in a small language that its head explains. A
//! program is added by adding its line, and cases for it to the corpus. Nothing here knows the shell, rules or files.

mod argument;
mod arguments;
mod usage;

#[cfg(test)]
mod tests;

pub use argument::{Argument, Flag};
pub use arguments::{
    Arguments, arguments, canonical, guessed_arguments, is_interpreter, is_known_program, takes_shell_text,
};

/// What an argument is to its program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Role {
    /// Nothing that matters here: a number, a name, a flag.
    #[default]
    Plain,
    /// Text that it prints, stores or searches for, and never runs.
    Data,
    /// A path that it reads from; of a folder, nothing in it.
    Read,
    Write,
    /// Written in what is said of it, and not in what is in it: its mode, its owner, its time.
    Mark,
    /// Read and written.
    Edit,
    Delete,
    /// Deleted with all that is in it.
    DeleteAll,
    /// Read and deleted: it is elsewhere afterwards, with all that is in it.
    Move,
    /// A file, or `-`, in which the names of files stand that it reads.
    Names,
    /// A path that it does none of this to: it is listed, tested or recorded.
    Look,
    /// A path, and who knows what for.
    Path,
    /// The folder that it works in.
    Folder,
    /// `NAME=value` for the command behind it.
    Assignment,
    /// The name of one of its forms; what follows is read by that.
    Subcommand,
    /// A command that it runs: all words from here on.
    Command,
    /// Words for a script that it runs: all from here on.
    Words,
    /// A text that a shell runs; the program does nothing else.
    Shell,
    /// A text that a shell runs beside what the program does.
    Hook,
    /// A program text in its own language.
    Code,
    /// A text for a database.
    Query,
    /// A file that it runs.
    Script,
    /// A value that is a file to read if it begins with `@`.
    AtFile,
    /// `name=@file`, `name=<file` or `name@file`, as of a form that is sent.
    FormField,
    /// A file that it reads, or `name=file`.
    NamedFile,
    /// `id=name,src=file`: a file that it reads, among others that say what for.
    ListedFile,
    /// A setting: `name=value`.
    Setting,
    /// Another machine.
    Host,
    /// A path that it reads, or `host:path`.
    ReadOrRemote,
    /// A path that it writes, or `host:path`.
    WriteOrRemote,
    /// A folder in which it deletes, or `host:path`.
    DeleteOrRemote,
    /// An address; `file:///path` is a path that it reads.
    Address,
    /// `REVISION:path` is a path that it reads.
    Revision,
    /// A pattern for the names of files that it reads.
    Glob,
}

const ROLES: &[(&str, Role)] = &[
    ("X", Role::Plain),
    ("DATA", Role::Data),
    ("READ", Role::Read),
    ("WRITE", Role::Write),
    ("MARK", Role::Mark),
    ("EDIT", Role::Edit),
    ("DELETE", Role::Delete),
    ("DELETE_ALL", Role::DeleteAll),
    ("MOVE", Role::Move),
    ("NAMES", Role::Names),
    ("LOOK", Role::Look),
    ("PATH", Role::Path),
    ("DIR", Role::Folder),
    ("SUB", Role::Subcommand),
    ("COMMAND", Role::Command),
    ("WORDS", Role::Words),
    ("SHELL", Role::Shell),
    ("HOOK", Role::Hook),
    ("CODE", Role::Code),
    ("QUERY", Role::Query),
    ("SCRIPT", Role::Script),
    ("@READ", Role::AtFile),
    ("=@READ", Role::FormField),
    ("=READ", Role::NamedFile),
    (",READ", Role::ListedFile),
    ("SETTING", Role::Setting),
    ("HOST", Role::Host),
    ("READ@", Role::ReadOrRemote),
    ("WRITE@", Role::WriteOrRemote),
    ("DELETE@", Role::DeleteOrRemote),
    ("URL", Role::Address),
    ("REVISION", Role::Revision),
    ("GLOB", Role::Glob),
];

/// A program that waits for what is typed, and runs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Session {
    /// Unless it is given something to run.
    UnlessGiven,
    /// Whatever it runs before.
    Always,
}

impl Session {
    fn named(name: &str) -> Option<Self> {
        match name {
            "SESSION" => Some(Self::UnlessGiven),
            "SESSION!" => Some(Self::Always),
            _ => None,
        }
    }
}

impl Role {
    fn named(name: &str) -> Option<Self> {
        ROLES.iter().find(|(known, _)| *known == name).map(|(_, role)| *role)
    }

    /// Whether it is nothing that a shell runs: a message, a search pattern, a program in another language.
    pub fn is_text(self) -> bool {
        matches!(self, Self::Data | Self::Code | Self::Query)
    }

    fn takes_the_rest(self) -> bool {
        matches!(self, Self::Command | Self::Words | Self::Subcommand)
    }
}
