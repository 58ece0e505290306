//! What a function does, as the tables say it.

use path::Access;

/// An argument: its place, and the name under which it may be given instead.
pub(super) type Argument = (usize, &'static str);

#[derive(Debug, Clone, Copy)]
pub(super) enum FunctionEffect {
    /// Touches the files that these arguments name.
    Touch(&'static [(Access, Argument)]),
    /// Touches the files that all its arguments from this one on name.
    TouchAll(Access, usize),
    /// Gives a file a text: the path, and the text.
    WriteText(Argument, Argument),
    /// Touches the file that this argument names, or without it the one that is meant then.
    TouchOr(Access, Argument, &'static str),
    /// Reads an address; `file:` is a path.
    Fetch(Argument),
    /// A program, or a form of one, under its own name.
    Form,
    /// The program that these words begin, with the arguments behind them.
    Called(&'static [&'static str]),
    /// Takes a variable of the environment away.
    Forgets(Argument),
    /// Reads the file that its argument names, and gives a path object.
    ReadPath,
    /// Opens a file; the mode says what for.
    Open { path: Argument, mode: Argument },
    /// The same, where a text that starts with `|` is a command.
    OpenOrRun,
    /// Perl's way: the mode may stand before the path, and the path may be a command. Arguments before it are handles.
    PerlOpen { handles: usize },
    /// Gives a text to a shell.
    Shell(Argument),
    /// Starts a program given as a text or as a list of words.
    Program(Argument),
    /// One argument is for a shell, more are words.
    System,
    /// A program, and a list with its arguments.
    Spawn,
    /// The same, with a file to be run by the interpreter of the text itself.
    Fork(&'static str),
    /// A program, then its arguments from the name it is called by on; as one list or one by one.
    Exec { program: usize },
    /// Runs a text in the language of the caller.
    Run(Argument),
    /// A module by its name, or by the path of its file.
    Module,
    /// A member of something by its name.
    Member,
    /// A member of the thing that it is called on, which is then called with the other arguments.
    Send,
    /// A path from its parts, each behind the one before.
    JoinPath,
    /// The same, where an absolute one begins it anew.
    ResolvePath,
    /// A path object from its parts.
    MakePath,
    /// A constant.
    Gives(&'static str),
    /// A variable of the environment.
    Variable(Argument),
    /// A new folder whose name begins like its argument.
    Makes(Argument),
    /// A new file or folder, in the one that the option of this name says.
    NewIn(&'static str),
    /// A new file: its descriptor, and its path.
    Temporary,
    /// The files that its arguments, which are patterns, match.
    Glob,
    /// All folders below its argument, each with what is in it.
    Walks,
    /// The names of what is in its argument, without that folder.
    Names,
    /// Each of what is in its argument, as something that knows its path.
    Entries,
    /// The folder that its argument is in.
    Folder(Argument),
    /// Calls its first argument with each of what is in the others.
    Maps,
    /// Says that the text takes an option.
    Option,
    /// The options that the text is given, or those in its argument.
    Options,
    /// A function that does what the one it is given does.
    Wraps,
    /// The list that it is given.
    Passes,
    /// That list, in another order.
    Reorders,
    /// The text without the white space that all its lines begin with.
    Dedents(Argument),
    /// The text that it was given, to whoever asks for a name.
    Same(Argument),
    /// All names there are.
    Root,
    /// Goes to the folder that this argument names; without it, home.
    Moves(Argument),
    /// Goes to a folder that nobody knows.
    Strays,
    /// Changes its first argument.
    Changes,
    /// Hides what is done.
    Hides,
}

/// What a method of a path object does.
#[derive(Debug, Clone, Copy)]
pub(super) enum PathMethodEffect {
    /// To the path itself.
    Own(Access),
    /// Gives the path a text.
    WriteText,
    /// Deletes the path, writes the argument.
    Rename,
    /// Writes the argument.
    Target(Access),
    Open,
    /// Another path: with its argument behind it.
    Join,
    /// The same path, or the same file under another name.
    Same,
    /// What lies in it.
    Entries,
    /// What lies in it and matches the argument.
    Glob {
        depth: &'static str,
    },
    /// One beside it, under the name that the argument says; or under its own with another end.
    Beside {
        keeps_stem: bool,
    },
    /// Other paths, which cannot be known.
    Others,
}
