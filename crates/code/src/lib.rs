//! Static analysis of one-line programs: the source code in `python -c`, `node -e`, `perl -e` and `ruby -e`.
//!
//! [`read`] finds the files that a program names by constants, its accesses to them, and the commands that it starts. A
//! command whose name is not constant makes the result incomplete, and so does code whose effect cannot be determined
//! (`eval` of a computed string, foreign functions, calls through computed names). A function that no table lists is
//! treated as harmless.
//!
//! The analysis evaluates constants, but does not run the program. `lex` splits the source into tokens; `outline` collects
//! functions, classes and assigned names; `evaluator` walks the tokens and follows constants through assignments, imports and
//! calls of the program's own `functions`: statements in `declaration`, expressions in `expression`, `operand` and `chain`,
//! calls in `call`. `dialect` has a table of functions and their effects for each language. Conditions are not followed.
//! The order of statements counts only if they run in source order; otherwise a name may have every value that is assigned to
//! it anywhere.
//!
//! This crate must not know rules, files or shells: a command that a program starts is returned as a [`Spawn`]. The source
//! may be hostile, so its size, its nesting and the work spent on it are limited. A program beyond a limit is incomplete,
//! never an error.

mod argument_list;
mod arguments;
mod binding;
mod budget;
mod call;
mod chain;
mod child_stdin;
mod classes;
mod command_line_options;
mod declaration;
mod dialect;
mod environment;
mod evaluator;
mod expression;
mod findings;
mod function_effect;
mod functions;
mod imports;
mod inputs;
mod lex;
mod loops;
mod name_filters;
mod names;
mod open_calls;
mod operand;
mod outline;
mod pure_calls;
mod spawn;
mod spawn_calls;
mod statement_order;
mod string_methods;
mod token;
mod token_cursor;
mod value;

#[cfg(test)]
mod tests;

use path::Access;
pub use spawn::{Spawn, SpawnEnvironment, SpawnedCommand, Stdin, UNKNOWN_WORD};

/// The longest program that is read.
const MAX_BYTES: usize = 64 * 1024;

/// The deepest nesting of brackets, interpolations and evaluated strings together.
const MAX_DEPTH: usize = 48;

/// The effects of a program, as far as its source shows them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OneLiner {
    /// Accesses to files whose names are constant. Paths are as the program writes them. The home directory is `~`, the
    /// working directory `.`, and an unknown name in a known directory `…`. A path with `*` is a glob.
    pub touches: Vec<(Access, String)>,
    /// The commands that it starts.
    pub spawns: Vec<Spawn>,
    /// Accesses to files whose names are not constant.
    pub unknown_touches: Vec<Access>,
    /// Files that it writes, each with the complete contents if those are constant; `None` otherwise. A file that is written
    /// in several ways is listed several times.
    pub contents: Vec<(String, Option<String>)>,
    /// Environment variables that it sets, each with its value if that is constant. The commands that it starts inherit them.
    pub exported_variables: Vec<(String, Option<String>)>,
    /// Constant strings that it may print, in no particular order.
    pub prints: Vec<String>,
    /// False if the program may do more than the other fields say: it starts a command whose name is not constant, or its
    /// effect cannot be determined.
    pub is_complete: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    Python,
    Node,
    Perl,
    Ruby,
}

impl Language {
    /// Returns the language of an interpreter, whose name must not contain a version.
    pub fn of(program: &str) -> Option<Self> {
        match program {
            "python" | "python2" | "python3" | "sage" | "py" | "pypy" | "pypy3" | "ipython" | "ipython3"
            | "bpython" | "ptpython" => Some(Self::Python),
            // Read as JavaScript: type annotations of TypeScript have no effects.
            "node" | "nodejs" | "bun" | "deno" | "tsx" | "ts-node" | "ts-node-esm" | "mongosh" | "zx" => {
                Some(Self::Node)
            }
            "perl" => Some(Self::Perl),
            // Crystal's standard library uses the same function names.
            "ruby" | "irb" | "pry" | "rails" | "crystal" => Some(Self::Ruby),
            _ => None,
        }
    }
}

/// What a program gets when it starts.
#[derive(Debug, Clone, Default)]
pub struct ProgramInputs {
    /// Its arguments, without the names of the interpreter and of the script; `None` for each that is not constant.
    pub arguments: Option<Vec<Option<String>>>,
    /// True if the source is given on the command line, not in a file.
    pub is_inline: bool,
    /// The file that the source is in.
    pub file: Option<String>,
    /// Environment variables whose values are constant.
    pub variables: Vec<(String, String)>,
}

/// Analyses a program. Never fails: source that is not understood makes the result incomplete.
pub fn read(language: Language, source: &str, inputs: &ProgramInputs) -> OneLiner {
    if source.len() > MAX_BYTES || source.contains('\0') {
        return OneLiner::default();
    }
    // Python and JavaScript also end lines, and so comments, at these characters.
    match language {
        Language::Python | Language::Node if source.contains(['\r', '\u{2028}', '\u{2029}']) => {
            let source = source.replace("\r\n", "\n").replace(['\r', '\u{2028}', '\u{2029}'], "\n");
            evaluator::evaluate(language, &source, inputs)
        }
        _ => evaluator::evaluate(language, source, inputs),
    }
}
