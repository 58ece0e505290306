//! The languages that are looked over: how they write strings, comments and names, and what their functions do.

mod c;
mod dc;
mod elixir;
mod emacs;
mod erlang;
mod gnuplot;
mod go;
mod haskell;
mod java;
mod julia;
mod lisp;
mod lua;
mod octave;
mod php;
mod r;
mod rust;

use c::C;
use dc::DC;
use elixir::ELIXIR;
use emacs::EMACS;
use erlang::ERLANG;
use gnuplot::GNUPLOT;
use go::GO;
use haskell::HASKELL;
use java::JAVA;
use julia::JULIA;
use lisp::LISP;
use lua::LUA;
use octave::OCTAVE;
use php::PHP;
use r::R;
use rust::RUST;

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
    /// Letters that a name may end with.
    pub(super) last_letters: &'static str,
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
    /// How a text gives other names to functions that are known here.
    pub(super) renames: Renames,
    /// How letters are written before anything is made of them.
    pub(super) spelling: Spelling,
}

/// How a language is told that a variable is a path.
pub(super) struct Variables {
    /// Functions that make something in the temporary folder, or name that folder.
    pub(super) temporary: &'static [&'static str],
    /// Whether the first thing they are told is another folder, if it is not empty.
    pub(super) temporary_in_first: bool,
    /// Functions and methods that put parts of a path together.
    pub(super) joins: &'static [&'static str],
    /// Whether they put an absolute part behind the others too.
    pub(super) joins_append: bool,
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
    /// `r#"x"#`
    Hashes,
    /// `R"--(x)--"`
    Tagged,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Renames {
    Nowhere,
    /// `import name "module"`
    Imports,
    /// `use module::function as name`, `type Name = module::Type`
    Uses,
    /// `#define name function`, `= function`
    Macros,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Spelling {
    Plain,
    /// A backslash at its end joins a line to the next.
    JoinedLines,
    /// `\u0065` is a letter anywhere.
    Escapes,
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
    /// Deletes what it is called on, where it is given nothing.
    DeletesOwner,
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

    /// Whether it reads, and does nothing else.
    pub(super) fn reads(self) -> bool {
        matches!(self, Self::Touch([(Read, _)]))
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
            let joints = name.match_indices(self.joint).filter(|_| self.drops_modules);
            let mut without = joints.filter_map(|(place, joint)| name.get(place + joint.len()..));
            without.find_map(|name| self.known(name))
        })
    }

    fn known(&self, name: &str) -> Option<Deed> {
        let is_it = |known: &str| known == name || self.names_are_callable && known.eq_ignore_ascii_case(name);
        self.functions.iter().find(|(known, _)| is_it(known)).map(|(_, deed)| *deed)
    }
}

/// The first that a program is among counts.
const TONGUES: &[Tongue] =
    &[PHP, LUA, R, JULIA, ELIXIR, LISP, EMACS, ERLANG, HASKELL, OCTAVE, GNUPLOT, DC, C, GO, RUST, JAVA];

/// What a language has of which nothing is said.
const COMMON: Tongue = Tongue {
    programs: &[],
    comments: &[],
    strings: &[],
    letter_signs: &[],
    has_letters: false,
    unread: &[],
    long_strings: LongStrings::None,
    comments_nest: false,
    letters: "",
    last_letters: "",
    has_shell_lines: false,
    has_transposes: false,
    joint: "",
    members: &[],
    concat: "",
    functions: &[],
    roots: &[],
    outer_modules: &[],
    drops_modules: false,
    has_bare_values: false,
    modules: Modules::Named,
    texts_call: false,
    applies: "",
    names_are_callable: false,
    variables: None,
    code_within: None,
    renames: Renames::Nowhere,
    spelling: Spelling::Plain,
};
