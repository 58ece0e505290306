//! Effects of an `awk` program other than printing: `system("…")`, the commands in its pipes, and the files that it
//! names.

pub(crate) mod field;
mod token;

use std::cell::Cell;

use path::Access;

use token::{Token, Tokens, tokens};

/// An expression with more possible values counts as unknown.
const MAX_VALUES: usize = 16;
const MAX_DEPTH: usize = 6;
/// The maximum number of variable lookups in a program. Each lookup searches the whole program.
const MAX_LOOKUPS: usize = 64;

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct AwkProgram {
    /// Shell scripts that the program runs; `None` for a script that is not constant.
    pub(crate) shell_scripts: Vec<Option<String>>,
    /// Accesses to files; `None` for a name that is not constant.
    pub(crate) accesses: Vec<(Access, Option<String>)>,
}

pub(crate) fn read(code: &str) -> AwkProgram {
    let Tokens { list, is_complete } = tokens(code);
    let program = Program { tokens: &list, lookups: Cell::new(0) };
    let mut found = AwkProgram::default();
    // A `>` after `print` redirects to a file. Inside parentheses, and anywhere else, `>` is a comparison.
    let mut printing = None;
    let mut depth = 0_usize;
    for (at, token) in list.iter().enumerate() {
        let next = list.get(at + 1);
        match token {
            Token::Name("system") if next.is_some_and(|next| next.is_symbol("(")) => {
                found.shell_scripts.extend(each_or_unknown(program.expression(at + 2, 0)));
            }
            // Assigning to an element of `ARGV` adds a file that is read.
            Token::Name("ARGV") if next.is_some_and(|next| next.is_symbol("[")) => {
                let equals =
                    (at + 2..).take(4).find(|index| list.get(*index).is_some_and(|token| token.is_symbol("=")));
                if let Some(index) = equals {
                    found
                        .accesses
                        .extend(each_or_unknown(program.expression(index + 1, 0)).map(|file| (Access::Read, file)));
                }
            }
            Token::Name("print" | "printf") => printing = Some(depth),
            Token::Name("getline") => {
                let file = (at + 1..).take(8).find(|index| list.get(*index).is_some_and(|token| token.is_symbol("<")));
                if let Some(index) = file.filter(|index| program.is_only_variable(at + 1, *index)) {
                    found
                        .accesses
                        .extend(each_or_unknown(program.redirected_file(index + 1)).map(|file| (Access::Read, file)));
                }
            }
            Token::Symbol("|" | "|&") if next == Some(&Token::Name("getline")) => {
                found.shell_scripts.extend(program.commands_before_getline(at));
            }
            Token::Symbol("|" | "|&") => found.shell_scripts.extend(each_or_unknown(program.expression(at + 1, 0))),
            Token::Symbol(">" | ">>") if printing == Some(depth) => {
                found.accesses.extend(each_or_unknown(program.expression(at + 1, 0)).map(|file| (Access::Write, file)));
            }
            // `@name()` calls a function by a computed name, and `@include` loads code from another file.
            Token::Symbol("@") => found.shell_scripts.push(None),
            Token::Symbol("(" | "[") => depth += 1,
            Token::Symbol(")" | "]") => depth = depth.saturating_sub(1),
            Token::Symbol(";" | "\n" | "{" | "}") => (printing, depth) = (None, 0),
            _ => {}
        }
    }
    found.shell_scripts.extend((!is_complete).then_some(None));
    found
}

fn each_or_unknown(values: Option<Vec<String>>) -> impl Iterator<Item = Option<String>> {
    values.map_or_else(|| vec![None], |values| values.into_iter().map(Some).collect()).into_iter()
}

struct Program<'c> {
    tokens: &'c [Token<'c>],
    lookups: Cell<usize>,
}

impl Program<'_> {
    /// Returns the possible values of the expression that starts at this token, if it is a concatenation of strings and
    /// known variables; otherwise `None`.
    fn expression(&self, from: usize, depth: usize) -> Option<Vec<String>> {
        let mut values: Option<Vec<String>> = None;
        let mut at = from;
        loop {
            let next = match self.tokens.get(at) {
                None | Some(Token::Symbol(";" | "\n" | "}" | ")" | ",")) => return values,
                Some(_) => self.operand(at, depth)?,
            };
            values = Some(match values {
                None => next,
                Some(before) => concatenations(&before, &next)?,
            });
            at = self.end_of_operand(at)?;
        }
    }

    /// Returns the possible values of one operand.
    fn operand(&self, at: usize, depth: usize) -> Option<Vec<String>> {
        match self.tokens.get(at)? {
            Token::Text(text) => Some(vec![text.clone()]),
            Token::Name(name) => self.variable(name, depth),
            Token::Symbol("(") if depth < MAX_DEPTH => {
                let values = self.expression(at + 1, depth + 1)?;
                self.end_of_operand(at).is_some().then_some(values)
            }
            _ => None,
        }
    }

    /// Returns the position after an operand.
    fn end_of_operand(&self, at: usize) -> Option<usize> {
        if !self.tokens.get(at)?.is_symbol("(") {
            return Some(at + 1);
        }
        let mut open = 0_usize;
        for (index, token) in self.tokens.iter().enumerate().skip(at) {
            match token {
                Token::Symbol("(") => open += 1,
                Token::Symbol(")") => open -= 1,
                // Parentheses with a list in them are not a single value.
                Token::Symbol("," | ";" | "\n" | "}") => return None,
                _ => {}
            }
            if open == 0 {
                return Some(index + 1);
            }
        }
        None
    }

    /// Returns the commands that `… | getline` runs. For adjacent strings, some implementations run the concatenation
    /// of all strings, and others run only the last string.
    fn commands_before_getline(&self, bar: usize) -> Vec<Option<String>> {
        let is_operand = |token: &Token| matches!(token, Token::Text(_)) || is_variable_name(token);
        let before = self.tokens.get(..bar).unwrap_or_default();
        let count = before.iter().rev().take_while(|token| is_operand(token)).count();
        let start = bar - count;
        let is_closed = before.last().is_some_and(|token| token.is_symbol(")"));
        // `("a" "b") | getline`
        let group = before.iter().rposition(|token| token.is_symbol("(")).filter(|_| is_closed);
        let is_called = |group: usize| group.checked_sub(1).and_then(|at| before.get(at)).is_some_and(is_operand);
        match group {
            Some(group) if !is_called(group) && self.end_of_operand(group) == Some(bar) => {
                each_or_unknown(self.expression(group + 1, 0)).collect()
            }
            None if count > 0 => {
                let all = (start..bar).map(|at| self.operand(at, 0)).collect::<Option<Vec<_>>>();
                let all = all.and_then(|all| {
                    let (first, rest) = all.split_first()?;
                    rest.iter().try_fold(first.clone(), |before, next| concatenations(&before, next))
                });
                let token_before = start.checked_sub(1).and_then(|at| before.get(at));
                let continues =
                    token_before.is_some_and(|token| matches!(token, Token::Number | Token::Symbol(")" | "]" | "$")));
                let last = (count > 1 || continues).then(|| each_or_unknown(self.operand(bar - 1, 0)));
                each_or_unknown(all.filter(|_| !continues)).chain(last.into_iter().flatten()).collect()
            }
            _ => vec![None],
        }
    }

    /// Returns the file after `getline <`, which must be a single operand.
    fn redirected_file(&self, at: usize) -> Option<Vec<String>> {
        let continues =
            |token: &Token| matches!(token, Token::Text(_) | Token::Name(_) | Token::Symbol("(" | "[" | "$"));
        let after = self.end_of_operand(at)?;
        self.operand(at, 0).filter(|_| !self.tokens.get(after).is_some_and(continues))
    }

    /// True if these tokens are only the variable that a line is read into.
    fn is_only_variable(&self, from: usize, to: usize) -> bool {
        let is_part = |token: &Token| {
            matches!(token, Token::Name(_) | Token::Number | Token::Text(_) | Token::Symbol("$" | "[" | "]" | "++"))
        };
        self.tokens.get(from..to).is_some_and(|tokens| tokens.iter().all(is_part))
    }

    /// Returns the constants that a variable is set to anywhere in the program; `None` if the variable may have another
    /// value.
    fn variable(&self, name: &str, depth: usize) -> Option<Vec<String>> {
        self.lookups.set(self.lookups.get() + 1);
        if depth >= MAX_DEPTH || self.lookups.get() > MAX_LOOKUPS || self.is_parameter(name) {
            return None;
        }
        let changes_in_place = self.tokens.iter().any(|token| matches!(token, Token::Name("sub" | "gsub")));
        let mut values: Option<Vec<String>> = None;
        for (at, _) in self.tokens.iter().enumerate().filter(|(_, token)| **token == Token::Name(name)) {
            let before = at.checked_sub(1).and_then(|at| self.tokens.get(at));
            match (before, self.tokens.get(at + 1)) {
                (_, Some(Token::Symbol("="))) => {
                    let next = self.expression(at + 2, depth + 1)?;
                    values = Some([values.unwrap_or_default(), next].concat()).filter(|all| all.len() <= MAX_VALUES);
                    values.as_ref()?;
                }
                (Some(Token::Name("getline") | Token::Symbol("++" | "--")), _)
                | (_, Some(Token::Name("in") | Token::Symbol("++" | "--" | "[" | "("))) => return None,
                (_, Some(Token::Symbol(symbol)))
                    if symbol.ends_with('=') && !matches!(*symbol, "==" | "!=" | "<=" | ">=") =>
                {
                    return None;
                }
                (Some(Token::Symbol(",")), _) if changes_in_place => return None,
                _ => {}
            }
        }
        values
    }

    /// True if a function has a parameter of this name.
    fn is_parameter(&self, name: &str) -> bool {
        let starts = |token: &Token| matches!(token, Token::Name("function" | "func"));
        let functions = self.tokens.iter().enumerate().filter(|(_, token)| starts(token)).map(|(at, _)| at + 3);
        let mut parameters = functions.flat_map(|from| {
            let tokens = self.tokens.iter().skip(from);
            tokens.take_while(|token| matches!(token, Token::Name(_) | Token::Symbol("," | "\n")))
        });
        parameters.any(|token| *token == Token::Name(name))
    }
}

fn is_variable_name(token: &Token) -> bool {
    matches!(token, Token::Name(name) if !matches!(*name, "print" | "printf" | "return" | "in" | "else" | "do"))
}

/// Concatenates each of the first strings with each of the second; `None` if there are too many combinations.
fn concatenations(before: &[String], after: &[String]) -> Option<Vec<String>> {
    let each = |one: &String| after.iter().map(|other| format!("{one}{other}")).collect::<Vec<_>>();
    (before.len() * after.len() <= MAX_VALUES).then(|| before.iter().flat_map(each).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(code: &str) -> String {
        let AwkProgram { shell_scripts, accesses } = read(code);
        let shell_scripts = shell_scripts.iter().map(|run| format!("runs {}", run.as_deref().unwrap_or("?")));
        let accesses = accesses.iter().map(|(access, path)| format!("{access:?} {}", path.as_deref().unwrap_or("?")));
        shell_scripts.chain(accesses).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn commands_and_files() {
        let cases = [
            ("{print $1 / $2}", ""),
            ("/a|b/ {print}", ""),
            ("BEGIN {x = 8 / 2; print | \"sort\"}", "runs sort"),
            ("{y = x / 2; print y | \"sort -n\"; z = 1 / 2}", "runs sort -n"),
            ("BEGIN {system(\"l\" \"s\")}", "runs ls"),
            ("BEGIN {system(\"\\x6cs \\057 \\/\")}", "runs ls / /"),
            ("BEGIN {system(\"ls \" $1)}", "runs ?"),
            ("BEGIN {system(c)}", "runs ?"),
            ("BEGIN {c = \"ls\"; system(c \" -l\")}", "runs ls -l"),
            ("BEGIN {c = \"ls\"; c = c \" -l\"; system(c)}", "runs ?"),
            ("function f(c) {system(c)} BEGIN {c = \"ls\"; f(\"x\")}", "runs ?"),
            ("BEGIN {c = \"ls\"; sub(/l/, \"p\", c); system(c)}", "runs ?"),
            ("BEGIN {c = \"ls\"; getline c; system(c)}", "runs ?"),
            ("BEGIN {while ((\"ls -l\" | getline line) > 0) print line}", "runs ls -l"),
            ("BEGIN {(\"ls \" \"x\") | getline}", "runs ls x"),
            ("BEGIN {\"ls \" \"x\" | getline}", "runs ls x, runs x"),
            ("BEGIN {\"ls \" $1 | getline}", "runs ?"),
            ("BEGIN {$1 \"ls\" | getline}", "runs ?, runs ls"),
            ("BEGIN {f(\"x\") | getline}", "runs ?"),
            ("{print | \"sort > \" $1}", "runs ?"),
            ("{if (a || b) print \"a | b\"}", ""),
            ("{print \"system(1)\"} # system(\"ls\")", ""),
            ("{if (1) /\"/; system(\"ls\")}", "runs ls"),
            ("/[/\"]/ {system(\"ls\")}", "runs ls"),
            ("{print $1 > \"out.txt\"}", "Write out.txt"),
            ("{print($1 > 2) >> \"out\" \".txt\"}", "Write out.txt"),
            ("$3 > 5 && $1 > \"a\" {print}", ""),
            ("{print > $1\".txt\"}", "Write ?"),
            ("BEGIN {while ((getline line < \".env\") > 0) print line}", "Read .env"),
            ("BEGIN {getline x[1] < f}", "Read ?"),
            ("BEGIN {f = \"system\"; @f(\"ls\")}", "runs ?"),
            ("BEGIN {print \"a", "runs ?"),
        ];
        for (code, expected) in cases {
            assert_eq!(shown(code), expected, "{code}");
        }
    }
}
