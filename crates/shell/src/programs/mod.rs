//! The table of programs: the role of each argument for its program.
//!
//! `programs.txt` has one or more lines for every program, such as one for each subcommand, in a small language that is
//! explained at the top of the file. To add a program, add a line, and test cases in the folder `corpus`. This module
//! must not know the shell, rules or files.

mod argument;
mod arguments;
mod usage;

#[cfg(test)]
mod tests;

pub use argument::{Argument, Flag};
pub use arguments::{
    Arguments, arguments, canonical, guessed_arguments, is_interpreter, is_known_program, takes_shell_text,
};

/// The role of an argument for its program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Role {
    /// Any other argument: a number, a name, a flag.
    #[default]
    Plain,
    /// Text that the program prints, stores or searches for, and never runs.
    Data,
    /// A path that is read. If it is a directory, the files in it do not count as read.
    Read,
    Write,
    /// A path whose metadata is changed (mode, owner, mtime), or at which an empty file or directory is created:
    /// `touch`, `mkdir`.
    Metadata,
    /// A path that is read and written.
    Edit,
    Delete,
    /// A path that is deleted with everything in it.
    DeleteAll,
    /// A path that is moved with everything in it: it counts as read and deleted.
    Move,
    /// A file with the names of files that the program reads; `-` is stdin.
    Names,
    /// A path that is only listed, tested or recorded.
    Inspect,
    /// A path that is used in an unknown way.
    Path,
    /// The directory that the program works in.
    Directory,
    /// `NAME=value` for the command that follows.
    Assignment,
    /// A subcommand. It determines the roles of the words after it.
    Subcommand,
    /// A command that the program runs. It consists of this word and all words after it.
    Command,
    /// Arguments of a script that the program runs, or words that the program joins into a script: this word and all
    /// words after it.
    Words,
    /// A script for a shell. The program does nothing but run the script.
    Shell,
    /// A script for a shell that the program runs in addition to its own work, such as a pager or a callback: `rsync
    /// -e`, `sort --compress-program`. The table's keyword is `HOOK`.
    Hook,
    /// Code in the program's own language.
    Code,
    /// A database query.
    Query,
    /// A file that the program runs.
    Script,
    /// A value; if it begins with `@`, a file that is read.
    AtFile,
    /// A field of a form, which may name a file: `name=@file`, `name=<file` or `name@file`.
    FormField,
    /// A file that is read, or `name=file`.
    NamedFile,
    /// Keys and values, one of which names a file that is read: `id=name,src=file`.
    ListedFile,
    /// A setting: `name=value`.
    Setting,
    /// Another machine, or a container.
    Host,
    /// A path that is read, or `host:path`.
    ReadOrRemote,
    /// A path that is written, or `host:path`.
    WriteOrRemote,
    /// A directory in which files are deleted, or `host:path`.
    DeleteOrRemote,
    /// A URL; `file:///path` is a path that is read.
    Url,
    /// A git revision; `REVISION:path` is a path that is read.
    Revision,
    /// A glob for the names of files that are read.
    Glob,
}

const ROLES: &[(&str, Role)] = &[
    ("X", Role::Plain),
    ("DATA", Role::Data),
    ("READ", Role::Read),
    ("WRITE", Role::Write),
    ("METADATA", Role::Metadata),
    ("EDIT", Role::Edit),
    ("DELETE", Role::Delete),
    ("DELETE_ALL", Role::DeleteAll),
    ("MOVE", Role::Move),
    ("NAMES", Role::Names),
    ("INSPECT", Role::Inspect),
    ("PATH", Role::Path),
    ("DIR", Role::Directory),
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
    ("URL", Role::Url),
    ("REVISION", Role::Revision),
    ("GLOB", Role::Glob),
];

/// In which cases a program runs commands that a person types into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interactive {
    /// The program runs typed commands only if it has no script, code or other command to run.
    WithoutScript,
    /// The program always runs typed commands. A script, code or other command in the arguments runs first.
    Always,
}

impl Interactive {
    fn from_keyword(name: &str) -> Option<Self> {
        match name {
            "INTERACTIVE" => Some(Self::WithoutScript),
            "INTERACTIVE!" => Some(Self::Always),
            _ => None,
        }
    }
}

impl Role {
    fn from_keyword(name: &str) -> Option<Self> {
        ROLES.iter().find(|(known, _)| *known == name).map(|(_, role)| *role)
    }

    /// True for text that a shell does not run: a message, a search pattern, code in a language other than shell.
    pub fn is_text(self) -> bool {
        matches!(self, Self::Data | Self::Code | Self::Query)
    }

    fn takes_remaining_words(self) -> bool {
        matches!(self, Self::Command | Self::Words | Self::Subcommand)
    }
}
