//! The languages that are looked over: how they write strings, comments and names, and what their functions do.

use crate::event::Access::{self, Delete, Read, Write};

#[expect(clippy::struct_excessive_bools, reason = "a row of a table: each says one thing of a language")]
pub(super) struct Tongue {
    pub(super) programs: &'static [&'static str],
    /// How they begin, and end where that is not the end of the line. Longer ones stand first. One that ends at once
    /// is a sign that only looks like a comment.
    pub(super) comments: &'static [(&'static str, Option<&'static str>)],
    /// Longer ones stand first.
    pub(super) strings: &'static [Quotes],
    /// What makes the letter behind it a value: `#\"`, `?"`, `$"`.
    pub(super) letter_signs: &'static [&'static str],
    /// Whether `'"'` is a letter.
    pub(super) has_letters: bool,
    /// What begins strings that are not read here.
    pub(super) unread: &'static [&'static str],
    /// Strings that are written in a way of their own.
    pub(super) long_strings: LongStrings,
    /// Whether comments stand in comments.
    pub(super) comments_nest: bool,
    /// Letters of names, besides those that all languages have.
    pub(super) letters: &'static str,
    /// Whether `!` gives the rest of its line to a shell.
    pub(super) has_shell_lines: bool,
    /// Whether `'` right behind a value is an operator.
    pub(super) has_transposes: bool,
    /// Joins the parts of a name: `os.execute`.
    pub(super) joint: &'static str,
    /// Signs before a function that make it a member of something, and another one.
    pub(super) members: &'static [&'static str],
    /// Puts two texts together.
    pub(super) concat: &'static str,
    pub(super) functions: &'static [(&'static str, Deed)],
    /// What functions are members of: other ways to one lead through these. With the sign before it, if it needs one.
    pub(super) roots: &'static [&'static str],
    /// Modules that everything stands in, and that may be left out.
    pub(super) outer_modules: &'static [&'static str],
    /// Whether a function is known whatever module is named before it.
    pub(super) drops_modules: bool,
    /// Whether the name of a function, not called, is the function.
    pub(super) has_bare_values: bool,
    /// Whether a module before a function may be worked out: `M:cmd(x)`.
    pub(super) modules: Modules,
    /// Whether a text right before parentheses names what is called.
    pub(super) texts_call: bool,
    /// A sign between a function and what it is given: `system $ "x"`.
    pub(super) applies: &'static str,
    /// Whether a text may name a function that is called, in any case of its letters.
    pub(super) names_are_callable: bool,
    /// Of those whose variables are looked at: what is known of them.
    pub(super) variables: Option<Variables>,
    /// Code stands between these; all else is printed.
    pub(super) code_within: Option<(&'static str, &'static str)>,
}

/// How a language is told that a variable is a path.
pub(super) struct Variables {
    /// Functions that make something in the temporary folder, or name that folder.
    pub(super) temporary: &'static [&'static str],
    /// Whether the first thing they are told is another folder, if it is not empty.
    pub(super) temporary_in_first: bool,
    /// Functions and methods that put parts of a path together.
    pub(super) joins: &'static [&'static str],
    /// Those that give what they are given, or are called on.
    pub(super) keeps: &'static [&'static str],
    /// Where whoever is given a variable may change it: functions that do not.
    pub(super) onlookers: &'static [&'static str],
    /// Whether `&` before a variable only lends it.
    pub(super) are_borrowed: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LongStrings {
    None,
    /// `[==[x]==]`
    Brackets,
    /// `r"--(x)--"`
    Raw,
    /// `~s(x)`
    Sigils,
    /// `raw"x"`: a name before the quotes, and there are no holes.
    Named,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Modules {
    /// They are names in the text.
    Named,
    /// They are values; a variable begins with a small letter.
    SmallVariables,
    /// They are values; a variable begins with a capital.
    CapitalVariables,
}

#[derive(Clone, Copy)]
pub(super) struct Quotes {
    pub(super) open: &'static str,
    pub(super) close: &'static str,
    /// Whether a backslash changes what is behind it.
    pub(super) escapes: bool,
    /// What begins a hole: `"{$x}"`, `"#{x}"`. Within a bracket stands code. Longer ones stand first.
    pub(super) holes: &'static [&'static str],
    pub(super) is_command: bool,
    /// Whether the closing quote, twice, is one in the text.
    pub(super) doubles: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deed {
    /// What it does to the files that its arguments name, by their places.
    Touch(&'static [(Access, usize)]),
    /// The path, and the mode behind it.
    Open,
    /// A text for a shell.
    Shell,
    /// A program, and a list of its arguments.
    Words,
    /// A program; what else stands in the statement are its arguments: `Command::new("ls").arg("-l")`.
    Statement,
    /// Goes to another folder.
    Moves,
    /// Runs what only the run tells.
    Hides,
    /// Calls the function that the argument in this place is or names.
    Calls(usize),
}

impl Deed {
    /// Whether it starts something.
    pub(super) fn runs(self) -> bool {
        matches!(self, Self::Shell | Self::Words | Self::Statement | Self::Hides)
    }

    /// Whether it deletes, and does nothing else.
    pub(super) fn deletes(self) -> bool {
        matches!(self, Self::Touch([(Delete, _)]))
    }
}

const READS: Deed = Deed::Touch(&[(Read, 0)]);
const WRITES: Deed = Deed::Touch(&[(Write, 0)]);
const WRITES_SECOND: Deed = Deed::Touch(&[(Write, 1)]);
const DELETES: Deed = Deed::Touch(&[(Delete, 0)]);
const COPIES: Deed = Deed::Touch(&[(Read, 0), (Write, 1)]);
const MOVES: Deed = Deed::Touch(&[(Delete, 0), (Write, 1)]);

const fn plain(open: &'static str, close: &'static str) -> Quotes {
    Quotes { open, close, escapes: false, holes: &[], is_command: false, doubles: false }
}

const fn doubling(quote: &'static str) -> Quotes {
    Quotes { doubles: true, ..plain(quote, quote) }
}

const fn escaped(open: &'static str, holes: &'static [&'static str]) -> Quotes {
    Quotes { open, close: open, escapes: true, holes, is_command: false, doubles: false }
}

impl Tongue {
    /// By the base name of the program that reads it.
    pub(super) fn of(program: &str) -> Option<&'static Self> {
        let program = crate::programs::canonical(program);
        TONGUES.iter().find(|tongue| tongue.programs.contains(&program))
    }

    pub(super) fn function(&self, name: &str) -> Option<Deed> {
        let name = self.outer_modules.iter().find_map(|outer| name.strip_prefix(outer)).unwrap_or(name);
        self.known(name).or_else(|| {
            let (_, last) = name.rsplit_once(self.joint).filter(|_| self.drops_modules)?;
            self.known(last)
        })
    }

    fn known(&self, name: &str) -> Option<Deed> {
        let is_it = |known: &str| known == name || self.names_are_callable && known.eq_ignore_ascii_case(name);
        self.functions.iter().find(|(known, _)| is_it(known)).map(|(_, deed)| *deed)
    }
}

const TONGUES: &[Tongue] =
    &[PHP, LUA, R, JULIA, ELIXIR, LISP, EMACS, ERLANG, HASKELL, OCTAVE, GNUPLOT, DC, C, GO, RUST, JAVA];

/// What most languages have in common.
const COMMON: Tongue = DC;

const PHP: Tongue = Tongue {
    programs: &["php"],
    comments: &[("/*", Some("*/")), ("//", None), ("#[", Some("")), ("#", None)],
    strings: &[
        Quotes { open: "`", close: "`", escapes: true, holes: &["{$", "${", "$"], is_command: true, doubles: false },
        escaped("\"", &["{$", "${", "$"]),
        escaped("'", &[]),
    ],
    letters: "",
    has_shell_lines: false,
    has_transposes: false,
    joint: "::",
    members: &["$", "->", "::", "function", "new"],
    concat: ".",
    functions: &[
        ("exec", Deed::Shell),
        ("shell_exec", Deed::Shell),
        ("system", Deed::Shell),
        ("passthru", Deed::Shell),
        ("popen", Deed::Shell),
        ("proc_open", Deed::Shell),
        ("pcntl_exec", Deed::Words),
        ("Process::run", Deed::Shell),
        ("Process::start", Deed::Shell),
        ("Process::fromShellCommandline", Deed::Shell),
        ("new Process", Deed::Words),
        ("eval", Deed::Hides),
        ("create_function", Deed::Hides),
        ("chdir", Deed::Moves),
        ("unlink", DELETES),
        ("rmdir", DELETES),
        ("File::delete", DELETES),
        ("File::deleteDirectory", DELETES),
        ("File::deleteDirectories", DELETES),
        ("File::cleanDirectory", DELETES),
        ("rename", MOVES),
        ("File::move", MOVES),
        ("File::moveDirectory", MOVES),
        ("copy", COPIES),
        ("File::copy", COPIES),
        ("file_get_contents", READS),
        ("readfile", READS),
        ("file", READS),
        ("parse_ini_file", READS),
        ("show_source", READS),
        ("highlight_file", READS),
        ("php_strip_whitespace", READS),
        ("simplexml_load_file", READS),
        ("include", READS),
        ("include_once", READS),
        ("require", READS),
        ("require_once", READS),
        ("File::get", READS),
        ("File::lines", READS),
        ("new SplFileObject", Deed::Open),
        ("fopen", Deed::Open),
        ("file_put_contents", WRITES),
        ("File::put", WRITES),
        ("File::append", WRITES),
        ("touch", WRITES),
        ("mkdir", WRITES),
        ("chmod", WRITES),
        ("symlink", WRITES_SECOND),
        ("link", WRITES_SECOND),
    ],
    roots: &[],
    names_are_callable: true,
    code_within: Some(("<?", "?>")),
    texts_call: true,
    ..COMMON
};

const LUA: Tongue = Tongue {
    programs: &["lua", "luajit"],
    comments: &[("--", None)],
    strings: &[escaped("\"", &[]), escaped("'", &[])],
    letters: "",
    has_shell_lines: false,
    has_transposes: false,
    joint: ".",
    members: &[":", "function"],
    concat: "..",
    functions: &[
        ("os.execute", Deed::Shell),
        ("io.popen", Deed::Shell),
        ("os.remove", DELETES),
        ("os.rename", MOVES),
        ("lfs.rmdir", DELETES),
        ("io.open", Deed::Open),
        ("io.lines", READS),
        ("io.input", READS),
        ("io.output", WRITES),
        ("dofile", READS),
        ("loadfile", READS),
        ("load", Deed::Hides),
        ("loadstring", Deed::Hides),
    ],
    roots: &["os", "io", "_G", "_ENV"],
    names_are_callable: false,
    code_within: None,
    long_strings: LongStrings::Brackets,
    outer_modules: &["_G.", "_ENV."],
    ..COMMON
};

const R: Tongue = Tongue {
    programs: &["Rscript", "R"],
    comments: &[("#", None)],
    strings: &[escaped("\"", &[]), escaped("'", &[]), escaped("`", &[])],
    letters: "",
    has_shell_lines: false,
    has_transposes: false,
    joint: "::",
    members: &["$", "@"],
    concat: "",
    functions: &[
        ("system", Deed::Shell),
        ("shell", Deed::Shell),
        ("pipe", Deed::Shell),
        ("system2", Deed::Words),
        ("processx::run", Deed::Words),
        ("sys::exec_wait", Deed::Words),
        ("parse", Deed::Hides),
        ("str2lang", Deed::Hides),
        ("str2expression", Deed::Hides),
        ("do.call", Deed::Calls(0)),
        ("match.fun", Deed::Calls(0)),
        ("get", Deed::Calls(0)),
        ("call", Deed::Calls(0)),
        ("as.name", Deed::Calls(0)),
        ("as.symbol", Deed::Calls(0)),
        ("Map", Deed::Calls(0)),
        ("mapply", Deed::Calls(0)),
        ("Reduce", Deed::Calls(0)),
        ("Filter", Deed::Calls(0)),
        ("sapply", Deed::Calls(1)),
        ("lapply", Deed::Calls(1)),
        ("vapply", Deed::Calls(1)),
        ("unlink", DELETES),
        ("file.remove", DELETES),
        ("file_delete", DELETES),
        ("dir_delete", DELETES),
        ("fs::file_delete", DELETES),
        ("fs::dir_delete", DELETES),
        ("file.rename", MOVES),
        ("fs::file_move", MOVES),
        ("file.copy", COPIES),
        ("fs::file_copy", COPIES),
        ("file", Deed::Open),
        ("readLines", READS),
        ("readChar", READS),
        ("read.csv", READS),
        ("read.table", READS),
        ("read.dcf", READS),
        ("read_csv", READS),
        ("read_lines", READS),
        ("read_file", READS),
        ("readr::read_file", READS),
        ("readr::read_lines", READS),
        ("readRDS", READS),
        ("readRenviron", READS),
        ("scan", READS),
        ("source", READS),
        ("fread", READS),
        ("ggsave", WRITES),
        ("sink", WRITES),
        ("file.create", WRITES),
        ("dir.create", WRITES),
        ("writeLines", WRITES_SECOND),
        ("write", WRITES_SECOND),
        ("write.csv", WRITES_SECOND),
        ("write_csv", WRITES_SECOND),
        ("write.table", WRITES_SECOND),
        ("saveRDS", WRITES_SECOND),
        ("jsonlite::write_json", WRITES_SECOND),
        ("write_json", WRITES_SECOND),
    ],
    roots: &[],
    names_are_callable: false,
    code_within: None,
    long_strings: LongStrings::Raw,
    drops_modules: true,
    has_bare_values: true,
    texts_call: true,
    ..COMMON
};

const JULIA: Tongue = Tongue {
    programs: &["julia"],
    comments: &[("#=", Some("=#")), ("#", None)],
    strings: &[
        Quotes { open: "`", close: "`", escapes: true, holes: &["$(", "$"], is_command: true, doubles: false },
        escaped("\"\"\"", &["$(", "$"]),
        escaped("\"", &["$(", "$"]),
    ],
    letters: "",
    has_shell_lines: false,
    has_transposes: true,
    joint: ".",
    members: &["function"],
    concat: "*",
    functions: &[
        ("Meta.parse", Deed::Hides),
        ("include_string", Deed::Hides),
        ("Cmd", Deed::Words),
        ("ccall", Deed::Hides),
        ("rm", DELETES),
        ("Base.rm", DELETES),
        ("Base.Filesystem.rm", DELETES),
        ("mv", MOVES),
        ("Base.mv", MOVES),
        ("cp", COPIES),
        ("read", READS),
        ("Base.read", READS),
        ("readline", READS),
        ("readlines", READS),
        ("eachline", READS),
        ("include", READS),
        ("readdlm", READS),
        ("CSV.File", READS),
        ("CSV.read", READS),
        ("open", Deed::Open),
        ("write", WRITES),
        ("touch", WRITES),
        ("mkpath", WRITES),
        ("mkdir", WRITES),
        ("chmod", WRITES),
    ],
    roots: &[],
    names_are_callable: false,
    code_within: None,
    long_strings: LongStrings::Named,
    comments_nest: true,
    has_letters: true,
    outer_modules: &["Base."],
    ..COMMON
};

const ELIXIR: Tongue = Tongue {
    programs: &["elixir", "iex", "mix"],
    comments: &[("#", None)],
    strings: &[escaped("\"\"\"", &["#{"]), escaped("'''", &["#{"]), escaped("\"", &["#{"]), escaped("'", &["#{"])],
    letters: "",
    has_shell_lines: false,
    has_transposes: false,
    joint: ".",
    members: &[],
    concat: "<>",
    functions: &[
        ("System.shell", Deed::Shell),
        ("os.cmd", Deed::Shell),
        ("System.cmd", Deed::Words),
        ("Port.open", Deed::Hides),
        ("Code.eval_string", Deed::Hides),
        ("Code.eval_quoted", Deed::Hides),
        ("Code.compile_string", Deed::Hides),
        ("Kernel.apply", Deed::Hides),
        ("apply", Deed::Hides),
        ("erlang.apply", Deed::Hides),
        ("erlang.open_port", Deed::Hides),
        ("File.rm", DELETES),
        ("File.rm!", DELETES),
        ("File.rm_rf", DELETES),
        ("File.rm_rf!", DELETES),
        ("File.rmdir", DELETES),
        ("File.rmdir!", DELETES),
        ("file.delete", DELETES),
        ("file.del_dir", DELETES),
        ("file.del_dir_r", DELETES),
        ("File.rename", MOVES),
        ("File.rename!", MOVES),
        ("File.cp", COPIES),
        ("File.cp!", COPIES),
        ("File.cp_r", COPIES),
        ("File.cp_r!", COPIES),
        ("File.read", READS),
        ("File.read!", READS),
        ("File.stream!", READS),
        ("Code.eval_file", READS),
        ("Code.require_file", READS),
        ("file.read_file", READS),
        ("file.consult", READS),
        ("File.open", Deed::Open),
        ("File.open!", Deed::Open),
        ("File.write", WRITES),
        ("File.write!", WRITES),
        ("File.touch!", WRITES),
        ("File.mkdir_p!", WRITES),
        ("File.chmod!", WRITES),
    ],
    roots: &["System", "File", "Code", "Port", ":os", ":file"],
    names_are_callable: false,
    code_within: None,
    long_strings: LongStrings::Sigils,
    letter_signs: &["?"],
    outer_modules: &["Elixir."],
    modules: Modules::SmallVariables,
    ..COMMON
};

const LISP: Tongue = Tongue {
    programs: &["guile", "sbcl", "bb", "clojure", "clj"],
    comments: &[("#|", Some("|#")), ("#;", Some("")), (";", None)],
    strings: &[escaped("\"", &[])],
    letters: "-*/!?:.>+=<",
    has_shell_lines: false,
    has_transposes: false,
    joint: "",
    members: &[],
    concat: "",
    functions: &[
        ("system", Deed::Shell),
        ("open-pipe", Deed::Shell),
        ("open-input-pipe", Deed::Shell),
        ("open-output-pipe", Deed::Shell),
        ("uiop:run-program", Deed::Shell),
        ("uiop:launch-program", Deed::Shell),
        ("shell-command", Deed::Shell),
        ("shell-command-to-string", Deed::Shell),
        ("async-shell-command", Deed::Shell),
        ("call-process-shell-command", Deed::Shell),
        ("compile", Deed::Shell),
        ("shell", Deed::Shell),
        ("process", Deed::Shell),
        ("sh", Deed::Shell),
        ("p/shell", Deed::Shell),
        ("p/process", Deed::Shell),
        ("p/sh", Deed::Shell),
        ("babashka.process/shell", Deed::Shell),
        ("babashka.process/process", Deed::Shell),
        ("babashka.process/sh", Deed::Shell),
        ("shell/sh", Deed::Words),
        ("clojure.java.shell/sh", Deed::Words),
        ("system*", Deed::Words),
        ("open-pipe*", Deed::Hides),
        ("spawn", Deed::Hides),
        ("execl", Deed::Hides),
        ("execlp", Deed::Hides),
        ("sb-ext:run-program", Deed::Shell),
        ("run-program", Deed::Shell),
        ("call-process", Deed::Words),
        ("process-file", Deed::Words),
        ("process-lines", Deed::Words),
        ("call-process-region", Deed::Hides),
        ("shell-command-on-region", Deed::Hides),
        ("start-process", Deed::Hides),
        ("start-file-process", Deed::Hides),
        ("start-process-shell-command", Deed::Hides),
        ("make-process", Deed::Hides),
        ("ProcessBuilder", Deed::Hides),
        ("ProcessBuilder.", Deed::Hides),
        ("exec", Deed::Hides),
        (".exec", Deed::Hides),
        ("eval", Deed::Hides),
        ("eval-string", Deed::Hides),
        ("load-string", Deed::Hides),
        ("read-string", Deed::Hides),
        ("read-from-string", Deed::Hides),
        ("funcall", Deed::Hides),
        ("intern", Deed::Hides),
        ("resolve", Deed::Hides),
        ("load", READS),
        ("load-file", READS),
        ("primitive-load", READS),
        ("delete-file", DELETES),
        ("delete-directory", DELETES),
        ("rmdir", DELETES),
        ("uiop:delete-directory-tree", DELETES),
        ("uiop:delete-file-if-exists", DELETES),
        ("io/delete-file", DELETES),
        ("clojure.java.io/delete-file", DELETES),
        ("fs/delete", DELETES),
        ("fs/delete-tree", DELETES),
        ("babashka.fs/delete", DELETES),
        ("babashka.fs/delete-tree", DELETES),
        ("slurp", READS),
        ("insert-file-contents", READS),
        ("find-file", READS),
        ("open-input-file", READS),
        ("call-with-input-file", READS),
        ("with-input-from-file", READS),
        ("uiop:read-file-string", READS),
        ("spit", WRITES),
        ("open-output-file", WRITES),
        ("call-with-output-file", WRITES),
        ("with-output-to-file", WRITES),
    ],
    roots: &[],
    names_are_callable: false,
    code_within: None,
    letter_signs: &["#\\", "\\"],
    comments_nest: true,
    ..COMMON
};

const EMACS: Tongue = Tongue {
    programs: &["emacs", "emacsclient"],
    letter_signs: &["?", "\\"],
    unread: &["?\\C", "?\\M", "?\\S", "?\\^"],
    comments: &[(";", None)],
    ..LISP
};

const ERLANG: Tongue = Tongue {
    programs: &["erl"],
    comments: &[("%", None)],
    strings: &[escaped("\"", &[]), escaped("'", &[])],
    letters: "",
    has_shell_lines: false,
    has_transposes: false,
    joint: ":",
    members: &[],
    concat: "++",
    functions: &[
        ("os:cmd", Deed::Shell),
        ("open_port", Deed::Hides),
        ("erlang:open_port", Deed::Hides),
        ("erlang:apply", Deed::Hides),
        ("apply", Deed::Hides),
        ("erl_eval:exprs", Deed::Hides),
        ("erl_eval:expr", Deed::Hides),
        ("file:delete", DELETES),
        ("file:del_dir", DELETES),
        ("file:del_dir_r", DELETES),
        ("file:rename", MOVES),
        ("file:copy", COPIES),
        ("file:read_file", READS),
        ("file:consult", READS),
        ("file:open", READS),
        ("file:eval", READS),
        ("file:script", READS),
        ("file:write_file", WRITES),
    ],
    roots: &[],
    names_are_callable: false,
    code_within: None,
    letter_signs: &["$"],
    unread: &["\"\"\"", "~", "$\\^"],
    modules: Modules::CapitalVariables,
    texts_call: true,
    ..COMMON
};

const HASKELL: Tongue = Tongue {
    programs: &["ghc", "runghc", "runhaskell"],
    comments: &[("{-", Some("-}")), ("--", None)],
    strings: &[escaped("\"", &[])],
    letters: "'",
    has_shell_lines: false,
    has_transposes: false,
    joint: ".",
    members: &[],
    concat: "++",
    functions: &[
        ("system", Deed::Shell),
        ("callCommand", Deed::Shell),
        ("spawnCommand", Deed::Shell),
        ("shell", Deed::Shell),
        ("System.Process.system", Deed::Shell),
        ("System.Process.callCommand", Deed::Shell),
        ("System.Process.spawnCommand", Deed::Shell),
        ("System.Process.shell", Deed::Shell),
        ("System.Cmd.system", Deed::Shell),
        ("rawSystem", Deed::Words),
        ("callProcess", Deed::Words),
        ("spawnProcess", Deed::Words),
        ("readProcess", Deed::Words),
        ("proc", Deed::Words),
        ("System.Process.rawSystem", Deed::Words),
        ("System.Process.callProcess", Deed::Words),
        ("System.Process.spawnProcess", Deed::Words),
        ("System.Process.readProcess", Deed::Words),
        ("System.Process.readProcessWithExitCode", Deed::Words),
        ("System.Process.proc", Deed::Words),
        ("System.Posix.Process.executeFile", Deed::Hides),
        ("executeFile", Deed::Hides),
        ("removeFile", DELETES),
        ("removeDirectory", DELETES),
        ("removeDirectoryRecursive", DELETES),
        ("removePathForcibly", DELETES),
        ("System.Directory.removeFile", DELETES),
        ("System.Directory.removeDirectory", DELETES),
        ("System.Directory.removeDirectoryRecursive", DELETES),
        ("System.Directory.removePathForcibly", DELETES),
        ("readFile", READS),
        ("Prelude.readFile", READS),
        ("writeFile", WRITES),
        ("appendFile", WRITES),
    ],
    roots: &[],
    names_are_callable: false,
    code_within: None,
    comments_nest: true,
    has_letters: true,
    drops_modules: true,
    has_bare_values: true,
    applies: "$",
    ..COMMON
};

const OCTAVE: Tongue = Tongue {
    programs: &["octave", "octave-cli", "matlab"],
    comments: &[("%{\n", Some("\n%}")), ("#{\n", Some("\n#}")), ("%", None), ("#", None)],
    strings: &[escaped("\"", &[]), doubling("'")],
    letters: "",
    has_shell_lines: false,
    has_transposes: true,
    joint: ".",
    members: &["."],
    concat: "",
    functions: &[
        ("system", Deed::Shell),
        ("shell_cmd", Deed::Shell),
        ("unix", Deed::Shell),
        ("dos", Deed::Shell),
        ("popen", Deed::Shell),
        ("popen2", Deed::Words),
        ("exec", Deed::Words),
        ("eval", Deed::Hides),
        ("evalc", Deed::Hides),
        ("evalin", Deed::Hides),
        ("feval", Deed::Hides),
        ("str2func", Deed::Hides),
        ("unlink", DELETES),
        ("delete", DELETES),
        ("rmdir", DELETES),
        ("rename", MOVES),
        ("movefile", MOVES),
        ("copyfile", COPIES),
        ("fopen", Deed::Open),
        ("fileread", READS),
        ("textread", READS),
        ("csvread", READS),
        ("load", READS),
        ("source", READS),
        ("run", READS),
    ],
    roots: &[],
    names_are_callable: true,
    code_within: None,
    ..COMMON
};

const GNUPLOT: Tongue = Tongue {
    programs: &["gnuplot"],
    comments: &[("#", None)],
    strings: &[
        Quotes { open: "`", close: "`", escapes: true, holes: &["$"], is_command: true, doubles: false },
        escaped("\"", &[]),
        doubling("'"),
    ],
    letters: "",
    has_shell_lines: true,
    has_transposes: false,
    joint: "",
    members: &[],
    concat: ".",
    functions: &[
        ("system", Deed::Shell),
        ("shell", Deed::Hides),
        ("eval", Deed::Hides),
        ("evaluate", Deed::Hides),
        ("load", READS),
        ("call", READS),
    ],
    roots: &[],
    names_are_callable: false,
    code_within: None,
    ..COMMON
};

/// It calculates, and has no functions.
const DC: Tongue = Tongue {
    programs: &["dc"],
    comments: &[("#", None)],
    strings: &[],
    letters: "",
    has_shell_lines: true,
    has_transposes: false,
    joint: "",
    members: &[],
    concat: "",
    functions: &[],
    roots: &[],
    names_are_callable: false,
    code_within: None,
    letter_signs: &[],
    has_letters: false,
    outer_modules: &[],
    drops_modules: false,
    has_bare_values: false,
    modules: Modules::Named,
    texts_call: false,
    applies: "",
    unread: &[],
    long_strings: LongStrings::None,
    comments_nest: false,
    variables: None,
};

/// C++ as well.
const C: Tongue = Tongue {
    programs: &["compiled-c"],
    comments: &[("/*", Some("*/")), ("//", None)],
    strings: &[escaped("\"", &[])],
    joint: "::",
    members: &[".", "->"],
    functions: &[
        ("system", Deed::Shell),
        ("std::system", Deed::Shell),
        ("popen", Deed::Shell),
        ("execl", Deed::Hides),
        ("execlp", Deed::Hides),
        ("execle", Deed::Hides),
        ("execv", Deed::Hides),
        ("execve", Deed::Hides),
        ("execvp", Deed::Hides),
        ("posix_spawn", Deed::Hides),
        ("unlink", DELETES),
        ("rmdir", DELETES),
        ("remove", DELETES),
        ("fs::remove", DELETES),
        ("fs::remove_all", DELETES),
        ("std::filesystem::remove", DELETES),
        ("std::filesystem::remove_all", DELETES),
        ("rename", MOVES),
        ("fs::rename", MOVES),
        ("std::filesystem::rename", MOVES),
        ("fopen", Deed::Open),
        ("open", READS),
        ("creat", WRITES),
        ("truncate", WRITES),
    ],
    has_letters: true,
    variables: Some(Variables {
        temporary: &[],
        temporary_in_first: false,
        joins: &[],
        keeps: &["std::string", "string", "fs::path", "std::filesystem::path"],
        onlookers: &[
            "mkstemp",
            "mkdtemp",
            "mkstemps",
            "unlink",
            "remove",
            "rmdir",
            "puts",
            "printf",
            "fprintf",
            "perror",
            "fopen",
            "open",
            "access",
            "stat",
            "strlen",
            "rename",
            "creat",
            "truncate",
            "mkdir",
            "execl",
            "system",
            "fputs",
            "free",
            "ofstream",
            "ifstream",
            "fs::remove",
            "fs::remove_all",
            "fs::exists",
            "std::filesystem::remove",
            "std::filesystem::remove_all",
            "std::filesystem::exists",
        ],
        are_borrowed: false,
    }),
    ..PLAIN
};

const GO: Tongue = Tongue {
    programs: &["compiled-go"],
    comments: &[("/*", Some("*/")), ("//", None)],
    strings: &[escaped("\"", &[]), plain("`", "`")],
    joint: ".",
    members: &[")"],
    concat: "+",
    functions: &[
        ("exec.Command", Deed::Statement),
        ("exec.CommandContext", Deed::Statement),
        ("syscall.Exec", Deed::Hides),
        ("syscall.ForkExec", Deed::Hides),
        ("os.StartProcess", Deed::Hides),
        ("os.Remove", DELETES),
        ("os.RemoveAll", DELETES),
        ("syscall.Unlink", DELETES),
        ("syscall.Rmdir", DELETES),
        ("os.Rename", MOVES),
        ("os.ReadFile", READS),
        ("ioutil.ReadFile", READS),
        ("os.Open", READS),
        ("os.WriteFile", WRITES),
        ("ioutil.WriteFile", WRITES),
        ("os.Create", WRITES),
        ("os.Truncate", WRITES),
    ],
    has_letters: true,
    variables: Some(Variables {
        temporary: &["os.MkdirTemp", "os.CreateTemp", "ioutil.TempDir", "ioutil.TempFile", "os.TempDir", "t.TempDir"],
        temporary_in_first: true,
        joins: &["filepath.Join", "path.Join"],
        keeps: &["Name", "filepath.Clean", "string"],
        onlookers: &[],
        are_borrowed: false,
    }),
    ..PLAIN
};

const RUST: Tongue = Tongue {
    programs: &["compiled-rust"],
    comments: &[("/*", Some("*/")), ("//", None)],
    strings: &[escaped("\"", &[])],
    comments_nest: true,
    joint: "::",
    members: &[".", "fn"],
    functions: &[
        ("Command::new", Deed::Statement),
        ("remove_file", DELETES),
        ("remove_dir", DELETES),
        ("remove_dir_all", DELETES),
        ("rename", MOVES),
        ("read_to_string", READS),
        ("fs::read", READS),
        ("std::fs::read", READS),
        ("File::open", READS),
        ("std::fs::File::open", READS),
        ("fs::write", WRITES),
        ("std::fs::write", WRITES),
        ("File::create", WRITES),
        ("std::fs::File::create", WRITES),
        ("process::Command::new", Deed::Statement),
        ("std::process::Command::new", Deed::Statement),
    ],
    drops_modules: true,
    has_letters: true,
    variables: Some(Variables {
        temporary: &["temp_dir", "env::temp_dir", "std::env::temp_dir", "tempdir", "tempfile::tempdir", "TempDir::new"],
        temporary_in_first: false,
        joins: &["join"],
        keeps: &[
            "Path::new",
            "PathBuf::from",
            "String::from",
            "to_string",
            "to_owned",
            "into",
            "path",
            "clone",
            "unwrap",
            "expect",
            "as_path",
            "as_str",
            "to_path_buf",
        ],
        onlookers: &[],
        are_borrowed: true,
    }),
    ..PLAIN
};

const JAVA: Tongue = Tongue {
    programs: &["compiled-java"],
    comments: &[("/*", Some("*/")), ("//", None)],
    strings: &[escaped("\"\"\"", &[]), escaped("\"", &[])],
    joint: ".",
    concat: "+",
    functions: &[
        ("exec", Deed::Shell),
        ("new ProcessBuilder", Deed::Statement),
        ("Files.delete", DELETES),
        ("Files.deleteIfExists", DELETES),
        ("FileUtils.deleteDirectory", DELETES),
        ("FileUtils.forceDelete", DELETES),
        ("Files.move", MOVES),
        ("Files.copy", COPIES),
        ("Files.readString", READS),
        ("Files.readAllLines", READS),
        ("Files.readAllBytes", READS),
        ("Files.lines", READS),
        ("new FileReader", READS),
        ("new FileInputStream", READS),
        ("Files.writeString", WRITES),
        ("Files.write", WRITES),
        ("new FileWriter", WRITES),
        ("new FileOutputStream", WRITES),
    ],
    has_letters: true,
    variables: Some(Variables {
        temporary: &["Files.createTempFile", "Files.createTempDirectory", "File.createTempFile"],
        temporary_in_first: false,
        joins: &[],
        keeps: &["Path.of", "Paths.get", "toString", "toPath"],
        onlookers: &[],
        are_borrowed: false,
    }),
    ..PLAIN
};

/// Without lines for a shell.
const PLAIN: Tongue = Tongue { has_shell_lines: false, comments: &[], ..DC };
