//! The effects of functions, as the dialect tables list them.

use path::Access;

/// The position of an argument, and the keyword that it may be passed by instead.
pub(super) type Argument = (usize, &'static str);

#[derive(Debug, Clone, Copy)]
pub(super) enum FunctionEffect {
    /// Accesses the files that these arguments name.
    Touch(&'static [(Access, Argument)]),
    /// Accesses the files that every argument from this position on names.
    TouchAll(Access, usize),
    /// Replaces the contents of a file: the path, and the contents.
    WriteContents(Argument, Argument),
    /// Accesses the file that the argument names, or a default path without the argument.
    TouchOrDefault(Access, Argument, &'static str),
    /// Requests a URL; a `file:` URL reads a path.
    Fetch(Argument),
    /// Runs a program or subcommand that is named by the function itself: `sh.git(…)`, `repo.git.reset(…)`.
    MemberCommand,
    /// Runs a command that begins with these words; the call's arguments are appended.
    FixedCommand(&'static [&'static str]),
    /// Removes an environment variable.
    UnsetVariable(Argument),
    /// Reads the file that the first argument names, and returns a path object.
    ReadPath,
    /// Opens a file; the mode decides between reading and writing.
    Open { path: Argument, mode: Argument },
    /// Opens a file; a name that starts with `|` is a shell command.
    OpenOrRun,
    /// Perl's `open`: the mode may precede the path, and the path may be a command. `handles`: how many arguments before
    /// these are file handles.
    PerlOpen { handles: usize },
    /// Passes a script to a shell.
    Shell(Argument),
    /// Starts a program that is given as a command line or as a list of words.
    Program(Argument),
    /// A single argument is a shell script; several are a program and its arguments.
    System,
    /// Starts a program; the arguments of the program are a list.
    Spawn,
    /// Like `Spawn`, but runs a file with this interpreter.
    Fork(&'static str),
    /// Starts a program. The arguments that follow begin with `argv[0]`, as one list or one by one.
    Exec { program: usize },
    /// Evaluates source code in the caller's language.
    Eval(Argument),
    /// Loads a module by its name, or by the path of its file.
    Import,
    /// Returns a member by its name.
    GetMember,
    /// Calls a method by its name on the receiver, with the remaining arguments (Ruby's `send`).
    Send,
    /// Joins path segments; an absolute segment is appended like a relative one.
    JoinPath,
    /// Joins path segments; an absolute segment replaces everything before it.
    ResolvePath,
    /// Creates a path object from segments.
    MakePath,
    /// Returns a constant.
    Constant(&'static str),
    /// Returns an environment variable.
    EnvironmentVariable(Argument),
    /// Creates a directory whose name starts with the argument.
    NewDirectoryWithPrefix(Argument),
    /// Creates a temporary file or directory, in the directory that the option of this name selects.
    NewTemporaryIn(&'static str),
    /// Creates a temporary file and returns its descriptor and its path.
    NewTemporaryFile,
    /// Returns the files that match the glob patterns in its arguments.
    Glob,
    /// Returns every directory below the argument, each with its entries.
    Walk,
    /// Returns the names of a directory's entries, without the directory.
    ListNames,
    /// Returns a directory's entries as path objects.
    ListEntries,
    /// Returns the parent directory of the argument.
    ParentDirectory(Argument),
    /// Calls the first argument with each element of the others.
    Map,
    /// Declares a command line option of the program.
    DeclareOption,
    /// Returns the parsed command line options, of the program's arguments or of the given list.
    ParseOptions,
    /// Returns a function with the effect of the function that it is given (`util.promisify`).
    SameFunction,
    /// Returns the list that it is given.
    SameList,
    /// Returns the list that it is given, in another order.
    ReorderList,
    /// Removes the indentation that all lines have in common.
    Dedent(Argument),
    /// Returns a string or path that is equivalent to the argument.
    SameString(Argument),
    /// Returns all names that are defined (`globals()`).
    AllNames,
    /// Changes the working directory; without the argument, to the home directory.
    ChangeDirectory(Argument),
    /// Changes the working directory to one that is not known.
    ChangeToUnknownDirectory,
    /// Modifies the first argument in place.
    MutateFirst,
    /// Does something that cannot be determined from the source, such as a call of a foreign function.
    Opaque,
}

/// The effect of a method of path objects.
#[derive(Debug, Clone, Copy)]
pub(super) enum PathMethodEffect {
    /// Accesses the path itself.
    Touch(Access),
    /// Replaces the contents of the path.
    WriteContents,
    /// Deletes the path and writes the argument.
    Rename,
    /// Accesses the file that the argument names.
    TouchArgument(Access),
    Open,
    /// Returns the path with the arguments appended.
    Join,
    /// Returns the same path, or another name of the same file.
    Same,
    /// Returns the entries of the directory.
    ListEntries,
    /// Returns the entries that match the argument.
    Glob {
        /// `**/` for a recursive glob, otherwise empty.
        prefix: &'static str,
    },
    /// Returns a path in the same directory, under the name in the argument, or under its own name with another extension.
    Sibling {
        keeps_stem: bool,
    },
    /// Returns paths that are not known.
    UnknownPaths,
}
