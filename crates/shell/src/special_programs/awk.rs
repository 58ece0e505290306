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
/// The number of variable lookups in a program. Each lookup searches the whole program.
const MAX_LOOKUPS: usize = 64;

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct AwkProgram {
    /// Scripts for a shell; `None` for one that is not constant.
    pub(crate) runs: Vec<Option<String>>,
    /// Files; `None` for a name that is not constant.
    pub(crate) touches: Vec<(Access, Option<String>)>,
}

pub(crate) fn read(code: &str) -> AwkProgram {
    let Tokens { list, is_whole } = tokens(code);
    let program = Program { tokens: &list, lookups: Cell::new(0) };
    let mut found = AwkProgram::default();
    // A `>` after `print` names a file. Inside parentheses, and anywhere else, it is a comparison.
    let mut printing = None;
    let mut depth = 0_usize;
    for (at, token) in list.iter().enumerate() {
        let next = list.get(at + 1);
        match token {
            Token::Name("system") if next.is_some_and(|next| next.is("(")) => {
                found.runs.extend(one_by_one(program.expression(at + 2, 0)));
            }
            // Assigning to an element of `ARGV` adds a file that is read.
            Token::Name("ARGV") if next.is_some_and(|next| next.is("[")) => {
                let set = (at + 2..).take(4).find(|place| list.get(*place).is_some_and(|token| token.is("=")));
                if let Some(place) = set {
                    found.touches.extend(one_by_one(program.expression(place + 1, 0)).map(|file| (Access::Read, file)));
                }
            }
            Token::Name("print" | "printf") => printing = Some(depth),
            Token::Name("getline") => {
                let file = (at + 1..).take(8).find(|place| list.get(*place).is_some_and(|token| token.is("<")));
                if let Some(place) = file.filter(|place| program.is_variable(at + 1, *place)) {
                    found.touches.extend(one_by_one(program.file(place + 1)).map(|file| (Access::Read, file)));
                }
            }
            Token::Mark("|" | "|&") if next == Some(&Token::Name("getline")) => {
                found.runs.extend(program.before(at));
            }
            Token::Mark("|" | "|&") => found.runs.extend(one_by_one(program.expression(at + 1, 0))),
            Token::Mark(">" | ">>") if printing == Some(depth) => {
                found.touches.extend(one_by_one(program.expression(at + 1, 0)).map(|file| (Access::Write, file)));
            }
            // `@name()` calls a function by a computed name, and `@include` loads code from elsewhere.
            Token::Mark("@") => found.runs.push(None),
            Token::Mark("(" | "[") => depth += 1,
            Token::Mark(")" | "]") => depth = depth.saturating_sub(1),
            Token::Mark(";" | "\n" | "{" | "}") => (printing, depth) = (None, 0),
            _ => {}
        }
    }
    found.runs.extend((!is_whole).then_some(None));
    found
}

fn one_by_one(values: Option<Vec<String>>) -> impl Iterator<Item = Option<String>> {
    values.map_or_else(|| vec![None], |values| values.into_iter().map(Some).collect()).into_iter()
}

struct Program<'c> {
    tokens: &'c [Token<'c>],
    lookups: Cell<usize>,
}

impl Program<'_> {
    /// Returns the possible values of the concatenated constants from here to the end of the expression; `None` if it
    /// has other parts.
    fn expression(&self, from: usize, depth: usize) -> Option<Vec<String>> {
        let mut values: Option<Vec<String>> = None;
        let mut at = from;
        loop {
            let next = match self.tokens.get(at) {
                None | Some(Token::Mark(";" | "\n" | "}" | ")" | ",")) => return values,
                Some(_) => self.operand(at, depth)?,
            };
            values = Some(match values {
                None => next,
                Some(before) => together(&before, &next)?,
            });
            at = self.behind(at)?;
        }
    }

    /// Returns the possible values of one operand.
    fn operand(&self, at: usize, depth: usize) -> Option<Vec<String>> {
        match self.tokens.get(at)? {
            Token::Text(text) => Some(vec![text.clone()]),
            Token::Name(name) => self.variable(name, depth),
            Token::Mark("(") if depth < MAX_DEPTH => {
                let values = self.expression(at + 1, depth + 1)?;
                self.behind(at).is_some().then_some(values)
            }
            _ => None,
        }
    }

    /// Returns the position after an operand.
    fn behind(&self, at: usize) -> Option<usize> {
        if !self.tokens.get(at)?.is("(") {
            return Some(at + 1);
        }
        let mut open = 0_usize;
        for (place, token) in self.tokens.iter().enumerate().skip(at) {
            match token {
                Token::Mark("(") => open += 1,
                Token::Mark(")") => open -= 1,
                // A list is not a single value.
                Token::Mark("," | ";" | "\n" | "}") => return None,
                _ => {}
            }
            if open == 0 {
                return Some(place + 1);
            }
        }
        None
    }

    /// Returns the commands that `… | getline` runs. For adjacent strings, some implementations run all of them
    /// concatenated, and others only the last.
    fn before(&self, bar: usize) -> Vec<Option<String>> {
        let is_operand = |token: &Token| matches!(token, Token::Text(_)) || is_variable_name(token);
        let before = self.tokens.get(..bar).unwrap_or_default();
        let count = before.iter().rev().take_while(|token| is_operand(token)).count();
        let start = bar - count;
        let is_closed = before.last().is_some_and(|token| token.is(")"));
        // `("a" "b") | getline`
        let group = before.iter().rposition(|token| token.is("(")).filter(|_| is_closed);
        let is_called = |group: usize| group.checked_sub(1).and_then(|at| before.get(at)).is_some_and(is_operand);
        match group {
            Some(group) if !is_called(group) && self.behind(group) == Some(bar) => {
                one_by_one(self.expression(group + 1, 0)).collect()
            }
            None if count > 0 => {
                let all = (start..bar).map(|at| self.operand(at, 0)).collect::<Option<Vec<_>>>();
                let all = all.and_then(|all| {
                    let (first, rest) = all.split_first()?;
                    rest.iter().try_fold(first.clone(), |before, next| together(&before, next))
                });
                let behind_all = start.checked_sub(1).and_then(|at| before.get(at));
                let goes_on =
                    behind_all.is_some_and(|token| matches!(token, Token::Number | Token::Mark(")" | "]" | "$")));
                let last = (count > 1 || goes_on).then(|| one_by_one(self.operand(bar - 1, 0)));
                one_by_one(all.filter(|_| !goes_on)).chain(last.into_iter().flatten()).collect()
            }
            _ => vec![None],
        }
    }

    /// Returns the file after `getline <`, which must be a single operand.
    fn file(&self, at: usize) -> Option<Vec<String>> {
        let goes_on = |token: &Token| matches!(token, Token::Text(_) | Token::Name(_) | Token::Mark("(" | "[" | "$"));
        let behind = self.behind(at)?;
        self.operand(at, 0).filter(|_| !self.tokens.get(behind).is_some_and(goes_on))
    }

    /// True if these tokens are only the variable that a line is read into.
    fn is_variable(&self, from: usize, to: usize) -> bool {
        let is_part = |token: &Token| {
            matches!(token, Token::Name(_) | Token::Number | Token::Text(_) | Token::Mark("$" | "[" | "]" | "++"))
        };
        self.tokens.get(from..to).is_some_and(|tokens| tokens.iter().all(is_part))
    }

    /// Returns the constants that a variable is set to anywhere; `None` if it may have another value.
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
                (_, Some(Token::Mark("="))) => {
                    let next = self.expression(at + 2, depth + 1)?;
                    values = Some([values.unwrap_or_default(), next].concat()).filter(|all| all.len() <= MAX_VALUES);
                    values.as_ref()?;
                }
                (Some(Token::Name("getline") | Token::Mark("++" | "--")), _)
                | (_, Some(Token::Name("in") | Token::Mark("++" | "--" | "[" | "("))) => return None,
                (_, Some(Token::Mark(mark))) if mark.ends_with('=') && !matches!(*mark, "==" | "!=" | "<=" | ">=") => {
                    return None;
                }
                (Some(Token::Mark(",")), _) if changes_in_place => return None,
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
            tokens.take_while(|token| matches!(token, Token::Name(_) | Token::Mark("," | "\n")))
        });
        parameters.any(|token| *token == Token::Name(name))
    }
}

fn is_variable_name(token: &Token) -> bool {
    matches!(token, Token::Name(name) if !matches!(*name, "print" | "printf" | "return" | "in" | "else" | "do"))
}

/// Concatenates each of the first strings with each of the second; `None` if there are too many combinations.
fn together(before: &[String], behind: &[String]) -> Option<Vec<String>> {
    let each = |one: &String| behind.iter().map(|other| format!("{one}{other}")).collect::<Vec<_>>();
    (before.len() * behind.len() <= MAX_VALUES).then(|| before.iter().flat_map(each).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(code: &str) -> String {
        let AwkProgram { runs, touches } = read(code);
        let runs = runs.iter().map(|run| format!("runs {}", run.as_deref().unwrap_or("?")));
        let touches = touches.iter().map(|(access, path)| format!("{access:?} {}", path.as_deref().unwrap_or("?")));
        runs.chain(touches).collect::<Vec<_>>().join(", ")
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
