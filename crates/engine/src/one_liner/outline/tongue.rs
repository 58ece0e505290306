//! The languages that are looked over: how they write strings, comments and names, and what their functions do.

use crate::event::Access::{self, Delete, Read, Write};

pub(super) struct Tongue {
    pub(super) programs: &'static [&'static str],
    /// How they begin, and end where that is not the end of the line. Longer ones stand first.
    pub(super) comments: &'static [(&'static str, Option<&'static str>)],
    /// Longer ones stand first.
    pub(super) strings: &'static [Quotes],
    /// Joins the parts of a name: `os.execute`.
    pub(super) joint: &'static str,
    /// Signs before a function that make it a member of something, and another one.
    pub(super) members: &'static [&'static str],
    /// Puts two texts together.
    pub(super) concat: &'static str,
    pub(super) functions: &'static [(&'static str, Deed)],
    /// What functions are members of: other ways to one lead through these.
    pub(super) roots: &'static [&'static str],
    /// Whether a text may name a function that is called, in any case of its letters.
    pub(super) names_are_callable: bool,
    /// Code stands between these; all else is printed.
    pub(super) code_within: Option<(&'static str, &'static str)>,
}

#[derive(Clone, Copy)]
pub(super) struct Quotes {
    pub(super) open: &'static str,
    pub(super) close: &'static str,
    /// Whether a backslash changes what is behind it.
    pub(super) escapes: bool,
    /// What begins a hole: `"{$x}"`, `"#{x}"`.
    pub(super) holes: &'static [&'static str],
    pub(super) is_command: bool,
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
    /// Runs what only the run tells.
    Hides,
}

impl Deed {
    /// Whether it starts something.
    pub(super) fn runs(self) -> bool {
        matches!(self, Self::Shell | Self::Words | Self::Hides)
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
    Quotes { open, close, escapes: false, holes: &[], is_command: false }
}

const fn escaped(open: &'static str, holes: &'static [&'static str]) -> Quotes {
    Quotes { open, close: open, escapes: true, holes, is_command: false }
}

impl Tongue {
    /// By the base name of the program that reads it.
    pub(super) fn of(program: &str) -> Option<&'static Self> {
        let program = crate::programs::canonical(program);
        TONGUES.iter().find(|tongue| tongue.programs.contains(&program))
    }

    pub(super) fn function(&self, name: &str) -> Option<Deed> {
        let is_it = |known: &str| known == name || self.names_are_callable && known.eq_ignore_ascii_case(name);
        self.functions.iter().find(|(known, _)| is_it(known)).map(|(_, deed)| *deed)
    }
}

const TONGUES: &[Tongue] = &[PHP, LUA, R, JULIA, ELIXIR];

const PHP: Tongue = Tongue {
    programs: &["php"],
    comments: &[("/*", Some("*/")), ("//", None), ("#[", Some("]")), ("#", None)],
    strings: &[
        Quotes { open: "`", close: "`", escapes: true, holes: &["$", "{$"], is_command: true },
        escaped("\"", &["$", "{$"]),
        escaped("'", &[]),
    ],
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
};

const LUA: Tongue = Tongue {
    programs: &["lua", "luajit"],
    comments: &[("--[[", Some("]]")), ("--[=[", Some("]=]")), ("--", None)],
    strings: &[plain("[[", "]]"), plain("[=[", "]=]"), escaped("\"", &[]), escaped("'", &[])],
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
};

const R: Tongue = Tongue {
    programs: &["Rscript", "R"],
    comments: &[("#", None)],
    strings: &[escaped("\"", &[]), escaped("'", &[])],
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
};

const JULIA: Tongue = Tongue {
    programs: &["julia"],
    comments: &[("#=", Some("=#")), ("#", None)],
    strings: &[
        Quotes { open: "`", close: "`", escapes: true, holes: &["$"], is_command: true },
        escaped("\"\"\"", &["$"]),
        escaped("\"", &["$"]),
    ],
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
};

const ELIXIR: Tongue = Tongue {
    programs: &["elixir", "iex", "mix"],
    comments: &[("#", None)],
    strings: &[escaped("\"\"\"", &["#{"]), escaped("'''", &["#{"]), escaped("\"", &["#{"]), escaped("'", &["#{"])],
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
    roots: &[],
    names_are_callable: false,
    code_within: None,
};
