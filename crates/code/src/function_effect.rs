//! The kinds of effects that functions have. The tables in `dialect` assign one to each function.

use path::Access;

/// Selects an argument by its index, or by the keyword with which it can be passed instead. An empty keyword matches no
/// argument.
pub(super) type ArgumentSelector = (usize, &'static str);

#[derive(Debug, Clone, Copy)]
pub(super) enum FunctionEffect {
    /// Accesses the files that these arguments name.
    Access(&'static [(Access, ArgumentSelector)]),
    /// Accesses the files that the arguments name, beginning with the argument at this index.
    AccessAll(Access, usize),
    /// Replaces the contents of a file. The first selector is for the path, the second one for the contents.
    WriteContents(ArgumentSelector, ArgumentSelector),
    /// Accesses the file that the argument names, or a default path if the argument is missing.
    AccessOrDefault(Access, ArgumentSelector, &'static str),
    /// Requests a URL. If it is a `file:` URL, reads the file.
    Fetch(ArgumentSelector),
    /// Runs a program or subcommand that is named by the function itself: `sh.git(…)`, `repo.git.reset(…)`.
    MemberCommand,
    /// Runs a command: these words, and then the arguments of the call.
    FixedCommand(&'static [&'static str]),
    /// Removes the environment variable that the argument names.
    UnsetVariable(ArgumentSelector),
    /// Reads the file that the first argument names, and returns a path object.
    ReadPath,
    /// Opens a file for reading or writing, depending on the mode.
    Open { path: ArgumentSelector, mode: ArgumentSelector },
    /// Opens a file, or runs a shell command if the name starts with `|`.
    OpenOrRun,
    /// Opens a file or runs a command, as Perl's `open` does. The first `handles` arguments are file handles. After
    /// them, the mode can precede the path, and the path can be a command.
    PerlOpen { handles: usize },
    /// Runs the argument as a shell script.
    Shell(ArgumentSelector),
    /// Runs the command in the argument, which is a string (a command line) or a list of words.
    Program(ArgumentSelector),
    /// Runs a command. A single argument is a shell script; several arguments are a program and its arguments.
    System,
    /// Runs the program in the first argument. The program's arguments are a list in the second argument.
    Spawn,
    /// Like `Spawn`, but the first argument is a source file, which this interpreter runs.
    Fork(&'static str),
    /// Runs the program in the argument at index `program`. The program's own arguments follow, beginning with
    /// `argv[0]`, as one list or one by one.
    Exec { program: usize },
    /// Evaluates the argument as source code in the language of the program.
    Eval(ArgumentSelector),
    /// Imports a module by its name, or by the path of its file.
    Import,
    /// Returns a member of an object. The name of the member is an argument.
    GetMember,
    /// Calls the method that the first argument names, with the remaining arguments (Ruby's `send`).
    Send,
    /// Joins path segments. An absolute segment is appended like a relative one.
    JoinPath,
    /// Joins path segments. An absolute segment replaces everything before it.
    ResolvePath,
    /// Creates a path object from path segments.
    MakePath,
    /// Returns a constant.
    Constant(&'static str),
    /// Returns the value of the environment variable that the argument names.
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
    /// Declares a command line option of the analyzed program.
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
    /// Changes the working directory to the one in the argument, or to the home directory if the argument is missing.
    ChangeDirectory(ArgumentSelector),
    /// Changes the working directory to an unknown one.
    ChangeToUnknownDirectory,
    /// Modifies the value of the first argument in place.
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
    /// Moves the file: deletes the file at the path, and writes the file that the argument names.
    Rename,
    /// Accesses the file that the argument names.
    AccessArgument(Access),
    /// Opens the file at the path for reading or writing, depending on the mode.
    Open,
    /// Returns the path with the arguments appended.
    Join,
    /// Returns the same path, or an equivalent one.
    SamePath,
    /// Returns the files in the directory at the path.
    ListEntries,
    /// Returns the files below the path that match the pattern in the argument.
    Glob {
        /// The beginning of the pattern: `**/` for a method that searches recursively, otherwise empty.
        prefix: &'static str,
    },
    /// Returns a path in the same directory. The argument is the new file name or, if `keeps_stem` is true, only the
    /// new extension.
    Sibling { keeps_stem: bool },
    /// Returns unknown paths.
    UnknownPaths,
}
