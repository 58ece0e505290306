//! Static analysis of short programs, such as the source code in `python -c`, `node -e`, `perl -e` and `ruby -e`.
//!
//! [`analyze`] finds the files that a program accesses, if their names are constant, and the commands that it starts. A
//! command whose name is not constant makes the result incomplete, and so does code whose effects cannot be determined
//! (`eval` of a computed string, foreign functions, calls through computed names). A function that is in no table of
//! `dialect` is treated as harmless.
//!
//! The analysis evaluates constants, but does not run the program. `lex` splits the source into tokens; `outline`
//! collects functions, classes and assigned names; `evaluator` walks the tokens and propagates constants through
//! assignments, imports and calls of the `functions` that the program defines: statements in `declaration`, expressions
//! in `expression`, `operand` and `postfix`, calls in `call`. `dialect` has a table of functions and their effects for
//! each language. Conditions are not evaluated: both branches count. A name may have every value that is assigned to it
//! anywhere. The working directory is tracked in source order, unless the program has functions or loops.
//!
//! This crate must not depend on rules, files or shells: a command that a program starts is returned as a [`Spawn`].
//! The source may be hostile, so its size, its nesting and the work spent on it are limited. Beyond a limit, the result
//! is incomplete, never an error.

mod argument_list;
mod arguments;
mod assignments;
mod bindings;
mod budget;
mod call;
mod child_stdin;
mod classes;
mod command_line_options;
mod declaration;
mod dialect;
mod environment_variables;
mod evaluator;
mod evaluator_inputs;
mod expression;
mod file_name_filters;
mod findings;
mod function_effect;
mod functions;
mod harmless_calls;
mod imports;
mod lex;
mod loops;
mod open_calls;
mod operand;
mod outline;
mod postfix;
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

/// The maximum length of a program. A longer program is not analyzed.
const MAX_BYTES: usize = 64 * 1024;

/// The maximum nesting of brackets, interpolations and evaluated strings together.
const MAX_DEPTH: usize = 48;

/// The effects that a program may have.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProgramEffects {
    /// Accesses to files whose names are constant or partly known, with the paths that the program uses. `~` stands
    /// for the home directory, `.` for the working directory, and `…` for an unknown name in a known directory. A path
    /// with `*` is a glob.
    pub accesses: Vec<(Access, String)>,
    /// Commands that the program starts.
    pub spawns: Vec<Spawn>,
    /// Accesses to files whose names are unknown.
    pub unknown_accesses: Vec<Access>,
    /// Files that the program writes, each with its complete contents; `None` if they are not constant. A file that can
    /// get one of several contents is listed once for each of them.
    pub written_files: Vec<(String, Option<String>)>,
    /// Environment variables that the program sets for the commands that it starts, each with its value; `None` if the
    /// value is not constant.
    pub exported_variables: Vec<(String, Option<String>)>,
    /// Constant strings that the program may print, in no particular order.
    pub printed_strings: Vec<String>,
    /// False if the program may have other effects than those in the other fields: it starts a command whose name is
    /// not constant, has code whose effects cannot be determined, or exceeds a limit of the analysis.
    pub is_complete: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    Python,
    JavaScript,
    Perl,
    Ruby,
}

impl Language {
    /// Returns the language that an interpreter runs. The name must be without a version: `python` for `python3.12`.
    pub fn of_interpreter(interpreter: &str) -> Option<Self> {
        match interpreter {
            "python" | "python2" | "python3" | "sage" | "py" | "pypy" | "pypy3" | "ipython" | "ipython3"
            | "bpython" | "ptpython" => Some(Self::Python),
            // TypeScript is analyzed as JavaScript, because type annotations have no effects.
            "node" | "nodejs" | "bun" | "deno" | "tsx" | "ts-node" | "ts-node-esm" | "mongosh" | "zx" => {
                Some(Self::JavaScript)
            }
            "perl" => Some(Self::Perl),
            // Crystal is analyzed as Ruby, because its standard library uses the same function names.
            "ruby" | "irb" | "pry" | "rails" | "crystal" => Some(Self::Ruby),
            _ => None,
        }
    }
}

/// The arguments, source file and environment variables that a program starts with, as far as they are known.
#[derive(Debug, Clone, Default)]
pub struct ProgramInputs {
    /// The arguments, without the names of the interpreter and of the script. An argument that is not constant is
    /// `None`. If the number of arguments is unknown, the whole field is `None`.
    pub arguments: Option<Vec<Option<String>>>,
    /// True if the source is an argument of the interpreter (`python -c`), not in a file.
    pub is_inline: bool,
    /// The path of the file that contains the source.
    pub file: Option<String>,
    /// Environment variables whose values are constant.
    pub variables: Vec<(String, String)>,
}

/// Analyzes a program. Never fails: source that cannot be analyzed makes the result incomplete.
pub fn analyze(language: Language, source: &str, inputs: &ProgramInputs) -> ProgramEffects {
    if source.len() > MAX_BYTES || source.contains('\0') {
        return ProgramEffects::default();
    }
    // In Python and JavaScript, these characters also end a line, and so a comment.
    match language {
        Language::Python | Language::JavaScript if source.contains(['\r', '\u{2028}', '\u{2029}']) => {
            let source = source.replace("\r\n", "\n").replace(['\r', '\u{2028}', '\u{2029}'], "\n");
            evaluator::evaluate(language, &source, inputs)
        }
        _ => evaluator::evaluate(language, source, inputs),
    }
}
