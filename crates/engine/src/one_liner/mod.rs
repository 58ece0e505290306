//! Programs in one argument: the text of `python -c`, `node -e`, `perl -e`, `ruby -e`, as far as it can be told what it
//! would do before it runs.
//!
//! [`read`] finds the files that a text names as constants and what it does to them, and the programs that it starts.
//! What it would start under a name that is no constant, and what hides its doing (code made at run time, foreign
//! functions, calls through names that are put together), makes the picture incomplete. A function that no table
//! knows is like a program that nobody knows: neither hidden nor an effect.
//!
//! This is no interpreter. `lex` settles what is a string, a comment or code; `reader` goes through the code and works
//! out constants, following names through assignments, imports and calls of the text's own `functions`; `dialect` has a
//! table a language of what functions do. Conditions are not followed, and the order of statements only where they run as they
//! stand there: a name may have every value that is given to it anywhere.
//!
//! Other languages are not followed but looked over, by `outline`.
//!
//! The module must not know rules or files, and of shells only how words are quoted for them. The text is hostile: its size, its nesting and the work spent on it
//! are limited, and what is beyond the limits is incomplete, never a failure.

mod arguments;
mod binding;
mod call;
mod chain;
mod classes;
mod deed;
mod dialect;
mod environment;
mod fed;
mod found;
mod functions;
mod imports;
mod lex;
mod made;
mod names;
mod opening;
mod operand;
mod options;
mod outline;
mod reader;
mod spawning;
mod tape;
mod text_method;
mod token;
mod value;
mod wanted;

#[cfg(test)]
mod tests;

use super::event::Access;

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

/// A program that a text starts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Spawn {
    /// Through a shell, or in a way that takes a command line apart much like one.
    Shell(String),
    /// The program and its arguments; `None` for one that is no constant.
    Words(Vec<Option<String>>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    Python,
    Node,
    Perl,
    Ruby,
}

impl Language {
    /// By the base name of the program that reads it.
    pub fn of(program: &str) -> Option<Self> {
        match crate::programs::canonical(program) {
            "python" | "python2" | "python3" | "sage" | "py" | "pypy" | "pypy3" | "ipython" | "ipython3"
            | "bpython" | "ptpython" => Some(Self::Python),
            // What TypeScript adds says nothing of what is done.
            "node" | "nodejs" | "bun" | "deno" | "tsx" | "ts-node" | "ts-node-esm" | "mongosh" | "zx" => {
                Some(Self::Node)
            }
            "perl" => Some(Self::Perl),
            // Crystal calls what it does alike.
            "ruby" | "irb" | "pry" | "rails" | "crystal" => Some(Self::Ruby),
            _ => None,
        }
    }
}

/// Whether texts for a program can be read here.
pub fn is_readable(program: &str) -> bool {
    Language::of(program).is_some() || outline::is_for(program)
}

/// A text for a program, where it is known what it finds when it starts; `None` where nobody here can read it.
pub fn read(program: &str, text: &str, given: &Given) -> Option<OneLiner> {
    match Language::of(program) {
        // There, this is a name from the start.
        Some(language) if program == "zx" => {
            Some(in_language(language, &format!("import {{$}} from 'zx';\n{text}"), given))
        }
        Some(language) => Some(in_language(language, text, given)),
        None => outline::read(program, text),
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
fn in_language(language: Language, text: &str, given: &Given) -> OneLiner {
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
