//! Programs in one argument: the text of `python -c`, `node -e`, `perl -e`, `ruby -e`, as far as it can be told what it
//! would do before it runs.
//!
//! [`read`] finds the files that a text names as constants and what it does to them, and the programs that it starts.
//! What it would start under a name that is no constant, and what hides its doing (code made at run time, foreign
//! functions, calls through names that are put together), makes the picture incomplete. A function that no table
//! knows is like a program that nobody knows: neither hidden nor an effect.
//!
//! This is no interpreter. `lex` settles what is a string, a comment or code; `outline` looks over the tokens for functions,
//! classes and assigned names; `reader` goes through the code and works out constants, following names through assignments,
//! imports and calls of the text's own `functions`: statements by `sequence` and `declaration`, values by `operand` and `chain`,
//! calls by `call`. `dialect` has a table of functions and their effects for each language. Conditions are not followed, and the
//! order of statements only where they run in source order: a name may have every value that is assigned to it anywhere.
//!
//! This crate must not know rules, files or shells: a program that a text starts is handed over as a [`Spawn`]. The text is
//! hostile: its size, its nesting and the work spent on it are limited, and what is beyond the limits is incomplete, never a
//! failure.

mod argument_list;
mod arguments;
mod binding;
mod budget;
mod call;
mod chain;
mod child_stdin;
mod classes;
mod declaration;
mod dialect;
mod environment;
mod findings;
mod function_effect;
mod functions;
mod imports;
mod inputs;
mod lex;
mod loops;
mod name_filters;
mod names;
mod opening;
mod operand;
mod options;
mod outline;
mod pure_calls;
mod reader;
mod sequence;
mod spawn;
mod spawning;
mod statement_order;
mod tape;
mod text_method;
mod token;
mod value;

#[cfg(test)]
mod tests;

use path::Access;
pub use spawn::{Spawn, SpawnEnvironment, SpawnedCommand, Stdin, UNKNOWN_WORD};

/// Longer texts are not read.
const MAX_BYTES: usize = 64 * 1024;

/// Nesting of any kind: brackets, holes in strings, texts in texts.
const MAX_DEPTH: usize = 48;

/// A program text in another language, as far as it can be told what it would do.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OneLiner {
    /// Files it names as constants, with what it does to them. Paths are as they were written; the home folder, where
    /// the text asks for it, is `~`, the working folder `.`, and some name in a folder `…`. What has a `*` is a pattern.
    pub touches: Vec<(Access, String)>,
    pub spawns: Vec<Spawn>,
    /// What it does to files whose names are no constants.
    pub unknown: Vec<Access>,
    /// For every way in which a file is written: the file, and its whole text where that is a constant.
    pub texts: Vec<(String, Option<String>)>,
    /// The variables that it sets, with the values that are constants. What it starts gets to see them.
    pub sets: Vec<(String, Option<String>)>,
    /// What it prints, where that is constant; in which order, and whether at all, is another question.
    pub prints: Vec<String>,
    /// Whether that is all. If not, it starts something whose name is no constant, or hides what it does.
    pub complete: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    Python,
    Node,
    Perl,
    Ruby,
}

impl Language {
    /// By the name of the program that reads it, without a version.
    pub fn of(program: &str) -> Option<Self> {
        match program {
            "python" | "python2" | "python3" | "sage" | "py" | "pypy" | "pypy3" | "ipython" | "ipython3"
            | "bpython" | "ptpython" => Some(Self::Python),
            // The types of TypeScript have no effects.
            "node" | "nodejs" | "bun" | "deno" | "tsx" | "ts-node" | "ts-node-esm" | "mongosh" | "zx" => {
                Some(Self::Node)
            }
            "perl" => Some(Self::Perl),
            // Crystal's functions have the same names.
            "ruby" | "irb" | "pry" | "rails" | "crystal" => Some(Self::Ruby),
            _ => None,
        }
    }
}

/// What a text finds when it starts.
#[derive(Debug, Clone, Default)]
pub struct Given {
    /// Its arguments, without the names of the program and of the text; each `None` where it is no constant.
    pub words: Option<Vec<Option<String>>>,
    /// Whether it stands in the command that runs it, and not in a file.
    pub in_command: bool,
    /// The file that it stands in.
    pub file: Option<String>,
    /// Variables of the environment that are constants.
    pub variables: Vec<(String, String)>,
}

/// Never fails: what is not understood is incomplete.
pub fn read(language: Language, text: &str, given: &Given) -> OneLiner {
    if text.len() > MAX_BYTES || text.contains('\0') {
        return OneLiner::default();
    }
    // Python and JavaScript end lines, and so comments, at these too.
    match language {
        Language::Python | Language::Node if text.contains(['\r', '\u{2028}', '\u{2029}']) => {
            let text = text.replace("\r\n", "\n").replace(['\r', '\u{2028}', '\u{2029}'], "\n");
            reader::read(language, &text, given)
        }
        _ => reader::read(language, text, given),
    }
}
