//! The kinds of effects that functions have. The tables in `dialect` assign one to each function.

use path::Access;

/// Selects an argument: its index, and the keyword that it may be passed by instead. An empty keyword matches none.
pub(super) type ArgumentSelector = (usize, &'static str);

#[derive(Debug, Clone, Copy)]
pub(super) enum FunctionEffect {
    /// Accesses the files that these arguments name.
    Access(&'static [(Access, ArgumentSelector)]),
    /// Accesses the files that the arguments name, beginning with the one at this index.
    AccessAll(Access, usize),
    /// Replaces the contents of a file: the path, and the contents.
    WriteContents(ArgumentSelector, ArgumentSelector),
    /// Accesses the file that the argument names, or a default path if the argument is missing.
    AccessOrDefault(Access, ArgumentSelector, &'static str),
    /// Requests a URL; a `file:` URL reads a path.
    Fetch(ArgumentSelector),
    /// Runs a program or subcommand that is named by the function itself: `sh.git(…)`, `repo.git.reset(…)`.
    MemberCommand,
    /// Runs a command: these words, and then the arguments of the call.
    FixedCommand(&'static [&'static str]),
    /// Removes an environment variable.
    UnsetVariable(ArgumentSelector),
    /// Reads the file that the first argument names, and returns a path object.
    ReadPath,
    /// Opens a file; the mode decides between reading and writing.
    Open { path: ArgumentSelector, mode: ArgumentSelector },
    /// Opens a file; a name that starts with `|` is a shell command.
    OpenOrRun,
    /// Perl's `open`: the mode may precede the path, and the path may be a command. The first `handles` arguments are
    /// file handles.
    PerlOpen { handles: usize },
    /// Runs a shell script.
    Shell(ArgumentSelector),
    /// Runs a command, which is a string (a command line) or a list of words.
    Program(ArgumentSelector),
    /// Runs a command: a single argument is a shell script, several are a program and its arguments.
    System,
    /// Runs a program. Its arguments are a list in the second argument.
    Spawn,
    /// Like `Spawn`, for a file that this interpreter runs.
    Fork(&'static str),
    /// Runs the program at an index. The arguments after it are those of the program, beginning with `argv[0]`, as one
    /// list or one by one.
    Exec { program: usize },
    /// Evaluates source code in the language of the program.
    Eval(ArgumentSelector),
    /// Imports a module by its name, or by the path of its file.
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
    EnvironmentVariable(ArgumentSelector),
    /// Creates a directory whose name starts with the argument.
    NewDirectoryWithPrefix(ArgumentSelector),
    /// Creates a temporary file or directory, in the directory that this option names.
    NewTemporaryPath(&'static str),
    /// Creates a temporary file and returns its descriptor and its path.
    NewTemporaryFile,
    /// Returns the files that match the glob patterns in its arguments.
    Glob,
    /// Returns every directory below the argument, each with its files.
    Walk,
    /// Returns the file names in a directory, without the path of the directory.
    ListNames,
    /// Returns the files in a directory as path objects.
    ListEntries,
    /// Returns the parent directory of the argument.
    ParentDirectory(ArgumentSelector),
    /// Calls the first argument with each element of the others.
    Map,
    /// Declares a command line option of the program.
    DeclareOption,
    /// Parses the program's arguments, or those in the first argument, and returns the command line options.
    ParseOptions,
    /// Returns a function with the same effect as the function in the first argument (`util.promisify`).
    SameFunction,
    /// Returns the list in the first argument.
    SameList,
    /// Returns the list in the first argument, in another order.
    ReorderList,
    /// Removes the indentation that all lines of the argument have in common.
    Dedent(ArgumentSelector),
    /// Returns a string or path that is equivalent to the argument.
    SameString(ArgumentSelector),
    /// Returns an object whose members are all names of the program (`globals()`).
    AllNames,
    /// Changes the working directory, without the argument to the home directory.
    ChangeDirectory(ArgumentSelector),
    /// Changes the working directory to an unknown one.
    ChangeToUnknownDirectory,
    /// Modifies the first argument in place.
    MutateFirst,
    /// Does something that cannot be determined from the source, such as a call of a foreign function.
    Opaque,
}

/// The effect of a method of path objects.
#[derive(Debug, Clone, Copy)]
pub(super) enum PathMethodEffect {
    /// Accesses the file at the path.
    Access(Access),
    /// Replaces the contents of the file at the path.
    WriteContents,
    /// Moves the file: deletes the path and writes the argument.
    Rename,
    /// Accesses the file that the argument names.
    AccessArgument(Access),
    /// Opens the file at the path; the mode decides between reading and writing.
    Open,
    /// Returns the path with the arguments appended.
    Join,
    /// Returns the same path, or an equivalent one.
    SamePath,
    /// Returns the files in the directory.
    ListEntries,
    /// Returns the files that match the argument.
    Glob {
        /// `**/` for a recursive glob, otherwise empty.
        prefix: &'static str,
    },
    /// Returns a path in the same directory. The argument is its file name, or only its extension if `keeps_stem`.
    Sibling { keeps_stem: bool },
    /// Returns unknown paths.
    UnknownPaths,
}
